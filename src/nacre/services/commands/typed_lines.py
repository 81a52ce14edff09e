"""Type lines into a session's own shell, which marks its commands, and wait for all of them.

Rule 1: a line is typed when the one before it is through: the shell is back at a prompt, asks for
the rest of a command, or a program waits for input. So no line is lost to a program that empties
its terminal, none is echoed twice, and the end of the last one is the end of all.
Rule 2: the end of a line is its mark. Where a line has none (it is empty, or the shell waits for
the rest of it and does not mark that) the kernel tells that the shell has read everything and waits
for more.
Rule 3: lines that are not typed when the time is over are not typed at all, and counted. Nor is
one that belongs to the line before if somebody else has typed since, such as a person.
"""

from typing import Literal, NamedTuple

import msgspec

from nacre.core.shell.dialects import dialect_of
from nacre.core.shell.quiet import Quiesce
from nacre.core.shell.state import State
from nacre.core.shell.typed import has_tab, is_empty
from nacre.errors import NotAtPrompt
from nacre.services.commands.exchange import TAKES_SOON, Late, until_answered
from nacre.services.dispatch.permit import may_type, turn, type_into
from nacre.services.host.host import Host
from nacre.services.observe.settle import settle, waits_for_somebody
from nacre.services.observe.state import look
from nacre.services.runs.ask_shell import state_told_of
from nacre.services.runs.prompt import (
    NEXT_PROMPT,
    has_read_all,
    leave_vi_commands,
    until_all_is_read,
)
from nacre.services.runs.run import TrackedRun

_PASTE_MODE = 0.1  # seconds between a prompt's mark and the switching on of bracketed paste

_REST = "the shell waits for the rest of the command: complete it, or send ctrl+c"

Step = Literal["ended", "continued", "asks", "unmarked"]


class LinesEnd(NamedTuple):
    """How the last line ended; the state where no mark told."""

    by: Literal["mark", "prompt", "needs_input", "quiet"]
    state: State | None = None


async def type_lines(run: TrackedRun, lines: list[str], wait: Quiesce, host: Host) -> LinesEnd:
    """Raises Late at the deadline, and SessionExited when the child ends."""
    run.output.in_parts = len(lines) > 1
    try:
        return await _type_each(run, lines, wait, host)
    finally:
        run.request.more_lines = False  # also when the caller has gone: the next end is the run's


async def _type_each(run: TrackedRun, lines: list[str], wait: Quiesce, host: Host) -> LinesEnd:
    step: Step = "ended"
    state: State | None = None
    typing: _Typing | None = None
    for number, line in enumerate(lines):
        run.request.more_lines = number + 1 < len(lines)
        await turn(run.session)
        if typing is not None and _is_out_of_place(step, typing):
            left = len(lines) - number
            told = "1 line of the input was" if left == 1 else f"{left} lines of the input were"
            raise NotAtPrompt(
                f"somebody else typed meanwhile; {told} not typed", untyped_lines=left
            )
        if step == "ended":
            await _clear_line(run, wait.deadline)
            await leave_vi_commands(run.session, line)
        whole = "".join(lines) if step != "asks" else None
        typing = _Typing(run, line, wait.deadline, in_shell=step != "asks", part_of=whole)
        try:
            if step == "asks" and not run.request.more_lines:
                return await typing.answer(wait, host)
            step, state = await typing.go()
        except Late:
            raise Late(untyped=len(lines) - number - 1) from None
    assert typing is not None, "there is no line to type"
    return _ended(run, step, state, typing)


def _is_out_of_place(step: Step, before: "_Typing") -> bool:
    """Whether the next line would be typed elsewhere than behind the one before."""
    session = before.session
    if session.inputs == before.inputs:
        return False
    # A line that was asked for its rest got that from somebody else, or was given up.
    asked = before.was_continued
    return asked or step != "ended" or session.stream.prompting.phase != "prompt"


async def _clear_line(run: TrackedRun, deadline: float) -> None:
    """Take away a line with a syntax error that the shell has left standing at its prompt."""
    session, stream = run.session, run.session.stream
    keeps = dialect_of(session.launch.program).keeps_bad_line
    if not keeps or not stream.line_refused:
        return
    await until_all_is_read(session, deadline)  # it shows the line, and listens to the key
    if not stream.line_is_typed:
        return
    drawn = stream.prompts_drawn
    await type_into(session, b"\x03")
    soon = min(deadline, session.last_input + NEXT_PROMPT)
    await settle(session, lambda: stream.prompts_drawn > drawn, soon, asks=lambda state: False)


def _ended(run: TrackedRun, step: Step, state: State | None, last: "_Typing") -> LinesEnd:
    if step == "asks":
        return LinesEnd("needs_input", state)
    if step == "continued":
        return LinesEnd("needs_input", look(run.session))
    if step == "unmarked" and not last.was_drawn_anew:
        waits = State(state="needs_input", evidence=["the shell has read it and waits"])
        shell = run.session.launch.program
        return LinesEnd(
            "needs_input", msgspec.structs.replace(waits, asks="line", program=shell, hint=_REST)
        )
    if not run.done:
        run.end_as_its_last_line()
    return LinesEnd("prompt" if run.ended_by == "prompt" else "mark")


class _Typing:
    """One line, and what the session was like before it was typed."""

    def __init__(
        self,
        run: TrackedRun,
        line: str,
        deadline: float,
        *,
        in_shell: bool,
        part_of: str | None = None,
    ) -> None:
        self._run = run
        self._part_of = part_of  # all lines, for the policy
        self.session = run.session
        self._prompting = run.session.stream.prompting
        self._line = line
        self._deadline = deadline
        self._in_shell = in_shell
        self._empty = in_shell and self._prompting.phase == "prompt" and is_empty(line)
        self._parts = run.state.parts
        self._drawn = run.session.stream.prompts_drawn
        self._ended = self._prompting.ended
        self._continued = self._prompting.continued
        self._generation = run.session.generation
        self.inputs = run.session.inputs  # the session's count behind this line

    @property
    def was_drawn_anew(self) -> bool:
        """Whether a prompt was drawn since."""
        return self.session.stream.prompts_drawn > self._drawn

    @property
    def was_continued(self) -> bool:
        """Whether the shell asked for its rest."""
        return self._prompting.continued > self._continued

    async def go(self) -> tuple[Step, State | None]:
        """Type it, and return where the session stands when it is through."""
        await self._write()
        how, state = await settle(
            self.session, self._is_through, self._deadline, asks=self._waits, looks_at=TAKES_SOON
        )
        if how == "exit":
            self.session.require_alive()
        if how == "deadline":
            raise Late
        if state is not None and state.unmarked and may_type(self.session):
            # The line took the shell's marks away, or reads a line itself: it can tell.
            state = await state_told_of(self._run, self._deadline)
        if self._has_ended and not self._in_shell:
            await until_all_is_read(self.session, self._deadline)
        if self._has_ended or (self._empty and how == "done"):
            return "ended", state
        if how == "done":
            return "continued", None
        return ("asks" if self._runs else "unmarked"), state

    async def answer(self, wait: Quiesce, host: Host) -> LinesEnd:
        """Type the last line into a program; nobody marks the end of its answer."""
        await self._type(self._line.encode())
        by, state = await until_answered(self.session, wait, host, self._ended)
        return LinesEnd(by, state)

    async def _write(self) -> None:
        """Type it as it stands; a tab within it would complete, but for a pasted one.

        Nor does a paste care which keymap a hook of the user's has chosen (`zle -K vicmd`).
        """
        body = self._line.rstrip("\r\n")
        pastes = dialect_of(self.session.launch.program).takes_pastes_late and body.strip()
        if self._in_shell and (has_tab(body) or pastes):
            terminal = self.session.terminal
            soon = self._run.session.last_active + _PASTE_MODE
            await settle(self.session, lambda: terminal.modes().bracketed_paste, soon)
            enter = self._line[len(body) :].encode()
            await self._type(terminal.encode_paste(body) + enter)
        else:
            await self._type(self._line.encode())

    async def _type(self, data: bytes) -> None:
        await type_into(self.session, data, part_of=self._part_of)
        self.inputs = self.session.inputs

    @property
    def _has_ended(self) -> bool:
        return self._run.done or self._run.state.parts > self._parts

    @property
    def _runs(self) -> bool:
        return self._prompting.phase not in ("prompt", "continuation")

    def _is_through(self) -> bool:
        phase = self._prompting.phase
        if self._has_ended:
            return phase == "prompt"
        if not self.was_drawn_anew:
            return False
        return phase == "continuation" or (self._empty and phase == "prompt")

    def _waits(self, state: State) -> bool:
        if self._has_ended:
            return state.state == "prompt"  # a theme has drawn its prompt without our marks
        if self._runs:
            return waits_for_somebody(state)
        # It has shown the line and waits for more: it did not run it.
        return self.session.generation != self._generation and has_read_all(self.session)
