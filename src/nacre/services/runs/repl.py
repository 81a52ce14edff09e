"""A run in a REPL: its command is typed at the prompt, and it is over when that prompt is back.

Rule 1: there is no mark and no exit code. It is over when the prompt stands left of the cursor, the
REPL waits for the terminal, and nothing is left to read.
Rule 2: one line after the other: the next is typed when the REPL waits for it, so that no line is
echoed into the output of another.
Rule 3: a REPL that waits for the rest of a command gets none: it is brought back to its prompt.
Rule 4: if somebody else typed meanwhile, such as a person who took over, the rest is not typed.
"""

from nacre.core.shell.repl_input import IncompleteInput, python_lines
from nacre.core.shell.repl_prompts import (
    Place,
    asks_for_more,
    counted_on,
    is_prompt,
    place_of,
    prompt_in,
    prompt_pattern,
)
from nacre.core.shell.repl_reader import Asker, TypedRepl
from nacre.core.shell.repls import IPYTHON, Repl, repl_at
from nacre.core.shell.state import State
from nacre.core.terminal.repl_cut import ReplCut
from nacre.services.dispatch.permit import may_type, turn, type_into, write_judged
from nacre.services.host.host import Host
from nacre.services.observe.settle import Settled, settle, waits_for_somebody
from nacre.services.observe.state import line_before_cursor, look
from nacre.services.runs.run import TrackedRun
from nacre.services.session.session import Session
from nacre.system.processes.foreground import TerminalFacts

# Seconds: a REPL's prompt is on the screen or it is not. Between two lines less will do, for what
# comes late stands before the next prompt.
_LOOKS = (0.01, 0.01, 0.03, 0.1, 0.1, 1.0)
_LOOKS_BETWEEN = (0.002, 0.003, 0.03, 0.1, 0.1, 1.0)
_STANDS = 0.1  # seconds that what is no prompt must stand before it counts as a question
_UNDRAWN = 0.3  # seconds that a prompt must stand which is not drawn as it mostly is
_GIVE_UPS = 3  # a key that comes before a REPL listens is lost
_LONGEST_LINE = 4000  # bytes; a terminal in canonical mode cuts at 4095 (n_tty.c)
_TAIL = 12  # characters by which the echo of a line is known

_INTERRUPTED = ("su", "runuser")  # Ctrl+C ends them, and with them what runs there

_BLANK_AND_BACK = b" \x7f"
_KILL_LINE = b"\x15"  # Ctrl+U: what an editor indented by itself (readline, pyrepl, reline)


class _TakenOver(Exception):
    """Somebody else typed in the middle of a command: the rest may not belong there any more."""


class ReplRun:
    """One command on its way through a REPL."""

    def __init__(
        self, host: Host, run: TrackedRun, deadline: float, before: TrackedRun | None
    ) -> None:
        """`before` is the last run in a REPL of the session: its prompt is known."""
        session = run.session
        facts = session.facts()
        self._host = host
        self._session = session
        self._run = run
        self._deadline = deadline
        self._canonical = facts is not None and facts.canonical
        self._program = run.request.program = facts.program if facts is not None else None
        pid = facts.pid if facts is not None else None
        line = line_before_cursor(session)
        self._repl: Repl = repl_at(self._program, line, canonical=self._canonical)
        self._first = prompt_in(self._repl, line)
        if before is not None and before.request.program == self._program:
            prompt = before.request.prompt
            behind = prompt_pattern(line).endswith(prompt_pattern(prompt))
            if not line.strip() or (behind and not is_prompt(self._program, line)):
                self._first = prompt  # before which, or behind which, something was printed
        run.request.prompt = self._first
        session.typed_repl = TypedRepl(
            self._program, self._first, pid=pid, readers=_readers(session, self._program, facts)
        )
        self._inputs = session.inputs  # behind the last of this run's own
        self._ran = False  # a part of the command is through
        self.untyped = 0  # lines that were not typed when the wait was over

    async def send(self, command: str) -> tuple[Settled, State | None]:
        """Return why the wait is over, as `settle` does.

        Raises IncompleteInput when the REPL asks for the rest; it is at its prompt again then.
        """
        parts = self._parts(command)
        terminal, output = self._session.terminal, self._run.output
        output.cut = ReplCut(terminal.rows, terminal.cols, self._program, self._first)
        self._session.recorder.flush()  # no mark will tell the next daemon where output begins
        self.untyped = len(parts)
        try:
            return await self._send(parts)
        except _TakenOver:
            return "needs_input", look(self._session)

    async def _send(self, parts: list[str]) -> tuple[Settled, State | None]:
        how: Settled = "done"
        state: State | None = None
        for at, part in enumerate(parts):
            last = at == len(parts) - 1
            how, state = await self._type(part, last=last)
            self.untyped -= 1
            if self._run.done or how != "needs_input" or self._place() is None:
                return how, state
            if state is not None and state.nested:
                return how, state
            self._ran = self._ran or (self._place() == "prompt" and not last)
            if not last:
                self._end_part()
        for _ in range(self._repl.closes_with):
            if self._place() == "more":
                how, state = await self._enter(last=True)
        if self._place() == "more" and not self._repl.give_up and not self._run.done:
            return how, state  # it was complete: what waits there is code that asks
        if self._place() == "more":
            await self._give_up()
        if how == "needs_input" and self._place() == "prompt":
            self._run.prompt_is_back()
        return how, state

    def _parts(self, command: str) -> list[str]:
        if asks_for_more(self._program, self._first):
            raise IncompleteInput("it still waits for the rest of what was typed before")
        split = self._repl.parts
        if self._repl is IPYTHON and not self._session.terminal.modes().bracketed_paste:
            split = python_lines
        parts = split(command)
        longest = max(len(part.encode(errors="replace")) for part in parts)
        if self._canonical and longest > _LONGEST_LINE:
            raise IncompleteInput(f"a line of {longest} bytes is longer than its terminal takes")
        return parts

    # --- one line --------------------------------------------------------------------------

    async def _type(self, part: str, *, last: bool) -> tuple[Settled, State | None]:
        session = self._session
        await self._turn()
        cursor, shown = session.terminal.cursor(), line_before_cursor(session).rstrip()
        if self._repl.counts and self._place() == "prompt":
            self._run.request.prompt = shown
        if self._place() == "more" and cursor.col > len(shown) + 1:
            await self._write(_KILL_LINE)
        if part:
            before = session.generation
            await self._write(self._keys(part))
            tail = part.rpartition("\n")[2].strip()[-_TAIL:]

            def echoed() -> bool:
                shown = line_before_cursor(session).rstrip().endswith(tail)
                return shown and not self._repl.draws_slowly

            def takes_more(state: State) -> bool:
                return session.generation != before and waits_for_somebody(state)

            until = self._host.loop.time() + self._host.settings.repl_echo_wait
            await settle(session, echoed, until, asks=takes_more, looks_at=_LOOKS)
        return await self._enter(last=last)

    async def _enter(self, *, last: bool) -> tuple[Settled, State | None]:
        """Press Enter, and wait for a prompt or a question."""
        session, run = self._session, self._run
        await self._turn()
        await session.catch_up()
        cut = run.output.cut
        assert cut is not None
        cursor = session.terminal.cursor()
        cut.begin(session.terminal.plain_lines()[: cursor.row + 1])
        before = session.generation
        if not run.output.recording:
            run.output.recording = True
            run.state.first = run.state.first or before
            if run.state.begun < 0:
                run.state.begun = session.recorder.offset
            run.when_changed()
        await self._write(b"\r")

        def asks(state: State) -> bool:
            if session.generation == before or not waits_for_somebody(state):
                return False
            place = self._place()
            shows = line_before_cursor(session).strip()
            quiet = self._host.loop.time() - session.last_active
            if place == "prompt" and self._repl.drawn is not None and not cut.prompt_drawn:
                return quiet >= _UNDRAWN
            if place == "prompt" and not counted_on(self._repl, run.request.prompt, shows):
                return quiet >= _STANDS  # an error, the rest of a command, or it was printed
            if state.nested:
                return quiet >= _STANDS
            if place == "prompt" or (place == "more" and shows):
                return True
            if place == "more" and last and not self._repl.give_up:
                return quiet >= _UNDRAWN  # it was complete: mostly nothing is shown yet
            return not self._repl.always_reads and quiet >= _STANDS

        looks = _LOOKS if last else _LOOKS_BETWEEN
        while True:
            how, state = await settle(
                session, lambda: run.done, self._deadline, asks=asks, looks_at=looks
            )
            shown = how == "needs_input" and self._place() == "prompt"
            if not (shown and self._repl.counts and last) or await self._reads():
                break
        quiet = self._host.loop.time() - session.last_active
        # It may not have read the line yet: that it waits says nothing then.
        return how, None if how == "deadline" and quiet < _STANDS else state

    async def _reads(self) -> bool:
        if not may_type(self._session) or self._session.inputs != self._inputs:
            return True  # somebody else types there
        reads = await echoes_blank(self._session, self._host, self._deadline)
        self._inputs = self._session.inputs
        return reads

    async def _turn(self) -> None:
        await turn(self._session)
        if self._session.inputs != self._inputs:
            raise _TakenOver

    async def _write(self, data: bytes) -> None:
        await type_into(self._session, data)
        self._inputs = self._session.inputs

    def _end_part(self) -> None:
        output = self._run.output
        assert output.cut is not None
        output.cut.at_prompt = True
        output.end_answer()
        output.recording = False

    def _place(self) -> Place | None:
        cut = self._run.output.cut
        if cut is not None and cut.prompt_drawn:
            return "prompt"  # something may have been printed behind it since
        return place_of(self._repl, self._first, line_before_cursor(self._session))

    def _keys(self, part: str) -> bytes:
        if self._session.terminal.modes().bracketed_paste:
            return self._session.terminal.encode_paste(part)
        text = part
        if not self._canonical:  # where a tab would complete something
            code = part.lstrip("\t")
            text = " " * (8 * (len(part) - len(code))) + code
        return text.replace("\n", "\r").encode(errors="replace")

    # --- an open input ---------------------------------------------------------------------

    async def _give_up(self) -> None:
        self._run.output.recording = False
        session = self._session

        def back(state: State) -> bool:
            return self._place() == "prompt" and waits_for_somebody(state)

        can = bool(self._repl.give_up) and self._program not in _INTERRUPTED
        for _ in range(_GIVE_UPS if can else 0):
            if not may_type(session):
                break  # a person has taken over: they see what the REPL waits for
            write_judged(session, self._repl.give_up)
            until = self._host.loop.time() + self._host.settings.repl_prompt_wait
            how, _ = await settle(session, lambda: False, until, asks=back, looks_at=_LOOKS)
            if how == "needs_input":
                ran = "; what stood before that was run" if self._ran else "; nothing was run"
                raise IncompleteInput(
                    f"the REPL asked for the rest, and is at its prompt again{ran}"
                )
        raise IncompleteInput("the REPL waits for the rest of it")


def _readers(
    session: Session, program: str | None, facts: TerminalFacts | None
) -> tuple[Asker, ...]:
    """Return who has shown the prompts that were typed at in this REPL, with the one now."""
    if facts is None:
        return ()
    before = session.typed_repl or TypedRepl(program, "")
    return before.typed_again(facts.pid, facts.reader)


async def echoes_blank(session: Session, host: Host, deadline: float) -> bool:
    """Whether a REPL that listens all the time reads, and has not only printed its prompt.

    It keeps keys to itself until it reads: a blank that is taken back is shown at a prompt.
    """
    before, cursor = session.generation, session.terminal.cursor()
    session.write(_BLANK_AND_BACK)

    def shown() -> bool:
        return session.generation != before and session.terminal.cursor() == cursor

    until = min(deadline, host.loop.time() + host.settings.repl_echo_wait)
    how, _ = await settle(session, shown, until, asks=lambda _: False)
    return how == "done"


def shows_prompt(run: TrackedRun) -> bool:
    """Whether there stands what may be the prompt of a REPL that counts, and it may be typed at."""
    request, session = run.request, run.session
    repl = repl_at(request.program, request.prompt)
    if request.context != "repl" or not repl.counts or not may_type(session):
        return False
    return place_of(repl, request.prompt, line_before_cursor(session)) == "prompt"


def is_back(run: TrackedRun, program: str | None) -> bool:
    """Whether the prompt stands there that a REPL's run was typed at."""
    request = run.request
    if request.context != "repl" or program != request.program:
        return False
    if run.output.cut is not None and run.output.cut.prompt_drawn:
        return True
    repl, line = repl_at(program, request.prompt), line_before_cursor(run.session)
    is_next = counted_on(repl, request.prompt, line)
    return is_next and place_of(repl, request.prompt, line) == "prompt"
