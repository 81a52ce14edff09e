"""Overlays and panels on the page: at the daemon's cells, and live."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import (
    Pages,
    await_text,
    call,
    cell_of,
    details_of,
    ready,
    same_screen,
    shows,
    until,
)

# Whether an element's box is the cells from (row, col) on; a rounding of pixels is no other cell.
AT_CELLS = """([id, row, col, rows, cols]) => {
    const element = document.querySelector(`[data-id="${id}"]`);
    const {term} = window.nacre;
    const screen = term.element.querySelector(".xterm-screen").getBoundingClientRect();
    const [width, height] = [screen.width / term.cols, screen.height / term.rows];
    if (!element) return false;
    const box = element.getBoundingClientRect();
    const near = (one, other) => Math.abs(one - other) < 1;
    return near(box.x, screen.x + col * width) && near(box.y, screen.y + row * height)
        && near(box.width, cols * width) && near(box.height, rows * height);
}"""


def at_cells(page: Page, element: str, row: int, col: int, rows: int, cols: int) -> None:
    until(page, AT_CELLS, [element, row, col, rows, cols])


def colour_of(page: Page, text: str, name: str) -> str:
    return str(
        page.locator(".run", has_text=text).evaluate(
            "(element, name) => getComputedStyle(element)[name]", name
        )
    )


def put(daemon: Daemon, kind: str, session: str, **parameters: Any) -> str:
    return str(call(daemon, kind, session, **parameters)["id"])


def test_an_overlay_lies_at_its_cells_and_changes_live(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("overlay")
    page = ready(pages(name))
    spans = [
        {"text": "Build ", "bold": True},
        {"id": "state", "text": "fails", "fg": "#ff0000"},
        {"text": "\n漢字 ok", "bg": "blue"},
    ]
    one = put(daemon, "overlay", name, x=10, y=3, width=20, height=2, spans=spans)
    at_cells(page, one, 3, 10, 2, 20)
    assert page.locator(f"[data-id='{one}']").inner_text().split() == [
        "Build",
        "fails",
        "漢",
        "字",
        "ok",
    ]
    assert colour_of(page, "fails", "color") == "rgb(255, 0, 0)"
    assert int(colour_of(page, "Build", "fontWeight")) >= 600
    # Characters of two columns leave what follows at its cell.
    cell = cell_of(page)
    ok = page.locator(".run", has_text="ok").bounding_box()
    assert ok is not None
    assert abs(ok["x"] - (cell["x"] + (10 + 4) * cell["width"])) < cell["width"] + 1
    call(
        daemon, "overlay", name, id=one, update=[{"id": "state", "text": "works", "fg": "#00ff00"}]
    )
    expect(page.locator(f"[data-id='{one}']")).to_contain_text("works")
    assert colour_of(page, "works", "color") == "rgb(0, 255, 0)"
    pages.keep(page, "shown")
    call(daemon, "overlay", name, id=one, x=0, y=22)
    at_cells(page, one, 22, 0, 2, 20)
    call(daemon, "overlay/remove", name, id=one)
    expect(page.locator(".overlay")).to_have_count(0)
    same_screen(daemon, page, name)


def test_the_overlay_of_higher_z_covers_the_other_and_is_not_in_the_way(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("stacked")
    page = ready(pages(name))
    low = put(daemon, "overlay", name, z=1, x=2, y=2, spans=[{"text": "LOW LOW"}])
    high = put(daemon, "overlay", name, z=5, x=4, y=2, spans=[{"text": "HIGH"}])
    at_cells(page, high, 2, 4, 1, 4)
    order = page.locator(".overlay").evaluate_all("all => all.map(one => one.dataset.id)")
    assert order == [low, high]
    call(daemon, "overlay", name, id=low, z=9)
    until(page, "id => document.querySelector('.overlay:last-child')?.dataset.id === id", low)
    page.keyboard.type("echo still 'typed'\n")
    shows(page, "still typed")
    call(daemon, "overlay/remove", name)
    expect(page.locator(".overlay")).to_have_count(0)


def test_panels_take_rows_from_the_program_and_lie_at_the_edges(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("panels")
    page = ready(pages(name))
    top = put(daemon, "panel", name, position="top", height=2, spans=[{"text": "above"}])
    low = put(daemon, "panel", name, z=1, background="blue", spans=[{"text": "status"}])
    edge = put(daemon, "panel", name, z=9, spans=[{"text": "at the edge"}])
    at_cells(page, top, -2, 0, 2, 80)
    at_cells(page, low, 20, 0, 1, 80)
    at_cells(page, edge, 21, 0, 1, 80)
    assert details_of(daemon, name)["rows"] == 20
    page.keyboard.type("clear; stty size\n")
    shows(page, "20 80")
    same_screen(daemon, page, name)
    # An overlay counts from the program's first row, below the panel.
    first = put(daemon, "overlay", name, x=0, y=0, spans=[{"text": "first row"}])
    at_cells(page, first, 0, 0, 1, 9)
    pages.keep(page, "all")
    call(daemon, "panel/remove", name)
    expect(page.locator(".panel")).to_have_count(0)
    until(page, "() => window.nacre.term.rows === 24")
    same_screen(daemon, page, name)


def test_elements_stay_at_their_cells_when_the_page_or_the_session_changes_size(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("moving")
    page = ready(pages(name))
    below = put(daemon, "panel", name, spans=[{"text": "below"}])
    over = put(daemon, "overlay", name, x=5, y=5, width=10, height=3, background="green")
    at_cells(page, below, 23, 0, 1, 80)
    page.set_viewport_size({"width": 800, "height": 500})
    until(page, "() => document.querySelector('.stage').getBoundingClientRect().right <= 800")
    at_cells(page, over, 5, 5, 3, 10)
    call(daemon, "resize", name, rows=40, cols=120)
    at_cells(page, below, 39, 0, 1, 120)
    at_cells(page, over, 5, 5, 3, 10)
    page.get_by_role("button", name="Fit the session to this window").click()
    until(page, "() => window.nacre.term.cols !== 120")
    details = details_of(daemon, name)
    at_cells(page, below, details["rows"], 0, 1, details["cols"])
    same_screen(daemon, page, name)


def test_elements_of_the_alternate_screen_go_with_it(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("layers")
    page = ready(pages(name))
    put(daemon, "overlay", name, x=1, y=1, spans=[{"text": "usual"}])
    expect(page.locator(".overlay", has_text="usual")).to_be_visible()
    call(daemon, "screen_mode", name, action="enter_alt")
    expect(page.locator(".overlay", has_text="usual")).to_have_count(0)
    put(daemon, "overlay", name, x=1, y=1, spans=[{"text": "special"}])
    expect(page.locator(".overlay", has_text="special")).to_be_visible()
    call(daemon, "screen_mode", name, action="exit_alt")
    expect(page.locator(".overlay", has_text="special")).to_have_count(0)
    expect(page.locator(".overlay", has_text="usual")).to_be_visible()
    same_screen(daemon, page, name)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_elements_are_there_for_who_opens_the_page_later(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str], scheme: str
) -> None:
    name = new_session("later")
    await_text(daemon, name, "ready>")
    call(daemon, "input", name, input="ls --color=always -la /; vim --version | head -3\r")
    text = "3 tests fail\n  test_a\n  test_b"
    tests = put(daemon, "overlay", name, x=50, y=2, background="red", spans=[{"text": text}])
    status = put(daemon, "panel", name, background="blue", spans=[{"text": " agent: building"}])
    page = ready(pages(name, color_scheme=scheme))
    at_cells(page, tests, 2, 50, 3, 12)
    at_cells(page, status, 23, 0, 1, 80)
    same_screen(daemon, page, name)
