"""A page that cannot keep up: it loses output, never the screen."""

from collections.abc import Callable

from playwright.sync_api import Page

from conftest import Daemon

from web.conftest import WIDE, Pages, await_text, call, details_of, ready, same_screen, shows

# The page does nothing else meanwhile, as one whose computer is busy; ms.
STALL = """ms => {
    const end = performance.now() + ms;
    while (performance.now() < end);
}"""


def flood(daemon: Daemon, page: Page, session: str) -> None:
    """Let the program print for as long as the page is stalled, twice."""
    page.keyboard.type("yes 'all work' 'and no play'\n")
    shows(page, "all work and no play")
    for _ in range(2):
        before = details_of(daemon, session)["generation"]
        page.evaluate(STALL, 500)
        assert details_of(daemon, session)["generation"] > before


def test_a_stalled_page_comes_back_to_the_daemons_screen(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("stalled")
    page = ready(pages(name))
    flood(daemon, page, name)
    page.keyboard.press("Control+c")
    await_text(daemon, name, "^C")
    call(daemon, "input", name, input="echo 'over'; seq 1 5\r")
    await_text(daemon, name, "5\nready>")
    lines = same_screen(daemon, page, name)
    assert "over" in lines
    page.keyboard.type("echo a'live'\n")
    shows(page, "alive")


def test_a_slow_computer_does_not_slow_the_other_viewer(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("slow")
    slow, quick = ready(pages(name, viewport=WIDE)), ready(pages(name))
    throttle = slow.context.new_cdp_session(slow)
    throttle.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    flood(daemon, quick, name)
    quick.keyboard.press("Control+c")
    await_text(daemon, name, "^C")
    quick.keyboard.type("echo q'uick'\n")
    shows(quick, "quick")
    same_screen(daemon, quick, name)
    throttle.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    same_screen(daemon, slow, name)
