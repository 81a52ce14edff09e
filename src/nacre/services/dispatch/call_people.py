"""Call a person when an agent's call has met a program that asks for a password or a yes.

Rule: the agent is told that it was done; what is typed goes from the person to the program.
"""

from typing import Any, Protocol

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import CommandOutcome, Pressed, RunOutcome, Sent, WaitOutcome
from nacre.core.shell.state import State
from nacre.services.dispatch.call import Call, Onward

# Results of what types or waits; who only looks calls nobody.
_MET = (RunOutcome, CommandOutcome, Sent, Pressed, WaitOutcome)


class People(Protocol):
    async def call(
        self, caller: Caller, reference: str, state: State, *, types: bool
    ) -> str | None:
        """Return what the caller is told; None: nobody was called."""


class CallPeople:
    def __init__(self, people: People) -> None:
        self._people = people

    async def __call__(self, call: Call, onward: Onward) -> Any:
        result = await onward(call)
        state = result.state if isinstance(result, _MET) else None
        if state is not None and state.state == "needs_input" and call.targets:
            session = getattr(result, "session", None) or call.targets[0].id
            types = call.spec.types_into(call.operation)
            told = await self._people.call(call.caller, session, state, types=types)
            if told is not None:
                call.notices.append(told)
        return result
