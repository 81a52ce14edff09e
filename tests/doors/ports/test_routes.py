"""A session's own port: every route, who may come in, and when the port is there."""

import http.client
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE, Daemon
from nacre.errors import WIRE
from ranges import own_ports

from doors.ports.conftest import is_open
from doors.wire import Answer, Bridge, Doomed, daemon_pid

Json = dict[str, Any]

# Prints the signals that it gets; they are blocked, so that none is missed between two waits.
SIGNALS = """
import signal
signals = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
print("ready", flush=True)
while True:
    print("got", signal.sigwait(signals).name, flush=True)
"""


def call(
    daemon: Daemon,
    port: int,
    route: str,
    body: object = None,
    *,
    token: str | None = "",
    headers: dict[str, str] | None = None,
) -> Answer:
    """Send "METHOD /path" to a port; `token` None sends none, "" the right one."""
    method, _, path = route.partition(" ")
    sent = dict(headers or {})
    if token is not None:
        sent.setdefault("Authorization", f"Bearer {token or daemon.token}")
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        got = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, got, answer.read())


def ask(daemon: Daemon, port: int, route: str, body: object = None) -> Any:
    answer = call(daemon, port, route, body)
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == "application/json"
    return answer.json


def refusal(answer: Answer) -> str:
    error = answer.json["error"]
    assert set(answer.json) == {"error"}
    assert error["message"]
    assert answer.status == WIRE[error["code"]].http
    return str(error["code"])


def test_errors_name_the_ports_own_routes(daemon: Daemon) -> None:
    made = daemon.rest("POST", "/sessions", {"command": "exit 3"})
    daemon.rest("POST", "/wait", {"session": made["session_id"], "exit": True})
    dead = call(daemon, made["port"], "POST /run", b"ls").json["error"]
    assert "restart_session" not in str(dead)
    wrong = call(daemon, made["port"], "POST /resize", {"rows": 5}).json["error"]
    assert "POST /resize takes: rows, cols" in wrong["message"]
    unknown = call(daemon, daemon.state["port"], "POST /sessions/nobody/close").json["error"]
    assert unknown["message"].endswith("list them with GET /sessions")


class Stream:
    """The events of GET /stream, read as they come."""

    def __init__(self, daemon: Daemon, port: int, query: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._connection.request(
            "GET", f"/stream{query}", headers={"Authorization": f"Bearer {daemon.token}"}
        )
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        assert self._answer.headers["content-type"].startswith("text/event-stream")

    def next(self) -> tuple[str, Json] | None:
        """Return the next event's name and data; None at the end of the stream."""
        name = ""
        while line := self._answer.readline().decode():
            if line.startswith("event: "):
                name = line.removeprefix("event: ").strip()
            elif line.startswith("data: "):
                return name, json.loads(line.removeprefix("data: "))
        return None

    def until(self, text: str) -> Json:
        """Return the first output event that shows the text."""
        while event := self.next():
            assert event[0] == "output", event
            if text in event[1]["output"]:
                return event[1]
        raise AssertionError(f"the stream ended before it showed {text!r}")

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


def shows(daemon: Daemon, port: int, text: str) -> Json:
    """Return what /stream tells once the session shows the text."""
    with closing(Stream(daemon, port)) as stream:
        return stream.until(text)


@pytest.fixture
def make(daemon: Daemon) -> Iterator[Callable[..., int]]:
    """Make sessions and return their ports; they are killed afterwards."""
    made: list[str] = []

    def create(command: str, **more: object) -> int:
        created = daemon.rest("POST", "/sessions", {"command": command, **more})
        made.append(created["session_id"])
        return int(created["port"])

    yield create
    for session in made:
        daemon.rest("POST", f"/sessions/{session}/manage", {"action": "kill"})


@pytest.fixture
def echo(daemon: Daemon, make: Callable[..., int]) -> int:
    """The port of a session that prints each line it gets."""
    port = make("stty -echo; echo ready; exec cat")
    shows(daemon, port, "ready")
    return port


@pytest.fixture
def shell(daemon: Daemon) -> Iterator[int]:
    """The port of a bash at its prompt."""
    created = daemon.rest("POST", "/start", {"shell": "bash"})
    ask(daemon, created["port"], "POST /run", b"true")
    yield created["port"]
    daemon.rest("POST", f"/sessions/{created['session_id']}/close", {})


# --- reading -------------------------------------------------------------------------------


def test_home_names_the_session_and_its_routes(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make("cat", name="named")
    home = ask(daemon, port, "GET /")
    assert (home["session"], home["port"]) == ("named", port)
    routes = "GET /status|GET /out|GET /raw|GET /stream|POST /in|POST /key|POST /run"
    routes += "|POST /interrupt|POST /sigterm|POST /sigkill|POST /resize|POST /close"
    assert home["routes"] == routes.split("|")


def test_status_is_of_the_session_whose_port_it_is(
    daemon: Daemon, make: Callable[..., int]
) -> None:
    ports = [make("cat", name=name) for name in ("one", "two")]
    states = [ask(daemon, port, "GET /status") for port in ports]
    assert [state["name"] for state in states] == ["one", "two"]
    assert [state["port"] for state in states] == ports
    for state in states:
        assert state["alive"] is True
        assert state["run_locked"] is False
        assert {"session_id", "idle_seconds", "last_line"} <= set(state)


def test_out_gives_the_last_lines(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make("seq 1 200; exec cat")
    shows(daemon, port, "200")
    assert ask(daemon, port, "GET /out?lines=3")["output"] == "198\n199\n200"
    assert ask(daemon, port, "GET /out")["lines"] == 100
    assert refusal(call(daemon, port, "GET /out?lines=many")) == "INVALID_INPUT"
    assert refusal(call(daemon, port, "GET /out?nope=1")) == "INVALID_INPUT"


def test_raw_is_the_same_as_plain_text(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make("printf '\\033[31mred\\033[0m\\n'; exec cat")
    shows(daemon, port, "red")
    raw = call(daemon, port, "GET /raw?lines=5")
    assert raw.status == 200
    assert raw.headers["content-type"] == "text/plain; charset=utf-8"
    assert raw.body == b"red\n"


# --- driving -------------------------------------------------------------------------------


def test_input_is_the_body_and_enter_is_pressed_once(daemon: Daemon, echo: int) -> None:
    sent = ask(daemon, echo, "POST /in", b'{"json": "is text too"}')
    assert sent == {"status": "sent", "success": True, "generation": sent["generation"]}
    ask(daemon, echo, "POST /in", b"ended already\r\n")
    ask(daemon, echo, "POST /in?nonewline=1", "grün ".encode())
    ask(daemon, echo, "POST /in?nonewline=true", b"and ")
    ask(daemon, echo, "POST /in?nonewline=0", b"blue")
    shown = shows(daemon, echo, "blue")["output"]
    assert shown == 'ready\n{"json": "is text too"}\nended already\ngrün and blue'


def test_input_need_not_be_text(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make("stty -echo; echo ready; head -c 3 | od -An -tx1; exec cat")
    shows(daemon, port, "ready")
    ask(daemon, port, "POST /in", b"\xff\x80")
    shows(daemon, port, "ff 80 0a")


def test_key_is_named_in_json_or_is_the_body(daemon: Daemon, echo: int) -> None:
    for body in ({"key": "h"}, b"i", b"5", b"{", {"key": "enter"}):
        assert ask(daemon, echo, "POST /key", body)["alive"] is True
    shows(daemon, echo, "hi5{")
    assert refusal(call(daemon, echo, "POST /key", b"hyper+nope")) == "INVALID_INPUT"
    assert refusal(call(daemon, echo, "POST /key", {"nope": "h"})) == "INVALID_INPUT"
    assert refusal(call(daemon, echo, "POST /key", b"\xff")) == "INVALID_INPUT"
    assert refusal(call(daemon, echo, "POST /key")) == "INVALID_INPUT"


@pytest.mark.parametrize(
    "body", [b"echo $((6*7)); false", {"command": "echo $((6*7)); false", "timeout_ms": 30_000}]
)
def test_run_gives_output_and_exit_code(daemon: Daemon, shell: int, body: object) -> None:
    outcome = ask(daemon, shell, "POST /run", body)
    assert (outcome["output"], outcome["exit_code"]) == ("42", 1)
    assert outcome["status"] == "completed"


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("POST /run?timeout=0.01", b"sleep 1000"),
        ("POST /run", {"command": "sleep 1000", "timeout": 0.01}),
        ("POST /run?timeout=1000", {"command": "sleep 1000", "timeout_ms": 10}),
    ],
)
def test_run_takes_its_time_out_in_seconds_too(
    daemon: Daemon, shell: int, route: str, body: object
) -> None:
    assert ask(daemon, shell, route, body)["status"] == "timeout"


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("POST /run?timeout=soon", b"true"),
        ("POST /run?timeout=inf", b"true"),
        ("POST /run", {"command": "true", "timeout": -1}),
        ("POST /run", {"nope": "true"}),
        ("POST /run", {}),
        ("POST /run", None),
    ],
)
def test_run_refuses_what_it_cannot_read(
    daemon: Daemon, echo: int, route: str, body: object
) -> None:
    assert refusal(call(daemon, echo, route, body)) == "INVALID_INPUT"


def test_interrupt_is_ctrl_c(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make(sys.executable, args=["-c", SIGNALS])
    shows(daemon, port, "ready")
    assert ask(daemon, port, "POST /interrupt")["status"] == "interrupted"
    shows(daemon, port, "got SIGINT")


def test_signals_reach_the_foreground(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make(sys.executable, args=["-c", SIGNALS])
    shows(daemon, port, "ready")
    with closing(Stream(daemon, port)) as stream:
        assert ask(daemon, port, "POST /sigterm")["status"] == "sigterm_sent"
        stream.until("got SIGTERM")
        assert ask(daemon, port, "POST /sigkill")["status"] == "sigkill_sent"
        while (event := stream.next()) and event[0] == "output":
            pass
        assert event == ("exit", {"exit_code": None, "signal": "SIGKILL"})
    # It stays listed, so its port stays, for reading.
    assert "got SIGTERM" in ask(daemon, port, "GET /out")["output"]
    assert refusal(call(daemon, port, "POST /in", b"x")) == "SESSION_DEAD"


@pytest.mark.parametrize(
    ("route", "body"),
    [("POST /resize", {"rows": 7, "cols": 42}), ("POST /resize?rows=7&cols=42", None)],
)
def test_resize_takes_its_size_from_body_or_query(
    daemon: Daemon, make: Callable[..., int], route: str, body: object
) -> None:
    port = make("trap 'stty size' WINCH; echo ready; while :; do sleep 0.1; done")
    shows(daemon, port, "ready")
    assert ask(daemon, port, route, body) == {
        "status": "resized",
        "success": True,
        "rows": 7,
        "cols": 42,
    }
    shows(daemon, port, "7 42")
    assert refusal(call(daemon, port, "POST /resize", {"rows": 7})) == "INVALID_INPUT"


def test_close_answers_and_then_the_port_is_gone(daemon: Daemon) -> None:
    port = daemon.rest("POST", "/sessions", {"command": "cat"})["port"]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/close", headers={"Authorization": f"Bearer {daemon.token}"})
    answer = connection.getresponse()
    assert json.load(answer) == {"status": "closed"}
    assert answer.headers["connection"] == "close"
    assert not is_open(port)
    connection.close()


def test_routes_that_are_not_there_have_the_one_error_shape(daemon: Daemon, echo: int) -> None:
    unknown = call(daemon, echo, "GET /nope")
    assert refusal(unknown) == "UNKNOWN_OPERATION"
    assert "POST /interrupt" in unknown.json["error"]["message"]
    wrong = call(daemon, echo, "GET /run")
    assert (wrong.status, wrong.json["error"]["code"]) == (405, "UNKNOWN_OPERATION")
    # The daemon's own routes are not here: a port is one session.
    for route in ("GET /sessions", "GET /api/sessions", "POST /mcp", "GET /api/docs"):
        assert call(daemon, echo, route).status == 404


def test_too_long_a_body_is_refused(small_daemon: Daemon) -> None:
    port = small_daemon.rest("POST", "/sessions", {"command": "cat"})["port"]
    assert refusal(call(small_daemon, port, "POST /in", b"x" * 70_000)) == "INVALID_INPUT"
    # Other files use this daemon too, and find it empty.
    small_daemon.rest("POST", f"/sessions/{port}/close", {})


# --- who may come in -----------------------------------------------------------------------


@pytest.mark.parametrize("route", ["GET /", "GET /status", "GET /stream", "POST /in", "GET /nope"])
@pytest.mark.parametrize("token", [None, "wrong", "0" * 43])
def test_without_the_token_nothing_is_told(
    daemon: Daemon, echo: int, route: str, token: str | None
) -> None:
    answer = call(daemon, echo, route, token=token)
    assert (answer.status, answer.json["error"]["code"]) == (401, "FORBIDDEN")
    assert answer.headers["www-authenticate"] == 'Bearer realm="nacre"'


def test_token_in_the_address_is_none(daemon: Daemon, echo: int) -> None:
    assert call(daemon, echo, f"GET /out?token={daemon.token}", token=None).status == 401


def test_host_must_be_loopback_with_this_very_port(daemon: Daemon, echo: int) -> None:
    def status(host: str) -> int:
        return call(daemon, echo, "GET /out", headers={"Host": host}).status

    assert status(f"127.0.0.1:{echo}") == 200
    assert status(f"LocalHost:{echo}") == 200
    for host in (
        "127.0.0.1",
        f"127.0.0.1:{daemon.state['port']}",
        f"evil.example:{echo}",
        f"127.0.0.1:{echo}0",
        f"127.0.0.1.evil.example:{echo}",
    ):
        assert status(host) == 421, host


def test_origin_must_be_this_very_port_s(daemon: Daemon, echo: int) -> None:
    def status(origin: str) -> int:
        return call(daemon, echo, "GET /out", headers={"Origin": origin}).status

    assert status(f"http://127.0.0.1:{echo}") == 200
    for origin in (
        "null",
        "http://evil.example",
        f"https://127.0.0.1:{echo}",
        f"http://127.0.0.1:{daemon.state['port']}",
        f"http://http://127.0.0.1:{echo}",
    ):
        assert status(origin) == 403, origin


def test_daemon_s_own_port_still_knows_its_host_only(daemon: Daemon, echo: int) -> None:
    port = daemon.state["port"]
    assert call(daemon, port, "GET /api/status").status == 200
    other = call(daemon, port, "GET /api/status", headers={"Host": f"127.0.0.1:{echo}"})
    assert other.status == 421


# --- the port itself -----------------------------------------------------------------------


def test_taken_port_is_skipped(own_daemon: Callable[..., Daemon]) -> None:
    taken = own_ports() + 200
    with closing(socket.socket()) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", taken))
        other.listen()
        daemon = own_daemon(first_session_port=taken)
        ports = [daemon.rest("POST", "/sessions", {"command": "cat"})["port"] for _ in range(2)]
        assert taken < ports[0] < ports[1]
        for port in ports:
            assert ask(daemon, port, "GET /")["port"] == port


def test_freed_port_is_used_again_by_the_next_session(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon(first_session_port=own_ports() + 200)
    first = daemon.rest("POST", "/sessions", {"command": "cat", "name": "first"})
    kept = http.client.HTTPConnection("127.0.0.1", first["port"], timeout=60)
    kept.request("GET", "/", headers={"Authorization": f"Bearer {daemon.token}"})
    assert json.load(kept.getresponse())["session"] == "first"
    daemon.rest("POST", "/sessions/first/manage", {"action": "kill"})
    assert not is_open(first["port"])
    second = daemon.rest("POST", "/sessions", {"command": "cat", "name": "second"})
    assert second["port"] == first["port"]
    assert ask(daemon, second["port"], "GET /")["session"] == "second"
    # Who talked to the first does not find itself talking to the second.
    assert kept.sock is not None
    assert kept.sock.recv(1) == b""
    kept.close()


def test_restarted_session_keeps_its_port(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make("echo ready; exec cat")
    daemon.rest("POST", f"/sessions/{port}/restart", {})
    shows(daemon, port, "ready")


def test_many_sessions_leave_no_descriptor(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon(first_session_port=own_ports())
    pid = daemon.pid

    def cycle(count: int) -> None:
        made = [daemon.rest("POST", "/sessions", {"command": "cat"}) for _ in range(count)]
        for one in made:
            assert is_open(one["port"])
        for one in made:
            assert ask(daemon, one["port"], "GET /")["port"] == one["port"]
            daemon.rest("POST", f"/sessions/{one['session_id']}/manage", {"action": "kill"})
            assert not is_open(one["port"])

    cycle(1)
    before = len(os.listdir(f"/proc/{pid}/fd"))
    cycle(60)
    # Connections that were closed here may still be open there; each answer comes a turn later.
    deadline = time.monotonic() + PATIENCE
    while (left := len(os.listdir(f"/proc/{pid}/fd"))) > before + 2:
        assert time.monotonic() < deadline, f"{left} descriptors, {before} before"
        daemon.rest("GET", "/status")


# --- stream --------------------------------------------------------------------------------


def test_stream_tells_what_stands_there_what_comes_and_the_end(
    daemon: Daemon, make: Callable[..., int]
) -> None:
    port = make("stty -echo; echo ready; read x; echo got $x; exit 3")
    with closing(Stream(daemon, port, "?lines=10")) as stream:
        begun = stream.until("ready")
        ask(daemon, port, "POST /in", b"this")
        got = stream.until("got this")
        assert got["output"] == "ready\ngot this"
        assert got["generation"] > begun["generation"]
        while (event := stream.next()) and event[0] == "output":
            pass
        assert event == ("exit", {"exit_code": 3, "signal": None})
        assert stream.next() is None


def test_stream_of_an_ended_session_ends_at_once(daemon: Daemon, make: Callable[..., int]) -> None:
    port = make("echo bye")
    with closing(Stream(daemon, port)) as stream:
        stream.until("bye")
        while (event := stream.next()) and event[0] == "output":
            pass
        assert event == ("exit", {"exit_code": 0, "signal": None})
    with closing(Stream(daemon, port)) as again:
        assert again.next() is not None
        assert again.next() == event
        assert again.next() is None


def test_stream_ends_with_its_session_though_the_port_goes_to_another(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(first_session_port=own_ports() + 200)
    port = daemon.rest("POST", "/sessions", {"command": "cat", "name": "first"})["port"]
    with closing(Stream(daemon, port)) as stream:
        assert stream.next() is not None
        daemon.rest("POST", "/sessions/first/manage", {"action": "kill"})
        second = daemon.rest("POST", "/sessions", {"command": "echo second; exec cat"})
        assert second["port"] == port
        shows(daemon, port, "second")
        while (event := stream.next()) and event[0] == "output":
            assert "second" not in event[1]["output"]
        assert event == ("exit", {"exit_code": None, "signal": "SIGHUP"})
        assert stream.next() is None


def test_stream_refuses_what_it_cannot_read(daemon: Daemon, echo: int) -> None:
    assert refusal(call(daemon, echo, "GET /stream?lines=many")) == "INVALID_INPUT"


def test_flood_becomes_snapshots_and_the_last_one_is_whole(
    daemon: Daemon, make: Callable[..., int]
) -> None:
    port = make("read x; seq 1 100000; echo done; exec cat")
    with closing(Stream(daemon, port, "?lines=2")) as stream:
        ask(daemon, port, "POST /in", b"go")
        assert stream.until("done")["output"] == "100000\ndone"


def test_stream_is_given_up_when_its_client_goes(
    bridges: Callable[..., Bridge], home_env: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """An ephemeral daemon without grace ends with its last client: a stream left behind shows."""
    env = home_env(grace=0)
    bridge = bridges(env).handshake()
    port = bridge.call("create_session", command="echo ready; exec cat")["port"]
    daemon = Daemon(bridge.process, env, tmp_path)
    stream = Stream(daemon, port)
    stream.until("ready")
    doomed = Doomed([daemon_pid(env)])
    assert bridge.close() == 0
    # The stream's reader keeps the daemon.
    assert ask(daemon, port, "GET /")["port"] == port
    stream.close()
    assert doomed.survivors(PATIENCE) == []


def test_daemon_that_stops_ends_streams_and_frees_the_ports(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(first_session_port=own_ports() + 200)
    port = daemon.rest("POST", "/sessions", {"command": "cat"})["port"]
    with closing(Stream(daemon, port)) as stream:
        assert stream.next() is not None
        assert daemon.stop() == 0
        while (event := stream.next()) and event[0] == "output":
            pass
        assert event == ("exit", {"exit_code": None, "signal": "SIGHUP"})
    assert not is_open(port)
