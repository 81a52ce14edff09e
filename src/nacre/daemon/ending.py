"""The end of the daemon, step by step.

Rule 1: no step keeps the next one from its turn. What fails is logged, and so is what takes longer
than end_time, with the place where it waits; then the next step follows.
Rule 2: sessions end whatever else is stuck. Before they do, they have the time that their own
settings give them, too.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from typing import Any

from nacre.late_import import is_importing

_log = logging.getLogger("nacre.daemon")


class LastSteps:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.complete = True  # nothing was left that still waits for something

    async def step(self, what: str, work: Coroutine[Any, Any, Any], more: float = 0.0) -> None:
        """Do this, for so many seconds `more` than a step has."""
        await self.until(what, asyncio.create_task(work, name=what), more)

    async def until(self, what: str, task: "asyncio.Future[Any]", more: float = 0.0) -> None:
        """Wait for what is under way; see step."""
        await asyncio.wait((task,), timeout=self._seconds + more)
        if not task.done():
            self._leave((task,), what)
        elif not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a step of the end failed", extra={"step": what}, exc_info=error)

    async def rest(self) -> None:
        """End all tasks and threads that are left: the loop would wait for them for ever.

        A thread that imports a library is not waited for at all.
        """
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            _, left = await asyncio.wait(others, timeout=self._seconds)
            if left:
                self._leave(left, "what was under way")
        if is_importing():
            self.complete = False
            return
        threads = asyncio.create_task(asyncio.get_running_loop().shutdown_default_executor())
        _, busy = await asyncio.wait((threads,), timeout=self._seconds)
        if busy:
            self.complete = False  # it is not cancelled: it would wait for the threads at once
            _log.warning("a step of the end takes too long", extra={"step": "threads"})

    def _leave(self, tasks: "Iterable[asyncio.Future[Any]]", what: str) -> None:
        self.complete = False
        for task in tasks:
            place = _place(task) if isinstance(task, asyncio.Task) else ""
            _log.warning("a step of the end takes too long", extra={"step": what, "at": place})
            task.cancel()


def _place(task: "asyncio.Task[Any]") -> str:
    """Return where a task waits, the innermost line last."""
    lines = []
    waiting: Any = task.get_coro()
    while (frame := getattr(waiting, "cr_frame", None)) is not None:
        lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        waiting = waiting.cr_await
    return f"{task.get_name()}: {' > '.join(lines)}"
