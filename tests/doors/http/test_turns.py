"""Turns are shared: nobody takes more than one turn's time, and who waits comes in order."""

import asyncio

import pytest

from nacre.doors.http.turns import Turns

pytestmark = pytest.mark.anyio


async def test_who_finds_no_time_comes_in_the_next_turns_in_order() -> None:
    now = 0.0
    turns = Turns(1.0, lambda: now)
    done: list[str] = []
    finished = asyncio.Event()

    def work(name: str) -> None:
        nonlocal now
        if not turns.has_time():
            turns.wait(lambda: work(name))
            return
        now += 0.6
        done.append(name)
        if len(done) == 5:
            finished.set()

    for name in "abcde":
        work(name)
    assert done == ["a", "b"], "a turn takes what it has begun, and no more"
    await asyncio.sleep(0)
    assert done == ["a", "b", "c", "d"]
    async with asyncio.timeout(10):
        await finished.wait()
    assert done == list("abcde")


async def test_a_new_turn_has_its_time_again() -> None:
    now = 0.0
    turns = Turns(1.0, lambda: now)
    assert turns.has_time()
    now = 2.0
    assert not turns.has_time()
    await asyncio.sleep(0)
    assert turns.has_time()
