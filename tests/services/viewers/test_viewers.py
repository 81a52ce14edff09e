"""Viewers see what the engine sees, or a fresh snapshot of it; the session never waits for them."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from examples import steady
from nacre.core.display.compose import NOTHING, Shown
from nacre.core.operations.elements import Overlay, VisualSpan
from nacre.core.operations.sessions import ManageSession, ResizeSession
from nacre.core.operations.watch import (
    Detached,
    Ended,
    Printed,
    Resized,
    Snapshot,
    WatchEvent,
    WatchSession,
)
from nacre.core.terminal.terminal import Terminal
from nacre.errors import SessionNotFound
from nacre.services.viewers.viewer import Viewer
from nacre.services.viewers.viewers import Viewers
from nacre.settings.table import Settings

from services.clock import advance, with_still_clock
from services.living import CALLER, PATIENCE, living, shows, start
from vt_streams import STREAMS

LIMIT = 4096
FEW = Settings(max_viewer_bytes=LIMIT)


class Watched:
    """A terminal with viewers, and the terminal that one viewer looks at."""

    def __init__(self, fit: tuple[int, int] | None = None, **settings: Any) -> None:
        self.terminal = Terminal(8, 20)
        self.viewers = Viewers(lambda: self.terminal, replace(FEW, **settings))
        self.viewer = self.viewers.add(fit)
        self.shown = Terminal(*(fit or (8, 20)))

    def feed(self, data: bytes) -> None:
        self.terminal.feed(data)
        self.viewers.publish(data)

    def look(self) -> list[WatchEvent]:
        events = self.viewer.take()
        for event in events:
            if isinstance(event, Printed | Snapshot):
                self.shown.feed(event.data)
        return events


def seen(terminal: Terminal) -> dict[str, Any]:
    modes = terminal.modes()
    return {
        "styled": terminal.styled_lines(),
        "cursor": terminal.cursor(),
        "paste": modes.bracketed_paste,
        "mouse": modes.mouse_tracking,
        "keys": (modes.application_cursor_keys, modes.application_keypad, modes.kitty_keyboard),
    }


def kinds(events: list[WatchEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_a_viewer_begins_with_the_size_and_a_snapshot() -> None:
    watched = Watched()
    watched.feed(b"\x1b[31mhello")
    assert kinds(watched.look()) == ["Resized", "Snapshot"]
    assert seen(watched.shown) == seen(watched.terminal)
    watched.feed(b" world")
    assert watched.look() == [Printed(b" world")]
    assert watched.look() == []


def test_one_who_falls_behind_gets_a_snapshot_and_goes_on() -> None:
    watched = Watched()
    watched.look()
    for number in range(10_000):
        watched.feed(b"line %d\r\n" % number)
    [snapshot] = watched.look()
    assert isinstance(snapshot, Snapshot)
    assert len(snapshot.data) < LIMIT
    watched.feed(b"tail")
    assert watched.look() == [Printed(b"tail")]
    assert seen(watched.shown) == seen(watched.terminal)


def test_a_resize_is_told_with_a_snapshot() -> None:
    watched = Watched()
    watched.look()
    watched.feed(b"lost with the snapshot")
    watched.terminal.resize(5, 30)
    watched.viewers.refresh()
    [resized, snapshot] = watched.look()
    assert resized == Resized(5, 30)
    assert isinstance(snapshot, Snapshot)


def test_a_switch_of_the_screen_is_a_snapshot_that_does_not_switch() -> None:
    watched = Watched()
    watched.look()
    for data, alternate in ((b"a\x1b[?1049hvim", True), (b"\x1b[?1049l$ ", False)):
        watched.feed(data)
        [snapshot] = watched.look()
        assert isinstance(snapshot, Snapshot)
        assert snapshot.alternate is alternate
        assert b"1049" not in snapshot.data
        assert seen(watched.shown) == seen(watched.terminal)


@pytest.mark.parametrize("begun", [b"\x1b[3", b"\x1b]0;ti", b"\xe6\xbc", b"\x1b"])
def test_one_who_comes_in_the_middle_of_a_sequence_sees_no_half_of_it(begun: bytes) -> None:
    watched = Watched()
    watched.viewers.remove(watched.viewer)
    watched.terminal.feed(b"before" + begun)
    watched.viewer = watched.viewers.add()
    watched.look()
    watched.feed(
        {b"\x1b[3": b"1mred", b"\x1b]0;ti": b"tle\x07x", b"\xe6\xbc": b"\xa2x"}.get(begun, b"[1mx")
    )
    watched.look()
    watched.feed(b"more")
    watched.look()
    assert seen(watched.shown) == seen(watched.terminal)


def test_another_size_gets_frames_that_fit_instead_of_output() -> None:
    watched = Watched(fit=(4, 10))
    watched.look()
    watched.feed(b"0123456789abcdef\r\n" * 6)
    [frame] = watched.look()
    assert isinstance(frame, Printed)
    assert b"abcdef" not in frame.data
    assert watched.shown.plain_lines() == ["0123456789"] * 3 + [""]
    watched.viewer.fit(8, 20)
    watched.look()
    watched.feed(b"x")
    assert watched.look() == [Printed(b"x")]


def test_restoring_a_cursor_that_was_saved_before_the_snapshot_needs_another_one() -> None:
    watched = Watched()
    watched.feed(b"\x1b[3;4H\x1b7\x1b[H")
    watched.look()
    watched.feed(b"\x1b8x")
    assert kinds(watched.look()) == ["Snapshot"]
    watched.feed(b"\x1b7\x1b[Hy\x1b8z")
    assert kinds(watched.look()) == ["Printed"]
    assert seen(watched.shown) == seen(watched.terminal)


def test_the_bell_is_heard_by_who_gets_frames_or_a_snapshot_but_not_that_of_a_title() -> None:
    for watched in (Watched(fit=(4, 10)), Watched()):
        watched.look()
        watched.viewer.refresh()
        watched.feed(b"\x1b]0;title")
        watched.feed(b"\x07x")
        assert b"\x07" not in b"".join(told(watched.look()))
        watched.viewer.refresh()
        watched.feed(b"\x1b]0;title\x07\x07\x07")
        assert b"".join(told(watched.look())).count(b"\x07") == 1


def told(events: list[WatchEvent]) -> list[bytes]:
    return [event.data for event in events if isinstance(event, Printed | Snapshot)]


def test_many_who_flood_get_snapshots_and_one_gets_output() -> None:
    watched = Watched(max_viewer_bytes=1 << 20)
    others = [watched.viewers.add() for _ in range(19)]
    for viewer in (watched.viewer, *others):
        viewer.take()
    watched.feed(b"x" * 20_000)
    assert {kind for viewer in others for kind in kinds(viewer.take())} == {"Snapshot"}
    for viewer in others:
        watched.viewers.remove(viewer)
    watched.look()
    watched.feed(b"x" * 20_000)
    assert watched.look() == [Printed(b"x" * 20_000)]


def test_more_in_a_frame_than_the_setting_says_is_a_snapshot() -> None:
    watched = Watched(max_viewer_bytes=1 << 20, frame_bytes=10_000)
    watched.look()
    watched.feed(b"x" * 10_000)
    assert watched.look() == [Printed(b"x" * 10_000)]
    watched.feed(b"x" * 5_000)
    watched.feed(b"x" * 5_001)
    assert kinds(watched.look()) == ["Snapshot"]


def test_a_snapshot_is_made_once_for_all_who_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    others = [watched.viewers.add(fit) for fit in (None, (8, 20), (4, 10), (4, 10))]
    taken: list[int] = []
    picture = watched.terminal.picture

    def take_picture() -> Any:
        taken.append(1)
        return picture()

    monkeypatch.setattr(watched.terminal, "picture", take_picture)
    for viewer in (watched.viewer, *others):
        viewer.take()
    assert len(taken) == 1
    watched.feed(b"x")
    for viewer in (watched.viewer, *others):
        viewer.take()
    assert len(taken) == 2


def test_the_lines_above_come_with_the_snapshot_that_was_asked_for() -> None:
    watched = Watched()
    watched.feed(b"".join(b"\x1b[3%dmline %d\x1b[m\r\n" % (n % 8, n) for n in range(30)))
    watched.viewer.refresh(history=10)
    [_resized, snapshot] = watched.viewer.take()
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.rows, snapshot.cols, snapshot.history_lines) == (8, 20, 10)
    reset = Terminal(8, 20)
    reset.feed(snapshot.history + snapshot.data)
    assert seen(reset) == seen(watched.terminal)
    assert reset.scrollback_styled(0, 100) == watched.terminal.scrollback_styled(13, 100)
    watched.viewer.refresh()
    [snapshot] = watched.viewer.take()
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.history, snapshot.history_lines) == (b"", 0)


# --- composed ----------------------------------------------------------------------------------


class Composed(Watched):
    def __init__(self, fit: tuple[int, int] = (8, 20)) -> None:
        super().__init__()
        self.viewers.remove(self.viewer)
        self.elements = NOTHING
        self.viewers = Viewers(lambda: self.terminal, FEW, lambda: self.elements)
        self.viewer = self.viewers.add(fit, composed=True)
        self.shown = Terminal(*fit)

    def put(self, elements: Shown) -> None:
        self.elements = elements
        self.viewers.redraw()


def floating(text: str, x: int, y: int) -> Overlay:
    return Overlay(
        id="o",
        x=x,
        y=y,
        z=0,
        width=len(text),
        height=1,
        spans=[VisualSpan(text=text)],
        focusable=True,
        screen_mode="normal",
    )


def test_one_who_is_composed_gets_output_until_there_is_an_element() -> None:
    watched = Composed()
    watched.look()
    watched.feed(b"hello")
    assert watched.look() == [Printed(b"hello")]
    watched.put(Shown([floating("box", 1, 0)]))
    assert kinds(watched.look()) == ["Snapshot"]
    watched.feed(b" world")
    [frame] = watched.look()
    assert isinstance(frame, Printed)
    assert watched.shown.plain_lines()[0] == "hboxo world"
    watched.put(NOTHING)
    assert kinds(watched.look()) == ["Snapshot"]
    watched.feed(b"!")
    assert watched.look() == [Printed(b"!")]
    assert seen(watched.shown) == seen(watched.terminal)


def test_a_status_line_takes_the_last_row_and_changes_alone() -> None:
    watched = Composed(fit=(9, 20))
    watched.viewer.show_status([VisualSpan(text="one")])
    watched.feed(b"hello")
    assert kinds(watched.look()) == ["Resized", "Snapshot"]
    assert watched.shown.plain_lines() == ["hello", *[""] * 7, "one"]
    watched.viewer.show_status([VisualSpan(text="two")])
    [frame] = watched.look()
    assert isinstance(frame, Printed)
    assert b"hello" not in frame.data
    assert watched.shown.plain_lines()[8] == "two"
    assert watched.look() == []
    watched.feed(b"\x1b[m")
    assert watched.look() == []


def test_the_mouse_is_told_in_the_childs_rows() -> None:
    watched = Composed(fit=(9, 20))
    watched.look()
    assert watched.viewer.for_child(b"a\x1b[<0;1;9M") == b"a"
    assert watched.viewer.for_child(b"\x1b[<0;1;8M") == b"\x1b[<0;1;8M"
    watched.viewer.fit(8, 20)
    watched.look()
    assert watched.viewer.for_child(b"\x1b[<0;1;9M") == b"\x1b[<0;1;9M"


@steady
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(STREAMS.values())), st.integers(0, 60), st.booleans()),
        max_size=8,
    )
)
def test_a_viewer_that_has_looked_shows_what_the_session_shows(
    steps: list[tuple[bytes, int, bool]],
) -> None:
    watched = Watched()
    for stream, cut, looks in steps:
        # Neither a cluster's cells nor what REP repeats are in a snapshot (repaint.py).
        stream = stream.replace(b"\x1b[?2027h", b"").replace(b"\x1b[30b", b"")
        for piece in filter(None, (stream[:cut], stream[cut:])):
            watched.feed(piece)
            if looks:
                watched.look()
    watched.feed(b"\x18.")
    watched.look()
    assert seen(watched.shown) == seen(watched.terminal)


# --- through dispatch, with real sessions ------------------------------------------------------


async def until(viewer: Any, kind: type[Any]) -> Any:
    async with asyncio.timeout(PATIENCE):
        async for event in viewer:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"no {kind.__name__}")


@pytest.mark.anyio
async def test_output_then_the_end_are_told() -> None:
    async with living() as services:
        session = await start(services, "read x; echo got $x; exit 3")
        dispatch = services.dispatch()
        async with dispatch.watch(CALLER, WatchSession(session=session.identity.id)) as viewer:
            assert session.viewers
            session.write(b"it\r")
            told = b""
            async with asyncio.timeout(PATIENCE):
                async for event in viewer:
                    if isinstance(event, Printed | Snapshot):
                        told += event.data
            assert b"got it" in told
            assert event == Ended(3, None)
        assert not session.viewers


@pytest.mark.anyio
async def test_a_keys_echo_does_not_wait_and_what_follows_waits_for_the_frame() -> None:
    terminal = Terminal(8, 20)
    viewers = Viewers(lambda: terminal, FEW)
    with viewers.watch() as viewer:
        events = aiter(viewer)
        async with asyncio.timeout(PATIENCE):
            await anext(events)
            await anext(events)
            viewer._next_frame = 0.0  # the frame of the snapshot is over
            waiting = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)
            viewers.publish(b"a")
            turns = 0
            while not waiting.done():
                await asyncio.sleep(0)
                turns += 1
            assert (await waiting, turns < 10) == (Printed(b"a"), True)
            for _ in range(100):
                viewers.publish(b"b")
            assert await anext(events) == Printed(b"b" * 100)


def test_a_frame_is_as_long_as_the_setting_says() -> None:
    async def test() -> None:
        terminal = Terminal(8, 20)
        viewers = Viewers(lambda: terminal, Settings(frame_rate=2))
        with viewers.watch() as viewer:
            events = aiter(viewer)
            assert kinds([await anext(events), await anext(events)]) == ["Resized", "Snapshot"]
            waiting = asyncio.ensure_future(anext(events))
            await advance(0)
            viewers.publish(b"a")
            await advance(0.4)
            assert not waiting.done()
            await advance(0.2)
            assert await waiting == Printed(b"a")

    with_still_clock(test)


@pytest.mark.anyio
@pytest.mark.parametrize("ends", [True, False])
async def test_what_a_program_has_drawn_half_is_not_framed(ends: bool) -> None:
    watched = Composed(fit=(9, 20))
    events = aiter(watched.viewer)
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            await anext(events)
        watched.feed(b"\x1b[?2026hone")
        waiting = asyncio.ensure_future(anext(events))
        if ends:
            await asyncio.sleep(0)
            watched.feed(b"two\x1b[?2026l")
        frame = await waiting  # one that never ends is shown in the end
    assert isinstance(frame, Printed)
    assert (b"onetwo" in frame.data) is ends


@pytest.mark.anyio
async def test_an_ended_session_shows_its_last_screen() -> None:
    async with living() as services:
        session = await start(services, "echo last words; exit 7")
        while session.alive:
            await session.next_change(asyncio.get_running_loop().time() + PATIENCE, output=False)
        dispatch = services.dispatch()
        async with dispatch.watch(CALLER, WatchSession(session=session.identity.id)) as viewer:
            events = [event async for event in viewer]
        assert kinds(events) == ["Resized", "Snapshot", "Ended"]
        assert isinstance(events[1], Snapshot)
        assert b"last words" in events[1].data


@pytest.mark.anyio
async def test_detach_sends_all_away_and_the_child_goes_on() -> None:
    async with living() as services:
        session = await start(services, "cat")
        dispatch = services.dispatch()
        detach = ManageSession(session=session.identity.id, action="detach")
        await dispatch(CALLER, detach)  # nobody is there: that is fine
        watch = WatchSession(session=session.identity.id)
        async with dispatch.watch(CALLER, watch) as one, dispatch.watch(CALLER, watch) as two:
            await until(one, Snapshot)
            await dispatch(CALLER, detach)
            for viewer in (one, two):
                told = await until(viewer, Detached)
                assert told.message
        assert session.alive
        session.write(b"still here\r")
        await shows(session, "still here")


@pytest.mark.anyio
async def test_a_resize_reaches_viewers() -> None:
    async with living() as services:
        session = await start(services, "cat")
        dispatch = services.dispatch()
        async with dispatch.watch(CALLER, WatchSession(session=session.identity.id)) as viewer:
            await until(viewer, Snapshot)
            await dispatch(CALLER, ResizeSession(session=session.identity.id, rows=10, cols=33))
            assert await until(viewer, Resized) == Resized(10, 33, by="an agent")


@pytest.mark.anyio
async def test_memory_for_a_viewer_that_never_reads_is_bounded() -> None:
    async with living(max_viewer_bytes=LIMIT) as services:
        session = await start(services, "yes", args=[])
        with session.viewers.watch() as viewer:
            viewer.take()
            before = session.generation
            while session.generation < before + 200:
                deadline = asyncio.get_running_loop().time() + PATIENCE
                await session.next_change(deadline, output=True)
                assert waiting(viewer) <= LIMIT
            assert isinstance(viewer.take()[-1], Snapshot)


def waiting(viewer: Viewer) -> int:
    return sum(map(len, viewer._pieces))


@pytest.mark.anyio
async def test_a_session_that_is_not_there_is_refused() -> None:
    async with living() as services:
        dispatch = services.dispatch()
        with pytest.raises(SessionNotFound):
            async with dispatch.watch(CALLER, WatchSession(session="nope")):
                pass
