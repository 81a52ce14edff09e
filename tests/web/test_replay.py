"""The replay of a session that has ended."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import Pages, await_text, call, lines_of, ready, until

ROWS = """() => [...document.querySelectorAll(".replay .xterm-rows > div")]
    .map(row => row.innerText.replaceAll("\\u00a0", " ").trimEnd())"""


PLAY = re.compile("^(Play|Pause)$")


def shown(page: Page) -> list[str]:
    """The replay's rows as the browser draws them."""
    rows = page.evaluate(ROWS)
    assert isinstance(rows, list)
    return rows


def replay_shows(page: Page, text: str) -> None:
    until(page, f"text => ({ROWS})().some(row => row.includes(text))", text)


def end(daemon: Daemon, name: str) -> list[str]:
    """Let a session run and end; return its last screen."""
    await_text(daemon, name, "ready>")
    for command in ("echo first", "false", "printf '\\033[31mred 漢字\\033[0m\\n'"):
        call(daemon, "run", name, command=command)
    call(daemon, "resize", name, rows=20, cols=70)
    call(daemon, "run", name, command="stty size; echo third")
    call(daemon, "input", name, input="exit 7\r")
    ended = daemon.rest("POST", "/wait", {"session": name, "exit": True, "timeout_ms": 20_000})
    assert ended["matched"]
    return lines_of(daemon, name)


def test_an_ended_session_keeps_its_screen_and_is_replayed(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("replayed")
    last = end(daemon, name)
    page = pages(name)
    strip = page.get_by_text("The program exited with 7")
    expect(strip).to_be_visible()
    until(
        page,
        "lines => lines.every((line, at) => window.nacre.text()[at].trimEnd() === line)",
        last,
    )
    page.get_by_role("link", name="Replay", exact=True).click()
    page.get_by_label("Speed").select_option("16")
    expect(
        page.get_by_role("button", name="Play", exact=True)
    ).to_be_visible()  # it has come to its end
    until(page, f"lines => JSON.stringify(({ROWS})()) === JSON.stringify(lines)", last)
    page.get_by_role("link", name="Back to the session").click()
    expect(strip).to_be_visible()


def test_a_replay_is_moved_by_keys_markers_and_the_timeline(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("moved")
    last = end(daemon, name)
    page = pages()
    page.goto(f"{daemon.url}/#/replay/{name}")
    play = page.get_by_role("button", name=PLAY)
    expect(play).to_be_visible()
    # Tab passes the screen, where nothing can be typed.
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Tab")
    until(page, "() => document.activeElement.closest('.film, .player')")
    page.keyboard.press("ArrowRight")
    until(page, "() => document.activeElement.matches('.film-tile')")
    page.keyboard.press("Tab")
    expect(play).to_be_focused()  # the strip is one stop
    page.locator(".replay .xterm").click()
    page.keyboard.press("Tab")
    until(page, "() => document.activeElement.closest('.film, .player')")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("End")
    until(page, f"lines => JSON.stringify(({ROWS})()) === JSON.stringify(lines)", last)
    page.keyboard.press("Home")
    until(page, f"() => !({ROWS})().some(row => row.includes('third'))")
    assert len(shown(page)) == 24
    markers = page.locator(".marker")
    expect(markers).to_have_count(5)
    expect(page.locator(".marker[data-bad]")).to_have_count(1)  # false
    if play.get_attribute("aria-label") == "Pause":
        page.keyboard.press("Space")
        expect(play).to_have_attribute("aria-label", "Play")
        page.keyboard.press("Home")  # it may have come to its end meanwhile
    for text in ("first", "red 漢字"):
        for _ in range(2):  # to the command that prints it, and to the one after
            page.keyboard.press("]")
        replay_shows(page, text)
    box = page.get_by_role("slider").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2)
    replay_shows(page, "third")
    page.mouse.click(box["x"] + 1, box["y"] + box["height"] / 2)
    until(page, f"() => !({ROWS})().some(row => row.includes('third'))")


def test_a_living_session_is_replayed_up_to_now(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("living")
    page = ready(pages(name))
    page.keyboard.type("echo so 'far'\n")
    await_text(daemon, name, "so far\nready>")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Replay").click()
    expect(page.get_by_role("button", name=PLAY)).to_be_visible()
    page.keyboard.press("End")
    replay_shows(page, "so far")
