"""Waits for a session's next change: each ends with its event or at its time."""

import asyncio

import pytest

from nacre.services.session.changes import Changes

from services.clock import advance, with_clock


async def waiting(changes: Changes, seconds: float, *, output: bool) -> "asyncio.Task[None]":
    """A wait that has begun."""
    until = asyncio.get_running_loop().time() + seconds
    task = asyncio.ensure_future(changes.next(until, output=output))
    await advance(0)
    return task


def test_output_wakes_who_waits_for_it_and_nobody_else() -> None:
    async def test() -> None:
        changes = Changes()
        for_output = [await waiting(changes, 100, output=True) for _ in range(3)]
        for_end = await waiting(changes, 100, output=False)
        changes.note_output()
        await advance(0)
        assert all(task.done() for task in for_output)
        assert not for_end.done()
        changes.note_end()
        await for_end

    with_clock(test)


def test_end_wakes_everybody() -> None:
    async def test() -> None:
        changes = Changes()
        tasks = [await waiting(changes, 100, output=output) for output in (True, False)]
        changes.note_end()
        await asyncio.gather(*tasks)

    with_clock(test)


@pytest.mark.parametrize("output", [True, False])
def test_wait_ends_at_its_time(output: bool) -> None:
    async def test() -> None:
        changes = Changes()
        task = await waiting(changes, 100, output=output)
        await advance(99)
        assert not task.done()
        await advance(2)
        assert task.done()

    with_clock(test)


def test_change_before_the_wait_does_not_count() -> None:
    async def test() -> None:
        changes = Changes()
        changes.note_output()
        changes.note_end()
        task = await waiting(changes, 100, output=True)
        assert not task.done()
        changes.note_output()
        await task

    with_clock(test)


def test_two_changes_at_once_wake_a_waiter_once() -> None:
    async def test() -> None:
        changes = Changes()
        task = await waiting(changes, 100, output=True)
        changes.note_output()
        changes.note_end()
        await task

    with_clock(test)


def test_wait_that_is_given_up_does_not_hold_the_others_up() -> None:
    async def test() -> None:
        changes = Changes()
        given_up = await waiting(changes, 100, output=True)
        other = await waiting(changes, 100, output=True)
        given_up.cancel()
        changes.note_output()  # before the one that gave up has run
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await other

    with_clock(test)
