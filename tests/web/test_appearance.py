"""How the page looks and is reached: dark and light, on a phone, by the keyboard alone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import Pages, at_keys, call, ready, shows, until

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}

# Controls without a name that a reader of screens could say.
NAMELESS = """() => [...document.querySelectorAll("button, a[href], input, select, textarea,"
    + " [role=slider], [role=menuitem], dialog")].filter(element => {
        if (!element.checkVisibility()) return false;
        const labels = [...(element.labels ?? [])].map(label => label.innerText).join("");
        const named = element.getAttribute("aria-label") || labels || element.innerText;
        return !named?.trim();
    }).map(element => element.outerHTML)"""

# Identifiers that stand for two elements, and labels that lead nowhere.
BROKEN_LABELS = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
    const lost = [...document.querySelectorAll("[aria-describedby], [aria-labelledby]")]
        .flatMap(element => [element.getAttribute("aria-describedby"),
            element.getAttribute("aria-labelledby")])
        .filter(id => id && !document.getElementById(id));
    return [...twice, ...lost];
}"""

# WCAG's contrast of an element's text with what is behind it.
CONTRAST = """element => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const rgb = (...colors) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = color => {
        const [r, g, b] = color.map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = [];
    for (let at = element; at; at = at.parentElement)
        behind.unshift(getComputedStyle(at).backgroundColor);
    const back = light(rgb("white", ...behind));
    const front = light(rgb("white", ...behind, getComputedStyle(element).color));
    return (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05);
}"""


def accessible(page: Page) -> None:
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(BROKEN_LABELS) == []
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("main").count() == 1
    assert page.locator("h1").count() == 1


def reachable(page: Page) -> None:
    """Nothing makes the page scroll sideways, and every control lies within it."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    outside = page.evaluate(
        """() => [...document.querySelectorAll("button, a[href], input, select")].filter(one => {
            if (!one.checkVisibility({visibilityProperty: true})) return false;
            if (one.closest(".xterm, .touch-keys, .film")) return false;  // they scroll
            const box = one.getBoundingClientRect();
            return box.left < -1 || box.right > innerWidth + 1;
        }).map(one => one.outerHTML)"""
    )
    assert outside == []


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_text_is_legible_in_both_schemes(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str], scheme: str
) -> None:
    name = new_session("legible")
    page = ready(pages(name, color_scheme=scheme))
    call(daemon, "input", name, input="ls --color=always -la /\r")
    expect(page.locator("html")).to_have_attribute("data-scheme", scheme)
    texts = (
        ".row-name",
        ".row-about",
        ".row-time",
        ".bar h1",
        ".chip",
        ".driver-who",
        ".bar-where",
    )
    faint = {}
    for text in texts:
        ratio = page.locator(text).first.evaluate(CONTRAST)
        if ratio < 4.5:  # WCAG 2.2, 1.4.3
            faint[text] = round(ratio, 2)
    assert faint == {}
    accessible(page)


def test_the_scheme_is_chosen_and_kept(pages: Pages, new_session: Callable[..., str]) -> None:
    page = ready(pages(new_session("chosen"), color_scheme="dark"))
    for _ in range(2):
        page.get_by_role("button", name="Colours").click()
    expect(page.locator("html")).to_have_attribute("data-scheme", "light")
    until(page, "() => window.nacre.term.options.theme.background.startsWith('#f')")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-scheme", "light")


def test_a_phone_shows_everything_without_scrolling_sideways(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    new_session("phone")
    page = pages(**PHONE)
    expect(page.locator(".row", has_text="phone")).to_be_visible()
    reachable(page)
    accessible(page)
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Everywhere")).to_be_in_viewport()  # at its beginning
    page.keyboard.press("Escape")
    page.locator(".row", has_text="phone").tap()
    shows(page, "ready>")
    reachable(page)
    accessible(page)
    page.get_by_role("button", name="Take over").tap()
    expect(page.get_by_role("button", name="Give back")).to_be_visible()
    until(page, "() => window.nacre.term.cols < 80")
    pages.keep(page, "driven")
    at_keys(page).keyboard.type("echo 'small'")
    page.get_by_role("toolbar", name="Special keys").get_by_role("button", name="Ctrl").tap()
    page.keyboard.type("a")
    page.keyboard.type("#\n")
    shows(page, "#echo")
    page.get_by_role("button", name="Give back").tap()
    page.get_by_role("button", name="More").tap()
    expect(page.get_by_role("menuitem", name="Kill…")).to_be_in_viewport()
    pages.keep(page, "menu")
    reachable(page)
    page.get_by_role("menuitem", name="Replay").tap()
    expect(page.get_by_role("slider")).to_be_visible()
    reachable(page)
    pages.keep(page, "replay")
    page.get_by_role("link", name="Back to the session").tap()
    page.get_by_role("link", name="All sessions", exact=True).tap()
    expect(page.locator(".row", has_text="phone")).to_be_visible()


def test_a_phone_on_its_side_has_the_whole_width_for_the_screen(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    new_session("aside")
    page = pages("aside", **{**PHONE, "viewport": {"width": 844, "height": 390}})
    shows(page, "ready>")
    expect(page.get_by_role("navigation", name="Sessions")).to_be_hidden()
    reachable(page)
    page.get_by_role("link", name="All sessions", exact=True).tap()
    expect(page.locator(".row", has_text="aside")).to_be_visible()


def test_a_phone_that_only_watches_can_fit_the_session(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    page = pages(new_session("fitting"), **PHONE)
    shows(page, "ready>")
    page.get_by_role("button", name="More").tap()
    page.get_by_role("menuitem", name="Fit to this window").tap()
    until(page, "() => window.nacre.term.cols < 80")
    expect(page.get_by_role("button", name="Take over")).to_be_visible()


def test_the_login_on_a_phone(daemon: Daemon, pages: Pages) -> None:
    page = pages.context(**PHONE).new_page()
    page.goto(daemon.url)
    expect(page.get_by_label("Token")).to_be_visible()
    reachable(page)
    accessible(page)


def test_everything_is_done_by_the_keyboard_alone(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    new_session("other")
    new_session("keyboard")
    page = pages()
    expect(page.locator(".row", has_text="keyboard")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Filter sessions")).to_be_focused()
    page.keyboard.type("keyb")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row", has_text="keyboard")).to_be_focused()
    page.keyboard.press("Enter")
    ready(page)
    page.keyboard.type("echo by 'keys'\n")
    shows(page, "by keys")
    page.keyboard.press("Control+Shift+X")
    expect(page.locator(".driver-who")).to_contain_text("You drive")
    page.keyboard.press("Control+Shift+X")
    expect(page.locator(".driver-who")).to_contain_text("Shared")
    # Tab is the program's key; out of the terminal leads Ctrl+Shift+L.
    page.keyboard.press("Control+Shift+L")
    expect(page.locator(".row", has_text="keyboard")).to_be_focused()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("Ctrl+Shift+L")
    expect(sheet).to_contain_text("Ctrl+Shift+X")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    # From the list on, Tab goes through the bar's controls.
    seen = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        focused = "document.activeElement"
        label = f"{focused}.getAttribute('aria-label')"
        seen.add(page.evaluate(f"{label} || {focused}.innerText.trim()"))
    assert {"Take over", "Fit the session to this window", "More"} <= seen
    page.keyboard.press("Control+Shift+L")


def test_the_list_is_one_stop_of_the_tab_key(pages: Pages, new_session: Callable[..., str]) -> None:
    names = [new_session(f"stop-{number}") for number in range(3)]
    page = pages()
    rows = page.locator(".row")
    expect(page.locator(".row", has_text=names[0])).to_be_visible()
    expect(page.locator(".row[tabindex='0']")).to_have_count(1)
    page.get_by_role("link", name="Search all output").focus()  # what comes before the list
    page.keyboard.press("Tab")
    expect(rows.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.rows') === null")
    page.keyboard.press("Shift+Tab")
    expect(rows.nth(1)).to_be_focused()


def test_every_dialog_and_menu_has_its_names_and_gives_the_focus_back(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    page = ready(pages(new_session("named")))
    more = page.get_by_role("button", name="More")
    more.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    accessible(page)
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    new = page.get_by_role("button", name="New", exact=True)
    new.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="New session")).to_be_visible()
    accessible(page)
    page.keyboard.press("Escape")
    expect(new).to_be_focused()
    page.get_by_role("button", name="Keys and help").click()
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    accessible(page)
