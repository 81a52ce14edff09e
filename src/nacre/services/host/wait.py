"""Waits with a deadline: every wait of the services that must end is one of these.

`wait_until` waits for a condition, `next_of` for the next time that something happens, `set_by` for
an event that happens once, `done_by` for work that must not take longer, `left_after` for work that
is left when it does.

Rule 1: nothing here polls. A condition is checked when something has changed, and at the times that
it asks for itself.
Rule 2: only this file checks a deadline. At the deadline the condition is checked a last time, so
that a change at that moment counts.
Rule 3: a condition may await, but must check after its last await. Then no change is missed between
that check and the wait for the next change, because the loop does not run in between.
Rule 4: a cancelled wait is forgotten at once; if nobody waits, a change costs only one check.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, TypeVar

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

    def __call__(
        self, until: float, *, output: bool, when: Callable[[], bool] | None = None
    ) -> Awaitable[None]: ...


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
        until = min(found.time, deadline)
        await next_change(until, output=found.on_output, when=found.when)


class Waiters:
    """Those who wait for the next time that something happens."""

    def __init__(self) -> None:
        self._futures: dict[asyncio.Future[None], Callable[[], bool] | None] = {}

    def __len__(self) -> int:
        return len(self._futures)

    def wake(self) -> None:
        """Wake them, but for those that want to be woken only when something holds."""
        waiting, self._futures = self._futures, {}
        for future, when in waiting.items():
            if when is None or when():
                _settle(future)
            else:
                self._futures[future] = when

    def add(self, future: "asyncio.Future[None]", when: Callable[[], bool] | None = None) -> None:
        self._futures[future] = when

    def forget(self, future: "asyncio.Future[None]") -> None:
        self._futures.pop(future, None)


async def next_of(until: float, *waiters: Waiters, when: Callable[[], bool] | None = None) -> None:
    """Return when one of these is woken, or at the time `until`.

    With `when`, the first of them counts only if that holds then.
    """
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    first, *others = waiters
    first.add(future, when)
    for waiting in others:
        waiting.add(future)
    timer = loop.call_at(until, _settle, future)
    try:
        await future
    finally:
        timer.cancel()
        for waiting in waiters:
            waiting.forget(future)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def set_by(event: asyncio.Event, deadline: float) -> bool:
    """Return whether the event is set at that time, at once when it is."""
    # Not wait_for: until Python 3.12 it swallows a cancellation that comes with the event.
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline):
            await event.wait()
    return event.is_set()


async def done_by(work: Awaitable[FoundT], deadline: float) -> FoundT:
    """Return what the work gives. Raises TimeoutError at the deadline; the work is cancelled."""
    async with asyncio.timeout_at(deadline):
        return await work


async def left_after(seconds: float, work: Coroutine[Any, Any, Any]) -> BaseException | None:
    """Return how the work failed, if it did; TimeoutError if it was not done in time.

    It is cancelled then, and not waited for: a library may drop that, and wait on for ever.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task,), timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
    if not task.done():
        task.add_done_callback(_ended)
        return TimeoutError()
    return _ended(task)


def _ended(task: "asyncio.Task[Any]") -> BaseException | None:
    """Return how it failed; else the loop logs that nobody asked for it."""
    return asyncio.CancelledError() if task.cancelled() else task.exception()


def bounded(seconds: float) -> asyncio.Timeout:
    """Bound how long others may take: a program or a machine that is not ours.

    Raises TimeoutError. No change of a session is waited for so: nothing is checked a last time.
    """
    return asyncio.timeout(seconds)


def refuse_longer_waits(host: Host, parameter: str, milliseconds: int, *steps: NextStep) -> None:
    """Raises BadParameter for a wait that is over the setting max_wait."""
    longest = host.settings.max_wait * 1000
    if milliseconds > longest:
        problem = f"must be at most {round(longest)} (setting max_wait)"
        raise BadParameter(parameter, problem, *steps, most=int(longest))
