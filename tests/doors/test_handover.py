"""What a person did in a session is told to the agent that asks next, at every door."""

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import PATIENCE, Daemon
from crashing import create, until

from doors.sockets import JsonSocket, open_socket
from doors.wire import GREETING, Answer, http_call, local_line


@pytest.fixture
def job(daemon: Daemon) -> Iterator[str]:
    create(daemon, "job", "stty -echo; echo ready; exec cat")
    until(daemon, "job", text="ready")
    yield "job"
    daemon.rest("POST", "/sessions/job/manage", {"action": "kill"})


def drive(daemon: Daemon, session: str) -> None:
    """Be a person who takes the session over, and leaves."""
    with local_line(daemon.env) as line:
        line.send({**GREETING, "door": "attach", "person": True, "session": session})
        assert "error" not in line.read()
        line.send({"control": True})
        line.connection.shutdown(socket.SHUT_WR)  # who leaves gives back
        line.reader.read()


def check(handover: Any) -> None:
    assert (handover["session"], handover["driver"]) == ("job", "attach")


def test_rest_tells_it_once_beside_the_result(daemon: Daemon, job: str) -> None:
    drive(daemon, job)
    check(daemon.rest("GET", f"/sessions/{job}/screen")["handover"])
    assert "handover" not in daemon.rest("GET", f"/sessions/{job}/screen")


def test_an_answer_that_is_no_object_has_it_as_a_header(daemon: Daemon, job: str) -> None:
    drive(daemon, job)
    picture: Answer = http_call(daemon, "GET", f"/api/sessions/{job}/screenshot.svg")
    assert "A person (attach) drove session 'job'" in picture.headers["nacre-handover"]
    again = http_call(daemon, "GET", f"/api/sessions/{job}/screenshot.svg")
    assert "nacre-handover" not in again.headers


def test_the_websocket_tells_it_beside_the_result(daemon: Daemon, job: str) -> None:
    drive(daemon, job)
    with JsonSocket(open_socket(daemon, "/ws/json")) as ws:
        check(ws.answer(ws.send("get_screen", job))["handover"])
        assert "handover" not in ws.answer(ws.send("get_screen", job))


def test_the_sessions_own_port_tells_it(daemon: Daemon, job: str) -> None:
    port = daemon.rest("GET", f"/sessions?session={job}")["port"]
    drive(daemon, job)
    url = f"http://127.0.0.1:{port}/status"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {daemon.token}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        check(json.load(answer)["handover"])


def test_the_unix_socket_tells_an_agent(daemon: Daemon, job: str) -> None:
    drive(daemon, job)
    with local_line(daemon.env) as line:
        line.send(GREETING)
        line.read()
        line.send({"id": 1, "operation": "get_screen", "params": {"session": job}})
        check(line.read()["handover"])


def test_who_asks_about_another_session_is_not_told(daemon: Daemon, job: str) -> None:
    drive(daemon, job)
    assert "handover" not in daemon.rest("GET", "/status")
    check(daemon.rest("GET", f"/sessions/{job}/screen")["handover"])


def test_each_agent_is_told_whoever_else_was_told_before(daemon: Daemon, job: str) -> None:
    with (
        JsonSocket(open_socket(daemon, "/ws/json")) as one,
        JsonSocket(open_socket(daemon, "/ws/json")) as two,
    ):
        drive(daemon, job)
        check(daemon.rest("GET", f"/sessions/{job}/screen")["handover"])
        for agent in (one, two):
            check(agent.answer(agent.send("get_screen", job))["handover"])
            assert "handover" not in agent.answer(agent.send("get_screen", job))


def test_each_mcp_connection_is_told(daemon: Daemon, job: str, bridges: Any) -> None:
    agents = [bridges(daemon.env).handshake() for _ in range(2)]
    drive(daemon, job)
    for agent in agents:
        asked = {"name": "get_screen", "arguments": {"session": job}}
        check(agent.ask("tools/call", asked)["result"]["_meta"]["nacre/handover"])
        assert "nacre/handover" not in str(agent.ask("tools/call", asked)["result"])


def test_a_script_is_told_on_standard_error_and_in_json(daemon: Daemon, job: str) -> None:
    def nacre(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "nacre", *arguments]
        return subprocess.run(command, env=daemon.env, capture_output=True, text=True, check=True)

    drive(daemon, job)
    said = nacre("send", job, "hello")
    assert "nacre: A person (attach) drove session 'job'" in said.stderr
    assert nacre("send", job, "hello").stderr == ""
    drive(daemon, job)
    check(json.loads(nacre("screen", "--json", job).stdout)["handover"])
    assert "handover" not in json.loads(nacre("screen", "--json", job).stdout)
