"""Waits for a session's next change: its next output, or its end.

Rule 1: a wait ends with the change or at its time; nothing here polls.
Rule 2: a cancelled wait is forgotten at once; without waits, output costs only one check.
"""

import asyncio


class Changes:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._for_output: list[asyncio.Future[None]] = []
        self._for_end: list[asyncio.Future[None]] = []  # a wait for output also ends with the child

    def note_output(self) -> None:
        if self._for_output:
            _wake(self._for_output)

    def note_end(self) -> None:
        _wake(self._for_end)

    async def next(self, until: float, *, output: bool) -> None:
        """Return when the child ends, at the next output if `output`, or at the time `until`."""
        future = self._loop.create_future()
        if output:
            self._for_output.append(future)
        self._for_end.append(future)
        timer = self._loop.call_at(until, _settle, future)
        try:
            await future
        finally:
            timer.cancel()
            for waiting in (self._for_output, self._for_end):
                if future in waiting:
                    waiting.remove(future)


def _wake(waiting: "list[asyncio.Future[None]]") -> None:
    for future in waiting:
        _settle(future)
    waiting.clear()


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
