"""A call's permit to type: who may type is asked at the moment of typing.

A call is admitted once and may then wait, for a prompt or a mark, before it types; a person may
have taken the session over by then. So every write asks again, and nothing comes between the
answer and the write.

Rule 1: the permit goes with the call, not by way of parameters: nothing that a handler calls can
leave it out. Who works for no call, such as a recovery, needs none.
Rule 2: an operation types only if the catalog says that it does. What types for itself alone,
where it may (`asks`), never waits: it is left undone.
Rule 3: everything that is typed for a call passes `type_into`: who wants to judge the very bytes
stands here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from nacre.core.catalog.caller import Caller, Scope
from nacre.errors import ControlHeld


class Gate(Protocol):
    """Who knows who drives. Sessions are named by id."""

    def allows(self, caller: Caller, session: str) -> bool:
        """Tell whether this caller may type now."""

    async def admit(self, caller: Caller, session: str) -> None:
        """Return when this caller may type. Raises ControlHeld when that takes too long."""

    def refusal(self, caller: Caller, session: str) -> ControlHeld:
        """Return what a caller is told that may not type now."""


class Known(Protocol):
    @property
    def id(self) -> str: ...


class Typeable(Protocol):
    """What can be typed into: a session."""

    @property
    def identity(self) -> Known: ...

    def write(self, data: bytes, *, recorded: bytes | None = None) -> None: ...


class Permit:
    """What one call may type, and where."""

    def __init__(self, gate: Gate, caller: Caller, *, types: bool) -> None:
        self.caller = caller
        self._gate = gate
        self._types = types  # the catalog says that it does

    def allows(self, session: str) -> bool:
        drives = self.caller.scope >= Scope.DRIVE
        return self._types and drives and self._gate.allows(self.caller, session)

    async def turn(self, session: str) -> bool:
        """Return when it may type; whether it had to wait for that. Raises ControlHeld."""
        waited = False
        while not self._gate.allows(self.caller, session):
            waited = True
            await self._gate.admit(self.caller, session)
        return waited

    def require(self, session: str) -> None:
        """Raises ControlHeld."""
        assert self._types, "an operation types that the catalog does not know to type"
        if not self._gate.allows(self.caller, session):
            raise self._gate.refusal(self.caller, session)


_of_this_call: ContextVar[Permit | None] = ContextVar("permit", default=None)


@contextmanager
def holding(permit: Permit) -> Iterator[None]:
    """Let what is done meanwhile type by this permit."""
    token = _of_this_call.set(permit)
    try:
        yield
    finally:
        _of_this_call.reset(token)


def may_type(session: Typeable) -> bool:
    """Tell whether the call may type there at once."""
    permit = _of_this_call.get()
    return permit is None or permit.allows(session.identity.id)


async def turn(session: Typeable) -> bool:
    """Return when the call may type there; whether it had to wait. Raises ControlHeld.

    After a wait nothing is as it was: who has looked at the screen looks again.
    """
    permit = _of_this_call.get()
    return permit is not None and await permit.turn(session.identity.id)


async def type_into(session: Typeable, data: bytes, *, recorded: bytes | None = None) -> None:
    """Type for the call, when it is its turn. Raises ControlHeld, and what Session.write raises."""
    await turn(session)
    session.write(data, recorded=recorded)


def require_permit(session: str) -> Caller | None:
    """Return for whom is typed; None: for no call. Asked by the session at each write.

    Raises ControlHeld.
    """
    permit = _of_this_call.get()
    if permit is None:
        return None
    permit.require(session)
    return permit.caller
