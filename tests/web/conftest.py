"""A real browser at the page of a real daemon.

Rule 1: nothing sleeps; Playwright waits until what is expected is there.
Rule 2: whatever a test does, its pages may not fail in a script, break their own policy, or ask
anybody but the daemon for anything.
Rule 3: a picture of each page that a test had open is kept in the folder of artefacts, for people
to look at.
"""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from conftest import Daemon, start_daemon

ARTEFACTS = Path(os.environ.get("NACRE_ARTEFACTS", Path(__file__).parents[2] / "artefacts"))

PATIENCE = 60_000  # ms; bounds how long a test that fails takes

expect.set_options(timeout=PATIENCE)

WIDE: ViewportSize = {"width": 1280, "height": 800}

# Debian's Chromium; as root it has no sandbox of its own, and it is not to call anybody. Its
# headless shell is the same engine without a browser's own windows, which take half of the time.
CHROMIUM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PROMPT = "ready> "

# What a browser says when a request is refused or a daemon is gone; for tests that do just that.
REFUSED = r"Failed to load resource"
BROKEN = r"WebSocket connection to|net::ERR_CONNECTION|net::ERR_EMPTY_RESPONSE"
# What it says when a page leaves a session before its socket is open: no fault of anybody's.
LEFT_EARLY = r"WebSocket is closed before the connection is established"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all; no other test can run until it is closed, for its loop goes on."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all of these tests: each start costs as much as a page."""
    started = start_daemon(tmp_path_factory.mktemp("home"))
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="package")
def at_home(browser: Browser, daemon: Daemon) -> Iterator[BrowserContext]:
    """A browser that has the page's files and is logged in: most tests begin there."""
    context = browser.new_context(viewport=WIDE, color_scheme="dark")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(page_address(daemon))
    page.get_by_role("navigation", name="Sessions").wait_for()
    # It stays open, so that the next ones are tabs of its window: a window costs as much as a page.
    page.goto("about:blank")
    yield context
    context.close()


class Pages:
    """Opens pages that are logged in, and keeps a picture of each at the end."""

    def __init__(
        self, browser: Browser, at_home: BrowserContext, daemon: Daemon, test: str
    ) -> None:
        self._browser = browser
        self._at_home = at_home
        self._daemon = daemon
        self._test = test
        self._contexts: list[BrowserContext] = []
        self._pages: list[Page] = []
        self.expected = [LEFT_EARLY]  # patterns of what consoles may say in this test
        self._faults: list[str] = []

    def context(self, **options: Any) -> BrowserContext:
        """A browser of its own: nothing of it is shared with another."""
        options = {"viewport": WIDE, "color_scheme": "dark", **options}
        context = self._browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        context.on("page", self._listen)
        self._contexts.append(context)
        return context

    def __call__(
        self, session: str | None = None, *, daemon: Daemon | None = None, **options: Any
    ) -> Page:
        """Open the page, at a session; each is a person of its own.

        With options, or for another daemon, in a browser of its own.
        """
        if options or daemon:
            page = self.context(**options).new_page()
            page.goto(page_address(daemon or self._daemon, session))
            return page
        page = self._at_home.new_page()
        self._listen(page)
        page.goto(f"{self._daemon.url}/#/{f'session/{quote(session)}' if session else ''}")
        return page

    @property
    def faults(self) -> list[str]:
        return [
            fault
            for fault in self._faults
            if not any(re.search(pattern, fault) for pattern in self.expected)
        ]

    def _listen(self, page: Page) -> None:
        self._pages.append(page)
        page.on("pageerror", lambda error: self._faults.append(f"script: {error}"))
        page.on("console", self._hear)
        page.on("request", lambda request: self._check(page, request.url))
        page.on("websocket", lambda socket: self._check(page, socket.url))

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            self._faults.append(f"console: {said.text} {said.location['url']}")

    def _check(self, page: Page, url: str) -> None:
        asked, own = urlsplit(url), urlsplit(page.url)
        if asked.scheme in ("http", "https", "ws", "wss") and own.netloc not in ("", asked.netloc):
            self._faults.append(f"request beyond the daemon: {url} of {page.url}")

    def keep(self, page: Page, what: str) -> None:
        """Keep a picture of a moment; that of the end is kept anyway."""
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"{self._test}-{what}.png")

    def finish(self) -> None:
        ARTEFACTS.mkdir(exist_ok=True)
        left = [page for page in self._pages if not page.is_closed()]
        for number, page in enumerate(left):
            name = f"{self._test}{f'-{number + 1}' if number else ''}.png"
            page.screenshot(path=ARTEFACTS / name)
            page.close()
        for context in self._contexts:
            context.close()


def page_address(daemon: Daemon, session: str | None = None) -> str:
    """An address with a code that logs one browser in, as `nacre web` prints it."""
    url = daemon.as_person("open_page", session=session)["url"]
    assert isinstance(url, str)
    return url


@pytest.fixture
def pages(
    browser: Browser,
    at_home: BrowserContext,
    daemon: Daemon,
    new_session: Callable[..., str],
    own_daemon: Callable[..., Daemon],
    request: pytest.FixtureRequest,
) -> Iterator[Pages]:
    """Pages are closed before what they show goes: that is what their pictures are to show."""
    name = re.sub(r"\W+", "_", request.node.name.removeprefix("test_")).strip("_")
    opened = Pages(browser, at_home, daemon, name)
    yield opened
    opened.finish()
    assert opened.faults == []


@pytest.fixture
def new_session(daemon: Daemon) -> Iterator[Callable[..., str]]:
    """Make sessions by REST; they are killed at the end. Without a command it is a shell."""
    made: list[str] = []

    def make(name: str, **parameters: Any) -> str:
        if "command" not in parameters:
            parameters["env"] = {"PROMPT_COMMAND": f"PS1='{PROMPT}'"}
        created = daemon.rest("POST", "/sessions", {"name": name, **parameters})
        made.append(created["session_id"])
        return name

    yield make
    left = {one["session_id"] for one in daemon.rest("GET", "/sessions")["sessions"]}
    for identifier in made:
        if identifier in left:
            daemon.rest("POST", f"/sessions/{identifier}/manage", {"action": "kill"})


# --- the daemon's side -------------------------------------------------------------------------


def call(daemon: Daemon, operation: str, session: str, **parameters: Any) -> Any:
    """Call an operation as an agent would, by REST; `operation` is the route's last part."""
    return daemon.rest("POST", f"/sessions/{quote(session)}/{operation}", parameters)


def screen_of(daemon: Daemon, session: str, style: str = "plain") -> dict[str, Any]:
    screen = daemon.rest("GET", f"/sessions/{quote(session)}/screen?format={style}")
    assert isinstance(screen, dict)
    return screen


def lines_of(daemon: Daemon, session: str) -> list[str]:
    """The daemon's screen, as plain rows without blanks at their ends."""
    return [line.rstrip() for line in screen_of(daemon, session)["lines"]]


def details_of(daemon: Daemon, session: str) -> dict[str, Any]:
    details = daemon.rest("GET", f"/sessions?session={quote(session)}")
    assert isinstance(details, dict)
    return details


def await_text(daemon: Daemon, session: str, text: str) -> None:
    """Wait until the daemon's screen shows a text."""
    found = daemon.rest("POST", "/wait", {"session": session, "text": text, "timeout_ms": PATIENCE})
    assert found["matched"], found


# --- the page's side ---------------------------------------------------------------------------


_COMES = """([arg, patience]) => new Promise(done => {
    const end = performance.now() + patience;
    const look = () => {
        if ((EXPRESSION)(arg)) done(true);
        else if (performance.now() > end) done(false);
        else requestAnimationFrame(look);
    };
    look();
})"""


def comes(page: Page, expression: str, arg: object = None, patience: int = PATIENCE) -> bool:
    """Wait in the page until a function of it is true, looked at in each frame.

    Not wait_for_function: that evaluates a string within the page, which its policy forbids.
    """
    return bool(page.evaluate(_COMES.replace("EXPRESSION", expression), [arg, patience]))


def until(page: Page, expression: str, arg: object = None) -> None:
    came = comes(page, expression, arg)
    assert came, f"not within {PATIENCE} ms: {expression} of {arg!r}; {page.inner_text('body')}"


def shows(page: Page, text: str) -> None:
    """Wait until the page's terminal shows a text."""
    until(
        page,
        "text => window.nacre?.term && window.nacre.text().some(line => line.includes(text))",
        text,
    )


def at_keys(page: Page) -> Page:
    """Wait until the terminal has the keyboard; after a click the page gives it back to it."""
    until(page, "() => document.activeElement?.closest('.xterm')")
    return page


def ready(page: Page) -> Page:
    """Wait until the shell's prompt is there and the page has the keyboard."""
    shows(page, PROMPT.strip())
    return at_keys(page)


def terminal_lines(page: Page) -> list[str]:
    return [str(line).rstrip() for line in page.evaluate("window.nacre.text()")]


_SAME = """([lines, row, col]) => {
    const {term} = window.nacre ?? {};
    if (!term || term.rows !== lines.length) return false;
    const buffer = term.buffer.active;
    if (row !== null && (buffer.cursorY !== row || buffer.cursorX !== col)) return false;
    return window.nacre.text().every((line, at) => line.trimEnd() === lines[at]);
}"""


def same_screen(daemon: Daemon, page: Page, session: str) -> list[str]:
    """Wait until the page's terminal is exactly the daemon's: size, text and cursor.

    A program that goes on printing may change the one between two looks: both are looked at anew.
    """
    end = time.monotonic() + PATIENCE / 1000
    while True:
        screen = screen_of(daemon, session)
        lines = [line.rstrip() for line in screen["lines"]]
        cursor = screen["cursor"]
        place = [cursor["row"], cursor["col"]] if cursor["visible"] else [None, None]
        if comes(page, _SAME, [lines, *place], 500):
            return lines
        assert time.monotonic() < end, "\n".join([*lines, "--- page:", *terminal_lines(page)])


def cell_of(page: Page) -> dict[str, float]:
    """Where the terminal's first cell is, and how large cells are, in px."""
    found = page.evaluate(
        """() => {
            const {term} = window.nacre;
            const box = term.element.querySelector(".xterm-screen").getBoundingClientRect();
            const [width, height] = [box.width / term.cols, box.height / term.rows];
            return {x: box.x, y: box.y, width, height};
        }"""
    )
    assert isinstance(found, dict)
    return found


def middle(page: Page, row: int, col: int) -> tuple[float, float]:
    """The middle of a cell."""
    cell = cell_of(page)
    return cell["x"] + (col + 0.5) * cell["width"], cell["y"] + (row + 0.5) * cell["height"]
