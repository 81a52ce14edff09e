"""Find the sessions that a call is about.

Rule: from here on the operation names them by id. So a call that waits, for a person or a run,
stays with the same session, even if another session gets its name or port meanwhile.
"""

from typing import Any, Protocol

from msgspec.structs import replace

from nacre.core.catalog.catalog import Operation
from nacre.services.dispatch.call import Call, Onward, Target


class References(Protocol):
    """What finds sessions."""

    def session(self, reference: str | int) -> Target:
        """Find one by its name, id or port. Raises SessionNotFound."""

    def of_run(self, run_id: str) -> Target | None:
        """Return the session of a run; None for an unknown run."""


class Resolve:
    def __init__(self, references: References) -> None:
        self._references = references

    async def __call__(self, call: Call, onward: Onward) -> Any:
        """Raises SessionNotFound."""
        if call.spec.references:
            call.operation, found = self._resolved(call.operation, call.spec.references)
            call.targets = tuple(dict.fromkeys(found))
        return await onward(call)

    def _resolved(
        self, operation: Operation, names: tuple[str, ...]
    ) -> tuple[Operation, list[Target]]:
        found: list[Target] = []
        ids: dict[str, Any] = {}
        for name in names:
            given = getattr(operation, name)
            if given is None:
                continue
            if name == "run_id":
                target = self._references.of_run(given)
                found += [] if target is None else [target]
            elif name == "sessions":
                several = [self._references.session(one) for one in given]
                ids[name] = [target.id for target in several]
                found += several
            else:
                target = self._references.session(given)
                ids[name] = target.id
                found.append(target)
        return (replace(operation, **ids) if ids else operation), found
