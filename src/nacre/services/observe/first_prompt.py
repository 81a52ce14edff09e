"""Let what is typed into a shell that has just been started wait for its first prompt.

What is typed before is echoed twice: by the terminal, and by the shell when it draws its prompt.

Rule 1: only a prompt that is about to come is waited for: the shell's first one, or one that is
being drawn. The setting first_prompt_wait says how long; a question that comes instead (of a
start-up file) is a reason to type.
Rule 2: what interrupts goes at once: Ctrl+C must reach a start-up file that hangs.
Rule 3: inputs stay in their order.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from nacre.core.shell.state import State
from nacre.services.dispatch.permit import may_type, turn
from nacre.services.host.host import Host
from nacre.services.observe.settle import settle, waits_for_somebody
from nacre.services.session.session import Session

_LOOKS = (0.001, 0.004, 0.03, 0.2)  # seconds; a shell without marks is there soon

_INTERRUPTS = (b"\x03", b"\x1c", b"\x1a")  # Ctrl+C, Ctrl+\, Ctrl+Z


@asynccontextmanager
async def after_first_prompt(session: Session, data: bytes, host: Host) -> AsyncIterator[bool]:
    """Type within this block; it is told whether a person drove the session meanwhile.

    Raises SessionExited when the child has ended, ControlHeld when a person drives for too long.
    """
    session.require_alive()
    driven = False
    while data not in _INTERRUPTS:
        if session.first_input.locked() or _is_drawn_soon(session) or _is_new(session):
            async with session.first_input:  # who came first types first
                deadline = host.loop.time() + host.settings.first_prompt_wait
                if session.marks_itself:
                    drawn = partial(_is_drawn, session)
                    await settle(session, drawn, deadline, asks=waits_for_somebody)
                elif _is_new(session):
                    reads = partial(_reads, session)
                    await settle(session, lambda: False, deadline, asks=reads, looks_at=_LOOKS)
                if may_type(session):
                    yield driven
                    return
        if not await turn(session):  # without the lock: who drives must not wait for it
            break
        driven = True
    yield driven


def _is_drawn_soon(session: Session) -> bool:
    """Whether its own shell is about to show a prompt."""
    return session.marks_itself and session.stream.prompting.phase in (None, "drawing")


def _is_drawn(session: Session) -> bool:
    return not _is_drawn_soon(session)


def _is_new(session: Session) -> bool:
    """Whether it is a shell without marks into which nobody has typed: it may not read yet."""
    return session.launch.is_shell and not session.marks_itself and not session.inputs


def _reads(session: Session, state: State) -> bool:
    """Whether it reads for the first time, by the kernel, or it has printed something."""
    facts = session.facts()
    if facts is None or facts.waits is None:
        return session.generation > 0 or waits_for_somebody(state)
    return facts.waits
