"""What a session is doing: at a prompt, running, waiting for input, exited; and how that is known.

Rule 1: decided from marks and the kernel's facts, in that order; words on the screen only tell one
kind of question from another.
Rule 2: every answer carries its evidence, and what an agent should do next.
"""

from dataclasses import dataclass
from typing import Literal

import msgspec

from nacre.core.programs import (
    CONFIRM,
    EDITORS,
    OPAQUE,
    PAGERS,
    PASSWORD,
    SHELLS,
    is_repl,
)

StateName = Literal["prompt", "running", "needs_input", "exited", "lost"]
Asks = Literal["password", "confirm", "pager", "editor", "repl", "line", "key"]


class State(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`asks` says what kind of input is needed; `sure` is False where it is a guess."""

    state: StateName
    evidence: list[str]
    asks: Asks | None = None
    program: str | None = None
    hint: str | None = None
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known at one moment; the kernel's part is None where it may not be read."""

    marked: Literal["prompt", "continuation", "running"] | None  # by the shell's own marks
    in_shell: bool  # the foreground is the session's own program, and that is a shell
    program: str | None
    echo: bool
    canonical: bool
    waits: bool | None
    alternate: bool
    bracketed_paste: bool
    line: str  # the text left of the cursor
    scripted: bool = False  # the program is a shell that runs a script, not one at its prompt

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
    if program in OPAQUE:
        return _judge_opaque(seen, facts)
    if seen.waits is False:
        return State(state="running", evidence=facts, program=program)
    if seen.secret:
        return _needs("password", seen, facts)
    if program in SHELLS and not seen.scripted:
        return _judge_shell(seen, facts)
    if seen.waits is None:
        return State(state="running", evidence=facts, program=program, sure=False)
    return _judge_program(seen, facts)


def asks_for_line(state: State, line: str) -> State:
    """Turn what looks as a prompt into the question that it is known to be."""
    asks: Asks = "confirm" if CONFIRM.search(line) else "line"
    return msgspec.structs.replace(state, state="needs_input", asks=asks, hint=_HINTS[asks])


def _judge_shell(seen: Seen, facts: list[str]) -> State:
    if seen.marked == "running" and seen.in_shell:
        # The shell itself reads: the `read` builtin.
        return _question(seen, facts) if seen.waits else _running(seen, facts)
    if seen.waits or not seen.canonical:
        return State(state="prompt", evidence=facts, program=seen.program, sure=not seen.canonical)
    return _running(seen, facts)


def _judge_program(seen: Seen, facts: list[str]) -> State:
    program = seen.program or ""
    if program in PAGERS:
        return _needs("pager", seen, facts)
    if program in EDITORS:
        return _needs("editor", seen, facts)
    if is_repl(program) and not seen.alternate:
        # A script that asks for a line looks as its interpreter, but reads canonically with echo.
        return _question(seen, facts) if seen.canonical else _needs("repl", seen, facts)
    if seen.canonical:
        return _question(seen, facts)
    return _needs("key", seen, facts)


def _question(seen: Seen, facts: list[str]) -> State:
    return _needs("confirm" if CONFIRM.search(seen.line) else "line", seen, facts)


def _judge_opaque(seen: Seen, facts: list[str]) -> State:
    """At the other end of ssh only the screen and its modes tell."""
    if seen.secret or PASSWORD.search(seen.line):
        return _needs("password", seen, facts, sure=seen.secret)
    if CONFIRM.search(seen.line):
        return _needs("confirm", seen, facts, sure=False)
    if seen.alternate:
        return _needs("key", seen, [*facts, "alternate screen"], sure=False)
    if seen.bracketed_paste or seen.line.rstrip()[-1:] in ("$", "#", ">"):
        return State(
            state="prompt", evidence=[*facts, "remote prompt"], program=seen.program, sure=False
        )
    return _running(seen, facts, sure=False)


def _running(seen: Seen, facts: list[str], *, sure: bool = True) -> State:
    return State(state="running", evidence=facts, program=seen.program, sure=sure)


_HINTS: dict[Asks, str] = {
    "password": "a password is asked for: let a person type it, or send ctrl+c",
    "confirm": "it asks for a yes or no: send y or n, and Enter",
    "pager": "a pager is open: send q to leave it, a space for the next page",
    "editor": "an editor is open: use its keys (vim: escape, then :q! and Enter)",
    "repl": "a REPL waits for input: run or send the next line, ctrl+d leaves it",
    "line": "the program waits for a line: send it with Enter, or ctrl+c",
    "key": "the program waits for a key: look at the screen",
}


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
    waits = "may not be looked into"
    if seen.waits is not None:
        waits = "waits for the terminal" if seen.waits else "does not wait for the terminal"
    facts = [f"foreground: {seen.program or 'unknown'}", f"terminal: {flags}", waits]
    if seen.marked == "running":
        facts.insert(0, "mark: a command runs")
    return facts
