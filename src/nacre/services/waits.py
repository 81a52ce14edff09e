"""Wait for a session to go quiet, by timers and events; nothing here polls."""

import asyncio

from nacre.core.quiesce import Quiesce, Verdict
from nacre.errors import WaitTimedOut
from nacre.services.session import Session


async def await_quiet(session: Session, wait: Quiesce) -> None:
    """Return when the session is quiet.

    Raises WaitTimedOut at the deadline, and SessionExited when the child ends during the wait, or
    had ended before and can never give the newer output that is waited for.
    """
    loop = asyncio.get_running_loop()
    was_alive = session.alive
    while True:
        if not session.alive:
            if was_alive or wait.check(float("inf"), session.generation, 0) is Verdict.TIMED_OUT:
                session.require_alive()
            return
        verdict = wait.check(loop.time(), session.generation, session.last_output)
        if verdict is Verdict.QUIET:
            return
        if verdict is Verdict.TIMED_OUT:
            raise timed_out(session, wait.max_wait)
        await session.next_change(verdict.time, output=verdict.on_output)


def timed_out(session: Session, max_wait: float) -> WaitTimedOut:
    return WaitTimedOut(
        f"session {session.identity.name!r} was not quiet within {round(max_wait * 1000)} ms; it "
        "goes on: wait again with await_quiesce, read it with get_screen or send \\x03",
        generation=session.hand_out(),
    )
