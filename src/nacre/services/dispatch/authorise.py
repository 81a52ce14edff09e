"""Refuse what a caller's scope does not allow."""

from typing import Any

from nacre.errors import Forbidden
from nacre.services.dispatch.call import Call, Onward


class Authorise:
    async def __call__(self, call: Call, onward: Onward) -> Any:
        """Raises Forbidden."""
        needed, given = call.spec.scope_of(call.operation), call.caller.scope
        if given < needed:
            raise Forbidden(
                f"this needs the scope {needed.name.lower()}, but "
                f"this token has {given.name.lower()}"
            )
        return await onward(call)
