"""The page on a phone: text that can be read, fingers that can hit, a line to type into."""

from collections.abc import Callable

from playwright.sync_api import expect

from conftest import Daemon

from web.conftest import Pages, call, details_of, shows, until
from web.test_appearance import PHONE

SMALL = """() => [...document.querySelectorAll("button, a[href], input, select")].filter(one => {
    if (!one.checkVisibility({visibilityProperty: true}) || one.closest(".xterm")) return false;
    return one.getBoundingClientRect().height < 44 && !one.matches(".brand");
}).map(one => one.outerHTML.slice(0, 120))"""


def test_a_phone_shows_text_that_can_be_read_and_takes_a_line(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("hand")
    page = pages(name, **PHONE)
    shows(page, "ready>")
    until(page, "() => window.nacre.term.options.fontSize >= 11")
    assert page.evaluate(SMALL) == []
    page.get_by_label("Type a line").fill("echo wo'rd'")
    page.get_by_role("button", name="Send").tap()
    shows(page, "word")
    # The cursor stays in sight, wherever it goes on the wide screen.
    call(daemon, "input", name, input="printf '\\033[20;70Hfar'; cat\r")
    shows(page, "far")
    until(
        page,
        """() => {
            const stage = document.querySelector(".stage");
            return stage.scrollLeft > 0 && stage.scrollWidth > stage.clientWidth;
        }""",
    )
    pages.keep(page, "far")
    size = details_of(daemon, name)
    assert (size["rows"], size["cols"]) == (24, 80)


def test_who_only_looks_types_nothing(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("looked")
    page = pages(name, **PHONE)
    shows(page, "ready>")
    page.get_by_role("button", name="More").tap()
    page.get_by_role("menuitem", name="I’m only looking").tap()
    expect(page.get_by_text("Only looking")).to_be_visible()
    expect(page.get_by_label("Type a line")).to_have_count(0)
    expect(page.get_by_role("button", name="Take over")).to_have_count(0)
    before = details_of(daemon, name)["generation"]
    page.locator(".xterm textarea").focus()
    page.keyboard.type("x")
    expect(page.get_by_text("You are only looking")).to_be_visible()
    assert details_of(daemon, name)["generation"] == before
    page.get_by_role("button", name="More").tap()
    page.get_by_role("menuitem", name="Type again").tap()
    expect(page.get_by_label("Type a line")).to_be_visible()
