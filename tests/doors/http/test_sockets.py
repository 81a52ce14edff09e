"""What a WebSocket receives is taken in parts, so that a flood of small frames holds up nobody."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from nacre.doors.http import sockets
from nacre.doors.http.sockets import SocketProtocol

pytestmark = pytest.mark.anyio

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PONG = b"\x8a\x02"


def frame(opcode: int, data: bytes, *, last: bool = True) -> bytes:
    return struct.pack("BB", last << 7 | opcode, 0x80 | len(data)) + bytes(4) + data


class Line(asyncio.Transport):
    """The other side of a connection: what was written to it, and whether it is read."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        super().__init__({"socket": self._socket})
        self.written = b""
        self.reading = True

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        self._socket.close()

    def pause_reading(self) -> None:
        assert self.reading, "uvloop complains"
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True


class Peer:
    """A protocol that has shaken hands, and what its application was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        config = uvicorn.Config(
            self._serve, interface="asgi3", ws_ping_interval=None, log_config=None
        )
        config.load()
        self.line = Line()
        self.protocol = SocketProtocol(config, ServerState(), {})
        self.protocol.connection_made(self.line)

    async def _serve(self, _scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            self.told.append(message["text"])


@asynccontextmanager
async def connected() -> AsyncIterator[Peer]:
    peer = Peer()
    peer.protocol.data_received(HANDSHAKE)
    while b"101" not in peer.line.written:  # noqa: ASYNC110  # the application's turn
        await asyncio.sleep(0)
    peer.line.written = b""
    yield peer
    peer.protocol.connection_lost(None)
    await asyncio.gather(*peer.protocol.tasks)


async def until_all_is_taken(peer: Peer) -> int:
    turns = 0
    while peer.protocol._untaken or not peer.line.reading:
        await asyncio.sleep(0)
        turns += 1
    return turns


async def test_many_frames_are_taken_over_many_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_TURN", 0.0)
    async with connected() as peer:
        peer.protocol.data_received(frame(9, b"hi") * 5000)
        first = peer.line.written.count(PONG)
        assert 0 < first < 1000
        assert not peer.line.reading, "no more comes before these are taken"
        assert await until_all_is_taken(peer) >= 5
        assert peer.line.written == (PONG + b"hi") * 5000


async def test_messages_in_many_parts_arrive_whole_and_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sockets, "_TURN", 0.0)
    async with connected() as peer:
        long = [frame(1, b"a", last=False), *[frame(0, b"b", last=False)] * 3000, frame(0, b"c")]
        messages = b"".join(
            [frame(1, b"first"), *long, *(frame(1, b"%d" % n) for n in range(2000))]
        )
        peer.protocol.data_received(messages)
        await until_all_is_taken(peer)
        while len(peer.told) < 2002:  # noqa: ASYNC110  # the application takes one a turn
            await asyncio.sleep(0)
        assert peer.told == ["first", "a" + "b" * 3000 + "c", *map(str, range(2000))]
        assert peer.line.reading


async def test_pings_of_who_does_not_read_are_not_answered() -> None:
    async with connected() as peer:
        peer.protocol.pause_writing()
        peer.protocol.data_received(frame(9, b"hi") * 100)
        assert peer.line.written == b""
        peer.protocol.resume_writing()
        peer.protocol.data_received(frame(9, b"ho"))
        assert peer.line.written == PONG + b"ho"
