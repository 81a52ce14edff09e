"""At the caller's host: standard input that a run on another host reads.

Rule 1: the other host asks for the next part when it has written the last one into the command. So
no more is read ahead than one part, and a slow command holds up whoever writes.
Rule 2: the last part is kept: what is asked for again is answered again.
Rule 3: it is the standard input of the calling process, which the kernel names, as for a run of
this host. Only the host that the call went to can read it.
"""

import asyncio
import os
import secrets
from contextlib import suppress

from nacre.core.operations.hosts.piped import InputPart
from nacre.errors import InvalidInput
from nacre.services.cluster.underway import wake

_PART = 128 * 1024  # bytes: twice what a pipe holds, and one message between hosts


class GivenInputs:
    def __init__(self) -> None:
        self._open: dict[str, GivenInput] = {}

    def give(self, process: int, host: str) -> str:
        """Let a host read the standard input of a process; return its name there.

        Raises InvalidInput if it cannot be read.
        """
        try:
            descriptor = os.open(f"/proc/{process}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise InvalidInput(
                f"standard input cannot be read ({error.strerror})", "leave it out with --no-stdin"
            ) from error
        name = secrets.token_hex(16)
        self._open[name] = GivenInput(descriptor, host)
        return name

    async def read(self, name: str, host: str, position: int) -> InputPart:
        """Raises InvalidInput for what is not given to that host, or no longer."""
        found = self._open.get(name)
        if found is None or found.host != host:
            raise InvalidInput("this input is not given to this host, or no longer")
        return await found.read(position)

    def end(self, name: str, host: str | None = None) -> None:
        """Close it; with a `host`, if it is given to that one."""
        found = self._open.get(name)
        if found is not None and host in (None, found.host):
            self._open.pop(name).close()

    def end_of(self, host: str) -> None:
        """Close what a host read that is gone."""
        for name, given in list(self._open.items()):
            if given.host == host:
                self.end(name)


class GivenInput:
    def __init__(self, descriptor: int, host: str) -> None:
        self.host = host
        self._descriptor = descriptor
        self._turn = asyncio.Lock()
        self._position = 0  # where `_last` begins
        self._last: bytes | None = None

    async def read(self, position: int) -> InputPart:
        """Raises InvalidInput for a position that is neither the next one nor the last."""
        async with self._turn:
            if self._last is None or position == self._position + len(self._last):
                data = await self._next()
                self._position, self._last = position, data
            elif position != self._position:
                raise InvalidInput("this part of the input is no longer kept")
            return InputPart(data=self._last, end=not self._last)

    async def _next(self) -> bytes:
        """Return the next bytes; nothing at their end, or when it is closed meanwhile."""
        while self._descriptor >= 0:
            with suppress(BlockingIOError):
                return os.read(self._descriptor, _PART)
            await self._readable()
        raise InvalidInput("this input is no longer given")

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        descriptor = self._descriptor
        loop.add_reader(descriptor, wake, ready)
        try:
            await ready
        finally:
            if self._descriptor == descriptor:
                loop.remove_reader(descriptor)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1
