"""A run in a REPL: it is typed at the prompt, and over when that prompt is back.

Rule 1: there is no mark and no exit code: the prompt is known by the text of its line, and the REPL
must wait for the terminal.
Rule 2: what is typed is echoed; neither that nor the prompt at the end is output.
"""

import re

from nacre.core.state import State
from nacre.services.prompts import pattern, shown_pattern
from nacre.services.run import Run
from nacre.services.session import Session
from nacre.services.settling import Settled, settle, waits_for_somebody

_LOOKS = (0.01, 0.01, 0.03, 0.2, 1.0)  # seconds: a REPL's prompt is on the screen or it is not

_CONTINUATION = re.compile(r"\s*[.\-|>]+\s*")  # python's ..., sqlite's ...>


async def run_in_repl(
    session: Session, run: Run, command: str, prompt: str, deadline: float
) -> tuple[Settled, State | None]:
    """Type a command after a prompt of this pattern; the run is over when that is back.

    Return why the wait is over, as `settle` does.
    """
    run.recording = True
    session.recorder.flush()  # no mark will tell the next daemon where its output begins
    run.first = before = session.generation
    run.when_changed()
    session.write(_keys(command))

    def asks(state: State) -> bool:
        return session.generation != before and waits_for_somebody(state)

    how, state = await settle(session, lambda: run.done, deadline, asks=asks, looks_at=_LOOKS)
    at_prompt = state is not None and state.asks == "repl"
    if how == "needs_input" and at_prompt and shown_pattern(session) == prompt:
        run.finish("prompt", None)
    return how, state


def without_prompt(output: str, command: str, prompt: str) -> str:
    """Take the echoed input and the prompt at the end off a REPL's output."""
    lines = output.split("\n")
    for typed in command.split("\n"):
        if lines and lines[0].rstrip().endswith(typed.rstrip()):
            lines.pop(0)
    if "\n" in command and lines and _CONTINUATION.fullmatch(lines[0]):
        lines.pop(0)
    if lines and pattern(lines[-1]) == prompt:
        lines.pop()
    return "\n".join(lines)


def _keys(command: str) -> bytes:
    # A block that ends indented is closed by an empty line.
    closing = "\r" if "\n" in command and command.rpartition("\n")[2][:1].isspace() else ""
    return f"{command}\r{closing}".replace("\n", "\r").encode()
