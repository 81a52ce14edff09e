"""Cut numbers that are over a limit, and say so; end a call before its caller gives up on it.

Rule 1: what is cut is told in the answer, also in one that is an error.
Rule 2: a caller that waits no longer than so many seconds for an answer (Caller.patience) gets one
by then, whatever it asked for. The last step: what the others waited for counts.
"""

import time
from typing import Any

from msgspec.structs import replace

from nacre.core.catalog.limits import limits_of
from nacre.errors import NacreError
from nacre.services.dispatch.call import Call, Onward
from nacre.settings.table import Settings


class Limit:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def __call__(self, call: Call, onward: Onward) -> Any:
        cut: dict[str, int] = {}
        ends: float | None = None  # when the caller's patience does
        for limit in limits_of(type(call.operation)):
            given = getattr(call.operation, limit.parameter)
            if given is None:
                continue
            most = self._most(limit.most)
            if given > most:
                call.notices.append(
                    f"{limit.parameter} was cut from {given} to {most}, the most that there is"
                )
            if limit.deadline and call.caller.patience is not None:
                ends = call.began + call.caller.patience
                most = min(most, max(0, round((ends - time.monotonic()) * 1000)))
            if given > most:
                cut[limit.parameter] = most
        if cut:
            call.operation = replace(call.operation, **cut)
        try:
            result = await onward(call)
        except NacreError as error:
            self._tell(call, cut, ends)
            if call.notices:
                error.details["notice"] = "; ".join(call.notices)
            raise
        self._tell(call, cut, ends)
        return result

    def _most(self, most: int | str) -> int:
        return most if isinstance(most, int) else round(getattr(self._settings, most) * 1000)

    def _tell(self, call: Call, cut: dict[str, int], ends: float | None) -> None:
        if cut and ends is not None and time.monotonic() >= ends - _CLOCKS:
            call.notices.append(
                f"answered after {call.caller.patience:g} s, before clients give up on the call"
            )


_CLOCKS = 0.02  # seconds by which the loop's clock may differ from this one
