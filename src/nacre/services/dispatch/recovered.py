"""Wait for the sessions of an earlier daemon that a call is about, until they are recovered.

Rule 1: a call that reads or types in sessions waits for these, which are then recovered first. Any
other call waits for all of them: a list without some would be wrong, and a name or port that seems
free may be one's that is still to come.
Rule 2: once all are recovered, this step does nothing.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from nacre.core.catalog.caller import Scope
from nacre.core.operations.daemon import GetStatus, StopDaemon, UpgradeDaemon
from nacre.services.dispatch.call import Call, Onward

# Status counts what is still to come; the end of the daemon waits for it, or leaves it to the next.
_AT_ONCE = (GetStatus, StopDaemon, UpgradeDaemon)


class Recovering(Protocol):
    @property
    def is_over(self) -> bool: ...

    async def session(self, reference: str | int) -> None:
        """Return when the session is there that is meant by this, or it is certain that none is."""

    async def every_session(self) -> None:
        """Return when all of them are there."""


class Recovered:
    def __init__(self, recovering: Recovering) -> None:
        self._recovering = recovering

    async def __call__(self, call: Call, onward: Onward) -> Any:
        if not self._recovering.is_over and not isinstance(call.operation, _AT_ONCE):
            await self._wait(call)
        return await onward(call)

    async def _wait(self, call: Call) -> None:
        stays = call.spec.scope is Scope.OBSERVE or call.spec.types_into(call.operation)
        references = list(_references(call)) if stays else []
        if not references:
            await self._recovering.every_session()
        for reference in references:
            await self._recovering.session(reference)


def _references(call: Call) -> Iterator[str | int]:
    """Yield the sessions that a call names; none if it names a run, which may be in any."""
    given = {name: getattr(call.operation, name) for name in call.spec.references}
    if given.pop("run_id", None) is not None:
        return
    for name, value in given.items():
        if name == "sessions":
            yield from value or ()
        elif value is not None:
            yield value
