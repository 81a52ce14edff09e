"""The wait for a run: until its end, a question of its program, or the deadline.

Rule 1: the run itself knows when it is over (ending.py). This file only asks its shell, or brings
it back to its prompt.
Rule 2: a shell that waits for the rest of an incomplete command is brought back to its prompt.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

from nacre.core.operations.results import RunOutcome
from nacre.core.operations.steps import interrupt, read_output, wait_for_run
from nacre.core.screen.controls import ERASE_LINE
from nacre.core.shell.dialects import SHELLS, dialect_of, shown_dialect, without_words
from nacre.core.shell.echo import Veil
from nacre.core.shell.repl_input import IncompleteInput
from nacre.core.shell.repl_prompts import is_same_prompt, listens_always
from nacre.core.shell.state import State
from nacre.core.shell.wrapper import report
from nacre.errors import ControlHeld
from nacre.services.dispatch.permit import may_type, write_judged
from nacre.services.host.host import Host
from nacre.services.observe.settle import Settled, settle, waits_for_somebody
from nacre.services.observe.state import line_before_cursor
from nacre.services.observe.unread import UnreadInput
from nacre.services.runs.ask_shell import QUICK, TRIES, ask_shell, state_told_of, waits_for_keys
from nacre.services.runs.delivery import KILL_LINE, never, pasted, waits_again
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.prompt import NEXT_PROMPT, tell_read
from nacre.services.runs.repl import ReplRun, echoes_blank, is_back, shows_prompt
from nacre.services.runs.run import TrackedRun
from nacre.services.session.session import Session
from nacre.system.processes.tree import complains_through_pipe
from nacre.wording import Hint, also

_INTERRUPTS = 5  # times to send Ctrl+C to a shell that waits for the rest of a command

_UNTOLD = "its exit code is not known"
_UNSTARTED = (
    "the shell did not say that it started the command: look at the screen whether it ran;"
    " its exit code is not known"
)
_STARTED_SHELL = "it started a shell; the next run goes into that shell, and exit leaves it"
_STARTED_OR_REPLACED = (
    "it started a shell, or the shell was replaced (exec), so there is no exit code; the next run"
    " goes into the new shell, and exit leaves it"
)
_REPLACED = (
    "the shell was replaced (exec), so there is no exit code; the next run goes into the new shell"
)
_IN_PIPE = (
    "the shell's standard error is a pipe (exec 2> …), and its marks come through that: what the"
    " command printed may be incomplete here, or stand with other text; look at the screen"
)
_NO_CODE = "a REPL has no exit code"
_IN_CODE = (
    "it went to code that was typed before, which asks by the REPL's own prompt and waits for the"
    " next line (as input() in a loop, or a console of its own)"
)


class IncompleteCommand(Exception):
    """The shell asked for the rest of the command."""


class RunWait:
    def __init__(self, ledger: Ledger, host: Host) -> None:
        self._ledger = ledger
        self._host = host
        self._unread = UnreadInput()
        self._in_repl: dict[str, TrackedRun] = {}  # the last run in a REPL, by session id

    def forget_session(self, identifier: str) -> None:
        self._in_repl.pop(identifier, None)

    # --- in a shell ------------------------------------------------------------------------

    async def in_shell(self, run: TrackedRun, deadline: float, budget: int) -> RunOutcome:
        """Raises IncompleteCommand when nothing was run."""
        session = run.session
        how, state = await self._until_read(run, deadline)
        if how == "needs_input" and state is not None:
            state = tell_read(session, self._ledger.innermost(session), state)
            told = await self.ask_whether_over(run, state)
            if told is not None and not run.done:
                state = told
        if how == "deadline" and not run.state.started_by_mark:
            session.stream.expect_mark()  # it is on its way, and so is the echo that it ends
        elif not run.state.started_by_mark or not run.done:
            session.stream.lift_veil()
        if not run.done:
            return await self._unfinished(run, how, state, budget)
        self._ledger.drop_ended(session)
        hint = None
        if run.ended_by == "exit":
            hint = _what_ended(session)
        elif run.exit_code is None:
            hint = _UNTOLD if run.was_started else _UNSTARTED
            if not run.was_started and run.request.starts_by_wrapper:
                session.stream.prompting.understands_wrapper = False
        if run.request.context == "native" and complains_through_pipe(session.leader):
            hint = also(hint, _IN_PIPE)
        await run.prepare(self._host.renderers)
        return run.outcome("completed", budget, hint=hint)

    async def _until_read(self, run: TrackedRun, deadline: float) -> tuple[Settled, State | None]:
        """Wait for the end. Take back a command that the shell finds incomplete."""
        prompting = run.session.stream.prompting
        patience = dialect_of(run.session.launch.program).unread_after

        def incomplete() -> bool:
            return run.request.context == "native" and prompting.phase == "continuation"

        def asks(state: State) -> bool:
            # Until it has started, the prompt is still the one at which it was typed.
            started = run.state.started_by_mark or state.state != "prompt"
            # What reads the parts of a long command without echo is its shell, and they are coming.
            fed = run.state.reads_parts and not run.state.started_by_mark
            if _gave_up_reading(run, state):
                return True
            if started:
                state = tell_read(run.session, run, state)
            return started and waits_for_somebody(state) and not (fed and state.asks == "password")

        def unread() -> bool:
            """Return whether a typed line has no start mark, so it may be incomplete."""
            typed = run.request.context == "native" and not run.request.starts_by_wrapper
            return typed and not run.state.started_by_mark and patience is not None

        soon = deadline
        if patience is not None and unread():
            soon = min(deadline, self._host.loop.time() + patience)
        shown = prompting.shown

        def passed_over() -> bool:
            """Whether a prompt came, and our line was not started: an end or none came with it."""
            if run.done or run.state.started_by_mark or not run.request.tells_start:
                return False
            drawn = prompting.shown > shown and prompting.phase == "prompt" and patience is None
            return drawn or run.state.unstarted_end is not None

        def settled() -> bool:
            return run.done or incomplete() or passed_over()

        how, state = await settle(run.session, settled, soon, asks=asks)
        if how == "deadline" and soon < deadline and not unread():
            how, state = await settle(run.session, settled, deadline, asks=asks)
        if how == "needs_input" and state is not None and _gave_up_reading(run, state):
            run.session.stream.drop_veil(prompt=True)
            run.prompt_is_back()
        if passed_over():
            how, state = await self._until_read_whole(run, deadline, asks)
        late = how == "deadline" and soon < deadline and unread()
        if late and not await self._waits_for_the_rest(run, settled, unread, deadline):
            how, state = await settle(run.session, settled, deadline, asks=asks)
            late = False
        if late and prompting.line == "":
            run.prompt_is_back()  # Ctrl+C has emptied the terminal's input, and the line was in it
        elif incomplete() or late:
            await self._take_back(run)
        return how, state

    async def _waits_for_the_rest(
        self,
        run: TrackedRun,
        settled: Callable[[], bool],
        unread: Callable[[], bool],
        deadline: float,
    ) -> bool:
        """Return whether its shell has read the line and wants more; else it has just been slow.

        On a busy machine a shell may take seconds before it runs what was typed. It takes a key
        after the line only when it is through with it: so its answer tells.
        """
        session = run.session

        def begun() -> bool:
            return settled() or not unread()

        prompting = session.stream.prompting
        for _ in range(TRIES):
            how, _ = await settle(
                session, begun, deadline, asks=lambda state: waits_for_keys(session), looks_at=QUICK
            )
            if how != "needs_input" or not may_type(session):
                break
            before = prompting.answers
            await ask_shell(session, deadline)
            if begun() or prompting.answers > before:
                break
        return how == "needs_input" and not begun()

    async def _until_read_whole(
        self, run: TrackedRun, deadline: float, asks: Callable[[State], bool]
    ) -> tuple[Settled, State | None]:
        """A prompt came, but our line was not started. If the shell has read all, it will not be.

        Else it was the prompt of a line that somebody typed before, or one that Ctrl+C brought up.
        """
        session = run.session

        def started() -> bool:
            return run.done or run.state.started_by_mark

        def shown() -> bool:
            return started() or session.stream.prompting.phase == "prompt"

        # What the shell prints may come later than what our hooks do: the mark of the start, too.
        soon = min(deadline, self._host.loop.time() + NEXT_PROMPT)
        await settle(session, shown, soon, asks=never)
        await settle(
            session, started, deadline, asks=lambda state: waits_for_keys(session), looks_at=QUICK
        )
        if not started():
            run.was_refused()
        if not started() and may_type(session):
            await ask_shell(session, deadline)
            if not started() and session.stream.prompting.phase == "prompt":
                run.prompt_is_back()
        return await settle(session, lambda: run.done, deadline, asks=asks)

    async def _take_back(self, run: TrackedRun) -> None:
        """The shell asks for the rest of an incomplete command: bring it back to its prompt."""
        session, generation = run.session, run.session.generation
        marks_unrun = dialect_of(session.launch.program).marks_unrun

        def back() -> bool:
            ended = run.done or run.state.unstarted_end is not None
            if not marks_unrun:
                ended = session.generation > generation
            return ended and session.stream.prompting.phase == "prompt"

        for _ in range(_INTERRUPTS):  # a key is lost if the shell does not read yet
            if not may_type(session):
                break  # a person has taken over: they see what the shell waits for
            session.write(b"\x03")
            until = self._host.loop.time() + self._host.settings.mark_wait / _INTERRUPTS
            how, _ = await settle(session, back, until, asks=never)
            if how == "done":
                break
        run.prompt_is_back()
        self._ledger.drop_ended(session)
        raise IncompleteCommand(
            "the command is incomplete (an open quote, bracket or block); nothing was run"
        )

    async def ask_whether_over(self, run: TrackedRun, state: State) -> State | None:
        """Ask the shell itself; by a line only where the prompt stands that the run was sent at.

        Return the state that it has told meanwhile.
        """
        session, request = run.session, run.request
        run.was_refused()
        if not may_type(session):
            return None
        if not run.done and state.asks == "repl" and shows_prompt(run):
            now = self._host.loop.time()
            if await echoes_blank(session, self._host, now + self._host.settings.repl_echo_wait):
                run.prompt_is_back()
            return None
        if request.context == "native" and state.unmarked:
            told = await state_told_of(run)
            if not run.done and run.state.own_code is not None:
                # Its wrapper has told its end, and the line editor reads again, without any mark.
                session.stream.prompting.reads_again(run.state.own_code)
                run.wrapper_has_ended()
            return told
        if not self._may_report(run, state):
            return None
        run.output.recording = False
        await self._ask_by_line(run)
        other = without_words(request.dialect) if state.program in SHELLS else None
        if other is not None and not run.done and not run.state.elsewhere and may_type(session):
            request.dialect = other
            await self._ask_by_line(run)
        if request.pid is None and not (run.done or run.state.elsewhere) and may_type(session):
            write_judged(session, KILL_LINE)  # who did not understand it may wait for its rest
        session.stream.lift_veil()
        run.output.recording = not run.done
        return None

    async def _ask_by_line(self, run: TrackedRun) -> None:
        """Return when it has answered, or waits for the next line without having understood."""
        session, request = run.session, run.request
        session.stream.hide_echo(Veil(request.nonce, ERASE_LINE, "E"))
        line = report(request.dialect, request.nonce, own=run.in_own_shell)
        self._unread.note(session)
        # nacre's own line: it only reports an exit code
        write_judged(session, pasted(session, line, request.dialect, request.enter), recorded=b"")
        known = request.pid is not None and without_words(request.dialect) is not None
        await settle(
            session,
            lambda: run.done or run.state.elsewhere,
            self._host.loop.time() + self._host.settings.mark_wait,
            asks=lambda state: (
                known and state.state == "prompt" and waits_again(session, self._unread)
            ),
        )

    def _may_report(self, run: TrackedRun, state: State) -> bool:
        request = run.request
        if request.context != "wrapped" or not run.state.shell_id or run.state.elsewhere:
            return False
        if state.program != request.program:  # `exec bash`
            return False
        program = request.program or ""
        if shown_dialect(request.came_with, program) != shown_dialect(run.output.last, program):
            return False  # fish has come up, or another shell in it: their prompts may end alike
        # After Ctrl+C a prompt may say so, as that of fish does.
        cut_short = run.session.input.interrupts > run.state.interrupts
        shown = line_before_cursor(run.session)
        same = is_same_prompt(request.prompt, shown, sure=cut_short)
        return state.state == "prompt" and bool(request.prompt.strip()) and same

    # --- in a REPL -------------------------------------------------------------------------

    async def in_repl(
        self, run: TrackedRun, command: str, deadline: float, budget: int
    ) -> RunOutcome:
        """Raises IncompleteCommand when the REPL asked for the rest of it."""
        identifier = run.session.identity.id
        repl = ReplRun(self._host, run, deadline, self._in_repl.get(identifier))
        self._in_repl[identifier] = run
        try:
            how, state = await repl.send(command)
        except IncompleteInput as incomplete:
            run.prompt_is_back()
            self._ledger.drop_ended(run.session)
            raise IncompleteCommand(f"the input is incomplete: {incomplete}") from incomplete
        except ControlHeld:  # a person drives, and its rest will not be typed
            run.prompt_is_back()
            self._ledger.drop_ended(run.session)
            raise
        if not run.done:
            outcome = await self._unfinished(run, how, state, budget)
        else:
            self._ledger.drop_ended(run.session)
            # With a code, it ended the REPL itself.
            hint = _NO_CODE if run.exit_code is None else None
            if _is_back_in_code(run.session):
                hint = also(_IN_CODE, hint)
            await run.prepare(self._host.renderers)
            outcome = run.outcome("completed", budget, hint=hint)
        if repl.untyped:
            lines = "1 more line was" if repl.untyped == 1 else f"{repl.untyped} more lines were"
            outcome = msgspec.structs.replace(
                outcome, hint=also(f"{lines} not typed", outcome.hint)
            )
        return outcome

    async def _unfinished(
        self, run: TrackedRun, how: Settled, state: State | None, budget: int
    ) -> RunOutcome:
        if state is not None and state.state == "prompt" and not _has_started(run, how):
            state = None  # what stands there is the prompt that it was typed at
        hint = state.hint if state is not None else None
        if state is not None and state.state == "prompt":
            hint = _shell_that_came(run, state)
        if how != "needs_input":
            name = run.session.identity.name
            steps = (wait_for_run(name, run.id), read_output(name), interrupt(name))
            after = f"still running after {round(run.duration_ms / 1000, 1):g} s"
            hint = Hint(after, *steps) if hint is None else also(after, hint)
        ended_by: Literal["needs_input", "deadline"]
        ended_by = "needs_input" if how == "needs_input" else "deadline"
        await run.prepare(self._host.renderers)
        return run.outcome("timeout", budget, state, ended_by=ended_by, hint=hint)

    def note_prompt(self, run: TrackedRun | None, state: State) -> None:
        """End a REPL's run that was left, when its prompt is back."""
        if run is None or run.done or state.asks != "repl" or state.nested:
            return
        if is_back(run, state.program):
            run.prompt_is_back()

    def goes_on(self, run: TrackedRun | None, state: State) -> bool:
        """Whether a REPL that listens all the time still computes what was typed before."""
        if run is None or run.done or run.request.context != "repl" or state.asks != "repl":
            return False
        return state.program == run.request.program and listens_always(state.program or "")


def _what_ended(session: Session) -> str:
    if session.alive:
        return "the shell that it ran in has ended"
    return f"the session's process has ended ({session.ending})"


def _is_back_in_code(session: Session) -> bool:
    """Whether a prompt that was typed at is back, but not the first one, the REPL's own."""
    repl, facts = session.typed_repl, session.facts()
    return repl is not None and facts is not None and facts.reader in repl.readers[1:]


def _shell_that_came(run: TrackedRun, state: State) -> str:
    """Say where the shell comes from: if it is the same process, it took the place of the run's."""
    facts = run.session.facts()
    began_in = run.session.leader if run.request.context == "native" else run.request.pid
    same = began_in is not None and facts is not None and facts.pid == began_in
    if run.state.replaced or same:
        return _REPLACED
    told = began_in is not None or state.program != run.request.program
    return _STARTED_SHELL if told else _STARTED_OR_REPLACED


def _gave_up_reading(run: TrackedRun, state: State) -> bool:
    """Whether a shell of this machine has read the parts of a command, and made nothing of them.

    Its printf may be a program, which takes no argument of 200 KB (mksh). Until it has read them it
    does not echo, and is at no prompt.
    """
    fed = run.state.reads_parts and not run.state.started_by_mark
    return fed and state.state == "prompt" and run.request.pid is not None


def _has_started(run: TrackedRun, how: Settled) -> bool:
    """Until then, the prompt that is there is the one that it was typed at."""
    waits = how == "needs_input" or run.request.context == "repl"
    return waits or run.state.started_by_mark
