"""The one wait: looked at when something changes, at the times that are asked for, and at last."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from nacre.core.shell.quiet import Until
from nacre.errors import BadParameter
from nacre.services.host.wait import (
    Turn,
    Waiters,
    next_of,
    refuse_longer_waits,
    set_by,
    wait_until,
)

from services.clock import advance, with_still_clock
from services.living import living


class Changes:
    """Something that changes when it is told to."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()
        self.asked: list[tuple[float, bool]] = []

    def note(self) -> None:
        self._changed.set()

    def next(
        self, until: float, *, output: bool, when: Callable[[], bool] | None = None
    ) -> Awaitable[None]:
        self.asked.append((until, output))
        return self._next(until)

    async def _next(self, until: float) -> None:
        try:
            async with asyncio.timeout_at(until):
                await self._changed.wait()
        except TimeoutError:
            return
        self._changed.clear()


def test_condition_that_holds_is_found_at_once() -> None:
    async def test() -> None:
        changes = Changes()

        async def check(turn: Turn) -> str | Until:
            return "found"

        assert await wait_until(check, 0.0, changes.next) == "found", "also after the deadline"
        assert changes.asked == []

    with_still_clock(test)


def test_condition_is_looked_at_when_something_changes_and_at_no_other_time() -> None:
    async def test() -> None:
        changes, looks = Changes(), 0

        async def check(turn: Turn) -> int | Until:
            nonlocal looks
            looks += 1
            return looks if looks == 3 else Until()

        deadline = asyncio.get_running_loop().time() + 1000
        task = asyncio.create_task(wait_until(check, deadline, changes.next))
        await advance(100)
        assert looks == 1
        for expected in (2, 3):
            changes.note()
            await advance(0)
            assert looks == expected
        assert await task == 3
        assert changes.asked == [(deadline, True)] * 2

    with_still_clock(test)


def test_condition_is_looked_at_when_it_asks_for_it() -> None:
    async def test() -> None:
        changes, begun = Changes(), asyncio.get_running_loop().time()

        async def check(turn: Turn) -> float | Until:
            later = turn.now >= begun + 30
            return turn.now if later else Until(begun + 30, on_output=False)

        task = asyncio.create_task(wait_until(check, begun + 1000, changes.next))
        await advance(0)
        await advance(29)
        assert not task.done()
        await advance(1)
        assert await task == begun + 30
        assert changes.asked == [(begun + 30, False)]

    with_still_clock(test)


def test_last_look_is_at_the_deadline() -> None:
    async def test() -> None:
        changes, turns = Changes(), []
        begun = asyncio.get_running_loop().time()

        async def check(turn: Turn) -> bool | Until:
            turns.append(turn)
            return Until(begun + 5000)

        task = asyncio.create_task(wait_until(check, begun + 10, changes.next))
        await advance(0)
        await advance(10)
        assert await task is None
        assert turns == [Turn(begun, last=False), Turn(begun + 10, last=True)]

    with_still_clock(test)


def test_event_is_waited_for_up_to_the_deadline() -> None:
    async def test() -> None:
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        in_time = asyncio.create_task(set_by(event, loop.time() + 10))
        too_late = asyncio.create_task(set_by(asyncio.Event(), loop.time() + 10))
        await advance(9)
        assert not in_time.done()
        event.set()
        assert await in_time
        assert not too_late.done()
        await advance(1)
        assert not await too_late
        assert await set_by(event, loop.time()), "set before, and no time is left"

    with_still_clock(test)


def test_waiters_are_woken_together_and_forgotten_when_they_give_up() -> None:
    async def test() -> None:
        first, second, loop = Waiters(), Waiters(), asyncio.get_running_loop()
        for_both = asyncio.create_task(next_of(loop.time() + 10, first, second))
        for_one = asyncio.create_task(next_of(loop.time() + 20, second))
        gives_up = asyncio.create_task(next_of(loop.time() + 10, first, second))
        await advance(0)
        assert (len(first), len(second)) == (2, 3)
        gives_up.cancel()
        await advance(0)
        assert (len(first), len(second)) == (1, 2)
        first.wake()
        await for_both
        assert (len(first), len(second)) == (0, 1), "it waits for neither any more"
        await advance(20)
        assert for_one.done()
        assert len(second) == 0

    with_still_clock(test)


def test_waiter_that_asks_for_something_is_woken_when_that_holds() -> None:
    async def test() -> None:
        output, end, loop = Waiters(), Waiters(), asyncio.get_running_loop()
        holds = False
        begun = loop.time()
        waiting = [
            asyncio.create_task(next_of(begun + 10, output, end, when=lambda: holds))
            for _ in range(3)
        ]
        await advance(0)
        output.wake()
        await advance(0)
        assert (len(output), len(end)) == (3, 3), "it does not hold yet"
        waiting[0].cancel()
        end.wake()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert (len(output), len(end)) == (0, 0), "the end counts in any case"
        again = asyncio.create_task(next_of(begun + 10, output, end, when=lambda: holds))
        await advance(0)
        holds = True
        output.wake()
        await again
        assert loop.time() == begun, "nobody waited for the time"
        holds = False
        last = asyncio.create_task(next_of(begun + 10, output, end, when=lambda: holds))
        await advance(0)
        output.wake()
        await advance(10)
        assert last.done()

    with_still_clock(test)


@pytest.mark.anyio
async def test_wait_over_the_setting_is_refused() -> None:
    async with living(max_wait=10) as services:
        refuse_longer_waits(services.host, "timeout_ms", 10_000)
        with pytest.raises(BadParameter, match="timeout_ms must be at most 10000") as refused:
            refuse_longer_waits(services.host, "timeout_ms", 10_001)
        assert refused.value.details["most"] == 10_000
