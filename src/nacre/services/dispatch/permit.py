"""A call's permit to type: who may type is asked at the moment of typing.

A call is admitted once and may then wait, for a prompt or a mark, before it types; a person may
have taken the session over by then. So every write asks again, and nothing comes between the
answer and the write.

Rule 1: the permit goes with the call, not by way of parameters: nothing that a handler calls can
leave it out. Who works for no call, such as a recovery, needs none.
Rule 2: an operation types only if the catalog says that it does. What types for itself alone,
where it may (`asks`), never waits: it is left undone.
Rule 3: everything that is typed for a call passes `type_into`, where the policy judges the very
bytes. A write that may run something and was not judged is refused: no handler can get around it.
"""

import time
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from msgspec import Struct, field

from nacre.context_block import ContextBlock
from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations.watch import Receipt
from nacre.core.policy.verdicts import Preset, Verdict
from nacre.core.shell.entering import may_run
from nacre.errors import ControlHeld, PolicyDenied


class Gate(Protocol):
    """Who knows who drives. Sessions are named by id."""

    def allows(self, caller: Caller, session: str) -> bool:
        """Tell whether this caller may type now."""

    async def admit(self, caller: Caller, session: str, *, within: float | None = None) -> None:
        """Return when this caller may type. Raises ControlHeld when that takes too long.

        `within` is how many seconds the call has left, if it has a bound of its own.
        """

    def refusal(self, caller: Caller, session: str) -> ControlHeld:
        """Return what a caller is told that may not type now."""


class Known(Protocol):
    @property
    def id(self) -> str: ...


class Typeable(Protocol):
    """What can be typed into: a session."""

    @property
    def identity(self) -> Known: ...

    @property
    def inputs(self) -> int: ...

    def write(
        self, data: bytes, *, recorded: bytes | None = None, receipt: Receipt | None = None
    ) -> None: ...


class Judgement(NamedTuple):
    """What the policy said about one thing that a call was about to run."""

    verdict: Verdict  # the policy's own
    session: str  # its id; "" for one that is about to be created
    line: str  # as far as it is known
    preset: Preset
    reasons: tuple[str, ...] = ()
    rule: str | None = None
    known: bool = True  # the line is all that the shell will read
    answer: str | None = None  # a person's, to what asks: once, session, save, deny, or none


class Judged(Struct):
    """What the policy found while one call was served."""

    judgements: list[Judgement] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)  # what the caller is told of it

    def tell(self, notice: str) -> None:
        if notice not in self.notices:
            self.notices.append(notice)


class ToType(NamedTuple):
    """What is about to be typed, and what its sender knows about it."""

    data: bytes
    runs: str | None = None  # the command that the shell will run for it, whatever the bytes are
    part_of: str | None = None  # the text whose lines are typed one by one; this is the next


class TypingJudge(Protocol):
    """Who judges what is typed (services/policy)."""

    def judges(self, caller: Caller) -> bool:
        """Tell whether what this caller types is judged at all."""

    async def judge(
        self, permit: "Permit", session: "Typeable", typing: ToType
    ) -> tuple[bytes, bool]:
        """Return what is left to type, and whether that took time. Raises PolicyDenied.

        When it took time, nothing is as it was, and what is left is judged again.
        """


class Permit:
    """What one call may type, and where."""

    def __init__(
        self,
        gate: Gate,
        caller: Caller,
        *,
        types: bool,
        police: TypingJudge | None = None,
        judged: Judged | None = None,
        until: float | None = None,
    ) -> None:
        """`until` is when the call's own time is up, by the monotonic clock."""
        self.caller = caller
        self._until = until
        self.judged = judged or Judged()
        self.granted: set[object] = set()  # what a person has allowed this call
        self.cleared: str | None = None  # a command that may run wherever it comes to
        self.typed_last: dict[str, int] = {}  # by session: its count of inputs behind our last
        self._gate = gate
        self._types = types  # the catalog says that it does
        self._police = police if police is not None and police.judges(caller) else None
        self._passing: tuple[str, bytes] | None = None  # what may be typed now

    def allows(self, session: str) -> bool:
        drives = self.caller.scope >= Scope.DRIVE
        return self._types and drives and self._gate.allows(self.caller, session)

    async def turn(self, session: str) -> bool:
        """Return when it may type; whether it had to wait for that. Raises ControlHeld."""
        waited = False
        while not self._gate.allows(self.caller, session):
            waited = True
            left = None if self._until is None else max(0.0, self._until - time.monotonic())
            await self._gate.admit(self.caller, session, within=left)
        return waited

    async def judge(self, session: "Typeable", typing: ToType) -> tuple[bytes, bool]:
        """Return what is left to type, and whether that took time. Raises PolicyDenied."""
        if self._police is None or (typing.runs is None and not may_run(typing.data)):
            return typing.data, False
        if typing.runs is not None and typing.runs == self.cleared:
            return typing.data, False
        return await self._police.judge(self, session, typing)

    def write(
        self,
        session: "Typeable",
        data: bytes,
        *,
        recorded: bytes | None = None,
        receipt: Receipt | None = None,
    ) -> None:
        """Type what was judged."""
        self._passing = (session.identity.id, data)
        try:
            session.write(data, recorded=recorded, receipt=receipt)
        finally:
            self._passing = None
        self.typed_last[session.identity.id] = session.inputs

    def require(self, session: str, data: bytes) -> None:
        """Raises ControlHeld, and PolicyDenied for what nobody has judged."""
        assert self._types, "an operation types that the catalog does not know to type"
        if not self._gate.allows(self.caller, session):
            raise self._gate.refusal(self.caller, session)
        if self._police is not None and may_run(data) and self._passing != (session, data):
            raise PolicyDenied("this was not judged by the policy; nothing was typed")


_of_this_call: ContextVar[Permit | None] = ContextVar("permit", default=None)


def holding(permit: Permit) -> ContextBlock[Permit | None]:
    """Let what is done meanwhile type by this permit."""
    return ContextBlock(_of_this_call, permit)


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


async def type_into(
    session: Typeable,
    data: bytes,
    *,
    recorded: bytes | None = None,
    runs: str | None = None,
    part_of: str | None = None,
) -> None:
    """Type for the call, when it is its turn and the policy lets it.

    `runs` is the command that these bytes make a shell run, if the sender knows that better than
    the bytes tell; `part_of` the whole text, if its lines are typed one by one.
    Raises ControlHeld, PolicyDenied, and what Session.write raises.
    """
    permit = _of_this_call.get()
    if permit is None:
        session.write(data, recorded=recorded)
        return
    waited = True
    while waited:
        await permit.turn(session.identity.id)
        data, waited = await permit.judge(session, ToType(data, runs, part_of))
    permit.write(session, data, recorded=recorded)


async def judge_typing(session: Typeable, data: bytes) -> bytes:
    """Return what is left to type, when the policy lets the call. Raises as type_into does.

    For who types in another way than type_into: see `write_judged`.
    """
    permit = _of_this_call.get()
    waited = permit is not None
    while waited:
        assert permit is not None
        await permit.turn(session.identity.id)
        data, waited = await permit.judge(session, ToType(data))
    return data


def write_judged(
    session: Typeable,
    data: bytes,
    *,
    recorded: bytes | None = None,
    receipt: Receipt | None = None,
) -> None:
    """Type what was judged, or a line of nacre's own that runs nothing of the caller's."""
    permit = _of_this_call.get()
    if permit is None:
        session.write(data, recorded=recorded, receipt=receipt)
    else:
        permit.write(session, data, recorded=recorded, receipt=receipt)


def permit_of_call() -> Permit | None:
    return _of_this_call.get()


def caller_now() -> Caller | None:
    """Return for whom something is done; None: for no call."""
    permit = _of_this_call.get()
    return None if permit is None else permit.caller


def require_permit(session: str, data: bytes) -> Caller | None:
    """Return for whom is typed; None: for no call. Asked by the session at each write.

    Raises ControlHeld and PolicyDenied.
    """
    permit = _of_this_call.get()
    if permit is None:
        return None
    permit.require(session, data)
    return permit.caller
