"""Make the next large answer of a client only when it has read the last one.

A client may send dozens of requests at once and read no answer. Each answer would wait in memory,
and a scrollback has megabytes.

Rule 1: one connection has one large answer at a time, from the first line that is read for it until
the client has taken it. Small answers, and what waits for a program, do not wait for it.
Rule 2: a composed tool asks for several things, and may wait between them: its answer is short, and
it holds nobody up.
Rule 3: a door bounds how long a client may read nothing (`unread_time`), and so this wait.
"""

import asyncio
from contextvars import ContextVar
from typing import Any

from nacre.context_block import ContextBlock
from nacre.core.operations.apps.seeing import GetCells, TakeSnapshot
from nacre.core.operations.recordings import ExportRecording, ScreenAt, SearchSessions
from nacre.core.operations.runs import ReadRun
from nacre.core.operations.sessions import ListSessions
from nacre.core.operations.terminal import GetScrollback, ReadOutput, Screenshot
from nacre.services.dispatch.call import Call, Onward

# What only reads, and may answer with megabytes.
_LARGE = (
    *(GetScrollback, ReadOutput, ListSessions, TakeSnapshot, GetCells),
    *(ReadRun, Screenshot, ScreenAt, ExportRecording, SearchSessions),
)


class _Delivery:
    """One request of a connection, until its answer is delivered."""

    def __init__(self, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._has_it = False
        self._over = False

    async def begin(self) -> None:
        # What a request has started may outlive it, in its context: a session's port, for one.
        if self._over or self._has_it:
            return
        await self._turn.acquire()
        self._has_it = True
        self._give_back_if_over()  # it may have ended meanwhile

    def end(self) -> None:
        self._over = True
        self._give_back_if_over()

    def _give_back_if_over(self) -> None:
        if self._over and self._has_it:
            self._has_it = False
            self._turn.release()


_current: ContextVar[_Delivery | None] = ContextVar("delivery", default=None)


class delivered:  # as a generator it would cost each call 2.5 µs more
    """Ask and answer in this block; `turn` is the connection's, for its large answers."""

    __slots__ = ("_before", "_delivery")

    def __init__(self, turn: asyncio.Lock) -> None:
        self._delivery = _Delivery(turn)

    def __enter__(self) -> None:
        self._before = _current.set(self._delivery)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._before)
        self._delivery.end()


def undelivered() -> ContextBlock[_Delivery | None]:
    """Ask in this block for what is no answer by itself."""
    return ContextBlock(_current, None)


class Deliver:
    async def __call__(self, call: Call, onward: Onward) -> Any:
        delivery = _current.get()
        if delivery is not None and isinstance(call.operation, _LARGE):
            await delivery.begin()
        return await onward(call)
