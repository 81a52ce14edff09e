"""Wait for a condition, with a deadline: the one loop for all waits in the services.

Rule 1: nothing here polls. A condition is checked when something has changed, and at the times that
it asks for itself.
Rule 2: only this file checks the deadline. At the deadline the condition is checked a last time, so
that a change at that moment counts.
Rule 3: a condition may await, but must check after its last await. Then no change is missed between
that check and the wait for the next change, because the loop does not run in between.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol, TypeVar

from nacre.core.shell.quiet import Until
from nacre.errors import BadParameter
from nacre.services.host.host import Host
from nacre.wording import NextStep

FoundT = TypeVar("FoundT")


class Turn(NamedTuple):
    """One look at what is waited for."""

    now: float
    last: bool  # the deadline is reached: this is the last check


class NextChange(Protocol):
    """Return when something has changed, or at the time `until`; see Session.next_change."""

    def __call__(self, until: float, *, output: bool) -> Awaitable[None]: ...


async def wait_until(
    check: Callable[[Turn], Awaitable[FoundT | Until]],
    deadline: float,
    next_change: NextChange,
) -> FoundT | None:
    """Return what `check` finds; None if the deadline comes first.

    If it finds nothing, `check` returns when it wants to check again.
    """
    loop = asyncio.get_running_loop()
    while True:
        now = loop.time()
        found = await check(Turn(now, last=now >= deadline))
        if not isinstance(found, Until):
            return found
        if now >= deadline:
            return None
        await next_change(min(found.time, deadline), output=found.on_output)


def refuse_longer_waits(host: Host, parameter: str, milliseconds: int, *steps: NextStep) -> None:
    """Raises BadParameter for a wait that is over the setting max_wait."""
    longest = host.settings.max_wait * 1000
    if milliseconds > longest:
        problem = f"must be at most {round(longest)} (setting max_wait)"
        raise BadParameter(parameter, problem, *steps, most=int(longest))
