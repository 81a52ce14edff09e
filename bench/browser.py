"""How long from a key press in the browser to the screen: the page, in Debian's Chromium.

A key is pressed as a keyboard would press it. The page's own clock runs from the keydown event
until the terminal has the echo on its screen, until that is in the page's elements, and until the
browser has painted them. The floor is a bare WebSocket to such a session: no browser, no terminal,
no drawing. Keys come as a person types them: each after the one before is long done.
"""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from websockets.sync.client import connect

from nacre.client.calls import Client
from nacre.client.start import connect as reach
from nacre.settings.paths import find_paths

from scratch import measure, p50, p95, scratch_environment, table
from stdio_client import StdioClient

ROUNDS = 200
WARM_UP = 20
WANTED = 25.0  # ms at p50, to the screen
FIRST = 500.0  # ms to the first paint
INTERRUPTED = 300.0  # ms from Ctrl+C under a flood until it is shown
FLOODED = 1500  # ms that the flood lasts before
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

# Runs in the page. Each key is timed by events alone: keydown, the terminal's write, a frame.
MEASURE = """() => {
    const {term} = window.nacre;
    const times = window.times = [];
    const place = () => [term.buffer.active.cursorY, term.buffer.active.cursorX].join();
    let pressed = null;
    let taken = null;
    let before = "";
    addEventListener("keydown", () => {
        pressed = performance.now();
        taken = null;
        before = place();
    }, true);
    term.onWriteParsed(() => {
        if (pressed === null || taken !== null || place() === before) return;
        taken = performance.now() - pressed;
    });
    term.onRender(() => {
        if (taken === null) return;
        const one = [taken, performance.now() - pressed];
        const since = pressed;
        pressed = taken = null;
        // It is drawn within a frame's callbacks; the browser paints after them, then comes this.
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
            times.push([...one, performance.now() - since]);
            window.timed?.();
        };
        channel.port2.postMessage(null);
    });
}"""

NEXT = """count => new Promise(done => {
    window.timed = () => times.length >= count && done();
    window.timed();
})"""

SHOWN = """() => new Promise(done => {
    const look = () => window.nacre?.term && document.activeElement?.closest(".xterm")
        && window.nacre.text()[0].startsWith("go") ? done() : requestAnimationFrame(look);
    look();
})"""


def rest_of(client: StdioClient, session: str) -> Callable[[], object]:
    """Wait until nothing of the last key is under way: viewers are told once a frame."""
    return lambda: client.call("await_quiesce", session=session, timeout_ms=40)


def bare_socket(base: str, token: str, session: str, pause: Callable[[], object]) -> list[float]:
    """Type over /ws/raw and wait for the echo's bytes."""
    port = int(base.rpartition(":")[2])
    raw = socket.create_connection(("127.0.0.1", port))
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    headers = {"Authorization": f"Bearer {token}"}
    with connect(
        f"ws://127.0.0.1:{port}/ws/raw/{session}",
        sock=raw,
        additional_headers=headers,
        compression=None,
        proxy=None,
    ) as viewer:
        while not isinstance(viewer.recv(), bytes):
            pass

        def once() -> None:
            viewer.send(b"x")
            while not isinstance(viewer.recv(), bytes):
                pass

        times = []
        for _ in range(ROUNDS + WARM_UP):
            pause()
            times += measure(once, 1)
        return times[WARM_UP:]


def in_page(page: Page, pause: Callable[[], object]) -> list[list[float]]:
    """Return the times to the terminal's screen, to the page's elements, and to the paint."""
    page.evaluate(SHOWN)
    page.evaluate(MEASURE)
    for number in range(ROUNDS + WARM_UP):
        pause()
        page.keyboard.press("x")
        page.evaluate(NEXT, number + 1)
    return [list(kind) for kind in zip(*page.evaluate("times")[WARM_UP:], strict=True)]


FLOOD = """() => new Promise(done => {
    let pressed = null;
    addEventListener("keydown", event => {
        if (event.key === "c" && event.ctrlKey) pressed = performance.now();
    }, true);
    window.flooded = new Promise(end => {
        const look = () => {
            if (pressed !== null && window.nacre.text().some(line => line.includes("^C")))
                end(performance.now() - pressed);
            else requestAnimationFrame(look);
        };
        look();
    });
    done();
})"""


def after_flood(page: Page, address: str) -> float:
    """Return how many ms after Ctrl+C under `yes` the screen shows it."""
    page.goto("about:blank")
    page.goto(address)
    page.evaluate(
        "() => new Promise(done => { const look = () => window.nacre?.term"
        " && document.activeElement?.closest('.xterm') && window.nacre.text()[0].includes('$')"
        " ? done() : requestAnimationFrame(look); look(); })"
    )
    page.keyboard.type("yes all work and no play\n")
    page.wait_for_timeout(FLOODED)
    page.evaluate(FLOOD)
    page.keyboard.press("Control+c")
    return float(page.evaluate("flooded"))


PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> int:
    with scratch_environment() as env, StdioClient(env) as client:
        for name in ("bare", "page"):
            client.call(
                "create_session", name=name, command="echo go; stty -icanon; exec cat >/dev/null"
            )
        paths = find_paths(env)
        state = json.loads(Path(paths.state_file).read_text())
        token = Path(paths.token_file).read_text().strip()
        base = f"http://127.0.0.1:{state['port']}"
        floor = bare_socket(base, token, "bare", rest_of(client, "bare"))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            with Client(reach(paths)) as person:  # a program with the token gets no such address
                page.goto(person.call("open_page", session="page")["url"])
            taken, shown, painted = in_page(page, rest_of(client, "page"))
            first = float(page.evaluate(PAINTED))
            client.call("create_session", name="flood", command="PS1='$ ' exec sh")
            floods = []
            for _ in range(5):
                with Client(reach(paths)) as person:
                    floods.append(
                        after_flood(page, person.call("open_page", session="flood")["url"])
                    )
                client.call("send_input", session="flood", input="clear\r")
            browser.close()
    rows: list[tuple[object, ...]] = [("", "p50 ms", "p95 ms", "above the floor ms")]
    for name, times in {
        "bare WebSocket: key to echo (floor)": floor,
        "page: keydown to the terminal's screen": taken,
        "page: keydown to the page's elements": shown,
        "page: keydown to the paint": painted,
    }.items():
        rows.append((name, p50(times), p95(times), p50(times) - p50(floor)))
    table(*rows)
    print(
        f"first paint {first:.0f} ms, Ctrl+C under yes {p50(floods):.0f} ms "
        f"(worst {max(floods):.0f})"
    )
    met = p50(shown) < WANTED and first < FIRST and p50(floods) < INTERRUPTED
    print(
        f"wanted: shown within {WANTED:.0f} ms at p50, first paint within {FIRST:.0f}, "
        f"Ctrl+C within {INTERRUPTED:.0f}; {'met' if met else 'NOT MET'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
