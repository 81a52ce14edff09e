"""Cut numbers that are over a limit, and say so; end a call before its caller gives up on it.

Rule 1: what is cut is told in the answer, also in one that is an error.
Rule 2: a caller that waits no longer than so many seconds for an answer (Caller.patience) gets one
by then, whatever it asked for. The last step: what the others waited for counts.
"""

import time
from typing import Any

from msgspec.structs import replace

from nacre.core.catalog.limits import cut_told, limits_of
from nacre.core.text.budget import json_chars
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
                call.notices.append(cut_told(limit.parameter, given, most))
            if limit.deadline and call.caller.patience is not None:
                ends = call.began + call.caller.patience
                most = min(most, max(0, round((ends - time.monotonic()) * 1000)))
            if given > most:
                cut[limit.parameter] = most
        if cut:
            call.operation = replace(call.operation, **cut, **_room_for(call))
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

_NAME = len('"notice":"",')


def _room_for(call: Call) -> dict[str, int]:
    """Return max_chars without what the notices take; by default there is room for them."""
    asked = getattr(call.operation, "max_chars", None)
    if asked is None or not call.notices:
        return {}
    return {"max_chars": max(1, asked - _NAME - json_chars("; ".join(call.notices)))}
