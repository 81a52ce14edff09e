"""SILC's routes on the daemon's port."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from conftest import PATIENCE, Daemon
from nacre.errors import WIRE
from ranges import own_ports

from doors.ports.conftest import is_open
from doors.wire import Answer, Doomed, http_call


def ask(daemon: Daemon, method: str, path: str, body: object = None) -> Any:
    answer = http_call(daemon, method, path, body)
    assert answer.status == 200, answer
    return answer.json


def refusal(answer: Answer) -> str:
    error = answer.json["error"]
    assert answer.status == WIRE[error["code"]].http
    return str(error["code"])


@pytest.fixture
def empty(daemon: Daemon) -> Iterator[Daemon]:
    """A daemon whose sessions are killed afterwards."""
    yield daemon
    for session in ask(daemon, "GET", "/sessions"):
        ask(daemon, "POST", f"/sessions/{session['port']}/kill")


def test_session_is_made_and_listed_in_a_bare_array(empty: Daemon) -> None:
    assert ask(empty, "GET", "/sessions") == []
    made = ask(empty, "POST", "/sessions", {"shell": "bash", "cwd": "/usr", "name": "dev"})
    assert set(made) == {"port", "session_id", "shell", "name"}
    assert (made["shell"], made["name"]) == ("bash", "dev")
    (listed,) = ask(empty, "GET", "/sessions")
    assert {key: listed[key] for key in made} == made
    assert (listed["alive"], listed["cwd"]) == (True, "/usr")
    assert isinstance(listed["idle_seconds"], int)


def test_session_needs_no_body(empty: Daemon) -> None:
    made = ask(empty, "POST", "/sessions")
    assert is_open(made["port"])


def test_asked_for_port_is_the_session_s(empty: Daemon) -> None:
    port = ask(empty, "POST", "/sessions")["port"]
    assert ask(empty, "POST", f"/sessions/{port}/kill")["status"] == "killed"
    assert ask(empty, "POST", "/sessions", {"port": port})["port"] == port


def test_asked_for_port_that_is_taken_or_out_of_range_is_refused(empty: Daemon) -> None:
    with closing(socket.socket()) as other:
        taken = own_ports() + 9
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", taken))
        other.listen()
        answer = http_call(empty, "POST", "/sessions", {"port": taken})
        assert refusal(answer) == "INVALID_INPUT"
        assert f"{taken} is taken" in answer.json["error"]["message"]
    for port in (0, 80, 19_999, 65_536, -1):
        assert refusal(http_call(empty, "POST", "/sessions", {"port": port})) == "INVALID_INPUT"
    assert ask(empty, "GET", "/sessions") == []


@pytest.mark.parametrize("body", [b"[]", b"{", {"nope": 1}, {"port": "20000"}])
def test_bad_body_is_refused(empty: Daemon, body: object) -> None:
    assert refusal(http_call(empty, "POST", "/sessions", body)) == "INVALID_INPUT"


def test_name_is_resolved(empty: Daemon) -> None:
    made = ask(empty, "POST", "/sessions", {"name": "dev"})
    found = ask(empty, "GET", "/resolve/dev")
    assert {key: found[key] for key in made} == made
    assert refusal(http_call(empty, "GET", "/resolve/nope")) == "SESSION_NOT_FOUND"


@pytest.mark.parametrize(("action", "word"), [("close", "closed"), ("kill", "killed")])
def test_session_is_ended_by_its_port(empty: Daemon, action: str, word: str) -> None:
    port = ask(empty, "POST", "/sessions")["port"]
    assert ask(empty, "POST", f"/sessions/{port}/{action}")["status"] == word
    assert ask(empty, "GET", "/sessions") == []
    assert not is_open(port)
    again = http_call(empty, "POST", f"/sessions/{port}/{action}")
    assert refusal(again) == "SESSION_NOT_FOUND"


def test_session_is_closed_by_delete_as_silc_s_own_server_does(empty: Daemon) -> None:
    port = ask(empty, "POST", "/sessions")["port"]
    assert ask(empty, "DELETE", f"/sessions/{port}")["status"] == "closed"
    assert ask(empty, "GET", "/sessions") == []
    assert not is_open(port)
    again = http_call(empty, "DELETE", f"/sessions/{port}")
    assert (again.status, refusal(again)) == (404, "SESSION_NOT_FOUND")


def test_restarted_session_keeps_port_and_id(empty: Daemon) -> None:
    made = ask(empty, "POST", "/sessions")
    (before,) = ask(empty, "GET", "/sessions")
    again = ask(empty, "POST", f"/sessions/{made['port']}/restart")
    assert (again["status"], again["session_id"]) == ("restarted", made["session_id"])
    assert again["pid"] != before["pid"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/sessions"),
        ("POST", "/sessions"),
        ("DELETE", "/sessions/1"),
        ("POST", "/shutdown"),
    ],
)
def test_same_rules_hold_here(daemon: Daemon, method: str, path: str) -> None:
    assert http_call(daemon, method, path, token=None).status == 401
    assert http_call(daemon, method, path, headers={"Host": "evil.example"}).status == 421
    assert http_call(daemon, method, path, headers={"Origin": "http://evil.example"}).status == 403


def test_shutdown_answers_and_ends_the_daemon(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon()
    doomed = Doomed([daemon.pid])
    assert ask(daemon, "POST", "/shutdown")["status"] == "shutdown"
    assert doomed.survivors(PATIENCE) == []
    assert daemon.process.wait(PATIENCE) == 0
