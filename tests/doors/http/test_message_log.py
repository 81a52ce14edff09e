"""Protocol messages in the log: at debug alone, as data, never endless, and no credentials."""

import json
import logging
import socket
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import Message

from conftest import PATIENCE, Daemon
from nacre.doors.http.message_log import LoggedRequests, log_message, log_size

from doors.sockets import JsonSocket, open_socket
from doors.wire import Bridge

pytestmark = pytest.mark.anyio


def test_a_message_is_logged_as_data_at_debug_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "nacre")
    log_message("mcp", "received", b'{"method": "ping"}')
    log_size("ws/raw", "received", 3)
    assert not caplog.records
    caplog.set_level(logging.DEBUG, "nacre")
    log_message("mcp", "received", b'{"method": "ping"}')
    log_message("mcp", "sent", b'{"text": "' + b"x" * 100_000 + b'"}')
    log_message("mcp", "received", b"no json")
    log_size("ws/raw", "received", 3)
    ping, long, wrong, typed = (vars(record) for record in caplog.records)
    assert (ping["msg"], ping["door"], ping["body"]) == ("received", "mcp", {"method": "ping"})
    assert "body" not in long
    assert long["bytes"] > 100_000
    assert wrong["body"] == "no JSON"
    assert (typed["door"], typed["bytes"], "body" in typed) == ("ws/raw", 3, False)


def test_credentials_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "nacre")
    told = {"token": "s3cret", "params": [{"Password": "s3cret"}], "at": "http://x/#key=s3cret&a=1"}
    log_message("local", "sent", json.dumps(told).encode())
    log_message("local", "sent", b'{"a":' * 400 + b"1" + b"}" * 400)
    body = vars(caplog.records[0])["body"]
    assert "s3cret" not in str(body)
    assert body["at"] == "http://x/#key=[redacted]&a=1"
    assert len(str(vars(caplog.records[1])["body"])) < 1000


def test_of_what_a_request_types_the_size_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """It may be the answer to a question for a password: echo off is known only by the terminal."""
    caplog.set_level(logging.DEBUG, "nacre")
    for params in ({"input": "hunter2\r"}, {"keys": ["hunter2", "Enter"]}, {"text": "hunter2"}):
        call = {"method": "tools/call", "params": {"name": "x", "arguments": params}}
        log_message("mcp", "received", json.dumps(call).encode())
    told = [vars(record)["body"]["params"]["arguments"] for record in caplog.records]
    assert told == [{"input": "[8 typed]"}, {"keys": "[2 typed]"}, {"text": "[7 typed]"}]


def test_of_files_variables_and_answers_to_forms_no_value_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "nacre")
    for params in (
        {"path": ".env", "content": "hunter2"},
        {"old": "hunter1", "new": "hunter2"},
        {"env": {"PW": "hunter2", "A": "b"}},
        {"result": {"action": "accept", "content": {"pin": "hunter2"}}},
        {"tool": "export", "args": {"name": "PW", "value": "hunter2"}},
        {"tool": "export", "args": {"name": "PW=hunter2"}, "stdin": "hunter2"},
    ):
        log_message("mcp", "received", json.dumps(params).encode())
    assert [vars(record)["body"] for record in caplog.records] == [
        {"path": ".env", "content": "[7 typed]"},
        {"old": "[7 typed]", "new": "[7 typed]"},
        {"env": ["A", "PW"]},
        {"result": {"action": "accept", "content": "[1 typed]"}},
        {"tool": "export", "args": {"name": "PW", "value": "[7 typed]"}},
        {"tool": "export", "args": {"name": "PW=[…]"}, "stdin": "[7 typed]"},
    ]


async def exchange(path: str, kind: bytes, *parts: bytes) -> None:
    """Have a request logged whose answer has these parts."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]}
        )
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    asked = iter((b'{"input": ', b'"ls"}'))

    async def receive() -> Message:
        part = next(asked)
        return {"type": "http.request", "body": part, "more_body": part.endswith(b" ")}

    async def send(message: Message) -> None: ...

    logged = LoggedRequests(app, lambda path: "page" if path == "/" else "rest")
    scope = {"type": "http", "method": "POST", "path": path}
    await logged(scope, receive, send)


async def test_requests_are_logged_with_their_answers(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "nacre")
    await exchange("/api/in", b"application/json", b'{"ok"', b": true}")
    await exchange("/mcp", b"text/event-stream", b'id: 1\ndata: {"one": 1}\n\n', b"data: {}\n\n")
    await exchange("/", b"text/html", b"<html>")
    lines = [vars(record) for record in caplog.records]
    told = [(one["msg"], one["http"], one.get("status"), one.get("body")) for one in lines]
    assert told == [
        ("received", "POST /api/in", None, {"input": "[2 typed]"}),
        ("sent", "POST /api/in", 200, {"ok": True}),
        ("received", "POST /mcp", None, {"input": "[2 typed]"}),
        ("sent", "POST /mcp", 200, {"one": 1}),
        ("sent", "POST /mcp", 200, {}),
        ("received", "POST /", None, None),
        ("sent", "POST /", 200, None),
    ]


def test_every_door_is_in_the_log_of_a_daemon_at_debug(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon(log_level="debug", log_format="json", ndjson_enabled=1, ndjson_port=0)
    made = daemon.rest("POST", "/sessions", {"command": "exec cat", "name": "seen"})
    token = daemon.person_token()
    with JsonSocket(open_socket(daemon, "/ws/json")) as opened:
        opened.call("get_screen", "seen")
    request = urllib.request.Request(
        f"http://127.0.0.1:{made['port']}/out", headers={"Authorization": f"Bearer {daemon.token}"}
    )
    urllib.request.urlopen(request, timeout=PATIENCE).close()
    address = ("127.0.0.1", daemon.state["ndjson_port"])
    with socket.create_connection(address, timeout=PATIENCE) as wire, wire.makefile() as answers:
        asked = {"id": "1", "type": "request", "method": "initialize", "params": {"token": token}}
        wire.sendall(json.dumps(asked).encode() + b"\n")
        assert answers.readline()
    bridge = Bridge(daemon.env, "--toolsets", "apps").handshake()
    bridge.call("get_screen_size", session_id="seen")
    assert bridge.close() == 0
    bridge.dispose()
    code = daemon.page_code()
    assert daemon.stop() == 0
    text = (daemon.home / "daemon.log").read_text()
    lines = [json.loads(line) for line in text.splitlines() if '"nacre.messages"' in line]
    ways = {(one["door"], one["message"]) for one in lines}
    doors = ("local", "rest", "port", "ws", "ndjson", "mcp")
    assert ways >= {(door, way) for door in doors for way in ("received", "sent")}
    assert not [secret for secret in (token, daemon.token, code) if secret in text]
