"""WebSockets as tests speak them, and how a browser comes in."""

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from conftest import PATIENCE, Daemon
from nacre.core.terminal.terminal import Terminal

from doors.wire import http_call

Json = dict[str, Any]


def open_socket(
    daemon: Daemon,
    path: str,
    *,
    token: str | None = "",
    origin: Any = None,
    host: str = "127.0.0.1",
    port: int | None = None,
) -> ClientConnection:
    """Connect; `token` None sends none, "" the right one. Raises InvalidStatus when refused."""
    port = daemon.state["port"] if port is None else port
    headers = {} if token is None else {"Authorization": f"Bearer {token or daemon.token}"}
    return connect(
        f"ws://{host}:{port}{path}",
        sock=socket.create_connection(("127.0.0.1", port), timeout=PATIENCE),
        additional_headers=headers,
        origin=origin,
        proxy=None,
        compression=None,
        max_size=None,
        open_timeout=PATIENCE,
        ping_interval=None,
        close_timeout=0.1,  # a test that does not read gets no answer to its close
    ).__enter__()  # who has it closes it, by `with` or otherwise


def refusal(open_it: Callable[[], ClientConnection]) -> tuple[int, Json]:
    """Return the status and the error of a WebSocket that must be refused before it is one."""
    with pytest.raises(InvalidStatus) as refused:
        open_it().close()
    response = refused.value.response
    assert response.headers["content-type"] == "application/json"
    body = json.loads(bytes(response.body))
    assert set(body) == {"error"}
    return response.status_code, body["error"]


def receive(connection: ClientConnection) -> Any:
    """Return the next message: JSON of a text message, or the bytes of a binary one."""
    message = connection.recv(timeout=PATIENCE)
    return message if isinstance(message, bytes) else json.loads(message)


def closing(connection: ClientConnection) -> int | None:
    """Read to the end; return the code of the close."""
    try:
        while True:
            connection.recv(timeout=PATIENCE)
    except ConnectionClosed as closed:
        return None if closed.rcvd is None else closed.rcvd.code


def closed_for(connection: ClientConnection, message: str | list[str]) -> int | None:
    """Send what a socket is closed for, maybe before all of it is sent; return the code."""
    with suppress(ConnectionClosed):
        connection.send(message)
    return closing(connection)


def log_in(daemon: Daemon) -> str:
    """Return a page's key."""
    answer = http_call(daemon, "POST", "/api/login", {"code": daemon.page_code()}, token=None)
    assert answer.status == 200, answer
    return str(answer.json["key"])


def ticket(daemon: Daemon, token: str = "") -> str:
    return str(http_call(daemon, "POST", "/api/ticket", token=token).json["ticket"])


class JsonSocket:
    """/ws/json: answers by their id, events by their subscription."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.greeting = receive(connection)
        self._number = 0
        self._answers: dict[int, Json] = {}
        self._events: dict[int, list[Json]] = {}

    def __enter__(self) -> "JsonSocket":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def send(self, method: str, session: str | None = None, **params: Any) -> int:
        self._number += 1
        request: Json = {"id": self._number, "method": method, "params": params}
        if session is not None:
            request["session"] = session
        self.connection.send(json.dumps(request))
        return self._number

    def answer(self, number: int) -> Json:
        while number not in self._answers:
            self._take()
        return self._answers.pop(number)

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        """Call what must succeed; return its result."""
        answer = self.answer(self.send(method, session, **params))
        assert answer["method"] == method
        assert "error" not in answer, answer
        return answer["result"]

    def error(self, method: str, session: str | None = None, **params: Any) -> Json:
        """Call what must be refused; return the error."""
        answer = self.answer(self.send(method, session, **params))
        assert set(answer) == {"id", "method", "error"}
        assert answer["error"]["message"]
        error: Json = answer["error"]
        return error

    def subscribe(self, session: str | None, *events: str, **more: Any) -> int:
        return int(self.call("subscribe", session, events=list(events), **more)["subscription"])

    def event(self, subscription: int, *kinds: str) -> Json:
        """Return the next event of a subscription; of these kinds, if any are named."""
        while True:
            waiting = self._events.setdefault(subscription, [])
            while waiting:
                event = waiting.pop(0)
                if not kinds or event["event"] in kinds:
                    return event
            self._take()

    def waiting_events(self, subscription: int) -> int:
        """Return how many events of a subscription have come that nobody asked for yet."""
        return len(self._events[subscription])

    def until(self, session: str, text: str) -> None:
        found = self.call("wait_for", session, text=text, timeout_ms=int(PATIENCE * 1000))
        assert found["matched"]

    def until_line(self, session: str, line: str) -> None:
        """Wait until the screen shows a whole line, and the cursor stands below it.

        The kernel may hand over a line's end apart from the line: the screen changes once more.
        """
        while True:
            screen = self.call("get_screen", session, format="plain")
            if line in screen["lines"][: screen["cursor"]["row"]]:
                return
            seen = screen["generation"]
            self.call("await_quiesce", session, timeout_ms=0, last_generation=seen)

    def _take(self) -> None:
        message = receive(self.connection)
        if "subscription" in message:
            self._events.setdefault(message["subscription"], []).append(message)
        else:
            self._answers[message["id"]] = message


class Replay:
    """A terminal that is fed by /ws/raw, as a page feeds its own."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.terminal = Terminal()
        self.snapshots = 0
        self.size: tuple[int, int] | None = None
        self._announced: Json | None = None

    def take(self) -> Json | None:
        """Take a message; return it if it is a text message that is not about a snapshot."""
        message = receive(self.connection)
        if isinstance(message, bytes):
            if self._announced is not None:
                self._begin(self._announced)
            self._announced = None
            self.terminal.feed(message)
            return None
        assert self._announced is None, "something came between a snapshot and its bytes"
        if message["event"] == "snapshot":
            self._announced = message
            return None
        if message["event"] == "resized":
            self.size = (message["rows"], message["cols"])
        found: Json = message
        return found

    def _begin(self, snapshot: Json) -> None:
        self.snapshots += 1
        self.terminal.close()
        self.terminal = Terminal(snapshot["rows"], snapshot["cols"])
        if snapshot["alternate"]:
            self.terminal.feed(b"\x1b[?1049h")

    def until(self, text: str) -> None:
        while not any(text in line for line in self.terminal.plain_lines()):
            self.take()

    def sight(self) -> Json:
        seen = {
            "lines": self.terminal.styled_lines(),
            "cursor": self.terminal.cursor(),
            "rows": self.terminal.rows,
            "cols": self.terminal.cols,
        }
        as_on_the_wire: Json = json.loads(msgspec.json.encode(seen))
        return as_on_the_wire
