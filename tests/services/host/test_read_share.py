"""Busy sessions share a turn of the loop; the others do not wait for more than that."""

import asyncio

import pytest

from nacre.services.host.read_share import ReadShare

from services.living import living, shows, start, until

pytestmark = pytest.mark.anyio

BUDGET = 128 * 1024


async def turn_of_the_loop() -> None:
    await asyncio.sleep(0)


async def test_one_busy_session_has_the_whole_budget() -> None:
    turns = ReadShare(asyncio.get_running_loop(), BUDGET)
    for _ in range(3):
        assert turns.share() == BUDGET
        turns.spent(BUDGET)
        await turn_of_the_loop()


async def test_busy_sessions_divide_the_budget_from_the_next_turn_on() -> None:
    turns = ReadShare(asyncio.get_running_loop(), BUDGET)
    for _ in range(4):
        turns.spent(BUDGET)
    assert turns.share() == BUDGET, "this turn was planned for one"
    await turn_of_the_loop()
    assert turns.share() == BUDGET // 4
    turns.spent(BUDGET // 4)
    await turn_of_the_loop()
    assert turns.share() == BUDGET, "the other three have stopped"


async def test_sessions_that_print_a_little_are_not_counted() -> None:
    turns = ReadShare(asyncio.get_running_loop(), BUDGET)
    turns.spent(BUDGET)
    for _ in range(50):
        turns.spent(100)
    await turn_of_the_loop()
    assert turns.share() == BUDGET


async def test_share_is_never_less_than_one_read_of_the_kernel() -> None:
    turns = ReadShare(asyncio.get_running_loop(), BUDGET)
    for _ in range(1000):
        turns.spent(BUDGET)
    await turn_of_the_loop()
    assert turns.share() == 4096


async def test_every_one_of_several_floods_moves_and_a_quiet_session_answers() -> None:
    async with living(read_buffer_bytes=16 * 1024) as services:
        floods = [await start(services, "yes", args=[], name=f"yes-{n}") for n in range(4)]
        quiet = await start(services, "stty -echo; exec cat", name="cat")
        for number in range(5):
            before = [flood.generation for flood in floods]
            quiet.write(b"line %d\n" % number)
            await shows(quiet, f"line {number}")
            for flood, seen in zip(floods, before, strict=True):
                await until(flood, lambda flood=flood, seen=seen: flood.generation > seen)  # type: ignore[misc]  # a lambda's defaults have no type
