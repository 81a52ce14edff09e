"""The tool wait: until the last run of a session ends or asks, or prints a text.

Rule 1: only what came since the last answer counts for a text, so that the same one can be waited
for twice. After a new run, all that it has printed counts.
Rule 2: of several sessions, the first that moves ends the wait. One on a host that is lost is left
out, and the answer says so; if none is left, that is the error.
"""

import asyncio
from typing import NamedTuple

from nacre.core.agent.status import standing, status_line
from nacre.core.agent.tools import AgentAnswer, AgentWait
from nacre.core.operations.results import RunOutcome, RunPage, SessionState, WaitOutcome
from nacre.core.operations.runs import GetSessionStatus, ReadRun, WaitFor
from nacre.core.shell.state import State
from nacre.errors import HostUnreachable
from nacre.services.agent.answers import Answers
from nacre.services.agent.asking import AgentCall
from nacre.services.agent.clients import AgentClient, KnownRun, KnownSession
from nacre.services.agent.outputs import expression

_OWN_PROMPT = "mark: prompt"  # evidence of the session's own shell (core/shell/state.py)
_STANDS = ["prompt", "needs_input", "exited"]
_ENDS = ["exited"]
_GOES_ON = ["running", "prompt", "exited"]
_QUOTED = 60  # characters of a text that was waited for, in an answer


class _Moved(NamedTuple):
    """What ended a wait."""

    session: KnownSession
    outcome: RunOutcome | None = None  # the run has ended
    state: State | None = None  # somebody is waited for, or nothing moved by the deadline
    match: str | None = None
    late: bool = False


class AgentWaiting:
    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def wait(
        self,
        call: AgentCall,
        client: AgentClient,
        sessions: list[KnownSession],
        request: AgentWait,
    ) -> AgentAnswer:
        moved = await self._first(call, sessions, request)
        session = moved.session
        run = session.under_way() or session.last
        first = None
        if request.pattern is not None:
            wanted = request.pattern[:_QUOTED]
            first = f'matched "{wanted}"' if moved.match is not None else f'no match for "{wanted}"'
        if run is None or (run.over and moved.outcome is None):
            return await self._without_run(call, client, moved, first, request.max_chars)
        chars = request.max_chars
        if moved.outcome is not None:
            return await self._answers.of_end(
                call, client, session, run, moved.outcome, chars, first
            )
        matched = first if moved.match is not None else None
        return await self._answers.of_going(call, client, session, run, moved.state, chars, matched)

    async def _without_run(
        self,
        call: AgentCall,
        client: AgentClient,
        moved: _Moved,
        first: str | None,
        max_chars: int,
    ) -> AgentAnswer:
        """Answer for a session in which nothing that this client ran goes on: by its screen."""
        session, answers = moved.session, self._answers
        details = await answers.details(call, session)
        where = answers.where(client, session, None, details)
        if first is not None:
            line = status_line(first, where.run, where.folder, details.state)
        else:
            line = standing(moved.state, None, 0, where)
        session.rows = None
        screen = await answers.screen_of(call, session)
        screen = answers.cut_screen(client, screen, answers.room(call, line, max_chars))
        return answers.answer(call, line, screen, answers.facts(session, None, None))

    async def _first(
        self, call: AgentCall, sessions: list[KnownSession], request: AgentWait
    ) -> _Moved:
        milliseconds = call.milliseconds(request.wait)
        if len(sessions) == 1:
            return await self._until(call, sessions[0], request.pattern, milliseconds)
        tasks = [
            asyncio.ensure_future(self._until(call, one, request.pattern, milliseconds))
            for one in sessions
        ]
        try:
            return await self._first_of(call, dict(zip(tasks, sessions, strict=True)))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _first_of(
        self, call: AgentCall, waits: dict["asyncio.Task[_Moved]", KnownSession]
    ) -> _Moved:
        late: _Moved | None = None
        problem: HostUnreachable | None = None
        pending = set(waits)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in (one for one in waits if one in done):
                try:
                    moved = task.result()
                except HostUnreachable as error:
                    problem = error
                    leave_out(call, waits[task].name, error)
                    continue
                if not moved.late:
                    return moved
                late = late or moved
        if late is None:
            assert problem is not None
            raise problem
        return late

    async def _until(
        self, call: AgentCall, session: KnownSession, pattern: str | None, milliseconds: int
    ) -> _Moved:
        run = session.under_way() or session.last
        if pattern is not None:
            return await self._until_text(call, session, run, pattern, milliseconds)
        if run is not None and run.over:
            outcome = await self._answers.outcome_of(call, run)
            return _Moved(session, outcome)
        return await self._until_it_asks(call, session, run, milliseconds)

    async def _until_it_asks(
        self, call: AgentCall, session: KnownSession, run: KnownRun | None, milliseconds: int
    ) -> _Moved:
        deadline = call.now + milliseconds / 1000
        # Who knows that a person is to type a password waits until they have.
        states = _GOES_ON if session.password else _STANDS
        while True:
            left = max(0, round((deadline - call.now) * 1000))
            found = await self._wait(call, session, run, left, states)
            state = found.state
            unread = (
                run is not None
                and state is not None
                and state.state == "prompt"
                and _OWN_PROMPT in state.evidence
                and found.run is None
            )
            if found.matched and unread and left:
                # The shell has not begun with it: wait until it has.
                states = ["running", "needs_input", "exited"]
                continue
            if session.password and found.matched and left:
                session.password, states = False, _STANDS
                continue
            if found.matched and state is not None and state.state == "running" and left:
                states = _STANDS
                continue
            return _Moved(session, found.run, state, late=not found.matched)

    async def _until_text(
        self,
        call: AgentCall,
        session: KnownSession,
        run: KnownRun | None,
        pattern: str,
        milliseconds: int,
    ) -> _Moved:
        """Wait for a text; a question that nobody answers, and the end, end it too."""
        wanted, regex = expression(pattern)
        deadline = call.now + milliseconds / 1000
        status = await call(GetSessionStatus(session=session.id), SessionState)
        after = session.since
        if after is None and run is not None:
            match = await self._printed(call, run, wanted, regex=regex)
            if match is not None:
                session.since = status.generation
                return _Moved(session, await self._over(call, run), status.state, match)
            after = status.generation
        if run is not None and run.over:
            run = None
        if after == status.generation and _stops(status.state, status.last_line, run):
            return _Moved(session, await self._over(call, run), status.state)
        states = _STANDS
        while True:
            request = WaitFor(
                session=session.id,
                text=None if regex else wanted,
                regex=wanted if regex else None,
                run_id=run.run_id if run is not None else None,
                state=states,  # type: ignore[arg-type]  # a list of these words
                after_generation=after,
                timeout_ms=max(0, round((deadline - call.now) * 1000)),
            )
            found = await call(request, WaitOutcome)
            if found.condition != "state" or found.state is None or states == _ENDS:
                break
            status = await call(GetSessionStatus(session=session.id), SessionState)
            if _stops(found.state, status.last_line, run):
                break
            states = _ENDS  # a server that also takes keys: its state tells nothing
        session.since = found.generation
        if found.condition in ("text", "regex"):
            return _Moved(session, await self._over(call, run), found.state, found.match or pattern)
        if found.run is not None and run is not None:
            match = await self._printed(call, run, wanted, regex=regex)
            return _Moved(session, found.run, None, match)
        return _Moved(session, None, found.state, late=not found.matched)

    async def _over(self, call: AgentCall, run: KnownRun | None) -> RunOutcome | None:
        return None if run is None else await self._answers.outcome_of(call, run)

    async def _printed(
        self, call: AgentCall, run: KnownRun, wanted: str, *, regex: bool
    ) -> str | None:
        """Return the line in which a run has printed a text; each part is searched once."""
        request = ReadRun(
            run_id=run.run_id, find=wanted, regex=regex, offset=run.searched, max_matches=1
        )
        page = await call(request, RunPage)
        if not page.matches:
            return None
        run.searched = page.total_lines
        return page.matches[0].text

    async def _wait(
        self,
        call: AgentCall,
        session: KnownSession,
        run: KnownRun | None,
        milliseconds: int,
        states: list[str],
    ) -> WaitOutcome:
        request = WaitFor(
            session=session.id,
            run_id=run.run_id if run is not None else None,
            state=states,  # type: ignore[arg-type]  # a list of these words
            timeout_ms=milliseconds,
        )
        return await call(request, WaitOutcome)


def leave_out(call: AgentCall, session: str | int, error: HostUnreachable) -> None:
    """Tell that a session of several is not waited for."""
    call.told.append(f"not waited for: {session} ({error.message})")


def _stops(state: State, line: str, run: KnownRun | None) -> bool:
    """Whether nothing more comes before somebody does something: what was waited for is over.

    A server that also takes keys waits for input all the time, and asks nothing.
    """
    if state.state == "prompt":
        return run is None or _OWN_PROMPT not in state.evidence
    if state.state != "needs_input":
        return state.state in ("exited", "lost")
    asked = state.asks == "line" and line.rstrip().endswith((":", "?"))
    return state.asks in ("confirm", "password", "repl") or asked
