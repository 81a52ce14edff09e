"""Wait for a session to go quiet."""

from nacre.core.operations.steps import interrupt, read_screen, wait_for_quiet
from nacre.core.shell.quiet import Quiesce, Until
from nacre.errors import WaitTimedOut
from nacre.services.host.wait import Turn, wait_until
from nacre.services.session.session import Session


async def await_quiet(session: Session, wait: Quiesce) -> None:
    """Return when the session is quiet.

    Raises WaitTimedOut at the deadline. Raises SessionExited when the child ends during the wait,
    or has ended before and so can never print the newer output that the caller waits for.
    """
    was_alive = session.alive

    async def check(turn: Turn) -> bool | Until:
        if session.alive:
            return wait.check(turn.now, session.generation, session.last_active) or True
        if was_alive or wait.needs_newer(session.generation):
            session.require_alive()
        return True

    if not await wait_until(check, wait.deadline, session.next_change):
        raise timed_out(session, wait)


def timed_out(session: Session, wait: Quiesce) -> WaitTimedOut:
    name = session.identity.name
    missed = f"was not quiet for {round(wait.quiet * 1000)} ms"
    if wait.needs_newer(session.generation):
        missed = f"printed nothing after generation {wait.after_generation}"
    return WaitTimedOut(
        f"session {name!r} {missed} within {round(wait.max_wait * 1000)} ms",
        *(wait_for_quiet(name), read_screen(name), interrupt(name)),
        generation=session.hand_out(),
    )
