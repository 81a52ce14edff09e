"""The NDJSON door of a real daemon: closed by default, with the token, and after a crash."""

import json
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

from conftest import PATIENCE, Daemon


def ask(port: int, *messages: dict[str, Any]) -> list[Any]:
    """Send requests over a connection of their own; return the answers without notifications."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
        for message in messages:
            wire.sendall(json.dumps(message).encode() + b"\n")
        wire.shutdown(socket.SHUT_WR)
        answers = [json.loads(line) for line in wire.makefile("rb")]
    return [one for one in answers if one["type"] != "notification"]


def test_the_door_is_closed_unless_it_is_opened(daemon: Daemon) -> None:
    assert "ndjson_port" not in daemon.state


def test_the_token_opens_it_and_a_crash_does_not_close_it(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(ndjson_enabled=1, ndjson_port=0)
    port, pid = daemon.state["ndjson_port"], daemon.pid
    hello = {"id": 1, "method": "initialize", "params": {"token": daemon.token}}
    call = {"id": 2, "method": "call_tool", "params": {"tool": "view_file"}}
    secret = {"path": f"{daemon.home}/nacre/state/token"}
    token = {**call, "params": {"tool": "view_file", "args": secret}}
    [refused] = ask(port, call)
    assert refused["error"].startswith("Not initialized")
    opened, read = ask(port, hello, token)
    assert opened["result"]["server"] == "nacre"
    assert read["error"].startswith("Path contains dangerous pattern")
    for given, may in (
        ({"scope": "drive"}, True),
        ({"scope": "observe"}, False),
        ({"scope": "drive", "session_names": ["dev"]}, False),
    ):
        made = daemon.as_person("create_token", **given)
        uname = {"id": 2, "method": "call_tool", "params": {"tool": "uname"}}
        opened, ran = ask(port, {**hello, "params": {"token": made["token"]}}, uname)
        assert opened["result"]["server"] == "nacre"
        assert (ran.get("code") != "FORBIDDEN") == may, ran
        daemon.as_person("revoke_token", token=made["facts"]["id"])
        [refused, _] = ask(port, {**hello, "params": {"token": made["token"]}}, uname)
        assert refused["error"].startswith("Not authorized")
    os.kill(pid, signal.SIGKILL)
    # The keeper holds the socket: who connects meanwhile waits for the next daemon.
    again = ask(port, hello, {"id": 3, "method": "call_tool", "params": {"tool": "uname"}})
    assert again[1]["result"]["exit_code"] == 0
    assert daemon.pid != pid


def test_what_is_open_ends_when_its_token_is_revoked(own_daemon: Callable[..., Daemon]) -> None:
    """At once, and not with the next request: one is idle, the other waits for a command."""
    daemon = own_daemon(ndjson_enabled=1, ndjson_port=0)
    port = daemon.state["ndjson_port"]
    gone = daemon.as_person("create_token", scope="drive", name="gone")
    kept = daemon.as_person("create_token", scope="drive", name="kept")
    wires = []
    for made in (gone, gone, kept):
        wire = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        hello = {"id": 1, "method": "initialize", "params": {"token": made["token"]}}
        wire.sendall(json.dumps(hello).encode() + b"\n")
        file = wire.makefile("rb")
        assert json.loads(file.readline())["result"]["server"] == "nacre"
        wires.append((wire, file))
    slow = {"id": 2, "method": "call_tool", "params": {"tool": "sleep", "args": {"seconds": 30}}}
    wires[1][0].sendall(json.dumps(slow).encode() + b"\n")
    assert wires[1][1].readline()  # it has begun
    daemon.as_person("revoke_token", token="gone")
    for _, file in wires[:2]:
        try:
            assert all(json.loads(line) for line in file), "then it ends"
        except ConnectionError:
            continue
    wires[2][0].sendall(b'{"id": 3, "method": "call_tool", "params": {"tool": "uname"}}\n')
    assert json.loads(wires[2][1].readline())
    for wire, file in wires:
        file.close()
        wire.close()
