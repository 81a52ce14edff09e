"""The focus of real programs, moved to an element by a click or by keys."""

import sys
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.apps.focus import FocusMoved
from nacre.errors import BadParameter, Failed, InvalidInput, SessionExited
from nacre.services.apps.references import ElementReferences
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from programs.machine import MENU, program, surroundings
from services.apps.test_service import launch
from services.living import ended, living, shows, start_shell
from services.people import AGENT, House

pytestmark = pytest.mark.anyio

FORM = (
    *("--form", "Account", "12", "50", "3"),
    *("User:", "1", "1", "ada", "1", "10", "20", "0"),
    *("Host:", "2", "1", "example", "2", "10", "20", "0"),
)
# It draws two buttons and never another screen, whatever is typed.
DEAF = (
    "import os, tty; tty.setraw(0)\n"
    "os.write(1, b'\\x1b[?25l\\x1b[44m [ OK ]  [ No ] \\x1b[m\\r\\ndone')\n"
    "while True: os.read(0, 99)"
)
# A field that takes Tab as text, and another one.
TABS = (
    "import os, tty; tty.setraw(0); text = ''\n"
    "while True:\n"
    "    os.write(1, b'\\x1b[2J\\x1b[3;1HHost: ____________\\x1b[1;1HName: ' + b'\\x1b[44m'\n"
    "        + text.ljust(20).encode() + b'\\x1b[m\\x1b[1;%dH' % (7 + len(text)))\n"
    "    text += os.read(0, 9).decode().replace('\\t', 'tab')\n"
)


# Its buttons, or an empty screen, as what is typed says.
FLICKERS = (
    "import os, tty; tty.setraw(0)\n"
    "while True:\n"
    "    os.write(1, b'\\x1b[?25l\\x1b[2J\\x1b[H\\x1b[44m [ OK ]  [ No ] \\x1b[m\\r\\ndone')\n"
    "    os.read(0, 1)\n"
    "    os.write(1, b'\\x1b[2J\\x1b[Hempty\\r\\n')\n"
    "    os.read(0, 1)\n"
)


class Driven:
    """A program, and the one who drives it."""

    def __init__(self, services: Services, session: Session) -> None:
        self._ask = House(services)
        self._id = session.identity.id

    async def focus(self, text: str | None = None, **given: Any) -> FocusMoved:
        moved = await self._ask("focus", AGENT, session=self._id, text=text, **given)
        assert isinstance(moved, FocusMoved)
        return moved

    async def ref_of(self, text: str) -> str:
        seen = await self._ask("snapshot", AGENT, session=self._id)
        return str(next(one.ref for one in seen.elements if text in (one.text, one.label)))


async def test_fields_are_clicked_and_buttons_reached_by_keys(tmp_path: Path) -> None:
    async with living() as services:
        env = surroundings(tmp_path)
        session = await launch(services, program("dialog"), *FORM, env=env, wait="Cancel")
        form = Driven(services, session)
        there = await form.focus("User")
        assert (there.by, there.keys) == ("already", [])
        host = await form.focus(ref=await form.ref_of("Host"))
        assert (host.by, host.role, host.evidence) == ("mouse", "field", "the cursor is in it")
        assert session.terminal.cursor().row == host.row
        cancel = await form.focus("Cancel")
        assert (cancel.by, cancel.keys[0]) == ("keys", "Tab")
        assert (await form.focus("OK")).keys == ["Left"], "beside the selected one"
        with pytest.raises(BadParameter, match="was not found on the screen"):
            await form.focus("Port")
        with pytest.raises(BadParameter, match="one or the other"):
            await form.focus("OK", ref="button1")


async def test_a_field_that_is_told_by_the_cursor_alone_is_found_again(tmp_path: Path) -> None:
    async with living() as services:
        env = surroundings(tmp_path)
        words = ("--inputbox", "Your name:", "10", "40", "Ada")
        session = await launch(services, program("dialog"), *words, env=env, wait="Cancel")
        box = Driven(services, session)
        ref = await box.ref_of("Your name")
        cancel = await box.focus("Cancel")
        assert cancel.keys[0] == "Tab", "the arrows are the field's"
        name = await box.focus(ref=ref)
        assert (name.by, set(name.keys)) == ("keys", {"Tab"})
        assert (session.terminal.cursor().row, name.evidence) == (name.row, "the cursor is in it")


async def test_entries_of_a_list_are_reached_by_arrows() -> None:
    async with living() as services:
        session = await launch(services, sys.executable, MENU, wait="quit")
        menu = Driven(services, session)
        assert (await menu.focus("gamma")).keys == ["Down", "Down"]
        assert (await menu.focus("quit")).keys == ["Down"] * 3
        assert (await menu.focus("alpha")).keys == ["Up"] * 5
        with pytest.raises(BadParameter, match="may be item"):
            await menu.focus("a")


async def test_what_cannot_be_reached_or_told_is_said() -> None:
    async with living(focus_key_wait=0.05) as services:
        session = await launch(services, sys.executable, "-c", DEAF, wait="done")
        deaf = Driven(services, session)
        with pytest.raises(Failed, match="nothing on the screen shows where the focus is") as told:
            await deaf.focus("No")
        assert told.value.details["keys"] == ["Tab"]
        typed = await launch(services, sys.executable, "-c", TABS, wait="Host")
        with pytest.raises(Failed, match="Tab was taken as text by field 'Name'"):
            await Driven(services, typed).focus("Host")


async def test_what_is_missing_while_the_program_draws_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The wait for a screen that is drawn is bounded by the call's time, and by this setting.
    async with living(focus_key_wait=0.5) as services:
        session = await launch(services, sys.executable, "-c", FLICKERS, wait="done")
        session.write(b"x")
        await shows(session, "empty")
        look = ElementReferences.look
        looks = 0

        async def looking(self: ElementReferences, session: Session) -> Any:
            nonlocal looks
            looks += 1
            found = await look(self, session)
            if looks == 1:
                session.write(b"x")
            return found

        monkeypatch.setattr(ElementReferences, "look", looking)
        with pytest.raises(Failed, match="button 'OK' does not have the focus after Tab"):
            await Driven(services, session).focus("OK", timeout_ms=1000)


async def test_labels_of_keys_and_a_shells_screen_are_refused(tmp_path: Path) -> None:
    async with living() as services:
        env = surroundings(tmp_path)
        session = await launch(services, program("nano"), env=env, wait="Exit")
        nano = Driven(services, session)
        with pytest.raises(InvalidInput, match=r"names the key Ctrl\+X"):
            await nano.focus("Exit")
        shell = await start_shell(services)
        shell.write(b"printf '> one\\n  two\\n'\r")
        await shows(shell, "  two")
        with pytest.raises(InvalidInput, match="a shell has printed"):
            await Driven(services, shell).focus("two")
        await House(services)("stop_app", AGENT, session=session.identity.id)
        await ended(session)
        with pytest.raises(SessionExited):
            await nano.focus("Exit")
