"""Find the sessions that a call is about.

Rule 1: from here on the operation names them by id. So a call that waits, for a person or a run,
stays with the same session, even if another session gets its name or port meanwhile.
Rule 2: for a caller whose token is limited to some sessions there are no others: what it names must
be one of them, and what is about no session, or all of them, is refused. Services that list or
follow all sessions leave the others out (Caller.sees).
Rule 3: its limit is a name. When a session gets another one it does not exist for that caller any
more: calls that wait and streams end. Where nobody limited has any open, a renaming costs nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation
from nacre.core.operations.follow import Event
from nacre.core.operations.steps import LIST_SESSIONS
from nacre.errors import Forbidden, InvalidInput, SessionNotFound
from nacre.services.dispatch.call import Call, Onward, Target

_FILTERED = (
    "list_sessions",
    "follow",
    "status",
    "search",
)  # of all sessions: these leave others out
_MAKING = ("create_session", "start_session")
_NAME = 64  # characters of a reference that an error repeats


class References(Protocol):
    """What finds sessions."""

    def session(self, reference: str | int) -> Target:
        """Find one by its name, id or port. Raises SessionNotFound."""

    def of_run(self, run_id: str) -> Target | None:
        """Return the session of a run; None for an unknown run."""


class TellsChanges(Protocol):
    """What tells of changes of sessions (host/bus.py)."""

    def add(self, listener: Any) -> None: ...

    def remove(self, listener: Any) -> None: ...


class _LimitedCall(NamedTuple):
    caller: Caller
    sessions: frozenset[str]  # their ids
    validity: asyncio.Timeout


class Renames:
    """Ends what a limited caller has open on a session that gets a name which it does not see."""

    kinds = frozenset({"sessions"})

    def __init__(self, events: TellsChanges) -> None:
        self._events = events
        self._open: list[_LimitedCall] = []

    def happened(self, kind: str, session: Any, event: Event) -> None:
        if session is None or getattr(event, "change", None) != "renamed":
            return
        now, known = asyncio.get_running_loop().time(), session.identity
        for one in self._open:
            if known.id in one.sessions and not one.caller.sees(known.name):
                one.validity.reschedule(now)

    @asynccontextmanager
    async def ending(self, call: Call) -> AsyncIterator[None]:
        """Raises SessionNotFound when one of the call's sessions is no longer seen."""
        try:
            async with asyncio.Timeout(None) as validity:
                one = _LimitedCall(call.caller, frozenset(to.id for to in call.targets), validity)
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
            told = "the session is not there for this token"
            raise SessionNotFound(told, LIST_SESSIONS) from error


class Resolve:
    def __init__(self, references: References, renames: Renames) -> None:
        self._references = references
        self._renames = renames

    async def __call__(self, call: Call, onward: Onward) -> Any:
        """Raises SessionNotFound, and Forbidden for what a limited caller may not do."""
        if call.caller.sessions is not None:
            self._require_known(call)
        if call.spec.references:
            call.operation, found = self._resolved(call.operation, call.spec.references)
            call.targets = tuple(dict.fromkeys(found))
        if call.caller.sessions is None or not call.targets:
            return await onward(call)
        if call.stack is not None:  # a stream: it lasts longer than this call
            await call.stack.enter_async_context(self._renames.ending(call))
            return await onward(call)
        async with self._renames.ending(call):
            return await onward(call)

    def _require_known(self, call: Call) -> None:
        operation, caller = call.operation, call.caller
        given = [
            (name, value)
            for name in call.spec.references
            if (value := getattr(operation, name)) is not None
        ]
        for name, value in given:
            if name == "run_id":
                target = self._references.of_run(value)
                if target is not None and not caller.sees(target.name):
                    raise InvalidInput(f"no run {value!r}: it is unknown, or too old")
                continue
            for reference in value if name == "sessions" else [value]:
                self._require_seen(call, reference)
        new = getattr(operation, "name", None) if call.spec.name in _MAKING else None
        if new is not None and caller.sees(new):
            return
        renamed = getattr(operation, "new_name", None)
        if renamed is not None and not caller.sees(renamed):
            raise Forbidden("this token is limited to sessions of other names")
        if not given and call.spec.name not in _FILTERED:
            raise Forbidden(
                "this token is limited to some sessions, and this is not about one of them"
            )

    def _require_seen(self, call: Call, reference: str | int) -> None:
        """Raises SessionNotFound, in the same words whether there is such a session or not."""
        with suppress(SessionNotFound):
            if call.caller.sees(self._references.session(reference).name):
                return
        raise SessionNotFound(
            f"no session {str(reference)[:_NAME]!r} for this token", LIST_SESSIONS
        )

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
