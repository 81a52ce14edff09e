"""What send_keys and view_screen do beyond what MCP shows: limits, turns, real programs."""

import asyncio
import sys
from pathlib import Path

import pytest

from nacre.core.operations.apps.programs import (
    AppScreen,
    LaunchApp,
    RestartApp,
    SendKeys,
    StopApp,
    ViewScreen,
)
from nacre.core.operations.results import InputSent
from nacre.errors import InvalidInput, LimitReached, PolicyDenied
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from programs.machine import MENU, program, surroundings
from services.living import CALLER, PATIENCE, ended, living, reads, shows
from services.people import House

pytestmark = pytest.mark.anyio

EDITOR = str(Path(MENU).with_name("editor.py"))
TIME = int(PATIENCE * 1000)


async def launch(services: Services, *argv: str, wait: str, **more: object) -> Session:
    request = LaunchApp(command=argv[0], args=list(argv[1:]), **more)  # type: ignore[arg-type]  # a test's own
    launched = await services.apps.launch(CALLER, request)
    session = services.registry.find(launched.session_id)
    await view(services, session, wait)
    return session


async def view(services: Services, session: Session, text: str, **more: object) -> AppScreen:
    request = ViewScreen(
        session=session.identity.id,
        wait_text=text,
        timeout_ms=TIME,
        **more,  # type: ignore[arg-type]  # a test's own
    )
    screen = await services.apps.view(CALLER, request)
    assert screen.matched, screen.content
    return screen


async def keys(services: Services, session: Session, *items: str, **more: bool) -> InputSent:
    request = SendKeys(session=session.identity.id, keys=list(items), **more)
    return await services.apps.send_keys(CALLER, request)


# --- typing ------------------------------------------------------------------------------------


async def test_calls_are_typed_whole_one_after_the_other(tmp_path: Path) -> None:
    """The first waits behind its Escape; the second must not be typed meanwhile."""
    async with living() as services:
        path = tmp_path / "text"
        session = await launch(services, sys.executable, EDITOR, str(path), wait="NORMAL")
        await asyncio.gather(
            keys(services, session, "i", "one", "Escape", "o", "two", "Escape"),
            keys(services, session, "o", "three", "Escape", ":wq", "Enter"),
        )
        await ended(session)
        assert path.read_text() == "one\ntwo\nthree\n"


async def test_interrupt_does_not_wait_for_a_call_that_waits() -> None:
    """Nothing reads the Escape: only Ctrl+C ends the program."""
    code = "import os, tty, time; tty.setcbreak(0); os.write(1, b'up\\n'); time.sleep(1000)"
    async with living(escape_wait=PATIENCE) as services:
        session = await launch(services, sys.executable, "-c", code, wait="up")
        waiting = asyncio.create_task(keys(services, session, "Escape", "x"))
        await asyncio.sleep(0)
        await keys(services, session, "Ctrl+C")
        await ended(session)
        await asyncio.gather(waiting, return_exceptions=True)


async def test_what_waits_for_a_program_that_does_not_read_is_bounded() -> None:
    code = "import os, tty, time; tty.setraw(0); os.write(1, b'up\\r\\n'); time.sleep(1000)"
    async with living(max_pending_input_bytes=8192) as services:
        session = await launch(services, sys.executable, "-c", code, wait="up")
        sent = [await keys(services, session, "x" * 1000) for _ in range(8)]
        with pytest.raises(LimitReached, match="max_pending_input_bytes"):
            await keys(services, session, *["x" * 1000] * 12)
        assert len(sent) == 8
        with pytest.raises(InvalidInput, match="max_input_bytes"):
            await keys(services, session, "x" * (2 * 1024 * 1024 + 1))


async def test_program_that_waits_for_the_rest_of_a_key_is_waited_for(tmp_path: Path) -> None:
    """Vim without ttimeout takes what follows an Escape within a second for a part of it."""
    async with living(escape_delay=0) as services:
        argv = (program("vim"), "-u", "NONE", "-N", "-i", "NONE", "-n", "text")
        session = await launch(
            services, *argv, wait="[New]", cwd=str(tmp_path), env=surroundings(tmp_path)
        )
        await keys(services, session, "i", "hello", "Escape", ":wq", "Enter")
        await ended(session)
        assert (tmp_path / "text").read_text() == "hello\n"


async def test_text_for_a_program_that_wants_all_keys_as_codes() -> None:
    """CSI u, of the Kitty keyboard protocol: flags 8 and 1."""
    code = (
        "import os, tty; tty.setraw(0); os.write(1, b'\\x1b[>9uup\\r\\n')\n"
        "while True: os.write(1, os.read(0, 64).hex().encode())"
    )
    async with living() as services:
        session = await launch(services, sys.executable, "-c", code, wait="up")
        await keys(services, session, "a\n", "Escape", "b")
        codes = b"\x1b[97u\x1b[13u\x1b[27u\x1b[98u"
        await view(services, session, codes.hex())


async def test_typed_lines_are_judged_and_so_is_what_is_launched(tmp_path: Path) -> None:
    alone = {"approval_wait": 0.0, "approval_wait_alone": 0.0}
    async with living(tmp_path, policy="guarded", **alone) as services:  # type: ignore[arg-type]  # settings
        ask = House(services)
        (tmp_path / "witness").touch()
        where = {"cwd": str(tmp_path)}
        with pytest.raises(PolicyDenied):
            await ask("launch_app", command="rm", args=["witness"], **where)
        launched = await ask("launch_app", command="bash", **where)
        named = {"session": launched.session_id}
        session = services.registry.find(launched.session_id)
        await reads(session)
        for typed in (["rm witness", "Enter"], "rm witness\n", ["rm wit", "ness\n"]):
            with pytest.raises(PolicyDenied):
                await ask("send_keys", **named, keys=typed)
        with pytest.raises(PolicyDenied):
            await ask("send_keys", **named, keys="rm witness\n", paste=True)
        await ask("send_keys", **named, keys="rm witness")
        with pytest.raises(PolicyDenied):
            await ask("send_keys", **named, keys="Enter")
        await ask("restart_app", **named)  # a shell whose lines are judged may be started again
        assert (tmp_path / "witness").exists()


# --- life --------------------------------------------------------------------------------------


async def test_restart_begins_with_an_empty_screen_and_what_changed_is_told() -> None:
    async with living() as services:
        session = await launch(services, sys.executable, MENU, wait="gamma")
        before = await services.apps.view(CALLER, ViewScreen(session=session.identity.id))
        await services.apps.restart(CALLER, RestartApp(session=session.identity.id))
        later = await view(services, session, "gamma", since_generation=before.generation)
        assert later.generation > before.generation
        stopped = await services.apps.stop(CALLER, StopApp(session=session.identity.id))
        assert (stopped.exit_code, stopped.signal) == (None, "SIGHUP")
        with pytest.raises(InvalidInput, match="stopped"):
            await services.apps.restart(CALLER, RestartApp(session=session.identity.id))


# --- real programs -----------------------------------------------------------------------------


async def test_dialog_is_answered_by_keys(tmp_path: Path) -> None:
    async with living() as services:
        line = f"exec {program('dialog')} --menu Pick 12 40 3 1 one 2 two 2>{tmp_path}/chosen"
        session = await launch(
            services, "/bin/sh", "-c", line, wait="two", env=surroundings(tmp_path)
        )
        await keys(services, session, "Down", "Enter")
        await ended(session)
        assert session.ending is not None
        assert session.ending.exit_code == 0
        assert (tmp_path / "chosen").read_text() == "2"


async def test_dialog_is_left_by_escape_and_tells_so(tmp_path: Path) -> None:
    """It waits a second for the rest of a key (ncurses' ESCDELAY)."""
    async with living() as services:
        argv = (program("dialog"), "--yesno", "Really?", "8", "40")
        env = {**surroundings(tmp_path), "ESCDELAY": "300"}
        session = await launch(services, *argv, wait="Really", env=env)
        await keys(services, session, "Escape")
        await ended(session)
        assert session.ending is not None
        assert session.ending.exit_code == 255


async def test_fzf_filters_by_what_is_typed(tmp_path: Path) -> None:
    async with living() as services:
        line = f"printf 'alpha\\nbeta\\ngamma\\n' | {program('fzf')} --no-info"
        session = await launch(
            services, "/bin/sh", "-c", line, wait="gamma", env=surroundings(tmp_path)
        )
        sent = await keys(services, session, "bet")
        await view(services, session, "> bet", since_generation=sent.generation)
        await keys(services, session, "Enter")
        await ended(session)
        assert "beta" in session.terminal.plain_lines()


async def test_midnight_commander_opens_its_menu_and_quits(tmp_path: Path) -> None:
    async with living() as services:
        (tmp_path / "some-file").touch()
        argv = (program("mc"), "--nosubshell", "-a")
        session = await launch(
            services, *argv, wait="some-file", cwd=str(tmp_path), env=surroundings(tmp_path)
        )
        await reads(session)  # before, it throws away what was typed
        sent = await keys(services, session, "F9", "Enter")
        await view(services, session, "Listing format", since_generation=sent.generation)
        await keys(services, session, "Escape", "Escape", "F10")
        await ended(session)


async def test_nano_saves_by_control_keys(tmp_path: Path) -> None:
    async with living() as services:
        session = await launch(
            services,
            *(program("nano"), "text"),
            wait="GNU nano",
            cwd=str(tmp_path),
            env=surroundings(tmp_path),
        )
        await keys(services, session, "typed text", "Ctrl+O", "Enter")
        await view(services, session, "Wrote 1 line")
        await keys(services, session, "Ctrl+X")
        await ended(session)
        assert (tmp_path / "text").read_text() == "typed text\n"


async def test_tmux_runs_inside_a_session(tmp_path: Path) -> None:
    async with living() as services:
        # tmux takes keys that follow each other within a millisecond for a paste, without a prefix.
        (tmp_path / "conf").write_text("set -g assume-paste-time 0\n")
        options = ("-L", "nacre-apps", "-f", str(tmp_path / "conf"))
        argv = (program("tmux"), *options, "new-session", "cat")
        env = {**surroundings(tmp_path), "TMUX_TMPDIR": str(tmp_path)}
        session = await launch(services, *argv, wait="[0]", env=env)
        await keys(services, session, "hello\n")
        await shows(session, "hello")
        await keys(services, session, "Ctrl+B", "d")
        await ended(session)
        killed = await asyncio.create_subprocess_exec(
            *(program("tmux"), "-L", "nacre-apps", "kill-server"), env=env
        )
        assert await killed.wait() == 0
