"""Let the policy judge what a call says it will run, before anything is typed or started.

Rule: what is typed is judged again at the moment of typing (permit.py): a call may type something
else than it said, or to somebody else. What was found is on the call, for the steps around this.
"""

from typing import Any, Protocol

from nacre.errors import NacreError
from nacre.services.dispatch.call import Call, Onward


class Judging(Protocol):
    async def before(self, call: Call) -> None:
        """Raises PolicyDenied."""


class JudgeFirst:
    def __init__(self, police: Judging) -> None:
        self._police = police

    async def __call__(self, call: Call, onward: Onward) -> Any:
        """Raises PolicyDenied."""
        try:
            await self._police.before(call)
            return await onward(call)
        except NacreError as error:
            if call.judged.notices:
                error.details.setdefault("notice", "; ".join(call.judged.notices))
            raise
        finally:
            call.notices += call.judged.notices
