"""What the policy asks people, and their answers.

Rule 1: an answer is bound to what was asked: the exact text, the session, its folder and preset. It
counts once, or as long as its session lives, or as a rule in the user's file.
Rule 2: only a person answers: at a page, attached, at a command line outside of every session, or
by the agent's own host, which asks its user.
Rule 3: nobody there means no. A question stays open for a while, also when its call has given up;
a late answer counts at the next try.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.follow import ApprovalEvent
from nacre.core.operations.safety.approvals import (
    Answer,
    AnswerApproval,
    Answered,
    Approval,
    ApprovalList,
    AskedKind,
    ListApprovals,
)
from nacre.core.text.unseen import bytes_spelled_out, on_one_line
from nacre.errors import BadParameter, Forbidden, InvalidInput, LimitReached
from nacre.services.dispatch.asking import Asking, asking_of_call
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.session.session import Session
from nacre.wording import Use

_MOST_SAVED = 4000  # characters of a line that is saved as a rule
_MOST_OF_NAME = 120  # characters of the name that a program gives itself
_GRANTS = 500  # answers that are remembered: each is a line and a folder


class BoundTo(NamedTuple):
    """What an answer is bound to."""

    session: str  # its id; of one that is about to be created, what it is to run
    text: str
    data: bytes  # keys, content or variables, where the text is not all of it
    folder: str | None
    profile: str  # preset and sandbox


class AskedTool(NamedTuple):
    """A tool that a question is about, and what adds a rule that allows it."""

    name: str
    save: Callable[[], str] | None


class Asked(NamedTuple):
    """What became of a question: a person's answer, or None and whether anybody was there."""

    answer: Answer | None
    id: str
    seconds: float
    somebody: bool


class _Question(Struct, eq=False):
    id: str
    bound: BoundTo
    shown: Approval
    session: Session | None
    expires: float  # by the loop's clock
    save: "Callable[[], str] | None" = None  # of a tool: adds its rule
    waiting: int = 0
    prompt: "ProgramPrompt | None" = None  # what a program asks
    answer: Answer | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_moot(self) -> bool:
        """Whether nobody waits for the answer, and nobody can: its session has ended."""
        return not self.waiting and self.session is not None and not self.session.alive


class ProgramPrompt(NamedTuple):
    """How an answer reaches the program that asks."""

    take: "TakeAnswer"  # raises InvalidInput when it no longer asks
    stop: Callable[[], None]  # called when the question is closed


# Returns whether what was typed arrived; None: nothing was typed.
TakeAnswer = Callable[[Answer, str | None], Awaitable[bool | None]]
Kind = AskedKind
Status = Literal["asked", "answered", "expired", "left"]
IsInside = Callable[[Caller], Awaitable[bool]]
Save = Callable[[str, str], str]


class Approvals:
    def __init__(self, host: Host, save: Save | None, is_inside: IsInside) -> None:
        """`save` adds a rule to the user's file; `is_inside` tells of a caller in a session."""
        self._host = host
        self._save = save
        self._is_inside = is_inside
        self._open: OrderedDict[str, _Question] = OrderedDict()
        self._granted: OrderedDict[tuple[BoundTo, bool], float] = OrderedDict()
        self._people = 0  # who watch or follow
        self._somebody = asyncio.Event()

    def handlers(self) -> Handlers:
        return Handlers().on(ListApprovals, self.list).on(AnswerApproval, self.answer)

    # --- people ----------------------------------------------------------------------------

    @contextmanager
    def present(self, caller: Caller) -> Iterator[None]:
        """Know that a person is there, while this context is entered."""
        if not caller.person:
            yield
            return
        self._people += 1
        self._somebody.set()
        try:
            yield
        finally:
            self._people -= 1
            if not self._people:
                self._somebody.clear()

    async def list(self, caller: Caller, request: ListApprovals) -> ApprovalList:
        self._forget_old()
        shown = [self._shown(one) for one in self._open.values() if _sees(caller, one)]
        return ApprovalList(approvals=shown)

    async def answer(self, caller: Caller, request: AnswerApproval) -> Answered:
        """Raises Forbidden for who is no person, InvalidInput for an unknown question."""
        await self.require_person(caller)
        self._forget_old()
        question = self._open.get(request.id)
        if question is None or not _sees(caller, question):
            raise InvalidInput(
                f"no question {request.id!r} is open: it was answered, or is too old",
                Use("list_approvals", "list those that are"),
            )
        if request.answer not in question.shown.answers:
            raise BadParameter(
                "answer",
                f"{request.answer} is not possible for this one",
                f"it can be {', '.join(question.shown.answers)}",
            )
        if request.answer == "text" and not (request.text or "").isprintable():
            raise BadParameter("text", "must be one line, without control characters")
        if question.prompt is not None:
            return await self._answer_prompt(question, request.answer, request.text, caller)
        return self._settle(question, request.answer, caller)

    async def _answer_prompt(
        self, question: _Question, answer: Answer, text: str | None, by: Caller | None
    ) -> Answered:
        assert question.prompt is not None
        self._open.pop(question.id, None)  # it is answered once, whatever comes of it
        try:
            arrived = await question.prompt.take(answer, text)
        except InvalidInput:  # it is no longer asked
            self._close(question, "expired")
            raise
        except BaseException:  # another person drives: nothing was typed
            self._open[question.id] = question
            raise
        return replace(self._settle(question, answer, by), arrived=arrived)

    async def require_person(self, caller: Caller) -> None:
        if not caller.person:
            raise Forbidden(
                "only a person can answer what the policy asks",
                "let one do it on the web page, attached, or by the command line",
            )
        if await self._is_inside(caller):
            raise Forbidden(
                "an approval cannot be given from inside of a session: its agent could do that too",
                "give it on the web page, attached, or in a terminal of your own",
            )

    def _settle(self, question: _Question, answer: Answer, by: Caller | None) -> Answered:
        """`by` is None for the user of the host that asked."""
        file = None
        if answer == "save":
            if question.save is not None:
                file = question.save()
            else:
                assert self._save is not None
                file = self._save(question.bound.text, "a person allowed this line")
        if answer == "session":
            self._grant(question.bound, once=False)
        elif answer == "once" and not question.waiting:
            self._grant(question.bound, once=True)
        self._record(question, answer, by)
        waiting = question.waiting > 0
        question.answer = answer
        question.answered.set()
        self._close(question, "answered")
        return Answered(
            id=question.id,
            answer=answer,
            command=bytes_spelled_out(question.bound.text),
            waiting=waiting,
            file=file,
        )

    def _record(self, question: _Question, answer: Answer, by: Caller | None) -> None:
        if self._host.audit is None:
            return
        session = None if question.session is None else question.session.identity
        fields = {
            "answer": answer,
            "question": question.id,
            "line": question.bound.text,
            "cwd": question.shown.cwd,
            "profile": question.bound.profile,
            "asked_by": question.shown.asked_by,
            **({} if by is not None else {"by": "the host's user"}),
        }
        self._host.audit.record("approval", session, by, fields)

    # --- calls -----------------------------------------------------------------------------

    def takes_grant(self, bound: BoundTo) -> bool:
        """Return whether a person has allowed this before; what counts once is used up by it."""
        if (bound, False) in self._granted:
            return True
        until = self._granted.pop((bound, True), None)
        return until is not None and until >= self._host.loop.time()

    async def ask(
        self,
        caller: Caller,
        bound: BoundTo,
        session: Session | None,
        reasons: Collection[str],
        rule: str | None,
        tool: "AskedTool | None" = None,
        *,
        beside: str = "",
    ) -> Asked:
        """Ask whoever is there, and return the answer. Raises LimitReached.

        `beside` is shown below the text; what it says is bound by `bound.data`.
        """
        question = self._question(caller, bound, session, reasons, rule, tool)
        if beside:
            question.shown = replace(
                question.shown, command=bytes_spelled_out(f"{bound.text}\n{beside}")
            )
        question.waiting += 1  # before anything is awaited: another call asks a question of its own
        began = self._host.loop.time()
        asking = asking_of_call()
        try:
            if asking is not None and await self._is_inside(caller):
                asking = None  # a host inside of a session may be its agent
            self._tell(question, "asked")
            await self._wait(question, caller, began, asking)
        finally:
            question.waiting -= 1
        seconds = self._host.loop.time() - began
        somebody = self._people > 0 or asking is not None
        if question.answer is None:
            self._tell(question, "left")
        return Asked(question.answer, question.id, seconds, somebody)

    # --- what programs ask -----------------------------------------------------------------

    @property
    def somebody(self) -> bool:
        """Whether a person is connected who sees questions."""
        return self._people > 0

    def is_open(self, identifier: str) -> bool:
        self._forget_old()
        return identifier in self._open

    def open_prompt(
        self,
        caller: Caller,
        bound: BoundTo,
        session: Session,
        kind: Kind,
        why: str,
        answers: Sequence[Answer],
        take: TakeAnswer,
        stop: Callable[[], None],
    ) -> str:
        """Ask people what a program asks; return the question's id. Raises LimitReached."""
        question = self._question(caller, bound, session, [why], None, fresh=True)
        question.shown = replace(question.shown, kind=kind, answers=[*answers])
        question.prompt = ProgramPrompt(take, stop)
        question.waiting = 1
        self._tell(question, "asked")
        return question.id

    def drop(self, identifier: str) -> None:
        """Close a question that is no longer asked."""
        if (question := self._open.get(identifier)) is not None:
            self._close(question, "expired")

    async def await_prompt(self, identifier: str, given: "asyncio.Future[Any]") -> None:
        """Return when it is answered, or nobody has answered for too long."""
        settings, loop = self._host.settings, self._host.loop
        began = loop.time()
        if not self._people:
            came = asyncio.ensure_future(self._somebody.wait())
            try:
                until = began + settings.approval_wait_alone
                await _first_of((given, came), until, loop.time())  # type: ignore[arg-type]
            finally:
                came.cancel()
        if self._people and not given.done():
            await _first_of((given,), began + settings.approval_wait, loop.time())  # type: ignore[arg-type]

    async def elicited(self, caller: Caller, identifier: str) -> Answer | None:
        """Let the agent's own host ask its user; return what they, or another person, answered."""
        question, asking = self._open.get(identifier), asking_of_call()
        if question is None or asking is None or question.prompt is None:
            return None
        if await self._is_inside(caller):
            return None  # a host inside of a session may be its agent

        async def elicit() -> None:
            answer = await asking(self._shown(question))
            if answer in question.shown.answers and question.id in self._open:
                await self._answer_prompt(question, answer, None, None)

        asked = asyncio.create_task(elicit())
        answered = asyncio.create_task(question.answered.wait())
        now = self._host.loop.time()
        try:
            until = now + _within(self._host.settings.approval_wait, caller)
            await _first_of((asked, answered), until, now)
        finally:
            asked.cancel()
            answered.cancel()
        return question.answer

    async def _wait(
        self, question: _Question, caller: Caller, began: float, asking: Asking | None
    ) -> None:
        settings = self._host.settings
        elicited = asyncio.create_task(self._elicit(question, asking)) if asking else None
        answered = asyncio.create_task(question.answered.wait())
        try:
            alone = asking is None and not self._people
            if alone:
                until = began + _within(settings.approval_wait_alone, caller)
                came = asyncio.create_task(self._somebody.wait())
                await _first_of((answered, came), until, self._host.loop.time())
                came.cancel()
            until = began + _within(settings.approval_wait, caller)
            if elicited is not None:
                await _first_of((answered, elicited), until, self._host.loop.time())
            if self._people and not question.answered.is_set():
                await _first_of((answered,), until, self._host.loop.time())
        finally:
            answered.cancel()
            if elicited is not None:
                elicited.cancel()

    async def _elicit(self, question: _Question, asking: Asking) -> None:
        """Let the agent's host ask its user; whoever answers first counts."""
        answer = await asking(self._shown(question))
        if answer is not None and question.id in self._open and answer in question.shown.answers:
            self._settle(question, answer, None)

    def _question(
        self,
        caller: Caller,
        bound: BoundTo,
        session: Session | None,
        reasons: Collection[str],
        rule: str | None,
        tool: "AskedTool | None" = None,
        *,
        fresh: bool = False,
    ) -> _Question:
        self._forget_old()
        for known in self._open.values():
            # Two calls that wait at once are two questions: an answer counts for one of them.
            if known.bound == bound and not known.waiting and not fresh:
                return known
        if len(self._open) >= self._host.settings.max_approvals and not self._drop_oldest():
            raise LimitReached(
                f"{len(self._open)} questions to people are open already (max_approvals); nothing "
                "was typed",
                "wait until some are answered",
            )
        lifetime = self._host.settings.approval_lifetime
        identifier = secrets.token_hex(4)
        shown = self._describe(caller, bound, session, reasons, rule, lifetime)
        expires = self._host.loop.time() + lifetime
        question = _Question(identifier, bound, replace(shown, id=identifier), session, expires)
        if tool is not None:
            answers: list[Answer] = (
                ["once", "deny"] if tool.save is None else ["once", "save", "deny"]
            )
            question.shown = replace(question.shown, tool=tool.name, answers=answers)
            question.save = tool.save
        self._open[identifier] = question
        return question

    def _describe(
        self,
        caller: Caller,
        bound: BoundTo,
        session: Session | None,
        reasons: Collection[str],
        rule: str | None,
        lifetime: float,
    ) -> Approval:
        answers: list[Answer] = ["once", "deny"]
        if not bound.data:
            savable = self._save is not None and len(bound.text) <= _MOST_SAVED
            savable = savable and bytes_spelled_out(bound.text) == bound.text
            answers[1:1] = ["session", "save"] if savable else ["session"]
        if session is None:
            answers = ["once", "deny"]
        return Approval(
            id="",
            command=bytes_spelled_out(bound.text),
            session=None if session is None else session.identity.name,
            session_id=None if session is None else session.identity.id,
            cwd=bound.folder and bytes_spelled_out(bound.folder),
            policy=bound.profile,
            asked_by=" ".join(
                filter(None, (caller.door, on_one_line(caller.client[:_MOST_OF_NAME])))
            ),
            reasons=[bytes_spelled_out(one) for one in reasons],
            rule=rule,
            answers=answers,
            asked=(now := time.time()),
            expires=now + lifetime,
            waiting=True,
        )

    # --- what is open ----------------------------------------------------------------------

    def _grant(self, bound: BoundTo, *, once: bool) -> None:
        lifetime = self._host.settings.approval_lifetime if once else float("inf")
        self._granted[bound, once] = self._host.loop.time() + lifetime
        if len(self._granted) > _GRANTS:
            self._granted.popitem(last=False)

    def _forget_old(self) -> None:
        now = self._host.loop.time()
        for question in [one for one in self._open.values() if one.expires < now or one.is_moot]:
            self._close(question, "expired")

    def _drop_oldest(self) -> bool:
        """Close the oldest question that no call waits for; whether there was one.

        Else an agent that is refused again and again would keep all others from asking.
        """
        left = next((one for one in self._open.values() if not one.waiting), None)
        if left is not None:
            self._close(left, "expired")
        return left is not None

    def _close(self, question: _Question, status: Status) -> None:
        self._open.pop(question.id, None)
        if question.prompt is not None:
            question.prompt.stop()
        self._tell(question, status)

    def _shown(self, question: _Question) -> Approval:
        return replace(question.shown, waiting=question.waiting > 0)

    def _tell(self, question: _Question, status: Status) -> None:
        def make() -> ApprovalEvent:
            return ApprovalEvent(status=status, approval=self._shown(question))

        self._host.events.tell("approvals", question.session, make)


def _sees(caller: Caller, question: _Question) -> bool:
    """Tell whether a question is about a session that exists for this caller."""
    if question.session is None:
        return caller.sessions is None
    return caller.sees(question.session.identity.name)


def _within(seconds: float, caller: Caller) -> float:
    """Return how long to wait, so that the caller still gets its answer."""
    if caller.patience is None:
        return seconds
    return min(seconds, max(0.0, caller.patience - _ANSWER))


_ANSWER = 2.0  # seconds of a caller's patience that are left for the answer itself


async def _first_of(tasks: Collection[asyncio.Task[Any]], until: float, now: float) -> None:
    await asyncio.wait(tasks, timeout=max(0.0, until - now), return_when=asyncio.FIRST_COMPLETED)
