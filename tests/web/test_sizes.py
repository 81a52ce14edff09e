"""The session's size: who watches leaves it alone, who fits or drives gives it the window's."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import (
    WIDE,
    Pages,
    at_keys,
    await_text,
    call,
    cell_of,
    details_of,
    ready,
    same_screen,
    shows,
    terminal_lines,
    until,
)


def size_of(daemon: Daemon, session: str) -> tuple[int, int]:
    details = details_of(daemon, session)
    return details["rows"], details["cols"]


def has_size(page: Page, rows: int, cols: int) -> None:
    until(
        page,
        "([rows, cols]) => window.nacre.term.rows === rows && window.nacre.term.cols === cols",
        [rows, cols],
    )


def resized(page: Page) -> None:
    until(page, "() => window.nacre.term.cols !== 80")


def test_watching_changes_no_size_however_the_window_changes(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("watched")
    page = ready(pages(name))
    for width, height in ((700, 500), (1600, 1000), (400, 300)):
        before = cell_of(page)["width"]
        page.set_viewport_size({"width": width, "height": height})
        until(
            page,
            """before => document.querySelector(".xterm-screen").getBoundingClientRect().width
                / window.nacre.term.cols !== before""",
            before,
        )
        has_size(page, 24, 80)
    assert size_of(daemon, name) == (24, 80)
    same_screen(daemon, page, name)


def test_the_whole_screen_is_seen_at_once(pages: Pages, new_session: Callable[..., str]) -> None:
    page = ready(pages(new_session("whole", rows=50, cols=200)))
    until(
        page,
        """() => {
            const screen = document.querySelector(".xterm-screen").getBoundingClientRect();
            const stage = document.querySelector(".stage").getBoundingClientRect();
            return window.nacre.term.cols === 200 && screen.left >= stage.left
                && screen.top >= stage.top && screen.right <= stage.right
                && screen.bottom <= stage.bottom;
        }""",
    )


def test_fit_reaches_the_child(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("fitted")
    page = ready(pages(name))
    page.get_by_role("button", name="Fit the session to this window").click()
    resized(page)
    at_keys(page).keyboard.type("clear; stty size\n")
    rows, cols = size_of(daemon, name)
    assert (rows, cols) != (24, 80)
    shows(page, f"{rows} {cols}")
    same_screen(daemon, page, name)
    # Who does not drive is not followed.
    page.set_viewport_size({"width": 900, "height": 700})
    until(page, "() => document.querySelector('.stage').getBoundingClientRect().right <= 900")
    assert size_of(daemon, name) == (rows, cols)


def test_who_drives_is_followed_by_the_session(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("followed")
    page = ready(pages(name))
    page.get_by_role("button", name="Take over").click()
    expect(page.get_by_text("You drive")).to_be_visible()
    resized(page)
    first = size_of(daemon, name)
    page.set_viewport_size({"width": 900, "height": 600})
    until(
        page,
        "([rows, cols]) => window.nacre.term.rows < rows && window.nacre.term.cols < cols",
        list(first),
    )
    at_keys(page).keyboard.type("clear; stty size\n")
    rows, cols = size_of(daemon, name)
    shows(page, f"{rows} {cols}")
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("Shared")).to_be_visible()


def test_a_resize_from_elsewhere_is_shown(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("elsewhere")
    page = ready(pages(name))
    for rows, cols in ((10, 40), (60, 150), (24, 80)):
        call(daemon, "resize", name, rows=rows, cols=cols)
        has_size(page, rows, cols)
        call(daemon, "input", name, input="clear; stty size\r")
        await_text(daemon, name, f"{rows} {cols}")
        shows(page, f"{rows} {cols}")
        same_screen(daemon, page, name)


def test_larger_letters_give_fewer_cells(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("letters")
    page = ready(pages(name, viewport=WIDE))  # the size is kept in the browser
    page.get_by_role("button", name="Fit the session to this window").click()
    resized(page)
    cols = size_of(daemon, name)[1]
    for _ in range(2):
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Larger text").click()
    until(page, "cols => window.nacre.term.cols < cols - 10", cols)
    same_screen(daemon, page, name)
    assert any(re.match("ready>", line) for line in terminal_lines(page))
