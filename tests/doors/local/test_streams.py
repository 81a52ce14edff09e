"""A client that does not read is waited for, and disconnected if it never does."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from nacre.doors.local.streams import PatientWriter, Unread

pytestmark = pytest.mark.anyio

MUCH = b"x" * 2_000_000  # more than the kernel takes


@asynccontextmanager
async def pair(patience: float) -> AsyncIterator[tuple[PatientWriter, socket.socket]]:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    reader, plain = await asyncio.open_connection(sock=ours)
    try:
        yield PatientWriter(plain, reader, patience), theirs
    finally:
        theirs.close()
        plain.close()


async def test_what_is_read_at_once_is_written_at_once() -> None:
    async with pair(patience=60) as (writer, theirs):
        writer.write(b"hello\n")
        await writer.drain()
        assert theirs.recv(100) == b"hello\n"


async def test_a_client_that_reads_nothing_is_disconnected() -> None:
    async with pair(patience=0.05) as (writer, _):
        writer.write(MUCH)
        with pytest.raises(Unread):
            await writer.drain()
        assert writer.is_closing()


async def test_a_client_that_reads_slowly_is_waited_for() -> None:
    async with pair(patience=0.05) as (writer, theirs):
        writer.write(MUCH)
        draining = asyncio.create_task(writer.drain())
        loop = asyncio.get_running_loop()
        read = 0
        while read < len(MUCH):  # a piece each time that the patience is half over
            read += len(await loop.sock_recv(theirs, 400_000))
            await asyncio.wait([draining], timeout=0.025)
        await draining
