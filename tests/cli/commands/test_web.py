"""nacre web: an address that lets one browser in."""

import json
import re
import urllib.request
from pathlib import Path

import pytest

from nacre.client.calls import AnsweredError

from cli.conftest import Nacre


def log_in(url: str) -> str:
    """Give the code in an address for a key, as the page does."""
    base, _, code = url.partition("#code=")
    request = urllib.request.Request(
        f"{base}api/login", json.dumps({"code": code.partition("&")[0]}).encode()
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(json.load(answer)["key"])


def test_the_address_lets_a_browser_in(running: Nacre) -> None:
    [url] = running.ok("web").splitlines()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#code=[\w-]{32}", url)
    assert "." in log_in(url)
    page = running.json("web")
    assert set(page) == {"url", "expires_in"}


def test_the_address_leads_to_a_session(running: Nacre, echo: str) -> None:
    assert running.ok("web", echo).rstrip().endswith(f"&session={echo}")
    assert "no session 'nobody'" in running.fails("SESSION_NOT_FOUND", 3, "web", "nobody")


def test_web_starts_a_daemon_that_waits_for_the_browser(own_nacre: Nacre) -> None:
    done = own_nacre("web", NACRE_GRACE="0")
    assert (done.returncode, done.stderr) == (0, "")
    # No other client is there; without the wait for the browser it would be gone.
    assert log_in(done.stdout.strip())


def test_open_starts_the_browser_with_the_address(running: Nacre, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    [url] = running.ok("web", "--open", BROWSER=f"{browser} %s").splitlines()
    assert opened.read_text().strip() == url


def test_without_a_browser_open_says_so_after_the_address(running: Nacre) -> None:
    done = running("web", "--open", BROWSER="/bin/false %s", PATH="/nonexistent", DISPLAY="")
    assert done.returncode == 1
    assert done.stdout.startswith("http://127.0.0.1:")
    assert "open the address yourself" in done.stderr


def test_an_observer_may_not_open_the_page() -> None:
    """Whoever has the address drives every session: it needs the widest scope."""
    from nacre.core.catalog.caller import Scope
    from nacre.core.operations.all import CATALOG

    assert CATALOG["open_page"].scope is Scope.ADMIN


def test_the_code_is_good_once(running: Nacre) -> None:
    url = running.call("open_page")["url"]
    log_in(url)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        log_in(url)
    with pytest.raises(AnsweredError):
        running.call("open_page", session="nobody")
