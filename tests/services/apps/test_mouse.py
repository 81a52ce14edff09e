"""The mouse in real programs, at a cell and at a text on the screen."""

import sys
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.apps.mouse import MouseUsed
from nacre.errors import BadParameter, InvalidInput, SessionExited
from nacre.services.apps.mouse import places_of

from programs.machine import MENU, program, surroundings
from services.apps.test_service import launch, view
from services.living import ended, living, reads
from services.people import AGENT, House

pytestmark = pytest.mark.anyio

# Prints what it reads, with a mouse mode on.
LISTENS = (
    "import os, tty; tty.setraw(0)\n"
    "os.write(1, b'\\x1b[?1002h\\x1b[?1006hone two\\r\\n  two \\xe6\\xbc\\xa2ok\\r\\n')\n"
    "while True: os.write(1, os.read(0, 99).replace(b'\\x1b', b'^') + b'\\r\\n')"
)


async def test_click_drag_and_scroll_reach_the_program() -> None:
    async with living() as services:
        ask = House(services)
        session = await launch(services, sys.executable, "-c", LISTENS, wait="ok")

        async def use(**given: Any) -> MouseUsed:
            used = await ask("mouse", AGENT, session=session.identity.id, **given)
            assert isinstance(used, MouseUsed)
            return used

        used = await use(text="one")
        assert (used.row, used.col) == (0, 0)
        await view(services, session, "^[<0;1;1M^[<0;1;1m", since_generation=used.generation)
        assert (await use(text="ok")).col == 8, "behind a wide character"
        await view(services, session, "^[<0;9;2M")
        await use(action="double_click", row=5, col=7, button="right", modifiers=["shift"])
        await view(services, session, "^[<6;8;6M^[<6;8;6m^[<6;8;6M")
        await use(action="drag", text="one", to_row=0, to_col=2)
        await view(services, session, "^[<32;2;1M^[<32;3;1M^[<0;3;1m")
        await use(action="scroll", row=3, col=3, direction="up", amount=2)
        await view(services, session, "^[<64;4;4M^[<64;4;4M")
        with pytest.raises(BadParameter, match="row 0 col 4, row 1 col 2"):
            await use(text="two")
        assert (await use(text="two", row=1)).col == 2
        for wrong in ({"text": "three"}, {}, {"row": 1}, {"row": 24, "col": 0}):
            with pytest.raises(BadParameter):
                await use(**wrong)


async def test_program_without_a_mouse_mode_is_told_of(tmp_path: Path) -> None:
    async with living() as services:
        ask = House(services)
        session = await launch(services, sys.executable, MENU, wait="beta")
        with pytest.raises(InvalidInput, match="does not listen to the mouse"):
            await ask("mouse", AGENT, session=session.identity.id, text="beta")
        await ask("stop_app", AGENT, session=session.identity.id)
        with pytest.raises(SessionExited):
            await ask("mouse", AGENT, session=session.identity.id, text="beta")


async def test_midnight_commander_is_used_by_its_labels(tmp_path: Path) -> None:
    async with living() as services:
        ask = House(services)
        argv = (program("mc"), "--nosubshell", "-a")
        session = await launch(
            services, *argv, wait="Options", cwd=str(tmp_path), env=surroundings(tmp_path)
        )
        await reads(session)
        used = await ask("mouse", AGENT, session=session.identity.id, text="Options")
        await view(services, session, "Configuration", since_generation=used.generation)
        await ask("send_keys", AGENT, session=session.identity.id, keys=["Escape", "Escape", "F10"])
        await ended(session)


def test_every_place_of_a_text_is_found() -> None:
    assert places_of("ab", ["ab ab", "漢ab"]) == [(0, 0), (0, 3), (1, 2)]
