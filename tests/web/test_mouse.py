"""The mouse: clicks for the program, a selection for the clipboard, links for the browser."""

import sys
from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import (
    WIDE,
    Pages,
    await_text,
    call,
    lines_of,
    middle,
    ready,
    same_screen,
    shows,
    until,
)
from web.test_typing import CODES, got


def row_of(daemon: Daemon, page: Page, session: str, text: str) -> int:
    """The row that shows a text, once the page shows it, too."""
    await_text(daemon, session, text)
    same_screen(daemon, page, session)
    return next(row for row, line in enumerate(lines_of(daemon, session)) if text in line)


def drag(page: Page, row: int, first: int, last: int) -> None:
    """Press in the left half of one cell and let go in the right half of another."""
    (x, y), (to, _) = middle(page, row, first), middle(page, row, last)
    page.mouse.move(x - 3, y)
    page.mouse.down()
    page.mouse.move(to + 3, y, steps=4)
    page.mouse.up()


def test_clicks_reach_a_program_that_asks_for_them(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    # X11 reports in SGR's form (xterm ctlseqs, "Mouse Tracking").
    arguments = [str(CODES), "1000", "1006"]
    page = pages(new_session("clicks", command=sys.executable, args=arguments))
    shows(page, "codes:")
    page.mouse.click(*middle(page, 4, 9))
    page.mouse.click(*middle(page, 23, 79), button="right")
    page.mouse.move(*middle(page, 2, 2))
    page.mouse.wheel(0, -50)
    got(page, "\x1b[<0;10;5M\x1b[<0;10;5m\x1b[<2;80;24M\x1b[<2;80;24m\x1b[<64;3;3M")


def test_a_selection_is_copied(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("copying")
    page = ready(pages(name))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    call(daemon, "input", name, input='clear; echo first "\'"second 漢字"\'" third\r')
    row = row_of(daemon, page, name, "first 'second")
    drag(page, row, 6, 18)
    page.keyboard.press("Control+Shift+C")
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "'second 漢字'"


def test_a_link_opens_in_another_tab_after_its_address_was_shown(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("links")
    page = ready(pages(name, viewport=WIDE))
    call(daemon, "input", name, input=f"clear; echo 'see' {daemon.url}/?linked for it\r")
    row = row_of(daemon, page, name, f"see {daemon.url}/?linked for it")
    page.mouse.move(*middle(page, row, 2))
    page.mouse.move(*middle(page, row, 10))
    expect(page.locator(".pointed-at")).to_have_text(f"{daemon.url}/?linked")
    with page.context.expect_page() as opened:
        page.mouse.click(*middle(page, row, 10))
    opened.value.wait_for_url("**/?linked*")
    assert opened.value.evaluate("window.opener") is None


def test_a_named_link_shows_where_it_leads_and_scripts_are_none(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("named")
    page = ready(pages(name, viewport=WIDE))
    # OSC 8, the hyperlinks of terminals.
    link = r"\033]8;;%s\033\\%s\033]8;;\033\\ "
    given = f"{daemon.url}/?named GOOD 'javascript:document.title=1' BAD"
    call(daemon, "input", name, input=f"clear; printf '{link}' {given}; echo\r")
    row = row_of(daemon, page, name, "GOOD BAD")
    page.mouse.move(*middle(page, row, 20))
    page.mouse.move(*middle(page, row, 6))
    page.mouse.click(*middle(page, row, 6))
    assert page.locator(".pointed-at").count() == 0
    page.mouse.move(*middle(page, row, 1))
    expect(page.locator(".pointed-at")).to_have_text(f"{daemon.url}/?named")
    with page.context.expect_page() as opened:
        page.mouse.click(*middle(page, row, 1))
    opened.value.wait_for_url("**/?named*")
    assert page.title() == "named · nacre"
    assert page.context.pages == [page, opened.value]


# Tells in hex what it gets, motion of the mouse too; at a ! it prints a link in row 10.
LINKING = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, b"\x1b[?1003h\x1b[?1006hcodes:\r\n")
link = f"\x1b7\x1b[11;1Hsee {sys.argv[1]} now\x1b8".encode()
while data := os.read(0, 1024):
    os.write(1, link if data == b"!" else data.hex().encode())
"""


def test_a_link_printed_under_a_resting_pointer_is_found_and_programs_hear_no_motion(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    address = f"{daemon.url}/?fresh"
    arguments = ["-c", LINKING, address]
    name = new_session("fresh", command=sys.executable, args=arguments)
    page = pages(name)
    shows(page, "codes:")
    page.mouse.move(*middle(page, 10, 8))
    moved = "\x1b[<35;9;11M"
    got(page, moved)
    call(daemon, "input", name, input="!")
    expect(page.locator(".pointed-at")).to_have_text(address)
    page.locator(".xterm-helper-textarea").press("z")
    told = (moved + "z").encode().hex()
    until(page, "told => window.nacre.text()[1] === told", told)
