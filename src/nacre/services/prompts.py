"""The prompt that a command is sent at: wait for it, tell what stands behind it, know it again.

Rule 1: a prompt is known by its mark where the shell makes one, by the kernel and the screen where
not; what only looks like one is told apart.
Rule 2: nobody waits for a prompt that is not about to come: a program that runs is left alone.
"""

import asyncio
import re

from nacre.core.state import State, asks_for_line
from nacre.services.run import Context, Run
from nacre.services.session import Session
from nacre.services.settling import LOOKS, settle
from nacre.services.states import line_before_cursor, look

NEXT_PROMPT = 1.0  # seconds that a shell has to draw its prompt
_INTERRUPT_EFFECT = 0.3  # seconds that a program has to end after a key, before it counts as busy
_LOOKS = (0.0005, 0.001, 0.004, 0.03, 0.2)  # seconds; a prompt follows a run at once


async def await_prompt(session: Session, last: Run | None, deadline: float) -> State:
    """Wait for the prompt that is about to come: of a shell that starts or just ended a run.

    Return what the session is doing then; `last` is its last run.
    """
    prompting = session.stream.prompting

    def at_prompt() -> bool:
        return prompting.phase in ("prompt", "continuation")

    if session.marks_itself and prompting.phase in (None, "drawing"):
        await settle(session, at_prompt, deadline, asks=_takes_commands)
    state = look(session)
    soon = min(deadline, session.last_input + _INTERRUPT_EFFECT)
    looks_at: tuple[float, ...] = LOOKS
    if last is not None and last.ended is not None:
        soon, looks_at = min(deadline, max(soon, last.ended + NEXT_PROMPT)), _LOOKS
    if state.state == "running" and session.generation == 0:
        soon = deadline
    if not _takes_commands(state) and asyncio.get_running_loop().time() < soon:
        await settle(session, at_prompt, soon, asks=_takes_commands, looks_at=looks_at)
        state = look(session)
    return state


def context_at(session: Session, state: State) -> Context | None:
    """Return how a command is brought to what waits there; None where nothing takes commands."""
    if state.state == "prompt":
        native = (
            session.stream.prompting.phase == "prompt" and state.program == session.launch.program
        )
        return "native" if native and session.launch.is_shell else "wrapped"
    return "repl" if state.asks == "repl" else None


def tell_read(session: Session, run: Run | None, state: State) -> State:
    """Tell the `read` of a wrapped command from the prompt: dash reads both alike."""
    if state.state != "prompt" or run is None or run.done:
        return state
    facts = session.facts()
    if run.context != "wrapped" or facts is None or not facts.canonical:
        return state
    line = line_before_cursor(session).rstrip()
    if facts.pid != run.pid or line[-1:] == run.prompt.rstrip()[-1:]:
        return state
    return asks_for_line(state, line)


def pattern(prompt: str) -> str:
    """A prompt may count: In [3]: is the same prompt as In [4]:."""
    return re.sub(r"\d+", "0", prompt.strip())


def shown_pattern(session: Session) -> str:
    """Return the pattern of what stands left of the cursor now."""
    return pattern(line_before_cursor(session))


def _takes_commands(state: State) -> bool:
    return state.state == "prompt" or state.asks == "repl"
