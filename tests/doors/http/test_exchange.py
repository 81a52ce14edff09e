"""One request and its answer: hints are told in the words of who asked."""

from conftest import Daemon

from doors.sockets import log_in
from doors.wire import http_call


def test_a_person_at_the_page_gets_no_route_in_a_hint(daemon: Daemon) -> None:
    shell = {"name": "hints", "command": "bash", "args": ["--norc"]}
    assert http_call(daemon, "POST", "/api/sessions", shell).status == 200
    sleeping = {"command": "sleep 1000", "timeout_ms": 0}
    key = log_in(daemon)
    path = "/api/sessions/hints/run"
    told = http_call(daemon, "POST", path, sleeping, token=key).json["hint"]
    assert told.startswith("still running after ")
    assert "/api/" not in told
    running = {"session": "hints", "state": ["running"]}
    assert http_call(daemon, "POST", "/api/wait", running).json["matched"]
    again = {"command": "true", "timeout_ms": 0}
    assert http_call(daemon, "POST", path, again, token=key).json["hint"] == "a command is running"
    # Who comes with the token can call it.
    told = http_call(daemon, "POST", path, again).json["hint"]
    assert "interrupt it with POST /api/sessions/hints/keys" in told
    http_call(daemon, "POST", "/api/sessions/hints/manage", {"action": "kill"})
