"""Questions of running programs (a password, a yes or no) that a person is called to answer.

They stand in the same list as approvals: on the page, in attach and in `nacre approvals`.

Rule 1: a password goes from the person to the program: no agent, journal, log or audit gets it.
Rule 2: an answer is typed once, and only if the same question still stands; else it has gone, and
that is said. A question that is no longer asked leaves the list.
Rule 3: who asks by askpass (sudo, ssh) proves that it runs in the session by its cookie, which lets
it ask, and nothing else.
"""

import asyncio
import hmac
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple

from nacre.core.catalog.caller import Caller
from nacre.core.operations.safety.approvals import (
    Answer,
    AnswerQuestion,
    AskPassword,
    PasswordGiven,
    QuestionAnswered,
)
from nacre.core.shell.programs import is_confirm
from nacre.core.shell.quiet import Until
from nacre.core.shell.state import State
from nacre.errors import BadParameter, Forbidden, InvalidInput, LimitReached, PolicyDenied
from nacre.late_pattern import late_pattern
from nacre.services.dispatch.asking import asking_of_call
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.permit import turn, write_judged
from nacre.services.host.host import Host
from nacre.services.host.wait import Turn, wait_until
from nacre.services.observe.state import line_before_cursor, look, question_of
from nacre.services.policy.approvals import Approvals, BoundTo, Kind
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session

_SOON = 0.05  # seconds after a change of the screen until it is looked at whether it still asks
_IN_FULL = late_pattern(r"\byes\b.{0,3}\bno\b", re.IGNORECASE)  # such a question wants whole words
_MOST_SHOWN = 2000  # characters of a question
_TAKEN_WITHIN = 2.0  # seconds; a program that waits for the terminal reads at once
_LOOKS = 0.05  # seconds between two looks: that a program has read has no event


_Kind = Kind | Literal["line"]  # an agent is to know itself what to answer to a line


class _ProgramAsks(NamedTuple):
    """A question as a session's program asks it."""

    session: Session
    kind: _Kind
    text: str
    group: int | None  # whose it is
    inputs: int  # what was typed before: the next input is its answer

    def stands(self) -> bool:
        session = self.session
        if not session.alive or session.foreground != self.group:
            return False
        if session.inputs != self.inputs:
            return False  # somebody has typed, though the program may not have read it yet
        state = look(session)
        return (
            state.state == "needs_input"
            and _kind(state) == self.kind
            and _text(session) == self.text
        )

    async def taken(self, printed: int) -> bool:
        """Return whether the program took what was typed: it prints, or no longer asks this."""
        session = self.session

        async def check(turn: Turn) -> bool | Until:
            if not session.alive or session.generation != printed:
                return True
            state = look(session)
            if state.state != "needs_input" or _kind(state) != self.kind:
                return True
            return Until(turn.now + _LOOKS)

        deadline = session.now + _TAKEN_WITHIN
        return bool(await wait_until(check, deadline, session.next_change))


class Prompts:
    def __init__(self, registry: Registry, approvals: Approvals, host: Host) -> None:
        self._registry = registry
        self._approvals = approvals
        self._host = host
        self._open: dict[str, tuple[str, _ProgramAsks]] = {}  # by session: the question's id

    def handlers(self) -> Handlers:
        handlers = Handlers().on(AskPassword, self.ask_password)
        return handlers.on(AnswerQuestion, self.answer_question)

    # --- at the terminal -------------------------------------------------------------------

    async def call(
        self, caller: Caller, reference: str, state: State, *, types: bool
    ) -> str | None:
        """Call a person to a program that asks; return what the agent is told of that.

        `types`: the call may type, and so may the user of its host.
        """
        kind = _kind(state)
        if caller.person or kind is None or kind == "line" or not self._host.settings.call_people:
            return None
        session = self._registry.find(reference)
        asked = _ProgramAsks(session, kind, _text(session), session.foreground, session.inputs)
        known = self._open.get(session.identity.id)
        if known is not None and known[1] == asked and self._approvals.is_open(known[0]):
            identifier = known[0]
        else:
            if known is not None:
                self._approvals.drop(known[0])
            try:
                identifier = self._ask(caller, asked, kind)
            except LimitReached:  # what the call did, it has done
                return "no person was called: too many questions are open (max_approvals)"
        if kind == "confirm" and types and asking_of_call() is not None:
            answer = await self._approvals.elicited(caller, identifier)
            if answer in ("yes", "no"):
                return f"the user of your host answered {answer}, and that was typed"
        return self._told(identifier, kind)

    def _ask(self, caller: Caller, asked: _ProgramAsks, kind: Kind) -> str:
        session = asked.session
        answers: list[Answer] = ["text", "deny"] if kind == "password" else ["yes", "no"]
        bound = BoundTo(session.identity.id, asked.text, b"", session.cwd, kind)
        stop = self._watch(session)

        async def type_answer(answer: Answer, text: str | None) -> bool | None:
            if answer == "deny":
                return None
            return await self._type(asked, _typed(asked, answer, text))

        why = "a program asks this in the session"
        try:
            identifier = self._approvals.open_prompt(
                caller, bound, session, kind, why, answers, type_answer, stop
            )
        except LimitReached:
            stop()
            raise
        self._open[session.identity.id] = (identifier, asked)
        return identifier

    async def answer_question(self, caller: Caller, request: AnswerQuestion) -> QuestionAnswered:
        """Raises Forbidden for who is no person, InvalidInput when this is not asked."""
        await self._approvals.require_person(caller)
        if request.answer == "text" and not (request.text or "").isprintable():
            raise BadParameter("text", "must be one line, without control characters")
        session = self._registry.find(request.session)
        session.require_alive()
        await session.catch_up()
        state = look(session)
        kind = _kind(state)
        text = question_of(session, state)
        if kind is None or text is None or text != request.question:
            raise _gone()
        asked = _ProgramAsks(session, kind, text, session.foreground, session.inputs)
        arrived = await self._type(asked, _typed(asked, request.answer, request.text))
        return QuestionAnswered(session=session.identity.name, arrived=arrived)

    async def _type(self, asked: _ProgramAsks, data: bytes) -> bool:
        """Return whether it arrived. Raises InvalidInput when the question has gone."""
        session = asked.session
        await turn(session)
        await session.catch_up()
        if not asked.stands():
            raise _gone()
        printed = session.generation
        write_judged(session, data, recorded=b"")
        return await asked.taken(printed)

    def _watch(self, session: Session) -> Callable[[], None]:
        """Look after each change whether the question still stands; return what ends that."""
        planned: list[asyncio.TimerHandle] = []

        def look_again() -> None:
            planned.clear()
            self._drop_gone(session)

        def changed() -> None:
            if not planned:
                planned.append(self._host.loop.call_later(_SOON, look_again))

        def stop() -> None:
            with suppress(ValueError):
                session.watchers.remove(changed)
            for timer in planned:
                timer.cancel()

        session.watchers.append(changed)
        return stop

    def _drop_gone(self, session: Session) -> None:
        known = self._open.get(session.identity.id)
        if known is not None and not known[1].stands():
            del self._open[session.identity.id]
            self._approvals.drop(known[0])

    def _told(self, identifier: str, kind: str) -> str | None:
        somebody = self._approvals.somebody
        if kind == "confirm":  # the agent may know the answer itself
            return "a person was called to answer this, too" if somebody else None
        if somebody:
            told = "a person was called to type the password"
        else:
            told = (
                "nobody is connected to type the password: ask your user to do it on the web page, "
                f"attached, or with: nacre approvals answer {identifier}"
            )
        return f"{told}; wait until the session goes on, and never type a password yourself"

    # --- by askpass ------------------------------------------------------------------------

    async def ask_password(self, caller: Caller, request: AskPassword) -> PasswordGiven:
        """Raises Forbidden for who is not of that session, PolicyDenied when nobody answers."""
        session = self._registry.find(request.session)
        known = session.record.secrets.cookie
        if not session.alive or not hmac.compare_digest(known, request.cookie):
            raise Forbidden("this is no program of that session")
        text = request.prompt.strip()[:_MOST_SHOWN] or "Password:"
        confirms = request.confirms or is_confirm(None, text)
        kind: Kind = "confirm" if confirms else "password"
        answers: list[Answer] = ["yes", "no"] if confirms else ["text", "deny"]
        given: asyncio.Future[tuple[Answer, str | None]] = self._host.loop.create_future()

        async def take(answer: Answer, text: str | None) -> bool | None:
            if not given.done():
                given.set_result((answer, text or "" if answer == "text" else None))
            return None

        bound = BoundTo(session.identity.id, text, b"", session.cwd, kind)
        why = "a program in the session asks this by askpass"
        identifier = self._approvals.open_prompt(
            caller, bound, session, kind, why, answers, take, lambda: None
        )
        try:
            await self._approvals.await_prompt(identifier, given)
        finally:
            self._approvals.drop(identifier)
        if not given.done():
            raise PolicyDenied("nobody answered")
        answer, typed = given.result()
        if answer == "deny" or (answer == "no" and request.confirms):
            raise PolicyDenied("a person said no")
        return PasswordGiven(data=(answer if typed is None else typed).encode())


def _gone() -> InvalidInput:
    return InvalidInput(
        "the program no longer asks this, and nothing was typed", "look at the session"
    )


def _kind(state: State) -> "_Kind | None":
    if state.state != "needs_input":
        return None
    if state.asks == "password":
        return "password"
    if state.asks == "confirm":
        return "confirm"
    return "line" if state.asks == "line" else None


def _text(session: Session) -> str:
    return line_before_cursor(session).strip()[-_MOST_SHOWN:]


def _typed(asked: _ProgramAsks, answer: Answer, text: str | None) -> bytes:
    """Return the keys of an answer."""
    if answer == "text":
        return (text or "").encode() + b"\r"
    word = answer if _IN_FULL.search(asked.text) else answer[:1]
    facts = asked.session.facts()
    # Who reads single keys would take Enter for the answer to what it asks next.
    enter = b"\r" if facts is None or facts.canonical else b""
    return word.encode() + enter
