"""What the page shows is exactly the daemon's screen, whatever the program does."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from conftest import Daemon

from programs.machine import MENU, program, surroundings
from web.conftest import Pages, await_text, call, lines_of, ready, same_screen, screen_of, shows

COLOURS = (
    r"printf '\033[1;31mred\033[0m \033[4;38;5;33mblue\033[0m \033[7mturned\033[0m "
    r"\033[3;48;2;10;120;30mgreen\033[0m \033[9;2mfaint\033[0m\n'; "
    r"PS1='\[\033[32m\]ready> \[\033[0m\]'"
)

# Cells of a row as the page draws them: text and style, in runs.
STYLED = """row => {
    const buffer = window.nacre.term.buffer.active;
    const line = buffer.getLine(buffer.viewportY + row);
    const runs = [];
    for (let col = 0; col < window.nacre.term.cols; col += 1) {
        const cell = line.getCell(col);
        if (!cell.getWidth()) continue;
        const style = {};
        const flags = {bold: cell.isBold(), italic: cell.isItalic(), faint: cell.isDim(),
            underline: cell.isUnderline(), inverse: cell.isInverse(),
            strikethrough: cell.isStrikethrough()};
        for (const [name, on] of Object.entries(flags)) if (on) style[name] = true;
        if (!cell.isFgDefault()) style.fg = cell.getFgColor();
        if (!cell.isBgDefault()) style.bg = cell.getBgColor();
        const last = runs.at(-1);
        const text = cell.getChars() || " ";
        if (last && JSON.stringify(last.style) === JSON.stringify(style)) last.text += text;
        else runs.push({text, style});
    }
    return runs;
}"""

WIDTHS = Path(__file__).parents[2] / "scripts" / "width_table.py"

NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]


def number_of(colour: str | dict[str, int]) -> int:
    """A colour of the daemon as xterm.js has it: a number of the palette, or rgb in 24 bits."""
    if isinstance(colour, dict):
        return colour["indexed"] if "indexed" in colour else _packed(**colour)
    if colour.startswith("#"):
        return int(colour[1:], 16)
    if colour.startswith("color"):
        return int(colour[5:])
    return NAMES.index(colour.removeprefix("bright_")) + 8 * colour.startswith("bright_")


def _packed(r: int, g: int, b: int) -> int:
    return r << 16 | g << 8 | b


def style_of(span: dict[str, Any]) -> dict[str, Any]:
    style = {name: value for name, value in span.items() if name != "text" and value is not False}
    return {
        name: number_of(value) if name in ("fg", "bg") else value for name, value in style.items()
    }


def test_colours_and_styles_are_the_daemons(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("colours")
    page = ready(pages(name))
    call(daemon, "input", name, input=f"{COLOURS}\r")
    await_text(daemon, name, "red blue turned")
    lines = same_screen(daemon, page, name)
    row = next(at for at, line in enumerate(lines) if line.startswith("red blue"))
    shown = [(run["text"].rstrip(), run["style"]) for run in page.evaluate(STYLED, row)]
    told = screen_of(daemon, name, "styled")["lines"][row]
    assert [one for one in shown if one[0]] == [
        (span["text"].rstrip(), style_of(span)) for span in told if span["text"].strip()
    ]


def test_wide_characters_and_emoji_take_the_same_cells(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("wide")
    page = ready(pages(name))
    text = "漢字|ｆｕｌｌ|👍|👩‍🚀|🏳️‍🌈|e\u0301|ก็|☎️|한글|🇩🇪|👍🏽|"
    call(daemon, "input", name, input=f"clear; printf '%s\\n' '{text}' '{text * 3}'\r")
    await_text(daemon, name, "漢字|")
    await_text(daemon, name, "ready>")
    same_screen(daemon, page, name)


def test_the_page_counts_columns_as_the_engine_does() -> None:
    line = [sys.executable, str(WIDTHS), "--check"]
    checked = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_what_scrolled_away_is_the_daemons_scrollback(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("scrolled")
    page = ready(pages(name))
    call(daemon, "input", name, input="seq 1 300\r")
    await_text(daemon, name, "300\nready>")
    lines = same_screen(daemon, page, name)
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -120)
    shows(page, "277")
    for _ in range(15):
        page.keyboard.press("Shift+PageUp")
    shows(page, "ready> seq 1 300")
    page.keyboard.press("x")  # who types is back at the end
    shows(page, "ready> x")
    assert same_screen(daemon, page, name)[:-1] == lines[:-1]


def test_a_page_that_comes_later_sees_what_was_before(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("later")
    await_text(daemon, name, "ready>")
    call(daemon, "input", name, input="seq 1 100\r")
    await_text(daemon, name, "100\nready>")
    page = ready(pages(name))
    same_screen(daemon, page, name)
    for _ in range(5):
        page.keyboard.press("Shift+PageUp")
    shows(page, "ready> seq 1 100")


@pytest.fixture
def full_screen(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str], tmp_path: Path
) -> Callable[..., Page]:
    """Start a full-screen program, open its page, and wait until both show the same."""
    (tmp_path / "text").write_text("".join(f"line {n} ünï 漢字\n" for n in range(1, 100)))

    def start(name: str, *argv: str, text: str) -> Page:
        env = surroundings(tmp_path)
        given = {"args": list(argv[1:]), "cwd": str(tmp_path), "env": env}
        page = pages(new_session(name, command=program(argv[0]), **given))
        shows(page, text)
        same_screen(daemon, page, name)
        return page

    return start


def test_vim_looks_the_same_and_is_driven(
    daemon: Daemon, full_screen: Callable[..., Page], tmp_path: Path
) -> None:
    page = full_screen("vim", "vim", "-u", "NONE", "-N", "--noplugin", "text", text="line 1 ünï")
    page.keyboard.type("Gonew 漢字 line")
    shows(page, "new 漢字 line")
    page.keyboard.press("Escape")
    page.keyboard.type(":set number\n/line 42\n")
    shows(page, "42 line 42")
    same_screen(daemon, page, "vim")
    page.keyboard.type(":wq\n")
    page.get_by_text("The program exited with 0").wait_for()
    assert (tmp_path / "text").read_text().endswith("new 漢字 line\n")


def test_less_looks_the_same_at_every_page(
    daemon: Daemon, full_screen: Callable[..., Page]
) -> None:
    page = full_screen("less", "less", "text", text="line 1 ünï")
    for keys, text in ((" ", "line 24 "), ("G", "line 99 "), ("?line 5 \n", "line 5 ")):
        page.keyboard.type(keys)
        shows(page, text)
        same_screen(daemon, page, "less")


def test_top_looks_the_same(daemon: Daemon, full_screen: Callable[..., Page]) -> None:
    page = full_screen("top", "top", "-d", "30", text="load average")
    page.keyboard.press("1")
    page.keyboard.press("M")
    same_screen(daemon, page, "top")


def test_htop_looks_the_same(daemon: Daemon, full_screen: Callable[..., Page]) -> None:
    page = full_screen("htop", "htop", "-d", "100", text="F10")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("F1")
    shows(page, "Released under")
    same_screen(daemon, page, "htop")


def test_a_menu_looks_the_same_and_is_driven(
    daemon: Daemon, full_screen: Callable[..., Page]
) -> None:
    page = full_screen("menu", sys.executable, MENU, text="> alpha")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    shows(page, "> 漢字")
    same_screen(daemon, page, "menu")
    page.keyboard.press("Enter")
    page.get_by_text("The program exited with 0").wait_for()
    shows(page, "chosen: 漢字")
    assert "chosen: 漢字" in lines_of(daemon, "menu")
