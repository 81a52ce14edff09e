"""The gate of input: whoever types into a session, or acts on its program, passes here.

Rule: who may do so is asked here and nowhere else. It is asked before the call, and again at each
write that the call causes (permit.py).
"""

from typing import Any

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
                await self._gate.admit(caller, target.id)
        permit = Permit(
            self._gate,
            caller,
            types=types or spec.asks,
            police=self._police,
            judged=call.judged,
        )
        with holding(permit):
            return await onward(call)
