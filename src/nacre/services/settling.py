"""Wait until something is done, or until the program asks for input instead.

Rule 1: what is waited for comes by event (a mark, output, the end of the child).
Rule 2: that a program asks for input has no event. It is looked for only while somebody waits and
nothing is printed: 30 ms after the last output, again after 30, 200 and then every 1000 ms; two
looks one after the other must agree.
"""

import asyncio
from collections.abc import Callable
from typing import Literal

from nacre.core.state import State
from nacre.services.session import Session
from nacre.services.states import look

LOOKS = (0.03, 0.03, 0.2, 1.0)  # seconds of silence between one look and the next

_SURE, _UNSURE = (
    2,
    3,
)  # looks that must agree: where the kernel tells, and where only the screen does

Settled = Literal["done", "needs_input", "exit", "deadline"]


async def settle(
    session: Session,
    done: Callable[[], bool],
    deadline: float,
    *,
    asks: Callable[[State], bool] = lambda state: state.state == "needs_input",
    looks_at: tuple[float, ...] = LOOKS,
) -> tuple[Settled, State | None]:
    """Return why the wait is over; the state when that is known by looking."""
    loop = asyncio.get_running_loop()
    looks = agreeing = 0
    looked = float("-inf")
    before: State | None = None
    generation = session.generation
    while True:
        if done():
            return "done", None
        if not session.alive:
            return "exit", None
        now = loop.time()
        if now >= deadline:
            return "deadline", look(session)
        if session.generation != generation:
            generation, looks, agreeing, before = session.generation, 0, 0, None
        next_look = max(session.last_output, session.last_input) + _silence(looks, looks_at)
        # A loop that was held up would look twice at one moment: these looks agree on nothing.
        next_look = max(next_look, looked + looks_at[min(looks, len(looks_at) - 1)])
        if now >= next_look:
            looked = now
            await read_on(session)
            if done() or session.generation != generation:
                continue
            looks += 1
            state = look(session)
            same = before is not None and (before.state, before.asks) == (state.state, state.asks)
            agreeing = (agreeing + 1 if same else 1) if asks(state) else 0
            before = state
            if agreeing >= (_SURE if state.sure else _UNSURE):
                return "needs_input", state
            continue
        await session.next_change(min(next_look, deadline), output=True)


async def read_on(session: Session) -> None:
    """Read what is printed already: the kernel's answer is newer than the screen."""
    for _ in range(2):
        await asyncio.sleep(0)
    session.read_now()


def _silence(looks: int, looks_at: tuple[float, ...]) -> float:
    """Return the seconds of silence after which the next look is due."""
    return sum(looks_at[: looks + 1]) + max(0, looks + 1 - len(looks_at)) * looks_at[-1]


def waits_for_somebody(state: State) -> bool:
    """What brought up a shell (ssh, bash) waits for commands, as others wait for input."""
    return state.state in ("needs_input", "prompt")
