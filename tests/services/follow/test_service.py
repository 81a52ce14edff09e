"""Following: a sync first, then what happens; who is slow gets the newest, who leaves leaves."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.follow import (
    ChangedEvent,
    ControlEvent,
    CursorEvent,
    DiffEvent,
    IdleEvent,
    InputEvent,
    InputModeEvent,
    LaggedEvent,
    LineEvent,
    ModeEvent,
    OutputEvent,
    RunEvent,
    SessionEvent,
    SnapshotEvent,
    StateEvent,
    Sync,
    SyncAll,
    ThumbnailEvent,
    VisualsEvent,
    as_wire,
)
from nacre.core.terminal.terminal import Terminal
from nacre.errors import InvalidInput, SessionNotFound
from nacre.services.observe.views import position
from nacre.services.session.session import Session

from services.clock import advance, with_clock
from services.living import (
    CALLER,
    ended,
    shows,
    start,
    start_marked,
    until,
)
from services.people import (
    ANNA,
    ENTER_ALTERNATE,
    LEAVE_ALTERNATE,
    PRINTF,
    House,
    house,
)

pytestmark = pytest.mark.anyio

SCREEN = ("output", "lines", "cursor", "mode", "diffs", "changes")


async def printing(ask: House, **more: Any) -> Session:
    session = await start(ask.services, PRINTF, **more)
    await shows(session, "ready")
    return session


def text(event: Any) -> str:
    return "\n".join("".join(span.text for span in line) for line in event.screen.lines).rstrip()


def assert_nobody_is_left(ask: House, *sessions: Session) -> None:
    assert ask.services.host.events._listeners == []
    for session in sessions:
        assert session.watchers == []
        assert session.stream.taps == []
        assert len(session.viewers) == 0


# --- the sync ----------------------------------------------------------------------------------


async def test_a_sync_of_one_session_tells_all_there_is() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        overlay = await ask("overlay", session=ref, spans=[{"text": "over"}])
        panel = await ask("panel", session=ref, height=2)
        async with ask.watch(ANNA, session):
            await ask("control", ANNA, session=ref, action="take")
            await ask("input_mode", ANNA, session=ref, mode="capture", focus=panel.id)
            async with ask.follow(session, "changes", format="plain") as told:
                sync = await told.next()
        assert isinstance(sync, Sync)
        assert (sync.session, sync.session_id, sync.seq) == (session.identity.name, ref, 0)
        assert sync.screen.lines[0] == "ready"
        assert sync.generation == sync.screen.generation == session.generation
        assert (sync.overlays, sync.panels) == ([overlay], [panel])
        assert (sync.input_mode, sync.focused_element, sync.driver) == (
            "capture",
            panel.id,
            "Anna",
        )
        assert as_wire(sync)["event"] == "sync"
        assert_nobody_is_left(ask, session)


async def test_a_sync_knows_the_childs_screen_although_nothing_is_shown_beside_it() -> None:
    async with house() as ask:
        session = await printing(ask)
        session.write(ENTER_ALTERNATE)
        await until(session, lambda: session.terminal.alternate)
        async with ask.follow(session, "changes") as told:
            assert (await told.next()).mode == "alt"


async def test_a_sync_of_all_lists_the_sessions_with_their_last_lines() -> None:
    async with house() as ask:
        first, second = await printing(ask, name="first"), await printing(ask, name="second")
        async with ask.follow(None, "changes", "states", "sessions", "runs", "control") as told:
            sync = await told.next()
        assert isinstance(sync, SyncAll)
        assert [(one.name, one.last_line) for one in sync.sessions] == [
            ("first", "ready"),
            ("second", "ready"),
        ]
        wire = as_wire(sync)
        assert "session" not in wire
        assert {"pid", "rows", "viewers", "driver", "last_line"} <= set(wire["sessions"][0])
        assert_nobody_is_left(ask, first, second)


async def test_a_list_for_people_knows_the_last_command_of_each_session(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        ref = session.identity.id
        async with ask.follow(None, "states") as told:
            [first] = (await told.next()).sessions
            assert (first.last_command, first.question) == (None, None)
            assert first.line == position(session)
            await ask("run", session=ref, command="false")
            await ask.type_as(ANNA, session, b"printf '\\033]0;mine\\007'; (exit 3)\r")
            while True:
                event = await told.next()
                last = getattr(event, "last_command", None)
                if last is not None and last.exit_code == 3:
                    break
        assert last.command.endswith("(exit 3)")
        # A program's title goes with it, though it did not take it back.
        assert (session.terminal.title, event.title) == ("mine", "")
        assert last.started <= last.ended
        assert event.line == position(session)


async def test_thumbnails_are_whole_at_first_and_then_what_changed() -> None:
    async with house() as ask:
        first = await printing(ask, name="first")
        async with ask.follow(None, "thumbnails") as told:
            assert isinstance(await told.next(), SyncAll)
            whole = await told.next()
            assert isinstance(whole, ThumbnailEvent)
            assert whole.session == "first"
            assert [row for row, _ in whole.lines] == list(range(whole.rows))
            first.write(b"\\033[31mred\n")
            changed = await told.next()
            assert isinstance(changed, ThumbnailEvent)
            assert [(row, line[0].text, line[0].fg) for row, line in changed.lines] == [
                (1, "red", "red")
            ]
            second = await printing(ask, name="second")
            while (event := await told.next()).session != "second":
                pass
            assert isinstance(event, ThumbnailEvent)
        assert_nobody_is_left(ask, first, second)


async def test_what_cannot_be_followed_is_refused() -> None:
    async with house() as ask:
        with pytest.raises(InvalidInput, match="these events need one session: diffs, output"):
            async with ask.follow(None, "output", "states", "diffs"):
                pass
        with pytest.raises(SessionNotFound):
            async with ask.dispatch.follow(CALLER, _follow("nobody")):
                pass
        assert_nobody_is_left(ask)


def _follow(session: str) -> Any:
    from nacre.core.operations.follow import Follow

    return Follow(session=session, events=["changes"])


# --- the screen --------------------------------------------------------------------------------


async def test_each_kind_tells_of_the_screen_in_its_own_way() -> None:
    async with house() as ask:
        session = await printing(ask)
        async with ask.follow(session, *SCREEN, format="plain") as told:
            assert isinstance(await told.next(), Sync)
            assert isinstance(await told.of(SnapshotEvent), SnapshotEvent)
            session.write(b"hei\\n\n")
            await shows(session, "hei")
            # Output that came in two pieces is told in two: the second one in its own frame.
            begun = len(told.seen)
            last: dict[type, Any] = {}
            printed = b""
            while len(last) < len(SCREEN) - 1 or printed != b"hei\r\n":  # all but the mode
                await told.next()
                last = {type(event): event for event in told.seen[begun:]}
                output = [one for one in told.seen[begun:] if isinstance(one, OutputEvent)]
                printed = b"".join(one.data for one in output)
            changed, line = last[ChangedEvent], last[LineEvent]
            cursor, diff = last[CursorEvent], last[DiffEvent]
            assert (line.index, line.total_lines, line.line) == (1, 24, "hei")
            assert (cursor.row, cursor.col, cursor.visible) == (2, 0, True)
            assert diff.changed_lines == [1]
            assert diff.screen.lines[1] == "hei"
            assert diff.generation == changed.generation == session.generation
            session.write(ENTER_ALTERNATE)
            mode = await told.of(ModeEvent)
            assert (mode.alternate_active, mode.mode) == (True, "alt")
            session.write(LEAVE_ALTERNATE)
            mode = await told.of(ModeEvent)
            assert (mode.alternate_active, mode.mode) == (False, "normal")
            numbers = [event.seq for event in told.seen]
            assert numbers == list(range(len(numbers)))
            assert {event.session_id for event in told.seen} == {session.identity.id}
        assert_nobody_is_left(ask, session)


async def test_the_layer_changes_the_mode_without_the_child() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        async with ask.follow(session, "mode") as told:
            assert (await told.next()).mode == "normal"
            await ask("screen_mode", session=ref, action="enter_alt")
            mode = await told.next()
            assert isinstance(mode, ModeEvent)
            assert (mode.alternate_active, mode.mode) == (False, "alt")
            await ask("screen_mode", session=ref, action="exit_alt")
            mode = await told.next()
            assert (mode.alternate_active, mode.mode) == (False, "normal")


async def test_output_and_snapshots_rebuild_the_screen_to_the_last_byte() -> None:
    async with house() as ask:
        session = await start(ask.services, "echo ready; read x; seq 1 3000; printf last; exit 3")
        await shows(session, "ready")
        async with ask.follow(session, "output", "sessions") as told:
            await told.next()
            session.write(b"\r")
            await told.of(SessionEvent, change="ended")
            twin = Terminal()
            # What came before the end may still wait; what is asked for next comes after it.
            await ask("overlay", session=session.identity.id)
            while twin.plain_lines() != session.terminal.plain_lines():
                for event in told.seen:
                    if isinstance(event, OutputEvent | SnapshotEvent):
                        twin.feed(event.data)
                told.seen.clear()
                if twin.plain_lines() != session.terminal.plain_lines():
                    await told.next()
        assert_nobody_is_left(ask, session)


async def test_output_goes_on_after_a_detach_and_a_restart() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        async with ask.follow(session, "output") as told:
            await told.of(SnapshotEvent)
            await ask("manage_session", session=ref, action="detach")
            session.write(b"after the detach\\n\n")
            await shows(session, "after the detach")
            snapshot = await told.of(SnapshotEvent)
            assert b"after the detach" in snapshot.data
            session.write(b"more\\n\n")
            await shows(session, "more")
            assert (await told.of(OutputEvent)).data == b"more\r\n"
            await ask("restart_session", session=ref)
            await shows(session, "ready")
            session.write(b"anew\\n\n")
            await told.until(
                lambda event: (
                    isinstance(event, OutputEvent | SnapshotEvent) and b"anew" in event.data
                )
            )
        assert_nobody_is_left(ask, session)


def test_changes_within_the_interval_are_told_together() -> None:
    async def test() -> None:
        async with house() as ask:
            session = await printing(ask)
            async with ask.follow(session, "diffs", interval_ms=5000) as told:
                await told.next()
                session.write(b"one\\n\n")
                await told.of(DiffEvent)  # the first after a pause comes at once
                coming = asyncio.create_task(told.next())
                for line in ("two", "three", "four"):
                    session.write(line.encode() + b"\\n\n")
                    await shows(session, line)
                assert not coming.done()
                await advance(5)
                diff = await coming
                assert text(diff).splitlines() == ["ready", "one", "two", "three", "four"]
                assert diff.changed_lines == [2, 3, 4]
                assert told.seen.index(diff) == 2
            assert_nobody_is_left(ask, session)

    with_clock(test)


async def test_who_does_not_read_costs_no_memory_and_gets_the_newest() -> None:
    async with house(max_viewer_bytes=65536) as ask:
        session = await start(ask.services, "echo ready; read x; exec yes")
        await shows(session, "ready")
        async with ask.follow(session, *SCREEN, format="plain") as told:
            await told.next()
            session.write(b"\r")
            begun = session.generation
            # The first events are taken, and then none for a long time.
            await told.of(ChangedEvent)
            await until(session, lambda: session.generation > begun + 200)
            follower = told.stream
            [followed] = follower._followed.values()
            assert len(follower._queue) == 0
            assert len(follower._due) <= 1
            assert followed.viewer is None or followed.viewer._waiting <= 2 * 65536
            seen = session.generation
            changed = await told.until(
                lambda event: isinstance(event, ChangedEvent) and event.generation >= seen
            )
            # What was under way was told to its end, then the newest: nothing in between.
            between = [event for event in told.seen if isinstance(event, ChangedEvent)]
            assert len(between) == 2
            assert changed is between[1]
        assert_nobody_is_left(ask, session)


def test_a_change_is_told_once_however_often_the_state_is_looked_at() -> None:
    async def test() -> None:
        async with house() as ask:
            session = await printing(ask)
            async with ask.follow(None, "changes", "states") as told:
                await told.next()
                session.write(b"x\\n\n")
                await shows(session, "x")
                await told.of(ChangedEvent)
                coming = asyncio.create_task(told.until(lambda _: False))
                [followed] = told.stream._followed.values()
                for _ in range(9):
                    await advance(1)  # in which it is looked at anew
                assert followed._looks > 2
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
            changed = [event for event in told.seen if isinstance(event, ChangedEvent)]
            assert len(changed) == 1

    with_clock(test)


async def test_followers_push_no_screen_out_that_an_agent_refers_to() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        seen = (await ask("get_screen", session=ref)).generation
        async with ask.follow(session, "diffs", "sessions") as told:
            await told.next()
            for number in range(20):
                session.write(b"%d\\n\n" % number)
                await told.of(DiffEvent)
            await ask("resize_session", session=ref, rows=30, cols=80)
            await told.of(SessionEvent, change="resized")
        late = await ask("wait_for", session=ref, text="ready", after_generation=seen, timeout_ms=1)
        assert not late.matched
        assert (await ask("wait_for", session=ref, text="19", after_generation=seen)).matched


async def test_who_falls_behind_is_told_how_far_and_then_everything() -> None:
    async with house(event_queue=10) as ask:
        session = await printing(ask)
        ref = session.identity.id
        async with ask.follow(session, "visuals") as told:
            await told.next()
            overlay = await ask("overlay", session=ref, spans=[{"text": "0"}])
            assert [one.id for one in (await told.of(VisualsEvent)).overlays] == [overlay.id]
            for number in range(1, 15):
                spans = [{"text": str(number)}]
                await ask("overlay", session=ref, id=overlay.id, spans=spans)
            lagged = await told.next()
            assert isinstance(lagged, LaggedEvent)
            assert lagged.dropped == 14
            await ask("overlay", session=ref, id=overlay.id, spans=[{"text": "newest"}])
            sync = await told.next()
            assert isinstance(sync, Sync)
            assert sync.overlays[0].spans[0].text == "newest"
            # What the sync told is not told again.
            await ask("overlay", session=ref, id=overlay.id, spans=[{"text": "next"}])
            visuals = await told.next()
            assert visuals.overlays[0].spans[0].text == "next"
        async with ask.follow(session, "visuals") as told:
            await told.next()
            for number in range(10):  # as many as there is room for
                await ask("overlay", session=ref, id=overlay.id, spans=[{"text": str(number)}])
            texts = [(await told.next()).overlays[0].spans[0].text for _ in range(10)]
            assert texts == [str(number) for number in range(10)]


async def test_silence_after_activity_is_told_once() -> None:
    async with house() as ask:
        session = await printing(ask)
        async with ask.follow(session, "sessions", idle_timeout_ms=20, format="plain") as told:
            await told.next()
            for line in ("one", "two"):
                session.write(line.encode() + b"\\n\n")
                idle = await told.next()
                assert isinstance(idle, IdleEvent)
                assert line in idle.screen.lines
                assert idle.generation == session.generation
                assert idle.scrollback_lines == 0
        assert_nobody_is_left(ask, session)


# --- the rest ----------------------------------------------------------------------------------


async def test_keys_modes_and_elements_are_told_as_they_come() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        kinds = ("input", "visuals", "control")
        async with ask.watch(ANNA, session) as anna, ask.follow(session, *kinds) as told:
            await told.next()
            panel = await ask("panel", session=ref, height=2)
            visuals = await told.next()
            assert isinstance(visuals, VisualsEvent)
            assert (visuals.panels, visuals.overlays, visuals.mode) == ([panel], [], "normal")
            await ask("input_mode", session=ref, mode="capture", focus=panel.id)
            mode = await told.next()
            assert isinstance(mode, InputModeEvent)
            assert (mode.mode, mode.focused_element) == ("capture", panel.id)
            await ask("input_mode", session=ref, mode="capture")  # as it is already
            await anna.type(b"a\x1c")
            key = await told.next()
            assert isinstance(key, InputEvent)
            assert as_wire(key) == {
                "event": "input",
                "session": session.identity.name,
                "session_id": ref,
                "seq": key.seq,
                "mode": "capture",
                "raw": [97],
                "parsed": {"key": "a", "modifiers": []},
                "focused_element": panel.id,
                "number": 1,
            }
            mode = await told.next()
            assert (mode.mode, mode.focused_element) == ("passthrough", None)
            await ask("control", ANNA, session=ref, action="take")
            control = await told.next()
            assert isinstance(control, ControlEvent)
            assert (control.driver, control.handover) == ("Anna", None)
            await ask("control", ANNA, session=ref, action="give")
            control = await told.next()
            assert (control.driver, control.since) == (None, None)
            assert control.handover.driver == "Anna"
            await ask("resize_session", session=ref, rows=2, cols=80)
            visuals = await told.next()
            assert [one.visible for one in visuals.panels] == [False]
            await ask("remove_panel", session=ref)
            assert (await told.next()).panels == []
        assert_nobody_is_left(ask, session)


async def test_a_focus_that_goes_with_its_screen_is_told() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        session.write(ENTER_ALTERNATE)
        await until(session, lambda: session.terminal.alternate)
        overlay = await ask("overlay", session=ref, spans=[{"text": "over"}])
        await ask("input_mode", session=ref, mode="capture", focus=overlay.id)
        async with ask.follow(session, "input", "visuals") as told:
            await told.next()
            session.write(LEAVE_ALTERNATE)
            mode = await told.of(InputModeEvent)
            assert (mode.mode, mode.focused_element) == ("capture", None)
            visuals = await told.of(VisualsEvent)
            assert (visuals.overlays, visuals.mode) == ([], "normal")


async def test_an_end_and_a_restart_release_the_keys_and_clear_what_was_shown() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        await ask("overlay", session=ref, spans=[{"text": "over"}])
        await ask("input_mode", session=ref, mode="capture")
        async with ask.follow(session, "input", "visuals", "sessions") as told:
            await told.next()
            await ask("restart_session", session=ref)
            assert (await told.of(InputModeEvent)).mode == "passthrough"
            await told.of(SessionEvent, change="ended")
            assert (await told.of(VisualsEvent)).overlays == []
            restarted = await told.of(SessionEvent, change="restarted")
            assert restarted.details.running


async def test_all_sessions_tell_who_comes_and_goes() -> None:
    async with house() as ask:
        async with ask.follow(None, "sessions") as told:
            assert (await told.next()).sessions == []
            session = await printing(ask, name="one")
            created = await told.next()
            assert isinstance(created, SessionEvent)
            assert (created.change, created.session) == ("created", "one")
            assert created.session_id == session.identity.id
            assert created.details is not None
            assert created.details.name == "one"
            await ask("manage_session", session="one", action="rename", new_name="two")
            renamed = await told.next()
            assert (renamed.change, renamed.session) == ("renamed", "two")
            await ask("resize_session", session="two", rows=10, cols=40)
            resized = await told.next()
            assert (resized.change, resized.details.rows) == ("resized", 10)
            await ask("restart_session", session="two")
            assert (await told.next()).change == "ended"
            assert (await told.next()).change == "restarted"
            await ask("manage_session", session="two", action="kill")
            removed = await told.next()
            assert (removed.change, removed.session, removed.details) == ("removed", "two", None)
            again = await printing(ask, name="two")
            created = await told.next()
            assert (created.change, created.session_id) == ("created", again.identity.id)
        assert_nobody_is_left(ask, session, again)


async def test_changes_of_all_sessions_name_the_session() -> None:
    async with house() as ask:
        first, second = await printing(ask), await printing(ask)
        async with ask.follow(None, "changes") as told:
            await told.next()
            for session in (first, second):
                session.write(b"x\n")
                changed = await told.of(ChangedEvent, session_id=session.identity.id)
                assert changed.generation == session.generation
            third = await printing(ask)
            await told.of(ChangedEvent, session_id=third.identity.id)
            await ask("manage_session", session=third.identity.id, action="kill")
            assert third.watchers == []
        assert_nobody_is_left(ask, first, second, third)


async def test_a_stream_ends_with_its_session() -> None:
    async with house() as ask:
        session = await printing(ask)
        other = await printing(ask)
        async with ask.follow(session, "sessions", "changes", "output") as told:
            await told.next()
            await ask("manage_session", session=other.identity.id, action="kill")
            await ask("manage_session", session=session.identity.id, action="kill")
            rest = await told.rest()
            assert [event.change for event in rest if isinstance(event, SessionEvent)] == [
                "removed"
            ]
        # What was killed is readable by its id, but nothing will happen to it.
        async with ask.follow(session, "changes", "states") as told:
            [sync] = await told.rest()
            assert isinstance(sync, Sync)
        assert_nobody_is_left(ask, session, other)


async def test_an_ended_session_that_is_still_listed_goes_on() -> None:
    async with house() as ask:
        session = await ended(await start(ask.services, "echo done"))
        async with ask.follow(session, "states", "sessions") as told:
            await told.next()
            await ask("dismiss_session", session=session.identity.id)
            [removed] = await told.rest()
            assert (removed.change, removed.details) == ("removed", None)  # type: ignore[attr-defined]


async def test_states_are_told_without_being_asked_for(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        async with ask.follow(session, "states") as told:
            await told.next()
            session.write(f"read -r x < {fifo}; read -rs y; echo over\r".encode())
            running = await told.of(StateEvent, state="running")
            assert running.cwd == session.cwd
            # Nothing is printed when the question comes.
            generation = session.generation
            fifo.write_text("go\n")
            asks = await told.of(StateEvent, state="needs_input", asks="password")
            assert asks.generation == generation
            session.write(b"secret\r")
            prompt = await told.of(StateEvent, state="prompt")
            assert prompt.last_line
            session.write(b"exit 3\r")
            await told.of(StateEvent, state="exited")
        assert_nobody_is_left(ask, session)


async def test_states_of_all_sessions_name_the_session(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        first = await start_marked(ask.services, name="first")
        async with ask.follow(None, "states") as told:
            await told.next()
            second = await start_marked(ask.services, name="second")
            await told.of(StateEvent, state="prompt", session="second")
            first.write(b"cat\r")
            await told.of(StateEvent, session="first", state="needs_input")
        assert_nobody_is_left(ask, first, second)


async def test_runs_of_people_and_of_callers_are_told(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        ref = session.identity.id
        async with ask.follow(None, "runs") as told:
            await told.next()
            session.write(b"(exit 4)\r")
            started = await told.of(RunEvent)
            assert (started.status, started.run_id, started.command) == (
                "started",
                None,
                "(exit 4)",
            )
            over = await told.of(RunEvent)
            assert (over.status, over.command, over.exit_code) == ("ended", "(exit 4)", 4)
            assert over.duration_ms >= 0
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            ran = await ask("run", session=ref, command="true")
            started = await told.of(RunEvent)
            assert (started.status, started.run_id, started.command) == (
                "started",
                ran.run_id,
                "true",
            )
            over = await told.of(RunEvent)
            assert (over.status, over.run_id, over.exit_code) == ("ended", ran.run_id, 0)
            assert over.session_id == ref


async def test_a_reader_who_leaves_in_the_middle_of_it_all_leaves_nothing_behind() -> None:
    async with house() as ask:
        session = await printing(ask)
        ref = session.identity.id
        kinds = (*SCREEN, "input", "runs", "states", "sessions", "visuals", "control")
        async with ask.follow(session, *kinds, idle_timeout_ms=60_000, interval_ms=60_000) as told:
            await told.next()
            await told.of(SnapshotEvent)
            session.write(b"y\\n\n")
            await shows(session, "y")
            await ask("panel", session=ref)
            follower = told.stream
            [followed] = follower._followed.values()
            timers = [follower._timer, followed._look_timer, followed._idle_timer]
            assert any(timer is not None for timer in timers)
        assert all(timer is None or timer.cancelled() for timer in timers)
        assert_nobody_is_left(ask, session)
        # And the session goes on.
        session.write(b"z\\n\n")
        await shows(session, "z")
