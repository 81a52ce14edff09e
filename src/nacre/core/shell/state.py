"""What a session is doing (at a prompt, running, waiting for input, exited), and the evidence.

Rule 1: marks decide first, then the kernel's facts; text on the screen only distinguishes kinds of
questions.
Rule 2: every answer has its evidence, and a hint what an agent should do next.
"""

import re
from typing import Literal

import msgspec
from msgspec import Struct

from nacre.core.shell.dialects import SHELLS
from nacre.core.shell.programs import (
    BY_PAGES,
    EDITORS,
    IN_FULL,
    MULTIPLEXERS,
    OPAQUE,
    PAGERS,
    PASSWORD,
    PROMPT_ENDS,
    is_confirm,
    is_repl,
    looks_as_prompt,
    reads_in_code,
)
from nacre.core.shell.repl_prompts import (
    asks_for_more,
    is_at,
    is_prompt,
    listens_always,
    prompt_pattern,
    shown_by_code,
)
from nacre.late_pattern import late_pattern

StateName = Literal["prompt", "running", "needs_input", "exited", "lost"]
Asks = Literal["password", "confirm", "pager", "editor", "repl", "line", "key", "multiplexer"]

_REDRAWN = 5.0  # seconds after which a screen that redrew itself no longer does
_UNASKED = 1.5  # seconds after the last input: what is printed later was not asked for by it
_STANDS = 1.0  # seconds that a line must stand which may be a prompt of an unknown kind
_LATE = 0.5  # seconds that a redraw may be late


class State(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`asks` says what kind of input is needed; `sure` is False if it is a guess.

    `full_screen`: it runs, draws its screen again and again, and ends when it is told to.
    """

    state: StateName
    evidence: list[str]
    asks: Asks | None = None
    program: str | None = None
    hint: str | None = None
    sure: bool = True
    unmarked: bool = False  # the session's own shell edits a line, and no mark says what for
    full_screen: bool = False
    nested: bool = False  # code that a REPL runs asks by the REPL's own prompt


class Seen(Struct, frozen=True):
    """What is known at one moment; facts that we may not read are None."""

    marked: Literal["prompt", "continuation", "running"] | None  # by the shell's own marks
    in_shell: bool  # the foreground is the session's own program, and that is a shell
    program: str | None
    echo: bool
    canonical: bool
    waits: bool | None
    alternate: bool
    bracketed_paste: bool
    line: str  # the text left of the cursor
    scripted: bool = False  # the program is a shell or interpreter that runs a script
    known_prompt: str = ""  # the session's own shell's last one
    repl_prompt: str = ""  # of the program, if it is a REPL that was typed at before
    repl_runs: bool = False  # what was typed there has not brought its prompt back
    timeout: float | None = None  # seconds after which who waits goes on by itself; None: never
    reader: Literal["own", "other"] | None = None  # whether it waits where it was typed at
    edits: bool = False  # the terminal hands Enter on as it is, as line editors want it
    quiet: float = 0.0  # seconds since the last output
    unasked: float = 0.0  # seconds between the last input and the last output

    @property
    def edits_line(self) -> bool:
        """Whether a line editor has the terminal: readline, zle and fish ask for pastes."""
        return not (self.canonical or self.echo) and self.bracketed_paste

    @property
    def secret(self) -> bool:
        return self.canonical and not self.echo


def judge(seen: Seen) -> State:
    """Decide for a session that is alive."""
    program = seen.program
    facts = _facts(seen)
    if seen.marked == "prompt" and seen.in_shell:
        return State(state="prompt", evidence=["mark: prompt", *facts], program=program)
    if seen.marked == "continuation" and seen.in_shell:
        hint = "the shell waits for the rest of the command: complete it, or send ctrl+c"
        return _needs("line", seen, ["mark: continuation prompt", *facts], hint)
    if program in MULTIPLEXERS and not seen.canonical:
        leave = _LEAVE_MULTIPLEXER.get(program or "", "its own keys")
        hint = (
            f"{program} is open, and what runs in it is not seen from here: use its keys,"
            f" {leave} leaves it; a session of its own needs no {program}"
        )
        return _needs("multiplexer", seen, facts, hint)
    if program in OPAQUE:
        return _judge_opaque(seen, facts)
    if seen.waits is False:
        if not seen.canonical and PASSWORD.search(seen.line):
            # Who asks has no part in the foreground: gpg's agent draws its question itself.
            return _needs("password", seen, facts, _IN_A_BOX, sure=False)
        if _redraws(seen):
            return _full_screen(seen, facts)
        return State(state="running", evidence=facts, program=program)
    if seen.secret:
        return _needs("password", seen, facts, _PASSWORD_HINTS.get(program or ""))
    if program in SHELLS and not seen.scripted:
        return _judge_shell(seen, facts)
    if seen.waits is None:
        return State(state="running", evidence=facts, program=program, sure=False)
    return _judge_program(seen, facts)


def asks_for_line(state: State, line: str, asks: Asks = "line") -> State:
    """Turn what looks like a prompt, or as if it ran, into the question that it is known to be."""
    asks = "confirm" if is_confirm(state.program, line) else asks
    hint = _confirm_hint(line) if asks == "confirm" else _HINTS[asks]
    return msgspec.structs.replace(state, state="needs_input", asks=asks, hint=hint)


def _judge_shell(seen: Seen, facts: list[str]) -> State:
    if seen.marked == "running" and seen.in_shell:
        if seen.waits and seen.edits_line:
            return _judge_unmarked(seen, [*facts, "its line editor reads, and no mark says what"])
        # The shell itself reads: the `read` builtin.
        return _question(seen, facts) if seen.waits else _running(seen, facts)
    if seen.waits and seen.echo and not seen.canonical:
        return _question(seen, facts)  # read -n 1: at no shell's prompt does the terminal echo
    if seen.waits or not seen.canonical:
        return State(state="prompt", evidence=facts, program=seen.program, sure=not seen.canonical)
    return _running(seen, facts)


def _judge_unmarked(seen: Seen, facts: list[str]) -> State:
    """At a prompt that has lost its marks, or in `read -e`: only the shell itself can tell."""
    known = prompt_pattern(seen.known_prompt)
    if known and prompt_pattern(seen.line) == known:
        state = State(state="prompt", evidence=facts, program=seen.program, sure=False)
    else:
        state = _question(seen, facts)
    return msgspec.structs.replace(state, unmarked=True)


def _judge_program(seen: Seen, facts: list[str]) -> State:
    program = seen.program or ""
    if BY_PAGES.search(seen.line):
        return _needs("pager", seen, facts, _BY_PAGES_HINT)
    if program in EDITORS:
        return _needs("editor", seen, facts, _EDITOR_HINTS.get(program))
    if program in PAGERS and not seen.canonical:
        return _needs("pager", seen, facts)
    if not seen.alternate and (state := _judge_repl(seen, facts)) is not None:
        return state
    if not seen.canonical and not seen.echo and _redraws(seen):
        return _full_screen(seen, facts)
    return _question(seen, facts)


def _judge_repl(seen: Seen, facts: list[str]) -> State | None:
    """Return the state of a REPL at its prompt; None where none is."""
    program, line = seen.program or "", seen.line
    known = is_prompt(program, line) or is_at(program, seen.repl_prompt, line)
    if not known and is_confirm(program, line):
        return None
    if seen.canonical or seen.scripted or not is_repl(program):
        # A script that asks for a line looks like its interpreter: only the prompt tells.
        if not known and not looks_as_prompt(line):
            return None
    elif not known and listens_always(program, draws_again=True):
        return _running(seen, facts, sure=False)
    elif not known and program == "swipl" and not line.rstrip().endswith("|:"):
        return _needs("key", seen, facts, _CHOICE)
    elif not known and (_asks_by_line(seen) or _asks_in_code(seen)):
        # input() in Python, readline() in R
        return _needs("line", seen, facts)
    if seen.reader == "other" and shown_by_code(program, seen.repl_prompt, line):
        facts = [*facts, "not read where the REPL reads"]
        state = _needs("repl", seen, facts, _NESTED, sure=False)
        return msgspec.structs.replace(state, nested=True)
    hint = None
    if asks_for_more(program, line):
        hint = "the REPL waits for the rest of its input: complete it, or send ctrl+c"
    return _needs("repl", seen, facts, hint, sure=known and not seen.canonical)


def _asks_by_line(seen: Seen) -> bool:
    return _ASKS_BY_LINE.search(seen.line) is not None and seen.reader != "own"


def _asks_in_code(seen: Seen) -> bool:
    """Whether code that was typed there asks for a line, instead of a prompt that it changed."""
    line = seen.line.rstrip()
    begins = bool(seen.repl_prompt.strip()) and line.startswith(seen.repl_prompt.rstrip())
    if not seen.repl_runs or begins or not reads_in_code(seen.program or ""):
        return False
    if seen.reader == "own":
        return False
    return not _ends_like_prompt(line) and not line.endswith((")", "]"))


def _redraws(seen: Seen) -> bool:
    """Whether a program draws its screen again by itself, as top does, instead of waiting."""
    known = seen.program in _LEAVE
    if seen.program in EDITORS or seen.program in PAGERS or not (seen.alternate or known):
        return False
    if known and seen.alternate:
        return True
    if seen.timeout is not None and seen.quiet <= seen.timeout + _LATE:
        return True
    return seen.unasked > _UNASKED and seen.quiet < _REDRAWN


def _full_screen(seen: Seen, facts: list[str]) -> State:
    leave = _LEAVE.get(seen.program or "", "mostly q or ctrl+c")
    return State(
        state="running",
        evidence=[*facts, "draws its screen by itself"],
        program=seen.program,
        hint=f"a full-screen program runs until it is told to end: {leave} leaves it",
        full_screen=True,
    )


def _question(seen: Seen, facts: list[str]) -> State:
    """A line, a yes or no, or a key: without canonical mode no Enter is needed for that."""
    edited = seen.program in SHELLS and (seen.edits or seen.bracketed_paste)  # read -e, vared
    by_library = seen.scripted and seen.edits and not seen.alternate
    edited = edited or (by_library and bool(seen.line.strip()))
    by_key = not seen.canonical and (seen.echo or not edited)
    if is_confirm(seen.program, seen.line):
        return _needs("confirm", seen, facts, _confirm_hint(seen.line, by_key=by_key))
    return _needs("key" if by_key else "line", seen, facts)


def _confirm_hint(line: str, *, by_key: bool = False) -> str:
    if IN_FULL.search(line):
        return "it asks for yes or no: send yes or no, in full, and Enter"
    if by_key:
        return "it asks for yes or no: press y or n, without Enter"
    return _HINTS["confirm"]


def _judge_opaque(seen: Seen, facts: list[str]) -> State:
    """Judge what is at the other end of ssh, by the screen and its modes only."""
    if seen.secret or PASSWORD.search(seen.line):
        return _needs("password", seen, facts, sure=seen.secret)
    if is_confirm(seen.program, seen.line):
        return _needs("confirm", seen, facts, _confirm_hint(seen.line), sure=False)
    if not seen.alternate and BY_PAGES.search(seen.line):
        return _needs("pager", seen, facts, _BY_PAGES_HINT, sure=False)
    if not seen.alternate and (
        is_prompt(seen.program, seen.line) or is_at(seen.program, seen.repl_prompt, seen.line)
    ):
        return _needs("repl", seen, [*facts, "remote REPL's prompt"], sure=False)
    if seen.alternate:
        return _needs("key", seen, [*facts, "alternate screen"], sure=False)
    # A program may have switched pastes on, too: where nothing is shown there is no prompt.
    if (seen.bracketed_paste and seen.line.strip()) or _ends_like_prompt(seen.line):
        return State(
            state="prompt", evidence=[*facts, "remote prompt"], program=seen.program, sure=False
        )
    state = _running(seen, facts, sure=False)
    if seen.line.strip() and seen.quiet >= _STANDS:
        state = msgspec.structs.replace(state, hint=_MAYBE_PROMPT.format(seen.line.strip()[-40:]))
    return state


def _ends_like_prompt(line: str) -> bool:
    """A colon ends questions too: it counts behind a host or a folder."""
    line = line.rstrip()
    return line[-1:] in PROMPT_ENDS or (line[-1:] == ":" and re.search(r"[@~/]", line) is not None)


def _running(seen: Seen, facts: list[str], *, sure: bool = True) -> State:
    return State(state="running", evidence=facts, program=seen.program, sure=sure)


_HINTS: dict[Asks, str] = {
    "password": "it asks for a password: let a person type it, or send ctrl+c",
    "confirm": "it asks for yes or no: send y or n, and Enter",
    "pager": "a pager is open: send q to quit, or a space for the next page",
    "editor": "an editor is open: use its keys",
    "repl": "a REPL waits for input: run or send the next line, ctrl+d leaves it",
    "line": "the program waits for a line: send one with Enter, or ctrl+c",
    "key": "the program waits for a key, without Enter: look at the screen",
    "multiplexer": "a terminal multiplexer is open: use its keys",
}
# They ignore Ctrl+C.
_PASSWORD_HINTS = {"passwd": "it asks for a password: let a person type it, or send ctrl+d"}
_IN_A_BOX = (
    "it asks for a password in a box: let a person type it, or press tab until Cancel is marked,"
    " then enter"
)
_CHOICE = "Prolog shows an answer: press ; for the next one, without Enter, or Enter to stop"
_NESTED = (
    "code that was typed asks by the REPL's own prompt: it waits for a line (as by input()), or is"
    " a console of its own; what is sent next goes there"
)
_MAYBE_PROMPT = (
    "it may be running, or wait at a prompt that is not known as one: the cursor stands behind"
    " {!r}. If that is a shell's prompt, type PS1='$ ' and Enter there once; then commands can be"
    " run"
)
_BY_PAGES_HINT = "it shows a page at a time: press Enter for the next one, or q to stop"
_VIM = "an editor is open: use its keys (vim: escape, then :q! and Enter leaves it unsaved)"
_NANO = "an editor is open: use its keys (nano: ctrl+x leaves it; n if it asks whether to save)"
_EDITOR_HINTS = {
    **dict.fromkeys(("vi", "vim", "nvim", "view", "vimdiff", "rvim", "rview"), _VIM),
    **dict.fromkeys(("nano", "rnano", "pico"), _NANO),
    "emacs": "an editor is open: use its keys (emacs: ctrl+x, ctrl+c leaves it)",
    "jed": "an editor is open: use its keys (jed: ctrl+x, ctrl+c leaves it)",
    "ed": "an editor is open: it takes commands by the line (Q and Enter leaves it unsaved)",
    "ex": "an editor is open: it takes commands by the line (q! and Enter leaves it unsaved)",
    "micro": "an editor is open: use its keys (micro: ctrl+q leaves it)",
    **dict.fromkeys(("hx", "helix", "kak"), _VIM.replace("vim", "helix and kakoune")),
    "joe": "an editor is open: use its keys (joe: ctrl+c leaves it)",
    "mcedit": "an editor is open: use its keys (mcedit: f10 leaves it)",
}
_LEAVE = {
    **dict.fromkeys(("top", "htop", "btop", "atop", "glances", "nvtop"), "q"),
    "watch": "ctrl+c",
}
_LEAVE_MULTIPLEXER = {
    "tmux": "ctrl+b, then d",
    "byobu": "f6",
    "screen": "ctrl+a, then d",
    "zellij": "ctrl+o, then d",
}
_ASKS_BY_LINE = late_pattern(r"[:?]\s*$")


def _needs(
    asks: Asks, seen: Seen, evidence: list[str], hint: str | None = None, *, sure: bool = True
) -> State:
    return State(
        state="needs_input",
        asks=asks,
        evidence=evidence,
        program=seen.program,
        hint=hint or _HINTS[asks],
        sure=sure,
    )


def _facts(seen: Seen) -> list[str]:
    flags = f"{'canonical' if seen.canonical else 'raw'}, echo {'on' if seen.echo else 'off'}"
    waits = "no permission to see whether it waits"
    if seen.waits is not None:
        waits = "waits for the terminal" if seen.waits else "does not wait for the terminal"
    facts = [f"foreground: {seen.program or 'unknown'}", f"terminal: {flags}", waits]
    if seen.marked == "running":
        facts.insert(0, "mark: a command is running")
    return facts
