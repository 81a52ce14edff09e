"""Tell who runs something that its session's journal has stopped: on a full disk, for example.

Rule: the call goes on. It is told with each answer of a run as long as it is so, and not with
other answers: what a run prints is what would be missed after a crash.
"""

from typing import Any, Protocol

from nacre.core.operations.results import CommandOutcome, RunOutcome, WaitOutcome
from nacre.services.dispatch.call import Call, Onward


class Journals(Protocol):
    def stopped(self, session: str) -> str | None:
        """Return why nothing of a session is written now; None: all is, or nothing ever."""


class TellUnrecorded:
    def __init__(self, journals: Journals) -> None:
        self._journals = journals

    async def __call__(self, call: Call, onward: Onward) -> Any:
        result = await onward(call)
        if _tells_of_run(result):
            for target in call.targets:
                if (reason := self._journals.stopped(target.id)) is not None:
                    call.notices.append(f"{reason}; a crash would lose what is printed meanwhile")
                    break
        return result


def _tells_of_run(result: Any) -> bool:
    if isinstance(result, WaitOutcome):
        return result.run is not None
    return isinstance(result, RunOutcome | CommandOutcome)
