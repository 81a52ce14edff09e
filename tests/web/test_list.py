"""The list of sessions, live; and what is done to sessions from the page."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from conftest import Daemon

from web.conftest import (
    Pages,
    at_keys,
    await_text,
    call,
    details_of,
    ready,
    shows,
    terminal_lines,
    until,
)


def row(page: Page, name: str) -> Locator:
    exactly = page.locator(".row-name", has_text=re.compile(f"^{name}$"))
    return page.locator(".row").filter(has=exactly)


def test_the_list_follows_what_happens_elsewhere(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    page = pages()
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    expect(row(page, "made")).to_have_count(0)
    name = new_session("made")
    expect(row(page, "made")).to_be_visible()
    expect(row(page, "made")).to_contain_text("at its prompt")
    call(daemon, "input", name, input="read -p 'go on? ' x\r")
    expect(row(page, "made")).to_contain_text("go on?")
    expect(row(page, "made")).to_have_attribute("data-state", "needs_input")
    expect(row(page, "made")).to_contain_text(re.compile("asks|waits"))
    pages.keep(page, "asks")
    call(daemon, "input", name, input="y\r")
    expect(row(page, "made")).to_contain_text("done")  # and nobody has looked
    call(daemon, "manage", name, action="rename", new_name="renamed")
    expect(row(page, "renamed")).to_be_visible()
    expect(row(page, "made")).to_have_count(0)
    call(daemon, "input", "renamed", input="exit 3\r")
    expect(row(page, "renamed")).to_contain_text("exited with 3")
    expect(page.get_by_role("heading", name="Ended")).to_be_visible()
    pages.keep(page, "ended")
    call(daemon, "manage", "renamed", action="kill")
    expect(row(page, "renamed")).to_have_count(0)


def test_a_session_that_is_renamed_while_open_stays_open(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("before")
    page = ready(pages(name))
    call(daemon, "manage", name, action="rename", new_name="after")
    expect(page.get_by_role("heading", name="after")).to_be_visible()
    page.wait_for_url("**/#/session/after")
    page.keyboard.type("echo still 'here'\n")
    shows(page, "still here")


def test_a_session_is_made_renamed_and_killed_from_the_page(daemon: Daemon, pages: Pages) -> None:
    page = pages()
    page.get_by_role("button", name="New", exact=True).click()
    dialog = page.get_by_role("dialog", name="New session")
    dialog.get_by_label("Name").fill("from-page")
    dialog.get_by_label("Command").fill("echo made here; exec cat")
    dialog.get_by_label("Folder").fill("/")
    pages.keep(page, "dialog")
    dialog.get_by_role("button", name="Open").click()
    shows(page, "made here")
    assert details_of(daemon, "from-page")["cwd"] == "/"
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Rename…").click()
    page.get_by_label("New name").fill("from-browser")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="from-browser")).to_be_visible()
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Kill…").click()
    sure = page.get_by_role("dialog", name="Kill from-browser?")
    sure.get_by_role("button", name="Cancel").click()
    assert details_of(daemon, "from-browser")["running"]
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Kill…").click()
    sure.get_by_role("button", name="Kill").click()
    expect(row(page, "from-browser")).to_have_count(0)
    names = [one["name"] for one in daemon.rest("GET", "/sessions")["sessions"]]
    assert "from-browser" not in names
    page.wait_for_url("**/#/")


def test_a_new_session_that_is_refused_can_be_corrected(daemon: Daemon, pages: Pages) -> None:
    page = pages()
    page.get_by_role("button", name="New", exact=True).click()
    dialog = page.get_by_role("dialog", name="New session")
    dialog.get_by_label("Name").fill("no name")
    dialog.get_by_label("Command").fill("echo come; exec cat")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("cannot be a session's name")
    pages.keep(page, "refused")
    dialog.get_by_label("Name").fill("corrected")
    page.keyboard.press("Enter")
    shows(page, "come")
    expect(dialog).to_have_count(0)
    until(page, "() => document.activeElement?.closest('.xterm')")
    call(daemon, "manage", "corrected", action="kill")


def test_a_new_name_that_is_refused_can_be_corrected(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    new_session("taken")
    name = new_session("misnamed")
    page = ready(pages(name))
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Rename…").click()
    dialog = page.get_by_role("dialog", name="Rename misnamed")
    for wrong, reason in (("taken", "'taken'"), ("no name", "cannot be a session's name")):
        dialog.get_by_label("New name").fill(wrong)
        page.keyboard.press("Enter")
        expect(dialog.get_by_role("alert")).to_contain_text(reason)
        expect(dialog.get_by_label("New name")).to_have_value(wrong)
    pages.keep(page, "refused-name")
    dialog.get_by_label("New name").fill("well-named")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="well-named")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_ended_starts_again_and_is_dismissed(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("again", command="echo run $$; read x")
    page = pages(name)
    shows(page, f"run {details_of(daemon, name)['pid']}")
    before = terminal_lines(page)[0]
    at_keys(page).keyboard.press("Enter")
    page.get_by_role("button", name="Start again").click()
    until(page, "before => !window.nacre.text()[0].endsWith(before)", before)
    shows(page, f"run {details_of(daemon, name)['pid']}")
    at_keys(page).keyboard.press("Enter")
    page.get_by_role("button", name="Dismiss", exact=True).click()
    expect(row(page, name)).to_have_count(0)


def test_the_list_is_filtered(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    new_session("apple")
    new_session("pear", command="echo juice; exec cat")
    await_text(daemon, "pear", "juice")
    page = pages()
    expect(row(page, "pear")).to_be_visible()
    page.get_by_label("Filter sessions").fill("juice")
    expect(row(page, "apple")).to_have_count(0)
    expect(row(page, "pear")).to_be_visible()
    page.get_by_label("Filter sessions").fill("nothing such")
    expect(page.get_by_text("Nothing matches")).to_be_visible()


def test_who_has_no_sessions_is_told_how_to_begin(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    page = pages(daemon=own_daemon())
    expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
    expect(page.get_by_text('"mcpServers"')).to_be_visible()


def test_the_open_session_is_in_sight_in_a_long_list(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    names = [new_session(f"many-{number}", command="cat") for number in range(10)]
    page = pages(names[0], viewport={"width": 1280, "height": 500})
    expect(row(page, names[0])).to_be_in_viewport(ratio=0.9)
    expect(row(page, names[9])).not_to_be_in_viewport()
    page.evaluate(f"location.hash = '#/session/{names[9]}'")
    expect(row(page, names[9])).to_be_in_viewport(ratio=0.9)
