"""Connections that end: by a crash the page comes back by itself, sent away it says so."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from conftest import Daemon
from restarts import crash

from web.conftest import (
    BROKEN,
    REFUSED,
    Pages,
    call,
    ready,
    same_screen,
    shows,
    terminal_lines,
    until,
)


def test_a_killed_daemon_costs_the_page_nothing(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon()
    env = {"PROMPT_COMMAND": "PS1='ready> '"}
    daemon.rest("POST", "/sessions", {"name": "kept", "env": env, "keep": True})
    page = ready(pages("kept", daemon=daemon))
    call(daemon, "overlay", "kept", x=40, y=10, spans=[{"text": "before the crash"}])
    page.keyboard.type("n=41; echo before 'it'\n")
    shows(page, "before it")
    loaded = page.evaluate("performance.timeOrigin")
    crash(daemon)
    until(page, "() => !document.querySelector('.connection, .stage-note')")
    # A key pressed while nothing listens is lost, and said to be: the link must be back.
    expect(page.locator(".connection, .stage-note")).to_have_count(0)
    page.keyboard.type("echo $((n + 1)) after 'it'\n")
    shows(page, "42 after it")
    lines = same_screen(daemon, page, "kept")
    assert "before it" in lines
    assert page.evaluate("performance.timeOrigin") == loaded


def test_a_detach_sends_viewers_away_with_a_word_and_they_may_come_back(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("detached")
    first, second = ready(pages(name)), ready(pages(name))
    call(daemon, "manage", name, action="detach")
    for page in (first, second):
        expect(page.get_by_role("status").filter(has_text="somebody detached")).to_be_visible()
    before = terminal_lines(first)
    call(daemon, "input", name, input="echo un'seen'\r")
    first.get_by_role("button", name="Watch again").click()
    shows(first, "unseen")
    assert terminal_lines(second) == before
    first.keyboard.type("echo b'ack'\n")
    shows(first, "back")
    same_screen(daemon, first, name)


def test_a_session_that_is_not_there_is_said_to_be_missing(pages: Pages) -> None:
    page = pages()
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    page.evaluate("location.hash = '#/session/nowhere'")
    expect(page.get_by_role("heading", name="No session “nowhere”")).to_be_visible()
    page.get_by_role("link", name="All sessions", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("session", re.I)).first).to_be_visible()
