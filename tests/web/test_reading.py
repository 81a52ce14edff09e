"""Reading what was printed: looking back while more comes, and finding text."""

from collections.abc import Callable

from playwright.sync_api import expect

from conftest import Daemon

from web.conftest import Pages, call, ready, same_screen, shows, until


def test_who_looks_back_is_told_of_newer_output(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("back")
    page = ready(pages(name))
    call(daemon, "run", name, command="seq 100")
    same_screen(daemon, page, name)
    page.keyboard.press("Shift+PageUp")
    until(page, "() => nacre.term.buffer.active.viewportY < nacre.term.buffer.active.baseY")
    newer = page.get_by_role("button", name="Newer output below")
    expect(newer).to_have_count(0)
    call(daemon, "run", name, command="echo la'ter'")
    expect(newer).to_be_visible()
    newer.click()
    shows(page, "later")
    expect(newer).to_have_count(0)


def test_all_matches_are_counted_and_marked(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("sought")
    page = ready(pages(name))
    call(daemon, "run", name, command="printf 'pear %s\\n' 1 2 3; echo; echo e'nd'")
    shows(page, "end")
    page.keyboard.press("Control+Shift+F")
    field = page.get_by_label("Find in the terminal")
    count = page.locator(".search-count")
    field.fill("pear ")
    expect(count).to_have_text("4 of 4")  # the command line has it, too
    page.keyboard.press("Enter")
    expect(count).to_have_text("3 of 4")
    expect(page.locator(".xterm-decoration-top, .xterm-decoration").first).to_be_attached()
    pages.keep(page, "marked")
    field.fill("plum")
    expect(count).to_have_text("not found")
    field.fill("")
    expect(count).to_have_text("")
