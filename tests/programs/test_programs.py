"""Real programs in sessions: driven by keys, and their screens compared with a real tmux's."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from nacre.core.operations.terminal import PressKeys
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from programs.machine import MENU, PATIENCE, program, surroundings
from programs.tmux import Pane, pane
from services.living import CALLER, ended, lines_of, living, shows, start, until

pytestmark = pytest.mark.anyio

TEXT = "".join(f"line {number} ünï 漢字\n" for number in range(1, 100))


@dataclass
class Twin:
    """The same program in a session and in a tmux pane of the same size."""

    services: Services
    session: Session
    pane: Pane

    async def type(self, text: str) -> None:
        """Type the same into both."""
        self.session.write(text.encode())
        self.pane.type(text.encode())

    async def press(self, *keys: str) -> None:
        """Press keys by their names, encoded as each program asked for them."""
        names = {"down": "Down", "up": "Up", "end": "End", "enter": "Enter"}
        request = PressKeys(session=self.session.identity.id, keys=list(keys))
        await self.services.sessions.press(CALLER, request)
        self.pane.press(*(names[key] for key in keys))

    async def agree_on(self, text: str) -> list[str]:
        """Return the screen once it holds the text and both show the same."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE
        told = asyncio.Event()

        def hear() -> None:
            self.pane.drain()
            told.set()

        loop.add_reader(self.pane.fileno(), hear)
        try:
            while True:
                told.clear()
                ours, theirs = self.session.terminal.plain_lines(), self.pane.lines()
                if ours == theirs and any(text in line for line in ours):
                    return ours
                assert loop.time() < deadline, "\n".join([*ours, "--- tmux:", *theirs])
                changes = [
                    asyncio.ensure_future(self.session.next_change(deadline, output=True)),
                    asyncio.ensure_future(told.wait()),
                ]
                await asyncio.wait(changes, return_when=asyncio.FIRST_COMPLETED)
                for change in changes:
                    change.cancel()
        finally:
            loop.remove_reader(self.pane.fileno())


@asynccontextmanager
async def twins(folder: Path, *argv: str, text: str = TEXT) -> AsyncIterator[Twin]:
    env = surroundings(folder)
    (folder / "text").write_text(text)
    command = [program(argv[0]), *argv[1:]]
    async with living() as services:
        session = await start(
            services, command[0], args=command[1:], env=env, cwd=str(folder), name="dev"
        )
        with pane(command, folder, env) as compared:
            yield Twin(services, session, compared)


def mode_of(session: Session) -> str:
    return "alt" if session.terminal.alternate else "normal"


async def test_vim_edits_a_file_on_the_alternate_screen(tmp_path: Path) -> None:
    env = surroundings(tmp_path)
    (tmp_path / "text").write_text("first\n")
    async with living() as services:
        line = f"{program('vim')} -u NONE -N -i NONE -n text; echo back; read x"
        session = await start(services, line, env=env, cwd=str(tmp_path))
        await until(session, lambda: '"text" 1L' in "\n".join(lines_of(session)))
        assert mode_of(session) == "alt"
        session.write("osecond ü 漢字\x1b:wq\r".encode())
        await shows(session, "back")
        assert mode_of(session) == "normal"
        assert "first" not in lines_of(session), "the normal screen is as it was before"
    assert (tmp_path / "text").read_text() == "first\nsecond ü 漢字\n"


async def test_vim_shows_what_it_shows_in_tmux(tmp_path: Path) -> None:
    async with twins(tmp_path, "vim", "-u", "NONE", "-N", "-i", "NONE", "-n", "text") as twin:
        await twin.agree_on('"text" 99L')
        await twin.type("Gonew line\x1b")
        await twin.agree_on("new line")
        await twin.type(":set number\r")
        await twin.agree_on("100 new line")
        await twin.type("gg10dd:split\r")
        await twin.agree_on("line 11 ")
        await twin.type(":qall!\r")
        await ended(twin.session)


async def test_less_pages_and_quits(tmp_path: Path) -> None:
    async with twins(tmp_path, "less", "text") as twin:
        screen = await twin.agree_on("line 1 ")
        assert screen[0] == "line 1 ünï 漢字"
        assert mode_of(twin.session) == "alt"
        await twin.type(" ")
        assert (await twin.agree_on("line 24 "))[0].startswith("line 24 ")
        await twin.type("/line 50\r")
        assert (await twin.agree_on("line 50 "))[0].startswith("line 50 ")
        await twin.type("G")
        assert (await twin.agree_on("(END)"))[-2].startswith("line 99 ")
        await twin.type("q")
        await ended(twin.session)
        assert str(twin.session.ending) == "exit code 0"
        assert mode_of(twin.session) == "normal"


async def test_htop_shows_its_header_and_quits(tmp_path: Path) -> None:
    async with living() as services:
        session = await start(
            services, program("htop"), args=["-d", "100"], env=surroundings(tmp_path)
        )
        # What it shows changes from moment to moment: only its structure can be compared.
        await until(
            session,
            lambda: (
                any("PID" in line and "Command" in line for line in lines_of(session))
                and any("F10" in line for line in lines_of(session))
            ),
        )
        screen = "\n".join(lines_of(session))
        for part in ("Tasks:", "Load average:", "Uptime:", "Mem[", "Swp["):
            assert part in screen
        assert mode_of(session) == "alt"
        session.write(b"q")
        await ended(session)
        assert str(session.ending) == "exit code 0"


async def test_python_answers_and_interrupts(tmp_path: Path) -> None:
    async with twins(tmp_path, "python", "-q") as twin:
        await twin.agree_on(">>>")
        await twin.type("6 * 7\r")
        await twin.agree_on("42")
        await twin.type("for i in range(40): print('number', i)\r\r")
        await twin.agree_on("number 39")
        await twin.type("import time; print('asleep'); time.sleep(1000)\r")
        await until(twin.session, lambda: "asleep" in lines_of(twin.session))
        twin.session.write(b"\x03")
        # Its next prompt too: entering it, the REPL of Python 3.13 forgets what was typed ahead.
        await until(
            twin.session, lambda: lines_of(twin.session)[-2:] == ["KeyboardInterrupt", ">>>"]
        )
        # Not exit(3): the REPL of Python 3.13.0 makes 1 of it.
        twin.session.write(b"import os; os._exit(3)\r")
        await ended(twin.session)
        assert str(twin.session.ending) == "exit code 3"


async def test_node_answers(tmp_path: Path) -> None:
    async with twins(tmp_path, "node") as twin:
        await twin.agree_on(">")
        await twin.type("[1, 2, 3].map(x => x * 2)\r")
        await twin.agree_on("[ 2, 4, 6 ]")
        await twin.type("'漢字'.repeat(30)\r")
        await twin.agree_on("'漢字漢字")
        await twin.type(".exit\r")
        await ended(twin.session)


async def test_menu_in_curses_is_moved_by_arrow_keys(tmp_path: Path) -> None:
    async with twins(tmp_path, "python", MENU) as twin:
        screen = await twin.agree_on("24x80 at 0")
        assert screen[0].startswith("┌─ menu ─")
        assert screen[0].endswith("─┐")
        assert not twin.session.terminal.cursor().visible
        await twin.press("down", "down", "up", "down")
        assert "> gamma" in "\n".join(await twin.agree_on("at 2"))
        await twin.press("end")
        await twin.agree_on("> quit")
        await twin.press("up")
        await twin.agree_on("> 漢字")
        twin.session.display.resize(30, 100)
        await until(twin.session, lambda: "30x100 at 4" in "\n".join(lines_of(twin.session)))
        request = PressKeys(session="dev", keys=["enter"])
        await twin.services.sessions.press(CALLER, request)
        await ended(twin.session)
        assert lines_of(twin.session) == ["chosen: 漢字"]


async def test_top_in_batch_mode_prints_its_table(tmp_path: Path) -> None:
    async with living() as services:
        top = f"{program('top')} -b -n 1 -w 120"
        session = await start(
            services, f"{top}; echo done; read line", env=surroundings(tmp_path), cols=120
        )
        await shows(session, "done")
        lines = lines_of(session)
        assert lines[0].startswith("top - ")
        assert lines[1].startswith("Tasks:")
        header = next(line for line in lines if line.lstrip().startswith("PID"))
        assert header.split()[:2] == ["PID", "USER"]
        assert any(line.split()[:1] == [str(session.pid)] for line in lines), "itself among them"


@pytest.mark.parametrize("name", ["vim", "less", "htop", "tmux", "node", "top", "python"])
def test_program_of_these_tests_is_installed(name: str) -> None:
    assert program(name)
