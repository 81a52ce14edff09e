"""End what a limited caller has open on a session that gets a name which its token does not have.

Rule 1: a token's limit is a name. From the moment of the renaming the session does not exist for
it: calls that wait and streams end as if it had never been there.
Rule 2: where nobody limited has anything open, a renaming costs nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Protocol

from nacre.core.catalog.caller import Caller
from nacre.core.operations.follow import Event
from nacre.core.operations.steps import LIST_SESSIONS
from nacre.errors import SessionNotFound
from nacre.services.dispatch.call import Call


class Renamings(Protocol):
    """What tells of changes of sessions (host/bus.py)."""

    def add(self, listener: Any) -> None: ...

    def remove(self, listener: Any) -> None: ...


class _Open(NamedTuple):
    caller: Caller
    sessions: frozenset[str]  # their ids
    validity: asyncio.Timeout


class Sight:
    kinds = frozenset({"sessions"})

    def __init__(self, events: Renamings) -> None:
        self._events = events
        self._open: list[_Open] = []

    def happened(self, kind: str, session: Any, event: Event) -> None:
        if session is None or getattr(event, "change", None) != "renamed":
            return
        now = asyncio.get_running_loop().time()
        for one in self._open:
            known = session.identity
            if known.id in one.sessions and not one.caller.sees(known.name):
                one.validity.reschedule(now)

    @asynccontextmanager
    async def kept(self, call: Call) -> AsyncIterator[None]:
        """Raises SessionNotFound when one of the call's sessions is no longer seen."""
        try:
            async with asyncio.timeout(None) as validity:
                one = _Open(call.caller, frozenset(found.id for found in call.targets), validity)
                if not self._open:
                    self._events.add(self)
                self._open.append(one)
                try:
                    yield
                finally:
                    self._open.remove(one)
                    if not self._open:
                        self._events.remove(self)
        except TimeoutError as error:
            if not validity.expired():
                raise
            raise SessionNotFound(
                "the session is not there for this token", LIST_SESSIONS
            ) from error
