"""A loop whose time a test moves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Clock(asyncio.SelectorEventLoop):
    """Real time, and what the test put on top of it."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


class StillClock(Clock):
    """A loop whose time only the test moves."""

    def time(self) -> float:
        return 1000.0 + self.ahead


async def advance(seconds: float) -> None:
    """Let time pass at once, and what is due then happen."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Clock)
    loop.ahead += seconds
    for _ in range(3):  # timers become ready, run, and what they woke runs
        await asyncio.sleep(0)


def with_clock(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=Clock) as runner:
        runner.run(test())


def with_still_clock(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=StillClock) as runner:
        runner.run(test())
