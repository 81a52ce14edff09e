"""The session's size: who watches leaves it alone, who fits or drives gives it the window's."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon
from restarts import crash

from web.conftest import (
    BROKEN,
    REFUSED,
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


def letters(page: Page) -> float:
    """How wide a letter is on the display, with the browser's zoom."""
    return cell_of(page)["width"] * float(page.evaluate("devicePixelRatio"))


LARGER = """before => document.querySelector(".xterm-screen").getBoundingClientRect().width
    / window.nacre.term.cols * devicePixelRatio > before * 1.1"""

CURSOR_IN_VIEW = """() => {
    const {term} = window.nacre;
    const box = term.element.querySelector(".xterm-screen").getBoundingClientRect();
    const stage = document.querySelector(".stage").getBoundingClientRect();
    const bottom = box.top + (term.buffer.active.cursorY + 1) * box.height / term.rows;
    return bottom > stage.top && bottom <= stage.bottom;
}"""


def test_larger_letters_leave_the_session_alone_and_the_cursor_in_view(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("letters")
    page = ready(pages(name, viewport=WIDE))  # the size is kept in the browser
    page.get_by_role("button", name="Take over").click()
    expect(page.get_by_text("You drive")).to_be_visible()
    resized(page)
    size, before = size_of(daemon, name), letters(page)
    for _ in range(6):
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Larger text").click()
    until(page, LARGER, before)
    at_keys(page).keyboard.type("seq 200; stty size\n")
    shows(page, "{} {}".format(*size))
    until(page, CURSOR_IN_VIEW)
    assert size_of(daemon, name) == size
    same_screen(daemon, page, name)
    # What was chosen is what the next Fit is made for.
    page.get_by_role("button", name="Fit the session to this window").click()
    until(page, "cols => window.nacre.term.cols < cols - 10", size[1])
    page.get_by_role("button", name="Give back").click()
    has_size(page, 24, 80)


def zoom(page: Page, factor: float) -> None:
    """Zoom as the browser does: the window is as large as before, in fewer pixels of CSS."""
    metrics = {
        "width": int(WIDE["width"] / factor),
        "height": int(WIDE["height"] / factor),
        "deviceScaleFactor": factor,
        "mobile": False,
    }
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", metrics)


def test_the_browsers_zoom_makes_letters_larger_and_leaves_the_session_alone(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("zoomed")
    page = ready(pages(name, viewport=WIDE))
    page.get_by_role("button", name="Take over").click()
    resized(page)
    size, before = size_of(daemon, name), letters(page)
    zoom(page, 1.5)
    until(page, LARGER, before)
    page.keyboard.type("clear; stty size\n")
    shows(page, "{} {}".format(*size))
    zoom(page, 1)
    until(page, "() => devicePixelRatio === 1")
    page.keyboard.type("clear; stty size; echo again\n")
    shows(page, "again")
    assert size_of(daemon, name) == size


# --- a borrowed size ---------------------------------------------------------------------------


def test_who_takes_over_borrows_the_size_and_gives_it_back(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("borrowed", rows=30, cols=100)
    watcher = ready(pages(name))
    phone = ready(pages(name, viewport={"width": 390, "height": 844}))
    phone.get_by_role("button", name="Take over").click()
    until(phone, "() => window.nacre.term.cols < 60")
    said = watcher.get_by_role("status").filter(has_text="changed the session's size to")
    expect(said).to_be_visible()
    expect(phone.get_by_text("changed the session's size")).to_have_count(0)
    phone.get_by_role("button", name="Give back").click()
    has_size(phone, 30, 100)
    has_size(watcher, 30, 100)
    expect(watcher.get_by_text("gave the size back: the session has 100 × 30")).to_be_visible()
    assert size_of(daemon, name) == (30, 100)
    # Who just leaves gives it back, too.
    phone.get_by_role("button", name="Take over").click()
    until(phone, "() => window.nacre.term.cols < 60")
    phone.close()
    has_size(watcher, 30, 100)


def test_a_size_that_was_borrowed_from_a_killed_daemon_is_given_back(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon()
    env = {"PROMPT_COMMAND": "PS1='ready> '"}
    daemon.rest("POST", "/sessions", {"name": "kept", "env": env, "keep": True})
    page = ready(pages("kept", daemon=daemon))
    page.get_by_role("button", name="Take over").click()
    resized(page)
    crash(daemon)
    page.get_by_role("button", name="Give back").click()
    has_size(page, 24, 80)
    assert size_of(daemon, "kept") == (24, 80)


def test_who_means_a_size_does_not_lose_it(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("meant")
    page, other = ready(pages(name)), ready(pages(name))
    page.get_by_role("button", name="Take over").click()
    resized(page)
    other.set_viewport_size({"width": 800, "height": 500})
    other.get_by_role("button", name="Fit the session to this window").click()
    expect(page.get_by_text("changed the session's size to")).to_be_visible()
    size = size_of(daemon, name)
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("Shared")).to_be_visible()
    assert size_of(daemon, name) == size
