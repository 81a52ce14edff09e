"""Snapshots, cells, hashes and differences of live programs, and what references mean later."""

import sys
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.apps.seeing import Cells, ScreenDiff, ScreenHash, ScreenSnapshot
from nacre.core.seeing.elements import Element
from nacre.core.seeing.snapshot import find_elements
from nacre.errors import BadParameter, Failed, InvalidInput, LimitReached

from programs.machine import MENU, program, surroundings
from services.apps.test_service import keys, launch, view
from services.living import ended, living, reads, until
from services.people import AGENT, House

pytestmark = pytest.mark.anyio

# Two buttons that the mouse presses; each press draws them a row lower, or draws a second OK.
BUTTONS = r"""
import os, tty
tty.setraw(0)
def draw(row, twice):
    text = f"\x1b[2J\x1b[{row};1H+-----------------+"
    text += f"\x1b[{row + 1};1H| [ OK ] [ Back ] |" + f"\x1b[{row + 2};1H+-----------------+"
    if twice:
        text += f"\x1b[{row + 5};1H+--------+\x1b[{row + 6};1H| [ OK ] |\x1b[{row + 7};1H+--------+"
    os.write(1, text.encode() + f"\x1b[24;1Hdrawn {row}".encode())
os.write(1, b"\x1b[?1000h\x1b[?1006h")
row = 1
draw(row, False)
while True:
    got = os.read(0, 99)
    row += 1
    draw(row, b"t" in got)
    os.write(1, b" " + got.replace(b"\x1b", b"^"))
"""


def named(snapshot: ScreenSnapshot, role: str, text: str) -> Element:
    [found] = [one for one in snapshot.elements if (one.role, one.text) == (role, text)]
    return found


async def test_dialog_is_read_and_clicked_by_reference(tmp_path: Path) -> None:
    async with living() as services:
        ask = House(services)
        argv = (program("dialog"), "--title", "Choose", "--menu", "Pick:", "14", "40", "4")
        entries = ("1", "Apple", "2", "Banana", "3", "Cherry")
        session = await launch(services, *argv, *entries, wait="Cancel", env=surroundings(tmp_path))
        await reads(session)

        async def look() -> ScreenSnapshot:
            found = await ask("snapshot", AGENT, session=session.identity.id)
            assert isinstance(found, ScreenSnapshot)
            return found

        first = await look()
        assert named(first, "box", "Choose").height == 14
        assert named(first, "item", "1 Apple").selected
        assert "1  Apple" in "".join(first.lines)
        assert named(first, "item", "1 Apple").ref in first.selected
        await keys(services, session, "Down")

        def is_below() -> bool:
            found = find_elements(session.terminal.screen_cells())
            return any(one.text == "2 Banana" and one.selected for one in found)

        await until(session, is_below)
        second = await look()
        assert named(second, "item", "2 Banana").selected
        assert not named(second, "item", "1 Apple").selected
        assert (first.text_hash, first.styled_hash != second.styled_hash) == (
            second.text_hash,
            True,
        )
        cancel = named(second, "button", "Cancel")
        used = await ask("mouse", AGENT, session=session.identity.id, ref=cancel.ref)
        assert cancel.has(used.row, used.col)
        await ended(session)
        assert session.ending is not None
        assert session.ending.exit_code == 1


async def test_reference_follows_its_element_or_says_that_it_cannot() -> None:
    async with living() as services:
        ask = House(services)
        session = await launch(services, sys.executable, "-c", BUTTONS, wait="drawn 1")
        of_it = {"session": session.identity.id}
        with pytest.raises(BadParameter, match="no snapshot"):
            await ask("mouse", AGENT, **of_it, ref="button1")
        snapshot = await ask("snapshot", AGENT, **of_it, lines=False)
        assert snapshot.mouse
        ok = named(snapshot, "button", "OK")
        with pytest.raises(BadParameter, match="not in the last snapshot"):
            await ask("mouse", AGENT, **of_it, ref="button9")
        await ask("mouse", AGENT, **of_it, ref=ok.ref)
        await view(services, session, "drawn 2")
        moved = await ask("mouse", AGENT, **of_it, ref=ok.ref)
        assert (moved.row, moved.col) == (ok.row + 1, ok.place[1]), "the button is a row lower"
        await view(services, session, "drawn 3")
        await keys(services, session, "t")
        await view(services, session, "drawn 4 t")
        with pytest.raises(BadParameter, match="2 times"):
            await ask("mouse", AGENT, **of_it, ref=ok.ref)
        back = named(snapshot, "button", "Back")
        assert (await ask("mouse", AGENT, **of_it, ref=back.ref)).row == back.row + 3


async def test_huge_screen_is_refused() -> None:
    async with living(max_snapshot_cells=1024) as services:
        ask = House(services)
        session = await launch(services, sys.executable, MENU, wait="at 0")
        with pytest.raises(LimitReached, match="max_snapshot_cells"):
            await ask("snapshot", AGENT, session=session.identity.id)


async def test_how_cells_look() -> None:
    async with living() as services:
        ask = House(services)
        printed = "print('plain \\x1b[1;31;44mloud\\x1b[0m 漢字', flush=True); input()"
        session = await launch(services, sys.executable, "-c", printed, wait="漢字")

        async def cells(**given: Any) -> Cells:
            found = await ask("get_cells", AGENT, session=session.identity.id, **given)
            assert isinstance(found, Cells)
            return found

        whole = await cells(row=0, width=15)
        assert [(one.col, one.width, one.text, one.fg, one.bg, one.bold) for one in whole.runs] == [
            (0, 6, "plain ", None, None, False),
            (6, 4, "loud", "red", "blue", True),
            (10, 5, " 漢字", None, None, False),
        ]
        by_text = await cells(text="loud")
        assert (by_text.row, by_text.col, by_text.width, len(by_text.runs)) == (0, 6, 4, 1)
        short = await cells(row=0, height=24, max_chars=400)
        assert short.omitted_runs > 0
        for wrong in ({}, {"row": 24}, {"row": 0, "width": 81}, {"text": "nothing of it"}):
            with pytest.raises(BadParameter):
                await cells(**wrong)


async def test_screens_are_compared_by_generation(tmp_path: Path) -> None:
    async with living(journals=tmp_path / "journals") as services:
        ask = House(services)
        session = await launch(services, sys.executable, MENU, wait="at 0")
        await reads(session)

        async def diff(**given: Any) -> ScreenDiff:
            found = await ask("screen_diff", AGENT, session=session.identity.id, **given)
            assert isinstance(found, ScreenDiff)
            return found

        before = await ask("screen_hash", AGENT, session=session.identity.id)
        assert isinstance(before, ScreenHash)
        assert (await diff(generation=before.generation)).same
        await keys(services, session, "Down")
        await view(services, session, "at 1")
        after = await ask("screen_hash", AGENT, session=session.identity.id)
        changed = await diff(generation=before.generation)
        assert not changed.same
        assert [(one.row, one.style_only) for one in changed.changes] == [
            (2, False),
            (3, False),
            (22, False),
        ]
        assert "> alpha" in (changed.changes[0].before or "")
        assert "> beta" in (changed.changes[1].after or "")
        await keys(services, session, "Up")
        await view(services, session, "at 0", since_generation=after.generation)
        assert (await diff(generation=before.generation)).same, "all is as it was"
        between = await diff(generation=before.generation, to_generation=after.generation)
        assert between.changes == changed.changes
        short = await diff(generation=after.generation, max_chars=500)
        assert (len(short.changes), short.omitted_changes) != (3, 0)
        for wrong in (
            {},
            {"generation": 1, "time": -1.0},
            {"generation": 9999},
            {"generation": 1, "to_generation": 2, "to_time": -1.0},
        ):
            with pytest.raises(InvalidInput):
                await diff(**wrong)


async def test_without_a_journal_there_is_no_earlier_screen() -> None:
    async with living() as services:
        ask = House(services)
        session = await launch(services, sys.executable, MENU, wait="at 0")
        with pytest.raises(Failed, match="no journal"):
            await ask("screen_diff", AGENT, session=session.identity.id, generation=0)


async def test_no_secret_is_in_what_is_seen() -> None:
    token = "ghp_" + "a1B2" * 9
    async with living() as services:
        ask = House(services)
        printed = f"print('+--------+\\n| {token} |\\nready', flush=True); input()"
        session = await launch(services, sys.executable, "-c", printed, wait="ready")
        for name, given in (
            ("snapshot", {}),
            ("get_cells", {"row": 0, "height": 3}),
        ):
            answer = await ask(name, AGENT, session=session.identity.id, **given)
            assert token not in str(answer)
            assert "redacted" in str(answer)
