"""Busy sessions share a turn of the loop; the others do not wait for more than that."""

import asyncio
import time
from collections.abc import Callable

import pytest

from nacre.services.host.floods import Floods
from nacre.services.host.read_share import ReadShare

from services.living import ended, living, shows, start, start_python, until

pytestmark = pytest.mark.anyio

BUDGET = 128 * 1024

# Short to print, and a tenth of a millisecond or more to draw, each time (ECMA-48 8.3.103, REP).
BOMB = "print('x\\x1b[65535b' * {}, end='\\nEND\\n', flush=True)"


async def turn_of_the_loop() -> None:
    await asyncio.sleep(0)


def sharing(seconds: float, clock: Callable[[], float] = time.perf_counter) -> ReadShare:
    return ReadShare(asyncio.get_running_loop(), BUDGET, seconds, Floods(0.02, 0.25), clock)


async def test_one_busy_session_has_the_whole_budget() -> None:
    turns = sharing(1.0)
    for _ in range(3):
        assert turns.share() == BUDGET
        turns.spent(BUDGET)
        await turn_of_the_loop()


async def test_busy_sessions_divide_the_budget_from_the_next_turn_on() -> None:
    turns = sharing(1.0)
    for _ in range(4):
        turns.spent(BUDGET)
    assert turns.share() == BUDGET, "this turn was planned for one"
    await turn_of_the_loop()
    assert turns.share() == BUDGET // 4
    turns.spent(BUDGET // 4)
    await turn_of_the_loop()
    assert turns.share() == BUDGET, "the other three have stopped"


async def test_sessions_that_print_a_little_are_not_counted() -> None:
    turns = sharing(1.0)
    turns.spent(BUDGET)
    for _ in range(50):
        turns.spent(100)
    await turn_of_the_loop()
    assert turns.share() == BUDGET


async def test_share_is_never_less_than_one_read_of_the_kernel() -> None:
    turns = sharing(1.0)
    for _ in range(1000):
        turns.spent(BUDGET)
    await turn_of_the_loop()
    assert turns.share() == 4095


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Printing:
    """A session whose output takes a while to show."""

    def __init__(self, clock: Clock, name: str, told: list[str], *pieces: float) -> None:
        self.clock, self.name, self.told = clock, name, told
        self.pieces = list(pieces)
        self.heard = True

    def listen(self, *, on: bool) -> None:
        self.heard = on

    def take_turn(self, until: float) -> bool:
        self.told.append(self.name)
        while self.pieces and self.clock.now < until:
            self.clock.now += self.pieces.pop(0)
        return bool(self.pieces)


async def test_who_finds_no_time_left_comes_first_in_the_next_turn() -> None:
    clock, told = Clock(), list[str]()
    turns = sharing(1.0, clock)
    slow = Printing(clock, "slow", told, 1.0)
    late = Printing(clock, "late", told, 0.1)
    turns.ready(slow)
    turns.ready(late)
    assert told == ["slow"]
    turns.ready(late)  # the loop tells it again and again
    await turn_of_the_loop()
    assert told == ["slow", "late"]


async def test_sessions_with_much_to_show_take_turns_without_another_event() -> None:
    clock, told = Clock(), list[str]()
    turns = sharing(1.0, clock)
    turns.ready(Printing(clock, "one", told, 1.0, 1.0, 1.0))
    turns.ready(Printing(clock, "two", told, 1.0, 1.0, 1.0))
    for number in range(1, 7):
        assert len(told) == number, "one a turn: its time is up then"
        await turn_of_the_loop()
    assert told == ["one", "two"] * 3


async def test_who_is_looked_at_reads_although_the_time_is_up() -> None:
    clock, told = Clock(), list[str]()
    turns = sharing(1.0, clock)
    turns.ready(Printing(clock, "slow", told, 1.0))
    turns.at_once(Printing(clock, "seen", told, 0.5, 0.5, 0.5))
    assert told == ["slow", "seen"]
    await turn_of_the_loop()
    assert told == ["slow", "seen", "seen"], "and goes on"


async def test_who_took_far_too_long_pauses_for_as_long_and_others_are_served() -> None:
    clock, told = Clock(), list[str]()
    turns = sharing(0.001, clock)
    slow = Printing(clock, "slow", told, 0.03, 0.03)
    turns.ready(slow)
    assert not slow.heard, "the loop would tell of its output again and again"
    turns.ready(slow)
    for number in range(3):
        turns.ready(Printing(clock, f"other {number}", told, 0.0001))
        await turn_of_the_loop()
    assert told == ["slow", "other 0", "other 1", "other 2"]
    while told[-1] != "slow":  # noqa: ASYNC110  # it goes on by itself
        await asyncio.sleep(0.001)
    assert slow.heard or told.count("slow") == 2


async def test_while_somebody_asks_turns_are_shorter() -> None:
    clock, told = Clock(), list[str]()
    clock.now = 100.0
    turns = sharing(0.001, clock)
    flood = Printing(clock, "flood", told, *[0.0001] * 1000)

    async def shown_in_a_turn() -> int:
        before = len(flood.pieces)
        turns.ready(flood)
        await turn_of_the_loop()
        return before - len(flood.pieces)

    assert await shown_in_a_turn() > 9
    with turns.asked():
        await turn_of_the_loop()  # the one that was planned before
        assert await shown_in_a_turn() <= 3
    clock.now += 1.0
    await turn_of_the_loop()
    assert await shown_in_a_turn() > 9


async def test_sessions_that_wait_for_their_turn_divide_the_budget_too() -> None:
    clock, told = Clock(), list[str]()
    turns = sharing(1.0, clock)
    turns.ready(Printing(clock, "slow", told, 1.0))
    for number in range(3):
        turns.ready(Printing(clock, f"late {number}", told, 1.0))
    assert told == ["slow"]
    assert turns.share() == BUDGET // 4


async def test_flood_is_not_read_before_somebody_has_an_answer_and_others_are() -> None:
    clock, told = Clock(), list[str]()
    clock.now = 100.0
    turns = sharing(0.001, clock)
    flood = Printing(clock, "flood", told, *[0.001] * 100)
    turns.ready(flood)
    while told.count("flood") < 20:
        await turn_of_the_loop()
    with turns.asked():
        clock.now += 0.0001
        await turn_of_the_loop()
        assert not flood.heard
        told.clear()
        for number in range(3):
            turns.ready(Printing(clock, f"other {number}", told, 0.0001))
            await turn_of_the_loop()
        assert told == ["other 0", "other 1", "other 2"]
    clock.now += 0.01
    while "flood" not in told:  # noqa: ASYNC110  # it goes on by itself
        await asyncio.sleep(0.001)
    assert flood.heard


async def test_flood_that_waits_reads_at_once_when_somebody_looks() -> None:
    clock, told = Clock(), list[str]()
    clock.now = 100.0
    turns = sharing(0.001, clock)
    flood = Printing(clock, "flood", told, *[0.001] * 100)
    turns.ready(flood)
    while told.count("flood") < 20:
        await turn_of_the_loop()
    with turns.asked():
        clock.now += 0.0001
        await turn_of_the_loop()
        told.clear()
        turns.at_once(flood)
        assert told == ["flood"]
        assert flood.heard


async def test_who_pauses_reads_at_once_when_somebody_looks() -> None:
    clock, told = Clock(), list[str]()
    turns = sharing(1.0, clock)
    held = Printing(clock, "held", told, 0.1)
    turns.pause(held)
    turns.ready(held)
    await turn_of_the_loop()
    assert told == []
    turns.at_once(held)
    assert told == ["held"]
    assert held.heard


async def test_others_are_served_while_output_that_is_slow_to_draw_is_shown() -> None:
    async with living() as services:
        quiet = await start(services, "stty -echo; exec cat", name="cat")
        # In one read, and half a second of the engine's time.
        bomb = await start_python(services, BOMB.format(3000))
        await until(bomb, lambda: bomb.is_behind)
        for number in range(3):
            quiet.write(b"line %d\n" % number)
            await shows(quiet, f"line {number}")
        assert bomb.is_behind, "it goes on meanwhile"
        await bomb.catch_up()
        await shows(bomb, "END")


async def test_what_an_ended_program_printed_is_all_shown_before_it_counts_as_ended() -> None:
    async with living(turn_time=0.0001) as services:
        bomb = await start_python(services, BOMB.format(300))
        await ended(bomb)
        assert not bomb.is_behind
        assert "END" in bomb.terminal.plain_lines()


async def test_a_session_that_is_behind_can_be_killed_and_restarted() -> None:
    async with living(turn_time=0.0001) as services:
        bomb = await start_python(services, BOMB.format(3000))
        await until(bomb, lambda: bomb.is_behind)
        await bomb.restart()
        await until(bomb, lambda: bomb.is_behind)
        await bomb.end()
        assert not bomb.alive


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
