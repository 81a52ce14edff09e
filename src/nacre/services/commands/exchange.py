"""Type into what marks nothing, and wait for its answer: a program, a shell behind ssh.

Rule 1: the answer is there when the command ends that it belongs to (the session's own shell marks
that), or when the prompt is back that it was typed at; else when it has been quiet.
Rule 2: silence is no end where the kernel knows that a command runs whose end can be seen.
Rule 3: neither the echo of what was typed nor the prompt at the end is output.
"""

from typing import Literal

from nacre.core.screen.controls import ALTERNATE
from nacre.core.shell.quiet import Quiesce
from nacre.core.shell.repl_prompts import is_same_prompt, prompt_pattern, without_shell_prompt
from nacre.core.shell.state import State, asks_for_line
from nacre.late_pattern import late_pattern
from nacre.services.dispatch.permit import type_into
from nacre.services.host.host import Host
from nacre.services.observe.settle import LOOKS, settle, waits_for_somebody
from nacre.services.observe.state import line_before_cursor, look
from nacre.services.runs.prompt import has_read_all, note_shown_prompt, until_all_is_read
from nacre.services.runs.run import TrackedRun
from nacre.services.session.session import Session

TAKES_SOON = (0.01, 0.01, 0.03, 0.2, 1.0)  # seconds: who waits for a line gets it soon


# PS2 of sh and bash is >; zsh says before it what is open.
_CONTINUED = late_pattern(r"(?:[a-z]+ )*[a-z]*>")

AnsweredBy = Literal["mark", "prompt", "needs_input", "quiet"]


class Late(Exception):
    """The time is over; so many lines were not typed."""

    def __init__(self, untyped: int = 0) -> None:
        super().__init__(untyped)
        self.untyped = untyped


class Exchange:
    """One input for what marks nothing; `run` records the answer."""

    def __init__(self, run: TrackedRun, state: State, wait: Quiesce, host: Host) -> None:
        session = run.session
        self._run = run
        self._session = session
        self._wait = wait
        self._host = host
        # Behind a prompt of a shell it is known when it is back.
        self._prompt: str | None = None
        if state.state == "prompt":
            note_shown_prompt(run)
            group, known = run.request.before
            if not run.request.prompt.strip() and group == run.request.group:
                run.request.prompt = known  # it answers a question of the line before
            self._prompt = run.request.prompt
        self._shown = "" if session.terminal.alternate else line_before_cursor(session)
        self._is_back = False  # the prompt that it was typed at
        self._in_own_shell = session.marks_itself and session.in_foreground
        facts = session.facts()
        self._echoes = self._prompt is not None or (facts is not None and facts.echo)
        self._typed: list[str] = []

    async def type(self, lines: list[str]) -> tuple[AnsweredBy, State | None]:
        """Raises Late at the deadline, and SessionExited when the child ends."""
        session, output = self._session, self._run.output
        output.recording = True
        self._run.state.first = session.generation
        # It goes on behind what stands in the line: where a row ends depends on that.
        output.record(ALTERNATE if session.terminal.alternate else self._shown.encode())
        whole = "".join(lines) if self._prompt is not None else None
        try:
            for number, line in enumerate(lines):
                left = len(lines) - number - 1
                self._run.request.more_lines = left > 0
                self._typed.append(line.rstrip("\r\n"))
                ended = session.stream.prompting.ended
                await type_into(session, line.encode(), part_of=whole)
                if left:
                    await self._until_taken(ended, left)
        finally:
            self._run.request.more_lines = False
        by, state = await until_answered(session, self._wait, self._host, ended, self._prompt)
        self._is_back = by == "prompt"
        if self._is_back and self._in_own_shell and self._is_ended_by_mark:
            return "mark", None  # its prompt has no marks, but it told how the line ended
        return by, state

    @property
    def _is_ended_by_mark(self) -> bool:
        """Whether the session's own shell has marked the end: what it prints then is no output."""
        return self._run.ended_by == "exit"

    async def _until_taken(self, ended: int, left: int) -> None:
        """Wait until something waits for the next line, or was quiet for long enough."""
        session, wait, loop = self._session, self._wait, self._host.loop
        prompting = session.stream.prompting

        def over() -> bool:
            return prompting.ended > ended and prompting.phase == "prompt"

        def takes(state: State) -> bool:
            if state.state == "running" and state.sure:
                return False
            return waits_for_somebody(state) or loop.time() - session.last_active >= wait.quiet

        how, _ = await settle(session, over, wait.deadline, asks=takes, looks_at=TAKES_SOON)
        if how == "exit":
            session.require_alive()
        if how == "deadline":
            raise Late(untyped=left)

    def text(self, budget: int) -> tuple[str, int]:
        """Return the answer within the budget, and the lines cut out of it."""
        if self._session.terminal.alternate:
            return "", 0  # its screen tells
        output, omitted = self._run.output.text(budget)
        return self._without_echo(output), omitted

    def _without_echo(self, output: str) -> str:
        lines = output.split("\n")
        shown = self._shown.rstrip()
        if lines and shown and lines[0].startswith(shown):
            lines[0] = lines[0][len(shown) :].lstrip()
        if self._echoes:
            lines = self._without_typed(lines)
        elif lines and shown and not lines[0]:
            del lines[0]
        at_prompt = self._is_back and not self._is_ended_by_mark
        if self._prompt and lines and (at_prompt or self._is_prompt(lines[-1])):
            # Before it there may be output that ends within a line.
            lines[-1] = without_shell_prompt(self._prompt, lines[-1])
            lines = lines if lines[-1] else lines[:-1]
        return "\n".join(lines)

    def _without_typed(self, lines: list[str]) -> list[str]:
        """Take out each line that was typed once, where it follows what it was typed behind."""
        typed = [line.strip() for line in self._typed]
        kept: list[str] = []
        index = 0
        while index < len(lines):
            line = lines[index]
            before = line.rstrip().removesuffix(typed[0]) if typed else None
            echo = typed and line.rstrip().endswith(typed[0])
            if echo and before is not None and (index == 0 or self._may_precede(before)):
                del typed[0]
                printed = before if index == 0 else self._printed_before_prompt(before)
                if printed.strip():
                    kept.append(printed.rstrip())
            elif typed and (rows := self._rows_of_echo(lines[index:], typed[0], first=not index)):
                del typed[0]
                index += rows - 1
            else:
                kept.append(line)
            index += 1
        return kept

    def _rows_of_echo(self, lines: list[str], typed: str, *, first: bool) -> int:
        """Return how many rows an echo has that its line editor breaks itself, as ash's does.

        Blanks are not compared: those at the end of a row are not seen.
        """
        cols, wanted = self._run.output.cols, "".join(typed.split())
        prompt = "" if first else prompt_pattern("".join((self._prompt or "").split()))
        if len(self._shown) + len(typed) < cols:
            return 0
        for rows in range(2, min(len(lines), len(typed) // cols + 2) + 1):
            shown = "".join("".join(lines[:rows]).split())
            if shown.endswith(wanted):
                return rows if prompt_pattern(shown.removesuffix(wanted)) == prompt else 0
        return 0

    def _printed_before_prompt(self, shown: str) -> str:
        """Return what stands before the prompt of the next line, without a final newline."""
        known, shown = (self._prompt or "").strip(), shown.rstrip()
        if self._prompt is None:
            return ""
        if _CONTINUED.fullmatch(shown.strip()) and not (known != ">" and shown.endswith(known)):
            return ""
        return without_shell_prompt(self._prompt, shown)

    def _is_prompt(self, line: str) -> bool:
        return self._prompt is not None and prompt_pattern(line) == prompt_pattern(self._prompt)

    def _may_precede(self, before: str) -> bool:
        if not before.strip() or _CONTINUED.fullmatch(before.strip()):
            return True
        return self._prompt is not None and is_same_prompt(self._prompt, before, sure=True)


async def until_answered(
    session: Session, wait: Quiesce, host: Host, ended: int, prompt: str | None = None
) -> tuple[AnsweredBy, State | None]:
    """Wait for the answer to what was just typed; `ended` counts the commands that had ended then.

    Raises Late at the deadline, and SessionExited when the child ends.
    """
    prompting, before = session.stream.prompting, session.generation
    ending_is_marked = session.marks_itself and prompting.phase == "running"

    in_own_shell = session.marks_itself and prompting.phase in ("prompt", "continuation")

    def is_back(state: State) -> bool:
        if in_own_shell:
            return prompting.phase == "prompt" and has_read_all(session)
        if state.state != "prompt" or prompt is None:
            return False
        return is_same_prompt(prompt, line_before_cursor(session), sure=state.sure)

    def over() -> bool:
        return prompting.ended > ended and prompting.phase == "prompt"

    def answered(state: State) -> bool:
        is_new = prompt is not None and session.generation != before
        if is_new and (is_back(state) or state.state == "needs_input"):
            return True
        if host.loop.time() - session.last_active < wait.quiet:
            return False
        followed = ending_is_marked or prompt is not None
        return not (followed and state.state == "running" and state.sure)

    rest = max(0.0, wait.quiet - sum(LOOKS[:3]))
    looks = (*LOOKS[:3], rest, 0.0, 0.0, LOOKS[-1])
    how, state = await settle(session, over, wait.deadline, asks=answered, looks_at=looks)
    if how == "exit":
        session.require_alive()
    if how == "deadline":
        raise Late
    if how == "done":
        await until_all_is_read(session, wait.deadline)
        return "mark", None
    state = state or look(session)
    if prompt is None:
        return "quiet", state
    if is_back(state):
        return "prompt", state
    state = _without_prompt(session, state, prompt)
    return ("needs_input" if state.state == "needs_input" else "quiet"), state


def _without_prompt(session: Session, state: State, prompt: str) -> State:
    """Distinguish `read` from the prompt where they look the same to the kernel: in dash."""
    line, ends = line_before_cursor(session).rstrip(), prompt.rstrip()[-1:]
    if state.state != "prompt" or state.sure or not ends or line.endswith(ends):
        return state
    return asks_for_line(state, line)
