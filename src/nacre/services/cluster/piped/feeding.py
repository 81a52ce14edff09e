"""At the session's host: a pipe that the command's shell opens, filled from the caller's host.

Rule 1: only the end of the caller's input ends it. When the caller's host is lost, the command
waits on: it must not take half of its input for all of it.
Rule 2: it goes with its run. Until then this daemon holds the end that is read, too: the shell may
open it after all was written.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress

from nacre.core.operations.hosts.piped import EndInput, InputPart, ReadInput
from nacre.errors import NacreError
from nacre.services.cluster.underway import wake

_log = logging.getLogger("nacre.cluster")

AskForInput = Callable[[str, ReadInput | EndInput], Awaitable[InputPart | None]]


class FedRuns:
    """The runs of this host that read input of other hosts."""

    def __init__(self, ask: AskForInput) -> None:
        """`ask` asks a host for the next part, or tells it that no more is read."""
        self._ask = ask
        self._fed: dict[str, FedRun] = {}  # by the ids of runs

    def prepare(self, host: str, name: str) -> "FedRun":
        """Return the pipe of a run that may begin; `name` is how that host calls the input."""
        return FedRun(host, name, self._ask)

    def begun(self, run_id: str, fed: "FedRun") -> None:
        self._fed[run_id] = fed
        fed.begin()

    def ended(self, run_id: str | None) -> None:
        if run_id is not None and (fed := self._fed.pop(run_id, None)) is not None:
            fed.close()

    def end(self) -> None:
        for run_id in list(self._fed):
            self.ended(run_id)


class FedRun:
    def __init__(self, host: str, name: str, ask: AskForInput) -> None:
        self._host = host
        self._name = name
        self._ask = ask
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)
        self._filling: asyncio.Task[None] | None = None

    @property
    def path(self) -> str:
        """Return the file that the shell opens."""
        return f"/proc/{os.getpid()}/fd/{self._reads}"

    @property
    def has_begun(self) -> bool:
        return self._filling is not None

    def begin(self) -> None:
        self._filling = asyncio.create_task(self._fill(), name="piped input")

    def close(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
            _tell(self._ask(self._host, EndInput(name=self._name)))
        self._close_end()
        os.close(self._reads)

    async def _fill(self) -> None:
        position = 0
        while True:
            try:
                part = await self._ask(self._host, ReadInput(name=self._name, position=position))
            except NacreError as error:
                _log.warning("input is cut", extra={"host": self._host, "error": str(error)})
                return
            assert part is not None
            if part.end:
                self._close_end()
                return
            await self._write(part.data)
            position += len(part.data)

    async def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._writes, left) :]
            except BlockingIOError:
                await self._writable()

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        loop.add_writer(self._writes, wake, ready)
        try:
            await ready
        finally:
            if self._writes >= 0:
                loop.remove_writer(self._writes)

    def _close_end(self) -> None:
        if self._writes >= 0:
            asyncio.get_running_loop().remove_writer(self._writes)
            os.close(self._writes)
            self._writes = -1


def _tell(asked: Awaitable[object]) -> None:
    async def tell() -> None:
        with suppress(NacreError):  # the host is gone, and its input with it
            await asked

    task = asyncio.create_task(tell())
    _TELLING.add(task)
    task.add_done_callback(_TELLING.discard)


_TELLING: set[asyncio.Task[None]] = set()
