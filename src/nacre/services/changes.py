"""Who waits for a session's next change: its next output, or its end.

Rule 1: a wait ends with what it waits for or at its time; nothing here polls.
Rule 2: who gives up is forgotten at once; output that nobody waits for costs one look.
"""

import asyncio


class Changes:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._for_output: list[asyncio.Future[None]] = []
        self._for_end: list[asyncio.Future[None]] = []  # who waits for output waits for it as well

    def note_output(self) -> None:
        if self._for_output:
            _wake(self._for_output)

    def note_end(self) -> None:
        _wake(self._for_end)

    async def next(self, until: float, *, output: bool) -> None:
        """Return when the child ends, at the next output if `output`, at the latest at `until`."""
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
