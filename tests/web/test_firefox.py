"""The page in Firefox: a short walk through it. All else is tested in Chromium."""

from collections.abc import Callable
from pathlib import Path

from conftest import Daemon

from web.conftest import ARTEFACTS, await_text, page_address
from web.firefox import firefox

ROWS = """[...document.querySelectorAll(".xterm-rows > div")]
    .map(row => row.textContent.replaceAll("\\u00a0", " "))"""


def test_firefox_shows_the_wall_types_and_replays(
    daemon: Daemon, new_session: Callable[..., str], tmp_path: Path
) -> None:
    name = new_session("fox")
    await_text(daemon, name, "ready>")
    ARTEFACTS.mkdir(exist_ok=True)
    with firefox(tmp_path / "profile") as page:
        page.size(1500, 900)
        page.open(page_address(daemon))  # its code logs in
        tile = f".tile a[href='#/session/{name}']"
        page.until(f"() => document.querySelector({tile!r})")
        page.until("() => document.querySelector('.wall')?.textContent.includes('ready>')")
        page.picture(ARTEFACTS / "firefox-wall.png")

        page.click(tile)
        page.until(f"() => {ROWS}.some(row => row.includes('ready>'))")
        page.until("() => document.activeElement?.closest('.xterm')")
        page.type("echo $((40 + 2)) from firefox\n")
        page.until(f"() => {ROWS}.some(row => row.trimEnd() === '42 from firefox')")
        await_text(daemon, name, "42 from firefox")
        page.until("() => document.querySelector('.act')?.textContent.includes('on the page')")
        page.picture(ARTEFACTS / "firefox-session.png")

        page.open(f"{daemon.url}/#/replay/{name}")
        page.until("() => document.querySelectorAll('.film-tile').length > 5")
        page.until(f"() => {ROWS}.some(row => row.trimEnd() === '42 from firefox')")
        page.picture(ARTEFACTS / "firefox-replay.png")
        assert page.faults == []
