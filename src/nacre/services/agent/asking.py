"""One call of a tool, and the operations that it asks for.

Rule 1: every operation goes through dispatch, as the caller's own: judged, permitted, recorded.
Rule 2: the caller's patience is that of the whole call, not of each operation.
Rule 3: what the caller is to be told (a hand-over, a notice) is collected, and told once.
"""

import asyncio
from typing import TypeVar

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Result
from nacre.core.catalog.limits import cut_told, limits_of
from nacre.services.dispatch.dispatch import Ask

ResultT = TypeVar("ResultT", bound=Result)
OperationT = TypeVar("OperationT", bound=Operation)

_LAST_READS = 0.5  # seconds of the patience that are left for reading what came


class AgentCall:
    def __init__(self, ask: Ask, caller: Caller) -> None:
        self._ask = ask
        self.caller = caller
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self.told: list[str] = []

    async def __call__(self, operation: Operation, kind: type[ResultT]) -> ResultT:
        """Ask for an operation whose result is of this kind. Raises what dispatch raises."""
        answer = await self._ask(replace(self.caller, patience=self._patience()), operation)
        if answer.told is not None:
            self.told.append(answer.told.in_words())
        self.told += [one for one in answer.notices if one not in self.told]
        assert isinstance(answer.result, kind), type(answer.result)
        return answer.result

    def within_limits(self, request: OperationT) -> OperationT:
        """Return the request with its numbers cut to their limits, and tell of those that were."""
        cut: dict[str, int] = {}
        for limit in limits_of(type(request)):
            given = getattr(request, limit.parameter)
            if isinstance(limit.most, int) and given > limit.most:
                cut[limit.parameter] = limit.most
                self.told.append(cut_told(limit.parameter, given, limit.most))
        return replace(request, **cut) if cut else request

    def milliseconds(self, seconds: float) -> int:
        """Return how long a wait of so many seconds may take, from now on."""
        patience = self._patience()
        most = seconds if patience is None else min(seconds, patience - _LAST_READS)
        return max(0, round(most * 1000))

    @property
    def now(self) -> float:
        """The loop's clock."""
        return self._loop.time()

    @property
    def elapsed(self) -> float:
        return self._loop.time() - self._began

    def _patience(self) -> float | None:
        given = self.caller.patience
        return None if given is None else max(0.0, given - self.elapsed)
