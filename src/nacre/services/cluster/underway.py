"""An ask under way to another host, and what came for it.

Rule: this is paid at every call. So there is no queue, no task and no timer here, but a future;
who has the asks looks now and then which of them are due.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from enum import Enum

from nacre.core.cluster.messages import HostAnswer
from nacre.services.cluster.questions import QuestionsHere


class Nobody(Enum):
    READS = "nobody takes asks there now: it did not get this one"
    ANSWERS = "no answer came in time"


class Underway:
    """An ask that is not answered yet."""

    __slots__ = ("_came", "_waiting", "begun", "due", "host", "questions")

    def __init__(
        self, host: str, begun: Callable[[str], None] | None, questions: QuestionsHere | None
    ) -> None:
        """`begun` takes the id of its run, once."""
        self.host = host
        self.begun = begun
        self.questions = questions
        self._came: deque[HostAnswer | Nobody] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self.due = math.inf  # when there should be an answer

    def tell_begun(self, run_id: str) -> None:
        if self.begun is not None:
            self.begun(run_id)
            self.begun = None  # it may be told again

    def take(self, answer: HostAnswer | Nobody) -> None:
        self._came.append(answer)
        if self._waiting is not None:
            wake(self._waiting)

    def end_wait(self) -> None:
        """There is no answer in time."""
        if self._waiting is not None:
            wake(self._waiting)

    async def next(self, due: float) -> HostAnswer | Nobody:
        """Return the next answer, or when `end_wait` says so that there is none yet."""
        if not self._came:
            self._waiting = asyncio.get_running_loop().create_future()
            self.due = due
            try:
                await self._waiting
            finally:
                self._waiting = None
                self.due = math.inf
        return self._came.popleft() if self._came else Nobody.ANSWERS


def wake(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
