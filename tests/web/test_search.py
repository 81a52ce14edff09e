"""Search over all sessions on the page: what is found, and where a click leads."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import REFUSED, Pages, await_text, call, until
from web.test_axe import check
from web.test_replay import replay_shows

SELECTED = "text => window.nacre.term?.getSelection().includes(text)"


def search(page: Page, text: str) -> None:
    page.get_by_role("link", name="Search all output").click()
    page.get_by_role("searchbox", name="Search all output").fill(text)


def test_hits_lead_to_the_line_and_to_the_moment(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("sought")
    await_text(daemon, name, "ready>")
    call(daemon, "run", name, command="echo a lost penguin; seq 200")
    drawn = r"printf '\033[?1049h\033[2J\033[3;5Hpenguin in a box'; read -sn1 x"
    call(daemon, "input", name, input=f"{drawn}; printf '\\033[?1049l'\r")
    await_text(daemon, name, "penguin in a box")
    call(daemon, "input", name, input="x")
    await_text(daemon, name, "ready>")
    page = pages()
    search(page, "penguin")
    hits = page.get_by_role("region", name=f"Hits in {name}")
    boxed = hits.get_by_role("link", name=re.compile("full screen.*in a box"))
    expect(boxed).to_be_visible()
    check(page, "search")
    boxed.click()
    expect(page.get_by_role("group", name="Film strip")).to_be_visible()
    replay_shows(page, "penguin in a box")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(page.locator(".film canvas")).to_have_count(12)
    check(page, "replay")
    page.go_back()
    line = page.locator(".hit-text", has_text=re.compile("^a lost penguin$"))
    hits.locator(".hit-open").filter(has=line).click()
    expect(page.get_by_role("main", name=f"Session {name}")).to_be_visible()
    until(page, SELECTED, "a lost penguin")


def test_nothing_found_and_a_wrong_expression_are_said(pages: Pages) -> None:
    pages.expected.append(REFUSED)
    page = pages()
    page.get_by_role("navigation", name="Sessions").wait_for()  # keys are heard from then on
    page.keyboard.press("s")
    box = page.get_by_role("searchbox", name="Search all output")
    box.fill("no such text anywhere")
    expect(page.get_by_text("Nothing found in")).to_be_visible()
    page.get_by_label("Regex").check()
    box.fill("(")
    expect(page.get_by_text("is not valid")).to_be_visible()
