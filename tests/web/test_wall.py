"""The wall: live pictures of all running sessions, from the daemon's own screens."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from conftest import Daemon

from web.conftest import Pages, call, ready
from web.test_axe import check

COLOURS = (
    "for c in 31 32 33 34 35 36; do "
    "printf '\\033[%sm colour %s \\033[7minverse\\033[0m\\n' $c $c; done\r"
)


def tile(page: Page, name: str) -> Locator:
    return page.locator(".tile").filter(has=page.get_by_role("link", name=name, exact=True))


def test_the_wall_shows_what_runs_and_opens_it(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    names = [new_session(f"wall-{number}") for number in range(4)]
    page = pages()
    expect(page.get_by_role("heading", name="Running")).to_be_visible()
    first = tile(page, names[0])
    expect(first.locator(".screenful")).to_contain_text("ready>")
    assert page.locator(".xterm").count() == 0
    call(daemon, "input", names[0], input=COLOURS)
    expect(first.locator(".screenful")).to_contain_text("colour 36")
    expect(first).to_have_attribute("data-attention", "done")
    call(daemon, "run", names[1], command="false")
    expect(tile(page, names[1]).locator(".tile-last")).to_contain_text("exit 1")
    call(daemon, "input", names[2], input="read -p 'Overwrite? [y/N] ' x\r")
    expect(tile(page, names[2])).to_have_attribute("data-attention", "blocked")
    expect(page.locator(".tile-name").first).to_have_text(names[2])  # who asks comes first
    call(daemon, "input", names[3], input="cat\r")
    driver = ready(pages(names[1]))
    driver.get_by_role("button", name="Take over").click()
    expect(tile(page, names[1]).locator(".tile-driver")).to_be_visible()
    check(page, "the wall")
    pages.keep(page, "wide")
    for name in names[:2]:
        page.get_by_role("button", name=f"{name} side by side").click()
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    expect(page.locator(".tile")).to_have_count(2)
    pages.keep(page, "beside")
    page.get_by_role("button", name="Add another").click()
    page.get_by_role("button", name=f"{names[2]} side by side").click()
    expect(page.locator(".tile")).to_have_count(3)
    page.get_by_role("button", name="Show all").click()
    expect(first).to_be_visible()
    first.locator(".screenful").click(force=True)
    expect(page.get_by_role("heading", name=names[0])).to_be_visible()
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
