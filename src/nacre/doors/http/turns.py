"""How long connections together may parse what they received in one turn of the loop.

A chunk of a body may be one byte, and a request thirty: what comes in one read can take 20 ms.

Rule 1: all connections share a turn's time; who finds none left waits for the next turn, in order.
Rule 2: of a connection that waits nothing is read (HeldFlow).
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from uvicorn.protocols.http.flow_control import FlowControl

_TURN = 0.002  # seconds


class Turns:
    def __init__(
        self, seconds: float = _TURN, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._until = 0.0
        self._lasts = False  # a turn in which somebody has asked for time
        self._waiting: deque[Callable[[], None]] = deque()

    def has_time(self) -> bool:
        """Return whether this turn has time left; who asks first in it always finds some."""
        if not self._lasts:
            self._lasts = True
            self._until = self._clock() + self._seconds
            asyncio.get_running_loop().call_soon(self._next)
            return True
        return self._clock() < self._until

    def wait(self, go_on: Callable[[], None]) -> None:
        """Have it called in a turn that has time; for who has just found none."""
        self._waiting.append(go_on)

    def _next(self) -> None:
        self._lasts = False
        for _ in range(len(self._waiting)):
            self._waiting.popleft()()  # the first that asks for time begins the turn
            if self._lasts and self._clock() >= self._until:
                return


class HeldFlow(FlowControl):
    """uvicorn's, but nobody reads on from a connection that holds what it has not parsed.

    Each request that waits for its client reads on, and what is held would grow without end.
    """

    def __init__(self, transport: asyncio.Transport, holds: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._holds = holds

    def resume_reading(self) -> None:
        if not self._holds():
            super().resume_reading()
