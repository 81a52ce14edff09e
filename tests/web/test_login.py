"""How a browser comes in, and how it goes."""

import re
import subprocess
import sys
from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import REFUSED, WIDE, Pages, page_address, ready


def log_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()


def test_the_token_is_asked_for_once_and_not_kept(daemon: Daemon, pages: Pages) -> None:
    context = pages.context()
    page = context.new_page()
    page.goto(daemon.url)
    token = daemon.person_token()
    log_in(page, token)
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    kept = page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    )
    assert token not in kept
    page.reload()
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    second = context.new_page()
    second.goto(daemon.url)
    expect(second.get_by_role("navigation", name="Sessions")).to_be_visible()


def test_a_wrong_token_is_refused_with_the_way_to_the_right_one(
    daemon: Daemon, pages: Pages
) -> None:
    pages.expected.append(REFUSED)
    page = pages.context().new_page()
    page.goto(daemon.url)
    log_in(page, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("nacre web")
    log_in(page, daemon.token)
    expect(page.get_by_role("alert")).to_contain_text("for programs")
    log_in(page, f" {daemon.person_token()}\n")
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()


def test_nacre_web_prints_an_address_that_logs_one_browser_in_once(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    pages.expected.append(REFUSED)
    name = new_session("once")
    line = [sys.executable, "-m", "nacre", "web", name]
    printed = subprocess.run(line, env=daemon.env, capture_output=True, text=True, timeout=60)
    found = re.search(r"http://\S+", printed.stdout)
    assert found is not None, printed
    first = pages.context().new_page()
    first.goto(found[0])
    ready(first)
    assert "code" not in first.url
    assert first.title() == "once · nacre"
    again = pages.context().new_page()
    again.goto(found[0])
    expect(again.get_by_role("alert")).to_contain_text("nacre web")
    expect(again.get_by_label("Token")).to_be_focused()


def test_who_logs_out_sees_nothing_more_and_comes_in_again(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    page = ready(pages(new_session("leaving"), viewport=WIDE))
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert page.evaluate("JSON.stringify({...localStorage})") == "{}"
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()
    assert "leaving" not in page.inner_text("body")
    log_in(page, daemon.person_token())
    ready(page)


def test_a_key_that_holds_no_more_leads_to_the_login(daemon: Daemon, pages: Pages) -> None:
    pages.expected.append(REFUSED)
    page = pages(viewport=WIDE)
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    page.evaluate("localStorage.setItem('nacre.key', 'p.forged')")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("no longer valid")
    # Into the same tab, as people paste it: only the address's fragment changes.
    page.goto(page_address(daemon))
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()


def test_who_has_a_shared_link_watches_one_session_and_types_nothing(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("shared")
    new_session("private")
    line = [sys.executable, "-m", "nacre", "share", name, "--ttl", "5m"]
    printed = subprocess.run(line, env=daemon.env, capture_output=True, text=True, timeout=60)
    page = pages.context().new_page()
    page.goto(printed.stdout.strip())
    expect(page.get_by_text("You are watching")).to_be_visible()
    ready(page)
    assert "token=" not in page.url, "it does not stay in the history"
    rows = page.get_by_role("navigation", name="Sessions").get_by_role("link")
    expect(rows).to_have_count(1)
    for gone in ("New", "Take over", "MCP servers"):
        expect(page.get_by_role("button", name=gone)).to_have_count(0)
    page.keyboard.type("echo typed by a watcher\n")
    daemon.as_person("send_input", session=name, input="echo the end\r")
    page.wait_for_function("() => window.nacre.text().includes('the end')")
    assert "typed by a watcher" not in "".join(page.evaluate("() => window.nacre.text()"))
    expect(page.get_by_role("alert")).to_have_count(0)
    # What the daemon refuses to a watcher is not offered, while the session lives and after.
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("menuitem", name="Full screen")).to_be_visible()
    expect(page.get_by_role("menuitem", name=re.compile("Paste|Rename|Kill"))).to_have_count(0)
    # The past of what they may see is shown to them, too; a film is not made for them.
    page.get_by_role("menuitem", name="Replay").click()
    expect(page.locator(".replay .xterm-rows")).to_contain_text("the end")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("menuitem")).to_have_text(["Recording (.cast)"])
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Back to the session").click()
    ready(page)
    daemon.as_person("send_input", session=name, input="exit 7\r")
    expect(page.get_by_text("The program exited with 7")).to_be_visible()
    expect(page.locator(".strip").locator("button, a")).to_have_text(["Replay"])
    expect(page.locator(".row-dismiss")).to_have_count(0)
