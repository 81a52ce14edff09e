"""The live screen: its generation never falls, and the ring knows it."""

import asyncio

import pytest

from nacre.core.display.compose import NOTHING
from nacre.core.terminal.terminal import Terminal
from nacre.services.session.screen import Beginning, LiveScreen
from nacre.settings.table import Settings
from nacre.system.storage.ring import Ring

pytestmark = pytest.mark.anyio


def a_screen(ring: Ring, generation: int = 0) -> LiveScreen:
    begin = Beginning(Terminal(4, 20), generation=generation)
    return LiveScreen(begin, ring, asyncio.get_running_loop(), Settings(), lambda: NOTHING)


async def test_every_change_of_the_screen_raises_the_generation() -> None:
    ring = Ring()
    screen = a_screen(ring)
    seen = [screen.generation]
    for change in (
        lambda: screen.feed(b"printed"),
        lambda: screen.resize(5, 30),
        lambda: screen.begin_anew(Terminal(5, 30)),
    ):
        change()
        seen.append(screen.generation)
        assert ring.generation == screen.generation
    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize(("journaled", "in_ring"), [(7, 9), (9, 7)])
async def test_generation_goes_on_behind_what_journal_and_ring_know(
    journaled: int, in_ring: int
) -> None:
    ring = Ring()
    ring.generation = in_ring
    screen = a_screen(ring, journaled)
    assert screen.generation == 9
    screen.feed(b"more")
    assert (screen.generation, ring.generation) == (10, 10)


async def test_the_time_of_the_last_output_outlives_the_daemon() -> None:
    ring = Ring()
    before = a_screen(ring)
    before.feed(b"printed")
    assert ring.shown_at == pytest.approx(before.last_output, abs=0.01)
    ring.shown_at = before.last_output / 2
    after = a_screen(ring)
    assert after.last_output == pytest.approx(before.last_output / 2, abs=0.01)
    then = after.last_output
    after.feed(b"the same once more")
    after.shown_again(then)
    assert after.last_output == then


async def test_screen_that_was_handed_out_is_remembered_when_it_changes() -> None:
    screen = a_screen(Ring())
    screen.feed(b"one")
    known = screen.hand_out()
    screen.feed(b"\r\ntwo")
    screen.feed(b"\r\nthree")
    assert (screen.seen.screen(known) or {})[0] == "one"
    assert screen.seen.screen(known + 1) is None
    assert screen.last_line == "three"


async def test_screen_is_compressed_until_it_changes() -> None:
    screen = a_screen(Ring())
    await screen.compress()
    assert screen.is_compressed
    screen.feed(b"more")
    assert not screen.is_compressed


async def test_long_scrollback_is_compressed_in_parts_and_others_run_in_between() -> None:
    screen = a_screen(Ring())
    screen.feed(b"x\r\n" * 10_000)
    compressing, turns = asyncio.create_task(screen.compress()), 0
    while not compressing.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns >= 4
    assert screen.is_compressed


async def test_output_ends_a_compression() -> None:
    screen = a_screen(Ring())
    screen.feed(b"x\r\n" * 10_000)
    compressing = asyncio.create_task(screen.compress())
    await asyncio.sleep(0)
    screen.feed(b"more")
    await compressing
    assert not screen.is_compressed
