"""The operations run_command and await_quiesce, as wsh's callers know them.

They type what they are given as it is, and answer with the screen. The operation run (service.py)
wraps a command where it must; these never do.

Rule 1: run_command returns when all of its input is through: at the last command's end mark where
the shell marks its commands, at the prompt of a REPL or another shell; by silence only where
neither can come.
Rule 2: nothing is typed into a program that does not read it, and no command into an editor or a
pager: who called is told what is there instead. Keys always go.
Rule 3: its output is recorded as that of a run, and can be read as one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Result
from nacre.core.operations.results import CommandOutcome, Quiesced, Screen
from nacre.core.operations.runs import AwaitQuiesce, RunCommand
from nacre.core.operations.steps import interrupt, read_screen, wait_for_quiet
from nacre.core.operations.terminal import GetScreen
from nacre.core.screen.screen import Cursor
from nacre.core.shell.dialects import LONGEST_EDITED, dialect_of
from nacre.core.shell.quiet import Quiesce, Until
from nacre.core.shell.state import State
from nacre.core.shell.typed import (
    ends_with_enter,
    ends_with_key,
    has_tab,
    is_command,
    is_keys,
    lines_of,
)
from nacre.core.text.budget import json_size
from nacre.errors import (
    BadParameter,
    Busy,
    ControlHeld,
    Failed,
    NotAtPrompt,
    PolicyDenied,
    WaitTimedOut,
)
from nacre.services.commands.exchange import Exchange, Late
from nacre.services.commands.typed_lines import type_lines
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.permit import may_type, turn
from nacre.services.host.host import Host
from nacre.services.host.wait import Turn, refuse_longer_waits, wait_until
from nacre.services.observe.quiet import await_quiet
from nacre.services.observe.settle import settle, waits_for_somebody
from nacre.services.observe.state import line_before_cursor, look
from nacre.services.observe.views import view_screen
from nacre.services.registry.registry import Registry
from nacre.services.runs.ask_shell import await_typed, state_told
from nacre.services.runs.delivery import never
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.prompt import NEXT_PROMPT, context_at, is_half_drawn, until_all_is_read
from nacre.services.runs.run import TrackedRun
from nacre.services.runs.run_wait import IncompleteCommand
from nacre.services.runs.service import Runs
from nacre.services.session.input_queue import input_bytes
from nacre.services.session.session import Session
from nacre.wording import Give, also

_PROMPT_ON_ITS_WAY = 0.02  # seconds for a prompt that is printed but not yet read
_LONGEST_CANONICAL = 4095  # bytes of a line that the kernel keeps (termios(3), canonical mode)
_READS_SOON = 0.3  # seconds that a program has to end or to read again before it counts as busy

_FACTS = 700  # characters of the other fields of an answer: state, hint or message
_SCREENS_PART = 8  # of an answer whose output is long; the screen has what the output leaves

_NO_SCREEN = Screen(
    cursor=Cursor(row=0, col=0, visible=False),
    rows=0,
    cols=0,
    mode="normal",
    generation=0,
    lines=(),
)
_SEVERAL_TIMES = Give(("last_generation",), "wait several times")
_ENTER_ADDED = "input did not end with Enter: one was added"


class _Answer(NamedTuple):
    """What became of an input."""

    by: Literal["quiet", "mark", "prompt", "needs_input"]
    run: TrackedRun
    text: str
    omitted: int
    exit_code: int | None = None
    state: State | None = None


class RunCommands:
    def __init__(self, registry: Registry, ledger: Ledger, runs: Runs, host: Host) -> None:
        self._registry = registry
        self._ledger = ledger
        self._runs = runs
        self._host = host
        self._run_wait = runs.wait
        self._delivery = runs.delivery

    def handlers(self) -> Handlers:
        return Handlers().on(AwaitQuiesce, self.quiesce).on(RunCommand, self.run)

    async def quiesce(self, caller: Caller, request: AwaitQuiesce) -> Quiesced:
        session = self._registry.find(request.session)
        await await_quiet(session, self._wait(request, request.last_generation))
        return Quiesced(generation=session.hand_out())

    async def run(self, caller: Caller, request: RunCommand) -> CommandOutcome:
        """Raises Busy or NotAtPrompt when nothing was typed, WaitTimedOut at the deadline."""
        session = self._registry.find(request.session)
        wait = self._wait(request, request.last_generation)
        input_bytes(request.input, "utf8", self._host.settings.max_input_bytes)
        session.require_alive()
        try:
            keys = is_keys(request.input)
            state = await self._where_it_stands(session, wait.deadline, keys=keys)
            while await turn(session):  # a person drove it meanwhile
                wait = self._wait(request, request.last_generation)
                state = await self._where_it_stands(session, wait.deadline, keys=keys)
            await self._ask_repl(session, state)
            self._refuse(session, request.input, state)
            enter = _wants_enter(session, request.input, state)
            text = request.input + "\r" if enter else request.input
            answer = await self._type(session, text, state, wait, request)
            await self._newer(session, wait)
        except Failed as failure:
            # The caller reasons about the failure by what stood on the screen.
            failure.details.setdefault("state", look(session))
            failure.details["screen"] = self._screen_of(session, request, failure.details)
            raise
        facts = CommandOutcome(
            exit_code=answer.exit_code,
            ended_by=answer.by,
            run_id=answer.run.id,
            omitted_lines=answer.omitted,
            cwd=session.cwd,
            state=answer.state,
            hint=_hint(answer, enter=enter),
            output=answer.text,
            screen=_NO_SCREEN,
            generation=session.hand_out(),
        )
        return replace(facts, screen=self._screen_of(session, request, facts))

    # --- before it is typed ----------------------------------------------------------------

    async def _where_it_stands(self, session: Session, deadline: float, *, keys: bool) -> State:
        """Return what reads the input; a shell that starts is awaited, and the effect of a key.

        A line that was just typed, here or by an operation before, is read before the next one:
        else the end of that one would be taken for the end of this. `keys` do not wait for it.
        """
        prompting = session.stream.prompting

        def at_prompt() -> bool:
            return prompting.phase in ("prompt", "continuation")

        typed = session.inputs and not self._typed_nothing_since(session)
        typed = typed and not (keys or self._runs.is_locked(session))
        while session.marks_itself and prompting.phase in (None, "drawing", "prompt"):
            if prompting.phase != "prompt":
                await settle(session, at_prompt, deadline, asks=waits_for_somebody)
            reads = prompting.phase == "prompt" and session.in_foreground
            if not (typed and reads) or await await_typed(session, deadline):
                break  # else there was an Enter: what it began may be through already
        state = look(session)
        if state.state == "running":
            now = self._host.loop.time()
            soon = now + _READS_SOON if session.generation else deadline
            await settle(session, at_prompt, min(deadline, soon), asks=waits_for_somebody)
            state = look(session)
        if (state.unmarked and may_type(session)) or is_half_drawn(session, state):
            state = await state_told(session, deadline)
        if state.state == "prompt" and not line_before_cursor(session).strip():
            # It waits, but its prompt has not been read: the kernel is ahead of the screen.
            soon = self._host.loop.time() + (
                _PROMPT_ON_ITS_WAY if session.generation else NEXT_PROMPT
            )
            await settle(
                session, lambda: bool(line_before_cursor(session).strip()), soon, asks=never
            )
        return state

    async def _ask_repl(self, session: Session, state: State) -> None:
        """A REPL that listens all the time may be at its prompt again: only it can tell."""
        run = self._ledger.innermost(session)
        self._run_wait.note_prompt(run, state)
        if run is not None and self._run_wait.goes_on(run, state):
            await self._run_wait.ask_whether_over(run, state)

    def _refuse(self, session: Session, text: str, state: State) -> None:
        session.require_alive()
        run = self._ledger.innermost(session)
        self._run_wait.note_prompt(run, state)
        is_busy = state.state == "running" and state.sure and not state.full_screen
        is_busy = is_busy or self._run_wait.goes_on(run, state)
        if is_keys(text) and not (is_busy and text.isprintable()):
            return
        name, program = session.identity.name, state.program or "a program"
        told = {"state": state, "generation": session.hand_out()}
        if run is not None and not run.done:
            told["run_id"] = run.id
        steps = (wait_for_quiet(name), read_screen(name), interrupt(name))
        if is_busy:
            raise Busy(f"{program} is running and does not read; nothing was typed", *steps, **told)
        if self._runs.is_locked(session) and state.state != "needs_input":
            raise Busy("another command was just sent; nothing was typed", *steps, **told)
        self._refuse_long_lines(session, text, state)
        if (state.full_screen or state.asks in ("editor", "pager")) and is_command(text):
            keys = f"{state.hint}" if state.hint else "leave it first"
            raise NotAtPrompt(f"{program} is open; nothing was typed", keys, **told)

    def _refuse_long_lines(self, session: Session, text: str, state: State) -> None:
        """The rest of a line that is longer than its reader takes would be lost in silence."""
        longest = max((len(line.encode(errors="replace")) for line in lines_of(text)), default=0)
        if longest <= min(LONGEST_EDITED.values()):
            return  # everybody takes it; to look at the terminal costs as much as a short command
        facts = session.facts()
        if facts is not None and facts.canonical:
            most: int | None = _LONGEST_CANONICAL
        else:
            most = LONGEST_EDITED.get(state.program or "")
        if most is not None and longest > most:
            problem = f"has a line of {longest} bytes, and what reads it takes {most} at most"
            raise BadParameter("input", problem, "write it to a file and run that")

    # --- while it runs ---------------------------------------------------------------------

    async def _type(
        self, session: Session, text: str, state: State, wait: Quiesce, request: RunCommand
    ) -> _Answer:
        whole = self._host.budget(request.max_chars)
        others = _FACTS + len(session.cwd or "") + whole // _SCREENS_PART
        budget = max(whole - others, whole // 4)
        self._ledger.drop_ended(session)
        if is_keys(text) or "\0" in text:
            return await self._exchange(session, [text], state, wait, budget)
        lines = lines_of(text)
        if _in_own_shell(session, state):
            with self._runs.lock(session):
                return await self._in_shell(session, text, lines, wait, budget)
        context = context_at(session, state)
        if context == "repl" and text.strip():
            with self._runs.lock(session):
                return await self._in_repl(session, text.rstrip("\r\n"), wait, budget)
        if state.state == "prompt":  # of a shell that marks nothing: two answers would mix
            with self._runs.lock(session):
                return await self._exchange(session, lines, state, wait, budget)
        return await self._exchange(session, lines, state, wait, budget)

    async def _in_shell(
        self, session: Session, text: str, lines: list[str], wait: Quiesce, budget: int
    ) -> _Answer:
        if session.inputs and not self._typed_nothing_since(session):
            await until_all_is_read(session, wait.deadline)
        if session.stream.prompting.hurt and may_type(session):
            # Else what prompt commands print is output.
            await self._delivery.mend(session, wait.deadline)
        command = text.rstrip("\r\n")
        run = self._ledger.begin(session, "native", command)
        try:
            if has_tab(text) and not dialect_of(session.launch.program).pastes_as_it_is:
                return await self._wrapped(run, command, wait, budget)
            async with self._in_time(run, wait, budget):
                end = await type_lines(run, lines, wait, self._host)
        except (ControlHeld, NotAtPrompt, PolicyDenied):
            session.stream.lift_veil()
            run.leave()  # the rest of it will not be typed
            raise
        finally:
            self._ledger.drop_ended(session)
        await run.output.prepare(self._host.renderers)
        output, omitted = run.output.text(budget)
        return _Answer(end.by, run, output, omitted, run.exit_code, end.state)

    async def _wrapped(self, run: TrackedRun, command: str, wait: Quiesce, budget: int) -> _Answer:
        """Hand over what this shell's line editor would change, as the operation run does."""
        await self._delivery.native(run.session, run, command)
        try:
            ran = await self._run_wait.in_shell(run, wait.deadline, budget)
        except IncompleteCommand as incomplete:
            raise NotAtPrompt(str(incomplete)) from None
        if ran.ended_by == "deadline":
            async with self._in_time(run, wait, budget):
                raise Late
        if ran.ended_by == "exit":
            run.session.require_alive()
        prompting = run.session.stream.prompting
        if run.done:
            await settle(run.session, lambda: prompting.phase == "prompt", wait.deadline)
        by: Literal["mark", "needs_input"] = "mark" if run.done else "needs_input"
        return _Answer(by, run, ran.output, ran.omitted_lines, ran.exit_code, ran.state)

    def _typed_nothing_since(self, session: Session) -> bool:
        """Whether nothing was typed since the last run was over."""
        last = self._ledger.last(session)
        return last is not None and last.done and last.state.inputs == session.inputs

    async def _in_repl(self, session: Session, text: str, wait: Quiesce, budget: int) -> _Answer:
        prompting = session.stream.prompting
        ended = prompting.ended
        run = self._ledger.begin(session, "repl", text)
        try:
            ran = await self._run_wait.in_repl(run, text, wait.deadline, budget)
        except IncompleteCommand as incomplete:
            raise NotAtPrompt(str(incomplete)) from None
        if ran.ended_by == "exit":  # it was left
            session.require_alive()
            await settle(session, lambda: prompting.phase == "prompt", wait.deadline)
        if ran.ended_by == "deadline":
            async with self._in_time(run, wait, budget):
                raise Late
        if prompting.ended > ended:
            code = prompting.exit_code
            return _Answer("mark", run, ran.output, ran.omitted_lines, code)
        state = ran.state or look(session)
        back = run.done or state.state == "prompt"  # also of the shell that it was started in
        by: Literal["prompt", "needs_input"] = "prompt" if back else "needs_input"
        return _Answer(by, run, ran.output, ran.omitted_lines, None, state)

    async def _exchange(
        self, session: Session, lines: list[str], state: State, wait: Quiesce, budget: int
    ) -> _Answer:
        run = self._ledger.begin(session, "repl", "", told=False)
        exchange = Exchange(run, state, wait, self._host)
        try:
            async with self._in_time(run, wait, budget, exchange):
                by, state_now = await exchange.type(lines)
        finally:
            if not run.done:
                run.leave()
            self._ledger.drop_ended(session)
        code = session.stream.prompting.exit_code if by == "mark" else None
        await run.output.prepare(self._host.renderers)
        return _Answer(by, run, *exchange.text(budget), code, state_now)

    @asynccontextmanager
    async def _in_time(
        self, run: TrackedRun, wait: Quiesce, budget: int, exchange: Exchange | None = None
    ) -> AsyncIterator[None]:
        """Tell at the deadline, or at the end of the session, what was printed so far."""
        try:
            yield
        except Late as late:
            await run.output.prepare(self._host.renderers)
            output, omitted = (exchange or run.output).text(budget)
            raise _timed_out(run, wait, late, output, omitted) from None
        except Failed as failure:
            await run.output.prepare(self._host.renderers)
            output, omitted = (exchange or run.output).text(budget)
            failure.details.update(output=output, omitted_lines=omitted, run_id=run.id)
            raise

    async def _newer(self, session: Session, wait: Quiesce) -> None:
        """Wait for output after the generation that the caller gave."""

        async def check(turn: Turn) -> bool | Until:
            return not wait.needs_newer(session.generation) or Until()

        if not await wait_until(check, wait.deadline, session.next_change):
            raise WaitTimedOut(
                f"nothing newer than generation {wait.after_generation} was printed",
                generation=session.hand_out(),
            )

    # --- the answer ------------------------------------------------------------------------

    def _screen_of(
        self, session: Session, request: RunCommand, others: CommandOutcome | dict[str, Any]
    ) -> Screen:
        """Return the screen, within what the other parts of the answer leave to it."""
        screen = GetScreen(session=0, format=request.format)
        room = self._host.budget(request.max_chars) - json_size(others)
        return view_screen(session, screen, room if isinstance(others, Result) else room - _FACTS)

    def _wait(self, request: AwaitQuiesce | RunCommand, after: int | None) -> Quiesce:
        for name in ("timeout_ms", "max_wait_ms"):
            refuse_longer_waits(self._host, name, getattr(request, name), _SEVERAL_TIMES)
        return Quiesce(
            started=self._host.loop.time(),
            quiet=request.timeout_ms / 1000,
            max_wait=request.max_wait_ms / 1000,
            after_generation=after,
        )


def _in_own_shell(session: Session, state: State) -> bool:
    """Whether the session's own shell reads, which marks its commands."""
    if context_at(session, state) == "native":
        return True
    return session.stream.prompting.phase == "continuation" and session.in_foreground


def _wants_enter(session: Session, text: str, state: State) -> bool:
    """Whether a line is read, and the input has none that ends it.

    A terminal in canonical mode hands a program nothing before Enter; others get keys.
    """
    if ends_with_enter(text) or ends_with_key(text):
        return False
    reads_line = state.state == "prompt" or state.asks in ("repl", "line")
    if reads_line or _in_own_shell(session, state):
        return True
    if state.state == "running" and state.sure:
        return False
    facts = session.facts()
    return facts is not None and facts.canonical


def _hint(answer: _Answer, *, enter: bool) -> str | None:
    told = [_ENTER_ADDED] if enter else []
    left_out = answer.run.what_is_left_out(answer.omitted) if answer.omitted else None
    return also(told[0] if told else None, left_out)


def _timed_out(
    run: TrackedRun, wait: Quiesce, late: Late, output: str, omitted: int
) -> WaitTimedOut:
    name = run.session.identity.name
    told = f"it had not ended within {round(wait.max_wait * 1000)} ms; it goes on"
    if late.untyped:
        told += f"; {late.untyped} lines of the input were not typed"
    return WaitTimedOut(
        told,
        *(wait_for_quiet(name), read_screen(name), interrupt(name)),
        run_id=run.id,
        untyped_lines=late.untyped,
        omitted_lines=omitted,
        generation=run.session.hand_out(),
        output=output,
    )
