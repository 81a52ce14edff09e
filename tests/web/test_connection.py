"""Connections that end: by a crash the page comes back by itself, sent away it says so."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from conftest import Daemon
from restarts import crash, pid_of

from web.conftest import (
    BROKEN,
    REFUSED,
    Pages,
    at_keys,
    await_text,
    call,
    lines_of,
    ready,
    same_screen,
    shows,
    terminal_lines,
    until,
)
from web.test_appearance import PHONE


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
    page.keyboard.type("echo $((n + 1)) after 'it'\n")
    shows(page, "42 after it")
    lines = same_screen(daemon, page, "kept")
    assert "before it" in lines
    assert page.evaluate("performance.timeOrigin") == loaded


def test_a_daemon_that_does_not_come_back_is_said_to_be_gone_and_how_to_start_one(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon()
    page = pages(daemon=daemon)
    expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
    page.clock.install()
    assert daemon.stop() == 0
    expect(page.locator(".connection")).to_have_text("Reconnecting…")
    page.clock.fast_forward(10_000)
    expect(page.locator(".connection")).to_contain_text("does not answer. nacre web starts one")


def open_without_connection(page: Page, session: str) -> list[Route]:
    """Open a session whose socket waits; return what lets it go on."""
    held: list[Route] = []
    page.route("**/api/ticket", lambda route: held.append(route))
    with page.expect_request("**/api/ticket"):
        page.locator(".row", has_text=session).click()
    until(page, "() => document.activeElement?.closest('.xterm')")
    return held


def test_keys_typed_before_the_page_is_connected_arrive(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("ahead")
    await_text(daemon, name, "ready>")
    page = pages()
    held = open_without_connection(page, name)
    page.keyboard.type("echo typed 'ahead'\n")
    held[0].continue_()
    shows(page, "typed ahead")
    page.keyboard.type("echo and 'after'\n")
    shows(page, "and after")


def test_more_than_is_kept_is_not_sent_at_all_and_said_to_be_lost(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("toomuch")
    await_text(daemon, name, "ready>")
    page = pages()
    held = open_without_connection(page, name)
    page.keyboard.type("echo half 'of'")
    page.keyboard.insert_text("x" * 5000)
    expect(page.get_by_text("what you typed was not sent")).to_be_visible()
    held[0].continue_()
    ready(page)
    page.keyboard.type(" a line'\n")  # what follows belongs to the same line
    expect(page.get_by_role("alert")).to_have_count(0)
    page.keyboard.type("echo a 'whole' line\n")
    shows(page, "a whole line")
    assert not any("half" in line for line in terminal_lines(page))


@contextmanager
def stopped(daemon: Daemon) -> Iterator[int]:
    """A daemon that does nothing for a while, as if the network to it was gone."""
    pid = pid_of(daemon)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def kept_session(daemon: Daemon) -> str:
    env = {"PROMPT_COMMAND": "PS1='ready> '"}
    daemon.rest("POST", "/sessions", {"name": "kept", "env": env, "keep": True})
    return "kept"


def test_keys_sent_in_the_moment_of_a_daemons_death_are_typed_once(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon()
    page = ready(pages(kept_session(daemon), daemon=daemon))
    for number in range(3):
        page.keyboard.type("echo ha")
        shows(page, "echo ha")
        with stopped(daemon) as pid:
            page.keyboard.type(f"lf{number} 'and' half\n")
            os.kill(pid, signal.SIGKILL)
        shows(page, f"half{number} and half")
        page.keyboard.type("clear\n")
        until(page, "() => window.nacre.text().filter(line => line.trim()).length === 1")
    page.keyboard.type("echo $(history | grep -c 'and. half') lines\n")
    shows(page, "4 lines")  # three, and the one that counts


QUICK = {"viewer_beat": 0.1, "viewer_silence": 1.0}  # seconds


def test_a_page_that_hears_nothing_says_so_and_types_nothing_late(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon(**QUICK)
    name = kept_session(daemon)
    page = ready(pages(name, daemon=daemon))
    page.keyboard.type("echo ha")
    shows(page, "echo ha")
    said = page.get_by_role("alert")
    with stopped(daemon):
        page.keyboard.type("lf a 'late' line\n")
        expect(said).to_contain_text("Nothing is heard from the daemon")
        expect(said).to_contain_text("may not have arrived")
        expect(page.locator(".stage")).to_have_attribute("data-dim", "true")
        pages.keep(page, "silent")
        page.keyboard.type("echo 'into' the void")
    expect(said).to_contain_text("was not sent")
    expect(said).not_to_contain_text("Nothing is heard")
    pages.keep(page, "dropped")
    page.keyboard.type("; echo the 'rest' of it\n")  # its Enter is the end of what is dropped
    expect(said).to_have_count(0)
    # What had arrived of that line is gone, and the next one stands alone.
    until(page, "() => !window.nacre.text().some(line => line.includes('echo'))")
    page.keyboard.type("echo a line, 'seen'\n")
    shows(page, "a line, seen")
    assert not any(word in line for line in lines_of(daemon, name) for word in ("late", "void"))


def test_a_page_whose_keys_do_not_arrive_says_so_although_it_hears_the_daemon(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon(**QUICK)
    stuck = False

    def one_way(socket: WebSocketRoute) -> None:
        if stuck:  # what is said stays until the page is connected again
            socket.close()
            return
        daemons = socket.connect_to_server()
        socket.on_message(lambda message: None if stuck else daemons.send(message))

    page = pages(daemon=daemon, accept_downloads=False)
    name = kept_session(daemon)
    page.route_web_socket(re.compile("/ws/raw/"), one_way)
    page.locator(".row", has_text=name).click()
    ready(page)
    page.keyboard.type("echo ha")
    shows(page, "echo ha")
    said = page.get_by_role("alert")
    stuck = True
    page.keyboard.type("lf")
    expect(said).to_contain_text("does not reach the daemon")
    pages.keep(page, "stuck")
    stuck = False
    expect(said).not_to_contain_text("does not reach the daemon")
    page.keyboard.type(" rest\n")
    expect(said).to_have_count(0)
    page.keyboard.type("echo a 'whole' line\n")
    shows(page, "a whole line")
    assert not any("half" in row for row in lines_of(daemon, name))


def test_a_line_written_on_a_phone_stays_there_until_it_can_be_sent(
    pages: Pages, own_daemon: Callable[..., Daemon]
) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon(**QUICK)
    page = pages(kept_session(daemon), daemon=daemon, **PHONE)
    shows(page, "ready>")
    line, send = page.get_by_label("Type a line"), page.get_by_role("button", name="Send")
    said = page.get_by_role("alert")
    with stopped(daemon):
        line.fill("echo the 'first' line")
        send.tap()
        expect(said).to_contain_text("may not have arrived")
        expect(said).to_contain_text("Nothing is heard from the daemon")
        line.fill("echo the 'second' line")
        send.tap()
        expect(line).to_have_value("echo the 'second' line")
        pages.keep(page, "silent")
    expect(said).not_to_contain_text("Nothing is heard")
    pages.keep(page, "dropped")
    send.tap()  # a whole line, and no rest of the one that was dropped
    expect(said).to_have_count(0)
    expect(line).to_have_value("")
    shows(page, "the second line")
    assert not any("the first line" in row for row in terminal_lines(page))


def test_silence_alone_costs_nothing(pages: Pages, own_daemon: Callable[..., Daemon]) -> None:
    pages.expected += [BROKEN, REFUSED]
    daemon = own_daemon(**QUICK)
    page = ready(pages(kept_session(daemon), daemon=daemon))
    with stopped(daemon):
        expect(page.get_by_role("alert")).to_contain_text("Nothing is heard")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.keyboard.type("echo as 'before'\n")
    shows(page, "as before")


def test_a_session_killed_elsewhere_keeps_its_last_screen_for_who_watches(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("shot")
    page = ready(pages(name))
    page.keyboard.type("echo last 'words'\n")
    shows(page, "last words")
    call(daemon, "manage", name, action="kill")
    expect(page.get_by_role("status").filter(has_text="was killed")).to_be_visible()
    expect(page.locator(".bar .chip")).to_have_text("killed")
    expect(page.locator(".row", has_text=name)).to_have_count(0)
    assert "last words" in terminal_lines(page)
    page.get_by_role("link", name="Replay").click()
    expect(page.get_by_role("slider")).to_be_visible()
    page.get_by_role("link", name="Back to the session").click()
    shows(page, "last words")
    # Another one under its name is what the address names then.
    new_session(name)
    page.evaluate(f"location.hash = '#/session/{name}'")
    ready(page)
    expect(page.get_by_role("button", name="Take over")).to_be_visible()


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
    at_keys(first).keyboard.type("echo b'ack'\n")
    shows(first, "back")
    same_screen(daemon, first, name)


def test_a_session_that_is_not_there_is_said_to_be_missing(pages: Pages) -> None:
    page = pages()
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    page.evaluate("location.hash = '#/session/nowhere'")
    expect(page.get_by_role("heading", name="No session “nowhere”")).to_be_visible()
    page.get_by_role("link", name="All sessions", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("session", re.I)).first).to_be_visible()
