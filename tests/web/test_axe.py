"""No state of the page breaks a rule of accessibility that axe can check."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import Pages, call, shows
from web.test_appearance import PHONE

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"

# What is drawn as programs say is theirs: the terminal's own cells.
CHECK = """async () => {
    const found = await axe.run({exclude: [[".xterm"]]});
    return found.violations.flatMap(rule => rule.nodes.map(
        node => `${rule.id}: ${node.html.slice(0, 200)} (${node.any.map(one => one.message)})`));
}"""

# The dot of what runs breathes for ever.
SETTLE = """() => Promise.all(document.getAnimations()
    .filter(one => one.effect.getTiming().iterations !== Infinity).map(one => one.finished))"""

LOOKS: dict[str, dict[str, Any]] = {
    "dark": {"color_scheme": "dark"},
    "light": {"color_scheme": "light"},
    "forced": {"color_scheme": "dark", "forced_colors": "active"},
    "phone": PHONE,
}


def check(page: Page, what: str) -> None:
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text())
    page.evaluate(SETTLE)
    found = page.evaluate(CHECK)
    assert found == [], what


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str], look: str
) -> None:
    name = new_session("axe")
    asking = new_session("axe-asks")
    call(daemon, "input", asking, input="read -p 'Overwrite? [y/N] ' x\r")
    page = pages(**LOOKS[look])
    needs = page.get_by_role("region", name="Needs you")
    expect(needs.get_by_role("button", name="Yes")).to_be_visible()
    check(page, "the list")
    pages.keep(page, "list")
    page.goto(f"{daemon.url}/#/session/{name}")
    shows(page, "ready>")
    spans = [{"text": "plain "}, {"text": "faint", "faint": True}, {"text": " red", "fg": "red"}]
    call(daemon, "overlay", name, x=2, y=3, width=30, height=2, background="blue", spans=spans)
    call(daemon, "panel", name, position="bottom", height=1, spans=spans)
    expect(page.locator(".panel")).to_be_visible()
    check(page, "a session")
    pages.keep(page, "session")
    for command in ("true", "false"):
        call(daemon, "run", name, command=command)
    call(daemon, "input", name, input="sleep 1000\r")
    page.get_by_role("button", name="Activity", exact=True).click()
    expect(page.locator(".act")).to_have_count(3)
    check(page, "what ran")
    pages.keep(page, "activity")
    page.get_by_role("button", name="Close Activity").click()
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("menuitem", name="Kill…")).to_be_visible()
    check(page, "a menu")
    pages.keep(page, "menu")
    page.get_by_role("menuitem", name="Rename…").click()
    check(page, "a dialog")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Replay").click()
    expect(page.get_by_role("slider")).to_be_visible()
    check(page, "a replay")
    page.get_by_role("button", name="Find in the recording").click()
    page.keyboard.type("sleep")
    expect(page.locator(".search-count")).to_contain_text(" of ")
    check(page, "a search in a replay")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save", exact=True).click()
    check(page, "the menu of a replay")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Chapters", exact=True).click()
    expect(page.locator(".act")).to_have_count(3)
    check(page, "the chapters of a replay")
    pages.keep(page, "chapters")
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.goto(daemon.url)
    expect(page.get_by_label("Token")).to_be_visible()
    check(page, "the login")
