"""The column of commands beside a session, and as the chapters of its replay."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import Pages, at_keys, call, ready, until
from web.test_appearance import PHONE
from web.test_replay import replay_shows

ROOMY = {"width": 1600, "height": 900}

# Click, let the page draw itself and nothing else, and tell the label of what has the focus.
AT_ONCE = """async button => {
    button.click();
    for (let turn = 0; turn < 10; turn += 1) await null;
    return document.activeElement.ariaLabel;
}"""


def acts(page: Page) -> list[str]:
    """The commands of the column, as they are listed."""
    return page.locator(".act-command").all_inner_texts()


def top_rows(page: Page) -> str:
    """What the terminal shows now, also when it is scrolled back."""
    text = page.evaluate(
        """() => {
            const {term} = window.nacre, buffer = term.buffer.active;
            return Array.from({length: term.rows}, (_, row) =>
                buffer.getLine(buffer.viewportY + row)?.translateToString(true)).join("\\n");
        }"""
    )
    return str(text)


def test_commands_are_listed_with_who_ran_them_and_lead_to_their_place(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("active")
    call(daemon, "run", name, command="echo by an agent; false")
    call(daemon, "run", name, command="seq 1 300")
    page = ready(pages(name, viewport=ROOMY, permissions=["clipboard-read", "clipboard-write"]))
    column = page.get_by_role("region", name="Activity")
    expect(column.get_by_role("listitem")).to_have_count(2)
    page.keyboard.type("echo by hand\n")
    expect(column.get_by_role("listitem")).to_have_count(3)  # told by an event
    first, _, third = column.get_by_role("listitem").all()
    expect(first).to_contain_text("exit 1")
    expect(third).to_contain_text("a person, on the page")
    expect(third).to_contain_text("ok")
    page.keyboard.type("read -r line\n")
    running = column.get_by_role("listitem").nth(3)
    expect(running).to_contain_text("running")
    page.keyboard.type("x\n")
    expect(running).to_contain_text("ok")

    assert "echo by an agent; false" not in top_rows(page)
    first.get_by_role("button").first.click()
    until(page, "() => window.nacre.term.buffer.active.viewportY === 0")
    assert "echo by an agent; false" in top_rows(page)
    first.hover()
    first.get_by_role("button", name="Copy the output of echo by an agent; false").click()
    expect(page.get_by_text("Copied 1 line.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "by an agent"

    page.reload()
    ready(page)
    expect(column.get_by_role("listitem")).to_have_count(4)
    page.keyboard.press("Control+Shift+Y")
    expect(column).to_have_count(0)
    page.keyboard.press("Control+Shift+Y")
    expect(column.get_by_role("button", name="read -r line").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(column.get_by_role("button", name="echo by hand").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(column.get_by_role("button", name="Copy the output of echo by hand")).to_be_focused()
    page.keyboard.press("Escape")
    expect(column).to_have_count(0)
    until(page, "() => document.activeElement?.closest('.xterm')")


def test_without_room_beside_the_screen_the_commands_are_a_drawer(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("cramped")
    call(daemon, "run", name, command="echo one")
    page = ready(pages(name, viewport={"width": 1000, "height": 760}))
    width = "document.querySelector('.stage').clientWidth"
    before = page.evaluate(width)
    page.get_by_role("button", name="Activity", exact=True).click()
    expect(page.get_by_role("dialog", name="Activity").get_by_role("listitem")).to_have_count(1)
    assert page.evaluate(width) == before
    page.keyboard.press("Escape")
    at_keys(page)


def test_on_a_phone_the_commands_are_a_drawer(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("drawn-out")
    for number in range(3):
        call(daemon, "run", name, command=f"echo number {number}; seq 1 60")
    page = pages(name, **PHONE)
    page.get_by_role("button", name="Activity").click()
    drawer = page.get_by_role("dialog", name="Activity")
    expect(drawer.get_by_role("listitem")).to_have_count(3)
    for button in drawer.get_by_role("button").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    pages.keep(page, "open")
    drawer.get_by_role("button", name="echo number 0").first.click()
    expect(drawer).to_have_count(0)
    until(page, "() => window.nacre.term.buffer.active.viewportY === 0")


def test_commands_are_the_chapters_of_a_replay_and_text_is_found_in_it(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("chapters")
    for word in ("alpha", "beta", "gamma"):
        call(daemon, "run", name, command=f"echo the word is {word}; sleep 0.3")
    page = pages(viewport=ROOMY)
    page.goto(f"{daemon.url}/#/replay/{name}")
    chapters = page.get_by_role("region", name="Chapters")
    expect(chapters.get_by_role("listitem")).to_have_count(3)
    chapters.get_by_role("button", name="echo the word is beta").first.click()
    expect(chapters.locator("[aria-current]")).to_contain_text("beta")

    # The next key is meant for it: it has the focus before there is time for one.
    find = page.get_by_role("button", name="Find in the recording")
    assert find.evaluate(AT_ONCE) == "Find in the recording"
    page.keyboard.type("word is alpha")
    expect(page.locator(".search-count")).to_have_text(
        re.compile(r"\d of \d(, \d matches)? · 0:0\d$")
    )
    replay_shows(page, "the word is alpha")
    pages.keep(page, "found")
    page.get_by_label("Find in the recording").last.fill("never shown")
    expect(page.locator(".search-count")).to_have_text("not found")
    page.keyboard.press("Escape")
    expect(page.locator(".search-bar")).to_have_count(0)

    for kind, magic in (("cast", b'{"version":3'), ("gif", b"GIF89a"), ("svg", b"<svg ")):
        page.get_by_role("button", name="Save", exact=True).click()
        with page.expect_download() as saved:
            page.get_by_role("menuitem", name=f"(.{kind})").click()
        assert saved.value.suggested_filename == f"{name}.{kind}"
        assert saved.value.path().read_bytes().startswith(magic)
