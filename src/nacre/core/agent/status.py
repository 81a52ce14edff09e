"""The first line of an answer: where things stand, and what to do next.

Rule 1: hosts cut the end of an answer and preview its beginning. So the state is the first line,
and it alone must do.
Rule 2: one form: [state · facts · what helps]. What is not known is left out, never guessed.
"""

from collections.abc import Iterable
from typing import NamedTuple

from nacre.core.shell.programs import OPAQUE
from nacre.core.shell.state import State

_LONGEST = 300  # characters of the line; folders and names may be longer
_MINUTE = 60

# What helps; {p} is what stands before the names of the client's tools.
_STOPS = '{p}type keys ["C-c"] stops'
_KEYS = "{p}type keys"

# The same by what is asked for.
_HELPS = {
    "password": "a person types it (page, nacre attach); {p}wait continues",
    "confirm": "{p}type answers",
    "line": "{p}type answers",
    "key": "{p}type keys answers",
    "repl": "{p}run or {p}type goes in there",
    "editor": _KEYS,
    "pager": '{p}type keys ["q"] leaves it',
    "multiplexer": _KEYS,
}
_INSIDE = "{p}run goes in there, exit leaves it"
_NAMED = ("editor", "pager", "multiplexer", "repl")  # said as they are: they ask for nothing


def status_line(*facts: str | None) -> str:
    """Return the facts that are known, as the first line of an answer."""
    line = " · ".join(fact for fact in facts if fact)
    line = line.replace("\n", " ")
    return f"[{line if len(line) <= _LONGEST else line[:_LONGEST] + '…'}]"


class Whereabouts(NamedTuple):
    """Which run it is, and where: what most first lines say."""

    run: str | None = None
    folder: str | None = None
    more: tuple[str | None, ...] = ()
    prefix: str = ""  # what stands before the names of the client's tools

    def helps(self, told: str) -> str:
        return told.replace("{p}", self.prefix)


def ended(exit_code: int | None, seconds: float, where: Whereabouts) -> str:
    """Return the line of a run that is over; in a REPL there is no exit code."""
    said = "done" if exit_code is None else f"exit {exit_code}"
    return status_line(said, duration(seconds), where.folder, where.run, *where.more)


def standing(state: State | None, seconds: float | None, lines: int, where: Whereabouts) -> str:
    """Return the line of what goes on or waits for somebody.

    `seconds` is how long a run has taken, `lines` how many it has printed; without a run None.
    """
    if state is not None and state.full_screen:
        return status_line(_of("screen", state), *_facts(where), where.helps(_KEYS))
    if state is not None and state.state == "needs_input":
        kind = state.asks or "line"
        said = _of(kind, state) if kind in _NAMED else f"asks {kind}"
        return status_line(said, *_facts(where), where.helps(_HELPS[kind]))
    if state is not None and state.state == "prompt":
        if seconds is None and state.program not in OPAQUE:
            return status_line("prompt", *_facts(where))
        # Where that shell is, nobody knows before a run in it has ended.
        return status_line(_of("shell", state), where.run, *where.more, where.helps(_INSIDE))
    if state is not None and state.state in ("exited", "lost"):
        return status_line(f"session {state.state}", *_facts(where), *state.evidence[:1])
    return _running(seconds, lines, where)


def matched(what: str, where: Whereabouts) -> str:
    """Return the line of a run that has printed what was waited for, and goes on."""
    return status_line(what, *_facts(where), "still running")


def _running(seconds: float | None, lines: int, where: Whereabouts) -> str:
    said = "running" if seconds is None else f"running {duration(seconds)}"
    printed = f"{lines:,} line{'' if lines == 1 else 's'}" if lines else None
    helps = where.helps(f"{{p}}wait continues, {_STOPS}")
    return status_line(said, where.run, *where.more, printed, helps)


def _facts(where: Whereabouts) -> tuple[str | None, ...]:
    return where.run, where.folder, *where.more


def _of(kind: str, state: State) -> str:
    return f"{kind} {state.program}" if state.program else kind


def duration(seconds: float) -> str:
    """Return a time as people write it: 0.1s, 45s, 3m 05s."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    return f"{whole}s" if whole < 2 * _MINUTE else f"{whole // _MINUTE}m {whole % _MINUTE:02}s"


def folder(cwd: str | None, home: str | None, host: str | None = None) -> str | None:
    """Return a folder as a prompt shows it: ~ for the home, the host's name before another's."""
    if cwd is None:
        return host
    if host is None and home and home != "/" and (cwd == home or cwd.startswith(f"{home}/")):
        cwd = f"~{cwd[len(home) :]}"
    return f"{host}:{cwd}" if host else cwd


def told(lines: Iterable[str]) -> list[str]:
    """Return what is told beside the answer, below its first line."""
    return [f"({line})" for line in lines]
