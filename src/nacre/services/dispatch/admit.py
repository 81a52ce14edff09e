"""The gate of input: whoever types into a session, or acts on its program, passes here.

Rule 1: who may do so is asked here and nowhere else. It is asked before the call, and again at each
write that the call causes (permit.py).
Rule 2: a call's own time-out is an upper bound: waiting for the person who drives counts, too.
"""

import time
from typing import Any

import msgspec

from nacre.services.dispatch.call import Call, Onward
from nacre.services.dispatch.permit import Gate, Permit, TypingJudge, holding


class Admit:
    def __init__(self, gate: Gate, police: TypingJudge | None = None) -> None:
        self._gate = gate
        self._police = police

    async def __call__(self, call: Call, onward: Onward) -> Any:
        """Raises ControlHeld."""
        spec, caller = call.spec, call.caller
        types = spec.types_into(call.operation)
        # A person may end or resize what another one drives: they can talk to each other.
        if types or (spec.acts_on(call.operation) and not caller.person):
            for target in call.targets:
                await self._admit(call, target.id)
        limit = _limit(call)
        permit = Permit(
            self._gate,
            caller,
            types=types or spec.asks,
            police=self._police,
            judged=call.judged,
            until=None if limit is None else time.monotonic() + limit[1] / 1000,
        )
        with holding(permit):
            return await onward(call)

    async def _admit(self, call: Call, session: str) -> None:
        if self._gate.allows(call.caller, session):
            return
        limit, asked = _limit(call), time.monotonic()
        within = None if limit is None else limit[1] / 1000
        await self._gate.admit(call.caller, session, within=within)
        if limit is not None:
            left = max(0, limit[1] - round((time.monotonic() - asked) * 1000))
            call.operation = msgspec.structs.replace(call.operation, **{limit[0]: left})


def _limit(call: Call) -> tuple[str, int] | None:
    """Return which parameter bounds a call's time, and its milliseconds."""
    for name in ("max_wait_ms", "timeout_ms"):  # beside the first, the second is of quiet
        if isinstance(value := getattr(call.operation, name, None), int):
            return name, value
    return None
