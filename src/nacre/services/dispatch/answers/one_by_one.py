"""Answer what takes long to read one by one, each caller in turn.

A scrollback or a list of many sessions is read in slices, with a turn of the loop after each. One
client may have dozens of such calls under way, and each turn would have a slice of every one: who
asks for something small would wait for all of them, several times.

Rule 1: only reading that needs nothing but the processor is in here: nothing that waits for a
program, a person or a disk, because the others wait for it.
Rule 2: callers take turns, so that who asks once does not wait for all of who asks often.
"""

import asyncio
from collections import deque
from typing import Any

from nacre.core.operations.apps.seeing import GetCells, TakeSnapshot
from nacre.core.operations.sessions import ListSessions
from nacre.core.operations.terminal import GetScrollback, ReadOutput
from nacre.services.dispatch.call import Call, Onward

_LARGE = (GetScrollback, ReadOutput, ListSessions, TakeSnapshot, GetCells)


class OneByOne:
    def __init__(self) -> None:
        self._busy = False
        # By caller, the next first. Bounded by the doors, each of which counts its requests.
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    async def __call__(self, call: Call, onward: Onward) -> Any:
        if not isinstance(call.operation, _LARGE):
            return await onward(call)
        await self._enter(id(call.caller))
        try:
            return await onward(call)
        finally:
            self._leave()

    async def _enter(self, caller: int) -> None:
        if not self._busy:
            self._busy = True
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was given the turn in the same moment
                self._leave()
            raise

    def _leave(self) -> None:
        while self._waiting:
            caller = next(iter(self._waiting))
            waiting = self._waiting.pop(caller)
            turn = waiting.popleft()
            if waiting:
                self._waiting[caller] = waiting  # behind the others
            if not turn.done():
                turn.set_result(None)
                return
        self._busy = False
