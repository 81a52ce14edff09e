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

from nacre.services.dispatch.permit import may_type, turn
from nacre.services.host.host import Host
from nacre.services.observe.settle import settle, waits_for_somebody
from nacre.services.session.session import Session

_INTERRUPTS = (b"\x03", b"\x1c", b"\x1a")  # Ctrl+C, Ctrl+\, Ctrl+Z


@asynccontextmanager
async def after_first_prompt(session: Session, data: bytes, host: Host) -> AsyncIterator[bool]:
    """Type within this block; it is told whether a person drove the session meanwhile.

    Raises SessionExited when the child has ended, ControlHeld when a person drives for too long.
    """
    session.require_alive()
    driven = False
    while data not in _INTERRUPTS:
        if session.first_input.locked() or _is_drawn_soon(session):
            async with session.first_input:  # who came first types first
                deadline = host.loop.time() + host.settings.first_prompt_wait
                await settle(
                    session, lambda: not _is_drawn_soon(session), deadline, asks=waits_for_somebody
                )
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
