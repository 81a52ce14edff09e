"""Pages of others: none reaches the terminals, even with a ticket in its hand."""

import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page

from conftest import Daemon

from doors.sockets import ticket
from web.conftest import Pages


class _Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><h1>Another page</h1>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """Another server's page on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def foreign(pages: Pages, elsewhere: str) -> Page:
    pages.expected.append(".*")  # all that it tries fails, and is meant to
    page = pages.context().new_page()
    page.goto(elsewhere)
    return page


def opens(page: Page, url: str) -> bool:
    """Whether a WebSocket comes about."""
    return bool(
        page.evaluate(
            """url => new Promise(done => {
                const socket = new WebSocket(url);
                socket.onopen = () => done(true);
                socket.onerror = () => done(false);
            })""",
            url,
        )
    )


def fetches(page: Page, url: str, options: Mapping[str, object]) -> Any:
    """The status and text of an answer, or None where the browser withholds it."""
    return page.evaluate(
        """([url, options]) => fetch(url, options)
            .then(async answer => [answer.status, await answer.text()], () => null)""",
        [url, options],
    )


def test_a_foreign_page_reads_nothing(daemon: Daemon, foreign: Page) -> None:
    bearer = {"Authorization": f"Bearer {daemon.token}"}
    for path in ("/", "/api/sessions", "/api/login"):
        assert fetches(foreign, daemon.url + path, {}) is None
        assert fetches(foreign, daemon.url + path, {"headers": bearer}) is None
    login = {"method": "POST", "body": f'{{"token": "{daemon.token}"}}'}
    assert fetches(foreign, f"{daemon.url}/api/login", login) is None


def test_a_foreign_page_opens_no_socket_even_with_a_ticket(daemon: Daemon, foreign: Page) -> None:
    base = daemon.url.replace("http", "ws")
    for path in ("/ws/json", "/ws/raw/any"):
        assert not opens(foreign, base + path)
        assert not opens(foreign, f"{base}{path}?ticket={ticket(daemon)}")


def test_a_foreign_page_frames_nothing(daemon: Daemon, foreign: Page) -> None:
    foreign.evaluate(
        """url => new Promise(done => {
            const frame = document.createElement("iframe");
            frame.onload = done;
            frame.src = url;
            document.body.append(frame);
        })""",
        daemon.url,
    )
    assert not any(frame.url.startswith(daemon.url) for frame in foreign.frames)


def test_the_own_page_gets_in_with_a_ticket_and_not_without(daemon: Daemon, pages: Pages) -> None:
    pages.expected.append("WebSocket connection to .*HTTP Authentication failed|status of 401")
    page = pages.context().new_page()
    page.goto(daemon.url)
    base = daemon.url.replace("http", "ws")
    assert not opens(page, f"{base}/ws/json")
    once = ticket(daemon)
    assert opens(page, f"{base}/ws/json?ticket={once}")
    assert not opens(page, f"{base}/ws/json?ticket={once}")
    status, _ = fetches(page, f"{daemon.url}/api/sessions", {})
    assert status == 401
