"""Wait until something is done, or until the program asks for input instead.

Rule 1: marks, output and the end of the child are events; they are waited for.
Rule 2: there is no event when a program asks for input. That is checked only while somebody waits
and nothing is printed: 30 ms after the last output, again after 30, 200 and then every 1000 ms. Two
checks in a row must agree.
"""

import asyncio
from collections.abc import Callable
from typing import Literal

from nacre.core.shell.quiet import Until
from nacre.core.shell.state import State
from nacre.services.host.wait import Turn, wait_until
from nacre.services.observe.state import look
from nacre.services.session.session import Session

LOOKS = (0.03, 0.03, 0.2, 1.0)  # seconds without output between two checks

# How many checks must agree: if the kernel is sure, and if only the screen tells.
_SURE, _UNSURE = 2, 3

Settled = Literal["done", "needs_input", "exit", "deadline"]


async def settle(
    session: Session,
    done: Callable[[], bool],
    deadline: float,
    *,
    asks: Callable[[State], bool] = lambda state: state.state == "needs_input",
    looks_at: tuple[float, ...] = LOOKS,
) -> tuple[Settled, State | None]:
    """Return why the wait is over, and the state if a check found it."""
    settling = _Settling(session, done, asks, looks_at)
    found = await wait_until(settling.check, deadline, session.next_change)
    return found or ("deadline", look(session))


class _Settling:
    """One wait, and what its checks have found so far."""

    def __init__(
        self,
        session: Session,
        done: Callable[[], bool],
        asks: Callable[[State], bool],
        looks_at: tuple[float, ...],
    ) -> None:
        self._session = session
        self._done = done
        self._asks = asks
        self._looks_at = looks_at
        self._looked = float("-inf")
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget earlier checks, because something was printed."""
        self._generation = self._session.generation
        self._looks = self._agreeing = 0
        self._before: State | None = None

    async def check(self, turn: Turn) -> tuple[Settled, State | None] | Until:
        if (over := self._over()) is not None or turn.last:
            return over or Until()
        if self._session.generation != self._generation:
            self._begin_anew()
        if turn.now >= self._next_look():
            self._looked = turn.now
            await read_on(self._session)
            if (over := self._over()) is not None:
                return over
            if self._session.generation != self._generation:
                self._begin_anew()
            elif (state := self._look()) is not None:
                return "needs_input", state
        # Before the first check, what is printed only puts that off; later, it comes sooner.
        return Until(self._next_look(), when=None if self._looks else self._done)

    def _over(self) -> tuple[Settled, State | None] | None:
        if self._done():
            return "done", None
        return None if self._session.alive else ("exit", None)

    def _look(self) -> State | None:
        """Return the state if enough checks agree that the program asks for input."""
        self._looks += 1
        state, before = look(self._session), self._before
        same = before is not None and (before.state, before.asks) == (state.state, state.asks)
        self._agreeing = (self._agreeing + 1 if same else 1) if self._asks(state) else 0
        self._before = state
        return state if self._agreeing >= (_SURE if state.sure else _UNSURE) else None

    def _next_look(self) -> float:
        """Return when the next check is due, after the last output and the last check.

        A loop that was held up would check twice at the same moment, and that proves nothing.
        """
        looks, pauses = self._looks, self._looks_at
        if looks == 0:  # by far the most often: something was just printed
            pause = silence = pauses[0]
        else:
            pause = pauses[min(looks, len(pauses) - 1)]
            silence = sum(pauses[: looks + 1]) + max(0, looks + 1 - len(pauses)) * pauses[-1]
        return max(self._session.last_active + silence, self._looked + pause)


async def read_on(session: Session) -> None:
    """Read what is already printed: the kernel's answer is newer than the screen."""
    for _ in range(2):
        await asyncio.sleep(0)
    await session.catch_up()


def waits_for_somebody(state: State) -> bool:
    """Return whether it waits for input, or for commands in a shell that the run started.

    A screen that draws itself again (top) waits to be ended.
    """
    return state.state in ("needs_input", "prompt") or state.full_screen
