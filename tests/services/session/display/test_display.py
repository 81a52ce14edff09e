"""Overlays, panels, layers and captured keys at real children: who sees which size, and when."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller, Scope
from nacre.errors import (
    Forbidden,
    InvalidInput,
    LimitReached,
    OverlayNotFound,
    PanelNotFound,
    SessionExited,
)
from nacre.services.session.record import unpack
from nacre.services.session.session import Session

from services.living import (
    PATIENCE,
    ended,
    lines_of,
    shows,
    start,
    start_python,
    start_shell,
    until,
)
from services.people import (
    ANNA,
    ENTER_ALTERNATE,
    LEAVE_ALTERNATE,
    PRINTF,
    WINCH,
    House,
    house,
)

pytestmark = pytest.mark.anyio


def size_of(session: Session) -> tuple[int, int]:
    return session.terminal.rows, session.terminal.cols


def whole_of(session: Session) -> tuple[int, int]:
    return session.display.rows, session.display.cols


async def says_sizes(session: Session, *sizes: str) -> None:
    """Wait until a WINCH child has printed so many sizes; they must be just these."""
    await until(
        session,
        lambda: len(lines_of(session)) >= len(sizes) and session.terminal.cursor().col == 0,
    )
    assert lines_of(session) == list(sizes)


async def visible(ask: House, session: Session) -> dict[str, bool]:
    listed = await ask("panel", session=session.identity.id, list=True)
    return {panel.spans[0].text: panel.visible for panel in listed.panels}


async def put(ask: House, session: Session, text: str, **more: Any) -> str:
    """Make a panel; return its id."""
    made = await ask("panel", session=session.identity.id, spans=[{"text": text}], **more)
    return str(made.id)


# --- panels and the child's size -----------------------------------------------------------


@pytest.mark.parametrize("position", ["top", "bottom"])
async def test_a_panel_takes_its_rows_from_the_child_and_gives_them_back(position: str) -> None:
    async with house() as ask:
        session = await start_python(ask.services, WINCH)
        await shows(session, "24x80")
        panel = await ask("panel", session=session.identity.id, position=position, height=3)
        assert panel.visible
        await says_sizes(session, "24x80", "21x80")
        assert size_of(session) == (21, 80)
        assert whole_of(session) == (24, 80)
        details = await ask("list_sessions", session=session.identity.id)
        screen = await ask("get_screen", session=session.identity.id)
        assert details.rows == screen.rows == 21
        await ask("panel", session=session.identity.id, id=panel.id, height=5)
        await says_sizes(session, "24x80", "21x80", "19x80")
        await ask("remove_panel", session=session.identity.id, id=panel.id)
        await says_sizes(session, "24x80", "21x80", "19x80", "24x80")


async def test_what_leaves_the_size_as_it_is_is_no_signal_to_the_child() -> None:
    async with house() as ask:
        session = await start_python(ask.services, WINCH)
        await shows(session, "24x80")
        ref = session.identity.id
        panel = await ask("panel", session=ref, height=2)
        generation = session.generation
        for more in (
            {"position": "top"},
            {"z": 9},
            {"background": "red"},
            {"spans": [{"text": "x"}]},
        ):
            changed = await ask("panel", session=ref, id=panel.id, **more)
            assert changed.visible
        await ask("overlay", session=ref, spans=[{"text": "floats"}])
        await ask("remove_overlay", session=ref)
        await ask("panel", session=ref, height=50)  # it has no room
        await ask("panel", session=ref, list=True)
        await shows(session, "22x80")
        await ask("remove_panel", session=ref)
        await says_sizes(session, "24x80", "22x80", "24x80")
        # One line of the child, one resize of ours: nothing else has changed the screen.
        assert session.generation == generation + 3


async def test_a_shell_in_the_session_sees_the_smaller_size() -> None:
    async with house() as ask:
        session = await start_shell(ask.services)
        await put(ask, session, "one\ntwo", position="top")
        await put(ask, session, "three")
        session.write(b"stty size\r")
        await shows(session, "21 80")


async def test_panels_of_the_lowest_z_wait_until_there_is_room() -> None:
    async with house() as ask:
        session = await start_python(ask.services, WINCH, rows=10)
        await shows(session, "10x80")
        ref = session.identity.id
        await put(ask, session, "low", height=4, z=1)
        await put(ask, session, "middle", height=4, z=2, position="top")
        assert size_of(session) == (2, 80)
        high = await put(ask, session, "high", height=3, z=3)
        assert await visible(ask, session) == {"low": False, "middle": True, "high": True}
        assert size_of(session) == (3, 80)
        await ask("remove_panel", session=ref, id=high)
        assert await visible(ask, session) == {"low": True, "middle": True}
        assert size_of(session) == (2, 80)
        await put(ask, session, "highest", height=3)
        assert await visible(ask, session) == {"low": False, "middle": True, "highest": True}
        told = await ask("resize_session", session=ref, rows=20, cols=60)
        assert (told.rows, told.cols) == (20, 60)
        assert await visible(ask, session) == {"low": True, "middle": True, "highest": True}
        assert size_of(session) == (9, 60)
        layout = session.display.elements.layout(session.display.rows)
        assert [panel.spans[0].text for panel in layout.top] == ["middle"]
        # The higher z is nearer to its edge: the last of the bottom is at the lower edge.
        assert [panel.spans[0].text for panel in layout.bottom] == ["low", "highest"]
        await ask("resize_session", session=ref, rows=4, cols=60)
        assert await visible(ask, session) == {"low": False, "middle": False, "highest": False}
        await ask("resize_session", session=ref, rows=5, cols=60)
        assert await visible(ask, session) == {"low": False, "middle": False, "highest": True}
        await shows(session, "2x60")


async def test_a_session_too_low_for_any_panel_shows_none() -> None:
    async with house() as ask:
        session = await start_python(ask.services, WINCH, rows=2)
        await shows(session, "2x80")
        panel = await ask("panel", session=session.identity.id, height=1)
        assert not panel.visible
        higher = await ask("panel", session=session.identity.id, height=2000)
        assert not higher.visible
        assert size_of(session) == whole_of(session) == (2, 80)
        await ask("resize_session", session=session.identity.id, rows=3, cols=80)
        assert size_of(session) == (2, 80)
        await ask("remove_panel", session=session.identity.id)
        await says_sizes(session, "2x80", "3x80")


async def test_a_resize_sets_the_whole_and_the_child_has_what_panels_leave() -> None:
    async with house() as ask:
        session = await start_python(ask.services, WINCH)
        await shows(session, "24x80")
        await put(ask, session, "top", position="top", height=2)
        await says_sizes(session, "24x80", "22x80")
        await put(ask, session, "bottom", height=3)
        await says_sizes(session, "24x80", "22x80", "19x80")
        told = await ask("resize_session", session=session.identity.id, rows=40, cols=100)
        assert (told.rows, told.cols) == (40, 100)
        await says_sizes(session, "24x80", "22x80", "19x80", "35x100")
        assert whole_of(session) == (40, 100)
        await ask("remove_panel", session=session.identity.id)
        assert size_of(session) == (40, 100)


async def test_a_restarted_session_has_its_whole_size_and_nothing_of_what_was_shown() -> None:
    async with house() as ask:
        session = await start_python(ask.services, WINCH)
        await shows(session, "24x80")
        ref = session.identity.id
        panel = await ask("panel", session=ref, height=4)
        await ask("overlay", session=ref, spans=[{"text": "floats"}])
        await ask("screen_mode", session=ref, action="enter_alt")
        await ask("input_mode", session=ref, mode="capture", focus=panel.id)
        await ask("restart_session", session=ref)
        await says_sizes(session, "24x80")
        assert (await ask("overlay", session=ref, list=True)).overlays == []
        assert (await ask("panel", session=ref, list=True)).panels == []
        assert (await ask("screen_mode", session=ref)).mode == "normal"
        now = await ask("input_mode", session=ref)
        assert (now.mode, now.focused_element) == ("passthrough", None)
        # What is made next is no namesake of what somebody may still hold.
        assert (await ask("panel", session=ref)).id != panel.id


async def test_ended_and_killed_sessions_take_elements_without_trouble() -> None:
    async with house() as ask:
        session = await ended(await start(ask.services, "echo done"))
        ref = session.identity.id
        panel = await ask("panel", session=ref, spans=[{"text": "it is over"}])
        assert panel.visible
        await ask("resize_session", session=ref, rows=30, cols=90)
        assert whole_of(session) == (30, 90)
        await ask("manage_session", session=ref, action="kill")
        await ask("overlay", session=ref, spans=[{"text": "by its id"}])
        await ask("remove_panel", session=ref)
        assert size_of(session) == (30, 90)


# --- the two modes ---------------------------------------------------------------------------


async def test_elements_of_the_layer_go_with_it_and_the_others_come_back() -> None:
    async with house() as ask:
        session = await start_python(ask.services, WINCH)
        await shows(session, "24x80")
        ref = session.identity.id
        below = await ask("overlay", session=ref, spans=[{"text": "below"}])
        await put(ask, session, "normal", height=2)
        await says_sizes(session, "24x80", "22x80")
        assert (await ask("screen_mode", session=ref, action="enter_alt")).mode == "alt"
        await says_sizes(session, "24x80", "22x80", "24x80")
        assert (await ask("overlay", session=ref, list=True)).overlays == []
        assert (await ask("panel", session=ref, list=True)).panels == []
        assert size_of(session) == (24, 80)
        over = await ask("overlay", session=ref, spans=[{"text": "over"}])
        assert over.screen_mode == "alt"
        await put(ask, session, "alt", height=7)
        await says_sizes(session, "24x80", "22x80", "24x80", "17x80")
        with pytest.raises(InvalidInput, match="mode: it was entered before"):
            await ask("screen_mode", session=ref, action="enter_alt")
        assert (await ask("screen_mode", session=ref, action="exit_alt")).mode == "normal"
        assert [one.id for one in (await ask("overlay", session=ref, list=True)).overlays] == [
            below.id
        ]
        assert await visible(ask, session) == {"normal": True}
        await says_sizes(session, "24x80", "22x80", "24x80", "17x80", "22x80")
        with pytest.raises(InvalidInput, match="not in alternate screen mode"):
            await ask("screen_mode", session=ref, action="exit_alt")
        with pytest.raises(OverlayNotFound):
            await ask("overlay", session=ref, id=over.id, x=1)


async def test_a_full_screen_program_has_elements_of_its_own() -> None:
    async with house() as ask:
        session = await start(ask.services, PRINTF)
        await shows(session, "ready")
        ref = session.identity.id
        await put(ask, session, "normal", height=3)
        session.write(ENTER_ALTERNATE)
        await until(session, lambda: session.terminal.alternate)
        assert size_of(session) == (24, 80)
        assert (await ask("screen_mode", session=ref)).mode == "alt"
        with pytest.raises(InvalidInput, match="a full-screen program is open"):
            await ask("screen_mode", session=ref, action="enter_alt")
        with pytest.raises(InvalidInput, match="ends with the full-screen program"):
            await ask("screen_mode", session=ref, action="exit_alt")
        assert (await ask("panel", session=ref, list=True)).panels == []
        await put(ask, session, "alt", height=5)
        over = await ask("overlay", session=ref, spans=[{"text": "over"}])
        await ask("input_mode", session=ref, mode="capture", focus=over.id)
        assert size_of(session) == (19, 80)
        session.write(LEAVE_ALTERNATE)
        await until(session, lambda: not session.terminal.alternate)
        assert size_of(session) == (21, 80)
        assert await visible(ask, session) == {"normal": True}
        now = await ask("input_mode", session=ref)
        assert (now.mode, now.focused_element) == ("capture", None)
        with pytest.raises(OverlayNotFound):
            await ask("overlay", session=ref, id=over.id)


async def test_elements_first_made_on_the_childs_alternate_screen_are_of_it() -> None:
    async with house() as ask:
        session = await start(ask.services, PRINTF)
        await shows(session, "ready")
        session.write(ENTER_ALTERNATE)
        await until(session, lambda: session.terminal.alternate)
        over = await ask("overlay", session=session.identity.id, spans=[{"text": "over"}])
        assert over.screen_mode == "alt"
        await put(ask, session, "alt", height=4)
        assert size_of(session) == (20, 80)
        session.write(LEAVE_ALTERNATE)
        await until(session, lambda: not session.terminal.alternate)
        assert size_of(session) == (24, 80)
        assert (await ask("overlay", session=session.identity.id, list=True)).overlays == []


async def test_the_mode_is_alt_until_the_layer_and_the_program_are_both_gone() -> None:
    async with house() as ask:
        session = await start(ask.services, PRINTF)
        await shows(session, "ready")
        ref = session.identity.id

        async def texts() -> list[str]:
            listed = await ask("overlay", session=ref, list=True)
            return [one.spans[0].text for one in listed.overlays]

        await ask("overlay", session=ref, spans=[{"text": "normal"}])
        for first_to_go in ("program", "layer"):
            await ask("screen_mode", session=ref, action="enter_alt")
            await ask("overlay", session=ref, spans=[{"text": "alt"}])
            session.write(ENTER_ALTERNATE)
            await until(session, lambda: session.terminal.alternate)
            assert await texts() == ["alt"]
            if first_to_go == "layer":
                assert (await ask("screen_mode", session=ref, action="exit_alt")).mode == "alt"
                assert await texts() == ["alt"]
            session.write(LEAVE_ALTERNATE)
            await until(session, lambda: not session.terminal.alternate)
            if first_to_go == "program":
                assert await texts() == ["alt"]
                await ask("screen_mode", session=ref, action="exit_alt")
            assert await texts() == ["normal"]


# --- captured keys ---------------------------------------------------------------------------


async def echoing(ask: House) -> Session:
    """A session that prints each byte it gets as a number."""
    program = (
        "import os, tty\n"
        "tty.setraw(0)\n"
        "os.write(1, b'ready\\r\\n')\n"
        "while True:\n"
        "    for byte in os.read(0, 100):\n"
        "        os.write(1, b'%d\\r\\n' % byte)\n"
    )
    session = await start_python(ask.services, program)
    await shows(session, "ready")
    return session


def got(session: Session) -> bytes:
    """What reached the program."""
    return bytes(map(int, lines_of(session)[1:]))


async def test_keys_of_people_are_captured_and_input_of_callers_is_not() -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        overlay = await ask("overlay", session=ref, spans=[{"text": "yes or no?"}])
        async with ask.watch(ANNA, session) as anna:
            await anna.type(b"a")
            await ask("input_mode", session=ref, mode="capture", focus=overlay.id)
            waiting = asyncio.create_task(ask("await_input", session=ref, after=0))
            also = asyncio.create_task(ask("await_input", session=ref, after=1000))
            await asyncio.sleep(0)
            await anna.type(b"y\x1b[A\xc3")
            first = await waiting
            await anna.type(b"\xa9")
            assert await also == first
            assert [key.parsed.key for key in first.keys] == ["y", "ArrowUp"]
            assert [bytes(key.raw) for key in first.keys] == [b"y", b"\x1b[A"]
            assert [key.number for key in first.keys] == [1, 2]
            assert {key.focused_element for key in first.keys} == {overlay.id}
            assert (first.last, first.mode) == (2, "capture")
            second = await ask("await_input", session=ref, after=first.last)
            assert [key.parsed.key for key in second.keys] == ["é"]
            await ask("send_input", session=ref, input="b")
            await ask("press_keys", session=ref, keys=["c"])
            await ask("input_mode", session=ref, mode="release")
            await anna.type(b"d")
        await until(session, lambda: got(session).endswith(b"d"))
        assert got(session) == b"abcd"


async def test_a_key_goes_to_one_of_those_who_ask_for_what_is_new() -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        await ask("input_mode", session=ref, mode="capture")
        async with ask.watch(ANNA, session) as anna:
            await anna.type(b"before")
            told = await ask("await_input", session=ref)
            assert "".join(key.parsed.key for key in told.keys) == "before"
            waiting = [asyncio.create_task(ask("await_input", session=ref)) for _ in range(2)]
            await asyncio.sleep(0)
            await anna.type(b"1")
            [first], [second] = await asyncio.wait(
                waiting, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE
            )
            assert [key.parsed.key for key in first.result().keys] == ["1"]
            await anna.type(b"2\x1c")
            told = await second
            assert [key.parsed.key for key in told.keys] == ["2"]
            # What was typed before the person's way out is still there for who asks for it.
            again = await ask("await_input", session=ref, after=6)
            assert [key.parsed.key for key in again.keys] == ["1", "2"]
            with pytest.raises(InvalidInput, match="not captured"):
                await ask("await_input", session=ref)


async def test_as_many_captured_keys_are_kept_as_the_setting_says() -> None:
    async with house(max_captured_keys=3) as ask:
        session = await echoing(ask)
        ref = session.identity.id
        await ask("input_mode", session=ref, mode="capture")
        async with ask.watch(ANNA, session) as anna:
            await anna.type(b"12345")
            told = await ask("await_input", session=ref, after=0)
        assert [key.parsed.key for key in told.keys] == ["3", "4", "5"]


async def test_what_a_program_types_at_a_screen_is_not_captured() -> None:
    async with house() as ask:
        session = await echoing(ask)
        await ask("input_mode", session=session.identity.id, mode="capture")
        async with ask.watch(Caller(door="ws", key="robot"), session) as robot:
            await robot.type(b"r")
        await until(session, lambda: got(session) == b"r")


@pytest.mark.parametrize(
    "way_out",
    [b"\x1c", b"\x1b[92;5u", b"\x1b[92;5:1u", b"\x1b[92;69u", b"\x1b[27;5;92~"],
    ids=["C0", "kitty", "kitty-event", "kitty-capslock", "modifyOtherKeys"],
)
async def test_the_way_out_releases_and_what_follows_it_reaches_the_program(way_out: bytes) -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        overlay = await ask("overlay", session=ref, spans=[{"text": "menu"}])
        await ask("input_mode", session=ref, mode="capture", focus=overlay.id)
        async with ask.watch(ANNA, session) as anna:
            waiting = asyncio.create_task(ask("await_input", session=ref))
            await asyncio.sleep(0)
            await anna.type(b"1" + way_out + b"2\x1b[B\xc3")
            told = await waiting
            assert [bytes(key.raw) for key in told.keys] == [b"1"]
            assert told.mode == "passthrough"
            now = await ask("input_mode", session=ref)
            assert (now.mode, now.focused_element) == ("passthrough", None)
            await anna.type(b"\xa93")
        await until(session, lambda: got(session).endswith(b"3"))
        assert got(session) == "2\x1b[Bé3".encode()


async def test_await_input_ends_empty_at_its_deadline_and_at_a_release() -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        with pytest.raises(InvalidInput, match="capture it first with input_mode"):
            await ask("await_input", session=ref)
        await ask("input_mode", session=ref, mode="capture")
        told = await ask("await_input", session=ref, max_wait_ms=1)
        assert (told.keys, told.last, told.mode) == ([], 0, "capture")
        waiting = asyncio.create_task(ask("await_input", session=ref))
        await asyncio.sleep(0)
        await ask("input_mode", session=ref, mode="release")
        told = await waiting
        assert (told.keys, told.mode) == ([], "passthrough")
        assert len(session.display._key_waiters) == 0


async def test_a_capture_ends_with_the_session() -> None:
    async with house() as ask:
        session = await start(ask.services, "echo ready; read line")
        await shows(session, "ready")
        ref = session.identity.id
        await ask("input_mode", session=ref, mode="capture")
        waiting = asyncio.create_task(ask("await_input", session=ref))
        await asyncio.sleep(0)
        await ask("send_input", session=ref, input="\r")
        async with asyncio.timeout(PATIENCE):
            told = await waiting
        assert (told.keys, told.mode) == ([], "passthrough")
        assert (await ask("input_mode", session=ref)).mode == "passthrough"


async def test_keys_of_an_ended_session_are_not_captured() -> None:
    async with house() as ask:
        session = await ended(await start(ask.services, "true"))
        ref = session.identity.id
        overlay = await ask("overlay", session=ref, spans=[{"text": "menu"}])
        with pytest.raises(SessionExited):
            await ask("input_mode", session=ref, mode="capture", focus=overlay.id)
        now = await ask("input_mode", session=ref)
        assert (now.mode, now.focused_element) == ("passthrough", None)
        assert (await ask("input_mode", session=ref, mode="release")).mode == "passthrough"


async def test_a_waiter_who_gives_up_is_forgotten() -> None:
    async with house() as ask:
        session = await echoing(ask)
        await ask("input_mode", session=session.identity.id, mode="capture")
        waiting = asyncio.create_task(ask("await_input", session=session.identity.id))
        await asyncio.sleep(0)
        assert len(session.display._key_waiters) == 1
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert len(session.display._key_waiters) == 0


async def test_focus_goes_to_what_is_there_and_may_have_it() -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        other = await echoing(ask)
        stranger = await ask("overlay", session=other.identity.id)
        overlay = await ask("overlay", session=ref, spans=[{"text": "menu"}])
        panel = await ask("panel", session=ref)
        fixed = await ask("panel", session=ref, focusable=False)

        async def mode(**given: Any) -> tuple[str, str | None]:
            now = await ask("input_mode", session=ref, **given)
            return now.mode, now.focused_element

        assert await mode() == ("passthrough", None)
        for wrong in ("nobody", fixed.id, ""):
            with pytest.raises(InvalidInput):
                await mode(mode="capture", focus=wrong)
        # The other session's first overlay is called as this one's: an id is good in its session.
        assert stranger.id == overlay.id
        assert await mode() == ("passthrough", None)
        for clash in ({"mode": "release"}, {"unfocus": True}):
            with pytest.raises(InvalidInput, match="focus cannot be combined"):
                await mode(focus=overlay.id, **clash)
        assert await mode(focus=overlay.id) == ("passthrough", overlay.id)
        assert await mode(mode="capture") == ("capture", overlay.id)
        assert await mode(focus=panel.id) == ("capture", panel.id)
        assert await mode(unfocus=True) == ("capture", None)
        assert await mode(mode="capture", focus=panel.id) == ("capture", panel.id)
        assert await mode(mode="capture", unfocus=True) == ("capture", None)
        assert await mode(focus=overlay.id) == ("capture", overlay.id)
        await ask("remove_panel", session=ref, id=panel.id)
        assert await mode() == ("capture", overlay.id)
        await ask("remove_overlay", session=ref)
        assert await mode() == ("capture", None)
        await ask("panel", session=ref, id=fixed.id, focusable=True)
        assert await mode(focus=fixed.id) == ("capture", fixed.id)
        await ask("panel", session=ref, id=fixed.id, focusable=False)
        assert await mode() == ("capture", None)
        assert await mode(mode="release") == ("passthrough", None)


async def test_typing_is_for_who_may_drive_and_for_a_child_that_lives() -> None:
    async with house(max_input_bytes=4096) as ask:
        session = await start(ask.services, "echo ready; read line")
        await shows(session, "ready")
        looker = Caller(door="web", person=True, key="looker", scope=Scope.OBSERVE)
        async with ask.watch(looker, session) as watch:
            with pytest.raises(Forbidden):
                await watch.type(b"x")
        async with ask.watch(ANNA, session) as watch:
            with pytest.raises(InvalidInput, match="max_input_bytes"):
                await watch.type(b"x" * 5000)
            await watch.type(b"\r")
            await ended(session)
            with pytest.raises(SessionExited):
                await watch.type(b"x")


# --- bounds ------------------------------------------------------------------------------------


async def test_elements_are_bounded_in_number_and_size() -> None:
    async with house(max_elements=3, max_element_chars=100) as ask:
        session = await echoing(ask)
        ref = session.identity.id
        first = await ask("overlay", session=ref, spans=[{"text": "x" * 90}])
        for more in ({"spans": [{"text": "x" * 101}]}, {"writes": [_write(n) for n in range(101)]}):
            with pytest.raises(LimitReached, match="max_element_chars"):
                await ask("overlay", session=ref, **more)
        with pytest.raises(LimitReached):
            await ask("overlay", session=ref, id=first.id, writes=[_write(n) for n in range(11)])
        # Refused as a whole: it is as it was.
        assert (await ask("overlay", session=ref, list=True)).overlays == [first]
        await ask("panel", session=ref)
        await ask("panel", session=ref)
        for kind in ("overlay", "panel"):
            with pytest.raises(LimitReached, match="max_elements"):
                await ask(kind, session=ref)
        await ask("overlay", session=ref, id=first.id, x=5)
        await ask("remove_panel", session=ref)
        await ask("panel", session=ref)


def _write(col: int) -> dict[str, Any]:
    return {"row": 0, "col": col, "text": "x"}


async def test_what_has_no_text_is_bounded_as_well() -> None:
    async with house(max_element_chars=100) as ask:
        session = await echoing(ask)
        for more in (
            {"spans": [{"text": ""}] * 1000},
            {"writes": [{"row": 0, "col": n, "text": ""} for n in range(1000)]},
            {"spans": [{"text": "", "id": "x" * 1000}]},
        ):
            with pytest.raises(LimitReached, match="max_element_chars"):
                await ask("overlay", session=session.identity.id, **more)


async def test_many_at_once_change_the_same_element_without_losing_any() -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        names = [f"s{number}" for number in range(20)]
        spans = [{"text": "-", "id": name} for name in names]
        overlay = await ask("overlay", session=ref, spans=spans)
        await asyncio.gather(
            *(
                ask("overlay", session=ref, id=overlay.id, update=[{"id": name, "text": name}])
                for name in names
            ),
            *(ask("panel", session=ref, height=1) for _ in names),
        )
        [now] = (await ask("overlay", session=ref, list=True)).overlays
        assert [span.text for span in now.spans] == names
        panels = (await ask("panel", session=ref, list=True)).panels
        assert len({panel.id for panel in panels}) == 20
        assert size_of(session) == (24 - 20, 80)


async def test_ids_are_good_for_their_kind_and_their_session_only() -> None:
    async with house() as ask:
        session, other = await echoing(ask), await echoing(ask)
        overlay = await ask("overlay", session=session.identity.id)
        panel = await ask("panel", session=session.identity.id)
        for kind, error, wrong in (
            ("overlay", OverlayNotFound, panel.id),
            ("panel", PanelNotFound, overlay.id),
        ):
            for name in (kind, f"remove_{kind}"):
                with pytest.raises(error):
                    await ask(name, session=session.identity.id, id=wrong)
                with pytest.raises(error):
                    await ask(name, session=other.identity.id, id=panel.id)


async def test_with_nobody_there_output_asks_the_stage_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with house() as ask:
        session = await start(ask.services, PRINTF)
        await shows(session, "ready")

        def never(*_: object) -> None:
            raise AssertionError("nobody is there")

        monkeypatch.setattr(session.display, "note_screen", never)
        monkeypatch.setattr(session.viewers, "publish", never)
        session.write(b"more\\n\n")
        await shows(session, "more")
        assert (session.watchers, session.stream.taps) == ([], [])


async def test_the_whole_size_outlives_nothing_but_the_session(tmp_path: Path) -> None:
    """What the next daemon finds is the size of now, panels or not."""
    async with house(journals=tmp_path) as ask:
        session = await echoing(ask)
        ref = session.identity.id
        await ask("resize_session", session=ref, rows=30, cols=90)
        assert _kept(session) == (30, 90)
        await ask("panel", session=ref, height=3)
        await ask("resize_session", session=ref, rows=40, cols=100)
        assert _kept(session) == (40, 100)


def _kept(session: Session) -> tuple[int, int]:
    display = unpack(session._ring.long).display
    assert display is not None
    return display.rows, display.cols
