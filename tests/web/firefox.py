"""Debian's Firefox by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/).

Playwright drives only a Firefox of its own.

Rule: nothing sleeps. What is expected is awaited in the page, frame by frame.
"""

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from web.conftest import PATIENCE

FIREFOX = shutil.which("firefox-esr") or "/usr/bin/firefox-esr"

# It calls home in many ways: all but this machine is behind a proxy that is not there.
PREFERENCES: dict[str, object] = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1, localhost",
    "services.settings.server": "data:,none",
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False,
    "ui.prefersReducedMotion": 1,
}

_COMES = """async (patience) => {
    const end = performance.now() + patience;
    for (;;) {
        const found = await (EXPRESSION)();
        if (found) return JSON.stringify(found);
        if (performance.now() > end) return null;
        await new Promise(requestAnimationFrame);
    }
}"""


class Firefox:
    """One tab. Raises AssertionError when the browser refuses a command."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._last = 0
        self.faults: list[str] = []  # errors of scripts and of the console
        self._ask("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})
        self._ask("session.subscribe", events=["log.entryAdded"])
        (tab,) = self._ask("browsingContext.getTree")["contexts"]
        self._tab = tab["context"]

    def open(self, address: str) -> None:
        self._ask("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def size(self, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._tab, viewport=viewport)

    def until(self, expression: str) -> Any:
        """Return what a function of the page returns, once that is true."""
        answer = self._ask(
            "script.callFunction",
            functionDeclaration=_COMES.replace("EXPRESSION", expression),
            arguments=[{"type": "number", "value": PATIENCE}],
            target={"context": self._tab},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        assert answer["result"]["type"] == "string", f"not within {PATIENCE} ms: {expression}"
        return json.loads(answer["result"]["value"])

    def click(self, selector: str) -> None:
        """Click in the middle of what a selector finds, with the mouse."""
        place = self.until(
            f"""() => {{
                const box = document.querySelector({json.dumps(selector)})?.getBoundingClientRect();
                return box && [box.left + box.width / 2, box.top + box.height / 2].map(Math.round);
            }}"""
        )
        actions = [
            {"type": "pointerMove", "x": place[0], "y": place[1]},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": actions})

    def type(self, text: str) -> None:
        """Press the keys of a text; a newline is Enter (WebDriver, 17.4.2)."""
        keys = text.replace("\n", "\ue007")
        actions = [{"type": way, "value": key} for key in keys for way in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def picture(self, path: Path) -> None:
        answer = self._ask("browsingContext.captureScreenshot", context=self._tab)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _act(self, source: dict[str, Any]) -> None:
        self._ask("input.performActions", context=self._tab, actions=[source])

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE / 1000))
            if message.get("method") == "log.entryAdded":
                self._note(message["params"])
            if message.get("id") == self._last:
                assert message["type"] == "success", message
                result: dict[str, Any] = message["result"]
                return result

    def _note(self, entry: dict[str, Any]) -> None:
        if entry["level"] in ("error", "warn"):
            self.faults.append(entry["text"])


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A headless Firefox with a profile of its own, ended when the block is left."""
    profile.mkdir()
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines))
    command = [FIREFOX, "--headless", "--no-remote", "--profile", str(profile)]
    started = subprocess.Popen(
        [*command, "--remote-debugging-port=0", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with started as process, ThreadPoolExecutor(1) as reader:
        try:
            address = _address(process)
            assert process.stderr is not None
            reader.submit(process.stderr.read)  # what it says more must not hold it up
            with connect(f"{address}/session", max_size=None) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        if found := re.search(r"BiDi listening on (ws://\S+)", line):
            return found[1]
        said.append(line)
    raise AssertionError(f"Firefox did not start: {''.join(said)}")
