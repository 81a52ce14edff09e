"""The tools of the toolset agent: run, type, wait, read, sessions, screenshot.

Rule 1: each asks dispatch for operations of the catalog, as its caller (asking.py), and renders
what came as one text (core/agent). No session, run or screen is touched in another way.
Rule 2: calls of one client for one session take turns, in the order in which they came.
Rule 3: no answer is later than the caller's patience; what goes on then goes on.
"""

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from shlex import quote
from typing import Any

from nacre.core.agent.tools import (
    AgentAnswer,
    AgentRead,
    AgentRun,
    AgentScreenshot,
    AgentSessions,
    AgentType,
    AgentWait,
    FindMain,
    MainSession,
    TypeKeys,
)
from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import (
    PictureTaken,
    RunOutcome,
    Sent,
    SessionDetails,
    WaitOutcome,
)
from nacre.core.operations.runs import Run, WaitFor
from nacre.core.operations.sessions import ListSessions
from nacre.core.operations.terminal import Screenshot
from nacre.core.shell.programs import OPAQUE
from nacre.errors import (
    BadParameter,
    Busy,
    HostUnreachable,
    InvalidInput,
    NotAtPrompt,
    SessionExited,
    SessionNotFound,
)
from nacre.late_pattern import late_pattern
from nacre.services.agent.answers import Answers
from nacre.services.agent.asking import AgentCall
from nacre.services.agent.clients import AgentClient, AgentClients, KnownRun, KnownSession
from nacre.services.agent.outputs import room_inside
from nacre.services.agent.places import find, find_or_make
from nacre.services.agent.reading import OutputReading
from nacre.services.agent.terminals import Terminals
from nacre.services.agent.waiting import AgentWaiting, leave_out
from nacre.services.dispatch.dispatch import Ask
from nacre.services.dispatch.handlers import Handlers
from nacre.wording import Use

_REDRAWN = 1000  # milliseconds, as a run itself waits for a prompt that is about to come

# Over HTTP without a session: the door knows the token and the program alone.
_ALIKE = (
    "every client of this token and program has this session as main; for one of your own, add "
    "client=NAME to the address (/mcp?client=NAME), or name a session"
)
_RUN_NAME = late_pattern(r"run\s*#?\s*(\w+)", re.IGNORECASE)


class Agents:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._clients = AgentClients()
        self._answers = Answers(os.path.expanduser("~"))
        self._waiting = AgentWaiting(self._answers)
        self._reading = OutputReading(self._answers)
        self._terminals = Terminals(self._answers)

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(AgentRun, self.run)
            .on(AgentType, self.type)
            .on(AgentWait, self.wait)
            .on(AgentRead, self.read)
            .on(AgentSessions, self.sessions)
            .on(AgentScreenshot, self.screenshot)
            .on(FindMain, self.find_main)
        )

    # --- run -------------------------------------------------------------------------------

    async def run(self, caller: Caller, request: AgentRun) -> AgentAnswer:
        call, client = self._begin(caller)
        session, made = await find_or_make(call, client, request.session, request.cwd)
        try:
            return await self._run_in(call, client, session, request, made=made)
        except (SessionExited, SessionNotFound):
            if made or session is not client.main:
                raise
        # The main session's shell has ended, or somebody closed it: the next one is new.
        client.forget_session(session.id)
        session, made = await find_or_make(call, client, request.session, request.cwd)
        return await self._run_in(call, client, session, request, made=made)

    async def _run_in(
        self,
        call: AgentCall,
        client: AgentClient,
        session: KnownSession,
        request: AgentRun,
        *,
        made: bool,
    ) -> AgentAnswer:
        async with _turn(call, session):
            await self._look_before(call, session)
            if request.cwd is not None and not made:
                await self._change_folder(call, session, request.cwd)
            outcome = await call(
                Run(
                    session=session.id,
                    command=request.command,
                    timeout_ms=call.milliseconds(request.wait),
                    max_chars=room_inside(request.max_chars),
                ),
                RunOutcome,
            )
            if outcome.status in ("busy", "error"):
                raise _refused(session, outcome)
            assert outcome.run_id is not None
            run = client.add_run(session, outcome.run_id, call.now - outcome.duration_ms / 1000)
            new = f"new session {session.name}" if made else None
            if made and session is client.main and call.caller.alike:
                call.told.append(_ALIKE)
            return await self._answers.of_run(
                call, client, session, run, outcome, request.max_chars, new
            )

    async def _look_before(self, call: AgentCall, session: KnownSession) -> None:
        """Tell of a run that has ended since. Raises Busy if it goes on and takes no commands."""
        run = session.under_way()
        if run is None:
            return
        found = await call(WaitFor(run_id=run.run_id, timeout_ms=0), WaitOutcome)
        if found.run is not None:
            run.over = True
            if run is session.last:
                code = found.run.exit_code
                has = f"{call.caller.prefix}read has its output"
                call.told.append(f"run {run.number} has ended, exit {code}: {has}")
        elif run is session.last and found.state is not None and found.state.state == "running":
            if found.state.program in OPAQUE and await self._shows_prompt(call, session):
                return
            raise _busy(session, f"run {run.number} is still running")

    async def _shows_prompt(self, call: AgentCall, session: KnownSession) -> bool:
        """Behind ssh only the screen tells: wait for a prompt that is just being drawn again."""
        drawn = WaitFor(
            session=session.id, state=["prompt", "needs_input", "exited"], timeout_ms=_REDRAWN
        )
        return (await call(drawn, WaitOutcome)).matched

    async def _change_folder(self, call: AgentCall, session: KnownSession, cwd: str) -> None:
        """Raises BadParameter where there is no such folder, or no shell to change it."""
        details = await call(ListSessions(session=session.id), SessionDetails)
        if details.cwd == cwd and details.state == "prompt":
            return
        if details.asks == "repl":
            raise BadParameter("cwd", "needs a shell, and a REPL is open", "leave cwd out")
        timeout = call.milliseconds(10)
        changing = Run(session=session.id, command=f"cd -- {quote(cwd)}", timeout_ms=timeout)
        outcome = await call(changing, RunOutcome)
        if outcome.status in ("busy", "error"):
            raise Busy(str(outcome.hint or "something else runs there"), "wait for it")
        if outcome.exit_code != 0:
            raise BadParameter("cwd", f"cannot be entered: {outcome.output.strip()}")

    # --- type, wait, read ------------------------------------------------------------------

    async def type(self, caller: Caller, request: AgentType) -> AgentAnswer:
        call, client = self._begin(caller)
        if request.text is None and request.keys is None:
            raise BadParameter("text", "is missing", "give text, or keys as a list")
        session = await find(call, client, request.session)
        async with _turn(call, session):
            before = session.under_way()
            typing = TypeKeys(
                session=session.id,
                text=request.text or "",
                keys=tuple(request.keys or (["Enter"] if request.enter else [])),
                timeout_ms=call.milliseconds(request.wait),
            )
            sent = await call(typing, Sent)
            session.since = sent.generation
            return await self._answers.of_typing(
                call, client, session, before, sent, request.max_chars
            )

    async def wait(self, caller: Caller, request: AgentWait) -> AgentAnswer:
        call, client = self._begin(caller)
        references = request.sessions or [request.session]
        sessions: list[KnownSession] = []
        problem: HostUnreachable | None = None
        for one in dict.fromkeys(references):
            try:
                sessions.append(await find(call, client, one))
            except HostUnreachable as error:
                problem = error
                leave_out(call, one, error)
        if not sessions:
            assert problem is not None
            raise problem
        return await self._waiting.wait(call, client, sessions, request)

    async def read(self, caller: Caller, request: AgentRead) -> AgentAnswer:
        call, client = self._begin(caller)
        request = call.within_limits(request)
        if (named := _RUN_NAME.fullmatch(request.what.strip())) is not None:
            return await self._reading.run(call, _run_named(client, named[1]), request)
        session = await find(call, client, request.session)
        if request.what == "last":
            return await self._reading.last(call, session, request)
        if request.what == "screen":
            return await self._reading.screen(call, session, request)
        if request.what == "all":
            return await self._reading.all(call, session, request)
        raise BadParameter("what", f"{request.what!r} is unknown", 'use last, screen, all, "run 7"')

    # --- sessions and pictures -------------------------------------------------------------

    async def sessions(self, caller: Caller, request: AgentSessions) -> AgentAnswer:
        call, client = self._begin(caller)
        return await self._terminals.manage(call, client, request)

    async def screenshot(self, caller: Caller, request: AgentScreenshot) -> AgentAnswer:
        call, client = self._begin(caller)
        session = await find(call, client, request.session)
        taken = await call(Screenshot(session=session.id), PictureTaken)
        facts: dict[str, Any] = {"session": session.name, "session_id": session.id}
        text = "\n".join(call.told)
        return AgentAnswer(text=text, meta=facts, picture=taken.data)

    async def find_main(self, caller: Caller, request: FindMain) -> MainSession:
        main = self._clients.of(caller).main
        return MainSession(session_id=None if main is None else main.id)

    def _begin(self, caller: Caller) -> tuple[AgentCall, AgentClient]:
        return AgentCall(self._ask, caller), self._clients.of(caller)


@asynccontextmanager
async def _turn(call: AgentCall, session: KnownSession) -> AsyncIterator[None]:
    """Wait for the calls that came before. Raises Busy when they took all the time there is."""
    waited = session.turn.locked()
    async with session.turn:
        if waited and call.milliseconds(1) == 0:
            raise Busy(
                f"not done: the calls before this one in session {session.name!r} took all of "
                "the time that an answer has",
                "call it again",
            )
        yield


def _refused(session: KnownSession, outcome: RunOutcome) -> Busy | NotAtPrompt:
    """Return the error for a command that was not run."""
    state = outcome.state
    told = str(outcome.hint or "something else runs there")
    if outcome.status == "busy":
        run = session.under_way()
        ours = run is not None and run.run_id == outcome.run_id
        return _busy(session, f"run {run.number} is still running" if run and ours else told)
    if state is None or state.asks is None:
        return NotAtPrompt(f"not run: {told}")
    program = state.program or "a program"
    return NotAtPrompt(f"not run: {program} is open and takes no command ({state.asks}): {told}")


def _busy(session: KnownSession, why: str) -> Busy:
    stop = {"keys": ["C-c"], "session": session.name}
    return Busy(
        f"not run: {why}",
        Use("agent_wait", "wait for it", {"session": session.name}),
        Use("agent_type", "stop it", stop),
        "use another session",
    )


def _run_named(client: AgentClient, name: str) -> KnownRun:
    number = client.run(int(name)) if name.isdecimal() else None
    if number is not None:
        return number
    by_id = next((one for one in client.runs() if one.run_id == name), None)
    if by_id is None:
        known = [str(one.number) for one in client.runs()[-5:]]
        raise InvalidInput(
            f"no run {name}", f"the last ones are {', '.join(known)}" if known else "there is none"
        )
    return by_id
