"""The answers about what runs in a session: its state first, then what is to be seen of it.

Rule 1: the text is what was printed; while a full-screen program is open, it is the screen, or the
rows that have changed.
Rule 2: what is shown is noted, so that the next answer has only what is new.
"""

from typing import Any

from nacre.core.agent import status
from nacre.core.agent.cut import NO_OUTPUT, KnownLines, changed_rows, cut
from nacre.core.agent.tools import AgentAnswer
from nacre.core.operations.results import (
    RunOutcome,
    Screen,
    Sent,
    SessionDetails,
    WaitOutcome,
)
from nacre.core.operations.runs import WaitFor
from nacre.core.operations.sessions import ListSessions
from nacre.core.operations.terminal import GetScreen
from nacre.core.shell.state import State
from nacre.services.agent.asking import AgentCall
from nacre.services.agent.clients import AgentClient, KnownRun, KnownSession
from nacre.services.agent.outputs import news, whole

# What may draw the whole screen; only these are looked at twice.
_DRAWS = ("editor", "pager", "multiplexer", "key")
_NOTHING_NEW = "(nothing new)"
_EVERY_ROW = 10_000_000  # characters: whatever a screen has; what is too much is cut here, and said


class Answers:
    def __init__(self, home: str) -> None:
        self._home = home

    # --- a run -----------------------------------------------------------------------------

    async def of_run(
        self,
        call: AgentCall,
        client: AgentClient,
        session: KnownSession,
        run: KnownRun,
        outcome: RunOutcome,
        max_chars: int,
        new: str | None = None,
    ) -> AgentAnswer:
        """Return the answer about a run that was just started."""
        known = await whole(call, run, outcome, max_chars)
        run.native = outcome.context == "native"
        if outcome.state is not None and (outcome.state.state == "prompt" or outcome.state.asks):
            run.program = outcome.state.program
        where = self.where(client, session, run, outcome, new)
        screen = None
        if outcome.status == "completed":
            line = await self._ended(call, session, run, outcome, where)
        else:
            screen = await self._screen(call, session, outcome.state)
            line = status.standing(outcome.state, call.now - run.began, known.total, where)
        room = self.room(call, line, max_chars)
        body = self.body(client, known, room, run)
        if screen is not None:
            body = self.cut_screen(client, screen, room)
        return self.answer(call, line, body or NO_OUTPUT, self.facts(session, run, outcome))

    async def outcome_of(self, call: AgentCall, run: KnownRun) -> RunOutcome | None:
        """Return how a run ended; None while it goes on."""
        asked = WaitFor(run_id=run.run_id, timeout_ms=0)
        return (await call(asked, WaitOutcome)).run

    async def of_end(
        self,
        call: AgentCall,
        client: AgentClient,
        session: KnownSession,
        run: KnownRun,
        outcome: RunOutcome,
        max_chars: int,
        *facts: str | None,
    ) -> AgentAnswer:
        """Return the answer about a run that has ended since, with what is new of it."""
        session.rows = None
        known = await news(call, run, max_chars)
        where = self.where(client, session, run, outcome, *facts)
        line = await self._ended(call, session, run, outcome, where)
        body = self.body(client, known, self.room(call, line, max_chars), run)
        nothing = _NOTHING_NEW if run.shown else NO_OUTPUT
        return self.answer(call, line, body or nothing, self.facts(session, run, outcome))

    async def _ended(
        self,
        call: AgentCall,
        session: KnownSession,
        run: KnownRun,
        outcome: RunOutcome,
        where: status.Whereabouts,
    ) -> str:
        run.over = True
        repl = "no exit code in a REPL" if outcome.context == "repl" else "exit code not known"
        unknown = repl if outcome.exit_code is None else None
        gone = None
        if outcome.ended_by == "exit" and not (await self.details(call, session)).alive:
            gone = "session ended"
        where = where._replace(more=(*where.more, unknown, gone))
        return status.ended(outcome.exit_code, outcome.duration_ms / 1000, where)

    # --- what is under way -----------------------------------------------------------------

    async def of_typing(
        self,
        call: AgentCall,
        client: AgentClient,
        session: KnownSession,
        run: KnownRun | None,
        sent: Sent,
        max_chars: int,
    ) -> AgentAnswer:
        """Return the answer to what was typed, into a run that was under way or else."""
        shown = KnownLines(sent.output.split("\n") if sent.output else [])
        every = f'{client.prefix}read(what="all")'
        inside = run is not None and run.shown is None  # its output is that of runs in it, too
        if run is not None and (outcome := await self.outcome_of(call, run)) is not None:
            ended = await self.of_end(call, client, session, run, outcome, max_chars)
            if not inside:
                return ended
            line = ended.text.partition("\n")[0]
            text = cut(shown, self.room(call, line, max_chars), every)
            return self.answer(call, line, text, ended.meta)
        if run is not None and not inside:
            return await self.of_going(call, client, session, run, sent.state, max_chars)
        screen = await self._screen(call, session, sent.state)
        details = await self.details(call, session)
        where = self.where(client, session, run, details)
        seconds = None if run is None else call.now - run.began
        line = status.standing(sent.state, seconds, shown.total, where)
        room = self.room(call, line, max_chars)
        body = cut(shown, room, every)
        if screen is not None:
            body = self.cut_screen(client, screen, room)
        return self.answer(call, line, body or NO_OUTPUT, self.facts(session, run, None))

    async def of_going(
        self,
        call: AgentCall,
        client: AgentClient,
        session: KnownSession,
        run: KnownRun,
        state: State | None,
        max_chars: int,
        matched: str | None = None,
    ) -> AgentAnswer:
        """Return the answer about a run that goes on, with what is new of it.

        `matched` says what of it was waited for.
        """
        screen = await self._screen(call, session, state)
        known = await news(call, run, max_chars)
        details = await self.details(call, session)
        where = self.where(client, session, run, details)
        if matched is not None:
            line = status.matched(matched, where)
        else:
            line = status.standing(state, call.now - run.began, run.shown or 0, where)
        room = self.room(call, line, max_chars)
        body = self.body(client, known, room, run)
        if screen is not None:
            body = self.cut_screen(client, screen, room)
        return self.answer(call, line, body or _NOTHING_NEW, self.facts(session, run, None))

    # --- parts -----------------------------------------------------------------------------

    async def _screen(
        self, call: AgentCall, session: KnownSession, state: State | None
    ) -> str | None:
        """Return the screen if a full-screen program has it."""
        session.password = state is not None and state.asks == "password"
        if state is None or not (state.full_screen or state.asks in _DRAWS):
            session.rows = None
            return None
        screen = await call(_every_row(session), Screen)
        if screen.mode != "alt":
            session.rows = None
            return None
        return self.shown(session, screen)

    async def screen_of(self, call: AgentCall, session: KnownSession) -> str:
        """Return the whole screen."""
        screen = await call(_every_row(session), Screen)
        session.rows = None
        text = self.shown(session, screen)
        if screen.mode != "alt":
            session.rows = None
        return text or "(the screen is empty)"

    def shown(self, session: KnownSession, screen: Screen) -> str:
        """Return a screen as the client sees it, and note that it did."""
        rows = [str(line) for line in screen.lines]
        before, session.rows = session.rows, rows
        return changed_rows(before, rows)

    async def details(self, call: AgentCall, session: KnownSession) -> SessionDetails:
        return await call(ListSessions(session=session.id), SessionDetails)

    def room(self, call: AgentCall, line: str, max_chars: int) -> int:
        """Return how many characters of an answer its first line and what is told leave."""
        return max_chars - sum(len(one) + 1 for one in (line, *status.told(call.told)))

    def body(self, client: AgentClient, known: KnownLines, room: int, run: KnownRun) -> str:
        rest = f'{client.prefix}read(what="run {run.number}", search="…")'
        return cut(known, room, rest)

    def cut_screen(self, client: AgentClient, screen: str, room: int) -> str:
        rest = f'{client.prefix}read(what="screen") with a higher max_chars'
        return cut(KnownLines(screen.split("\n")), room, rest)

    def folder(self, cwd: str | None) -> str | None:
        return status.folder(cwd, self._home)

    def where(
        self,
        client: AgentClient,
        session: KnownSession,
        run: KnownRun | None,
        known: RunOutcome | SessionDetails,
        *more: str | None,
    ) -> status.Whereabouts:
        """Say which run it is, and its session if that is not the client's main one.

        Behind ssh, and in a shell that was started there, host and folder are known when a run has
        ended: until then, what is open stands in their place.
        """
        elsewhere = None if session is client.main else session.name
        label = elsewhere
        if run is not None:
            label = f"run {run.number}{f' in {elsewhere}' if elsewhere else ''}"
        if run is None or run.native:
            folder = self.folder(known.cwd)
        elif isinstance(known, RunOutcome) and known.cwd and known.context != "repl":
            folder = status.folder(known.cwd, self._home, known.host)
        else:
            opened = [one.program for one in session.around if one.program and not one.over]
            folder = f"in {opened[-1]}" if opened else None
        return status.Whereabouts(label, folder, more, client.prefix)

    def answer(self, call: AgentCall, line: str, body: str, meta: dict[str, Any]) -> AgentAnswer:
        text = "\n".join([line, *status.told(call.told), *([body] if body else [])])
        return AgentAnswer(text=text, meta=meta)

    def facts(
        self, session: KnownSession, run: KnownRun | None, outcome: RunOutcome | None
    ) -> dict[str, Any]:
        """Return what machines read of an answer."""
        facts: dict[str, Any] = {"session": session.name, "session_id": session.id}
        if run is not None:
            facts |= {"run": run.number, "run_id": run.run_id, "lines": run.shown}
            facts["running"] = not run.over
        if outcome is not None:
            facts |= {"exit_code": outcome.exit_code, "duration_ms": outcome.duration_ms}
            facts["cwd"] = outcome.cwd
            if outcome.host is not None:
                facts["host"] = outcome.host
        return facts


def _every_row(session: KnownSession) -> GetScreen:
    return GetScreen(session=session.id, format="plain", max_chars=_EVERY_ROW)
