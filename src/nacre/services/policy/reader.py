"""Who reads the terminal: what is typed next is theirs.

Rule: the session's own shell is known by its marks; of all others the kernel's facts say who it is.
"""

from typing import Literal

from nacre.core.shell.entering import Stroke
from nacre.core.shell.state import State
from nacre.services.session.session import Session

# Who reads the terminal: the session's own shell at its prompt; another shell, or whoever comes
# next; a program; somebody of whom nothing is known (tmux, or an editor of the line editor's own).
Reader = Literal["own", "shell", "program", "unseen"]


def own_shell_reads(session: Session) -> bool:
    prompting = session.stream.prompting
    return prompting.phase in ("prompt", "continuation") and session.in_foreground


def is_idle(session: Session) -> bool:
    """Return whether its own shell waits with an empty line, as far as is known."""
    return own_shell_reads(session) and session.known_line == ""


def reader_of(state: State) -> Reader:
    """Return who will read what is typed now, where the own shell's marks do not say it."""
    if state.state == "prompt" or state.unmarked:
        return "shell"
    if state.state == "needs_input":
        return "unseen" if state.asks == "multiplexer" else "program"
    return "program" if state.full_screen else "shell"  # whoever comes next may be the shell


def shown_line(session: Session) -> str:
    """Return what stands on the screen between the prompt and the cursor."""
    return session.stream.shown_line


def first_entry(strokes: list[Stroke]) -> tuple[list[Stroke], list[Stroke]]:
    """Part input behind its first Enter, or what ends a program's input."""
    for at, stroke in enumerate(strokes):
        if stroke.kind in ("enter", "end"):
            return strokes[: at + 1], strokes[at + 1 :]
    return strokes, []


def bytes_of(strokes: list[Stroke]) -> bytes:
    return b"".join(stroke.data for stroke in strokes)
