"""A token's scope, sessions and end, at every door that takes one."""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conftest import PATIENCE, Daemon
from nacre.settings.paths import find_paths
from nacre.system.storage.audit_log import read_lines

from doors.sockets import JsonSocket, closing, log_in, open_socket, receive, refusal
from doors.wire import Answer, http_call

Json = dict[str, Any]

ACCEPT = {"Accept": "application/json, text/event-stream"}
TERMINAL = "/mcp?toolsets=terminal"


@pytest.fixture
def two(daemon: Daemon) -> Iterator[int]:
    """The sessions dev and other; the port of other."""
    daemon.rest("POST", "/sessions", {"name": "dev", "command": "cat"})
    other = daemon.rest("POST", "/sessions", {"name": "other", "command": "cat"})
    yield other["port"]
    for one in daemon.rest("GET", "/sessions")["sessions"]:
        daemon.rest("POST", f"/sessions/{one['name']}/manage", {"action": "kill"})


def made(daemon: Daemon, scope: str, *names: str, **more: Any) -> str:
    limits = {"session_names": list(names)} if names else {}
    return str(daemon.as_person("create_token", scope=scope, **limits, **more)["token"])


def rest(daemon: Daemon, token: str, route: str, body: object = None) -> Answer:
    method, _, path = route.partition(" ")
    return http_call(daemon, method, f"/api{path}", body, token=token)


def code_of(answer: Answer) -> str:
    return "" if answer.status == 200 else str(answer.json["error"]["code"])


def opening() -> Json:
    """A handshake of MCP."""
    said = {"protocolVersion": "2025-11-25", "capabilities": {}}
    params = {**said, "clientInfo": {"name": "test", "version": "0"}}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


@contextmanager
def http_stream(daemon: Daemon, path: str, body: Json, headers: dict[str, str]) -> Iterator[None]:
    """Send a request whose answer is not waited for."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.state["port"], timeout=PATIENCE)
    connection.request("POST", path, json.dumps(body), headers)
    yield
    connection.close()


def tool(daemon: Daemon, token: str, name: str, arguments: Json) -> Json:
    """Call a tool over MCP in the revision that needs no session."""
    params = {
        "name": name,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = http_call(daemon, "POST", "/mcp?toolsets=extra", body, token=token, headers=headers)
    text = answer.body.decode()
    last = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    found: Json = json.loads(last[-1] if last else text)
    return found


# --- scopes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "reads", "types", "rules"),
    [
        ("observe", "", "FORBIDDEN", "FORBIDDEN"),
        ("drive", "", "", "FORBIDDEN"),
        ("admin", "", "", "FORBIDDEN"),  # a program makes no tokens, whatever its scope
    ],
)
def test_a_scope_allows_what_it_says_over_rest(
    daemon: Daemon, two: int, scope: str, reads: str, types: str, rules: str
) -> None:
    token = made(daemon, scope)
    assert code_of(rest(daemon, token, "GET /sessions/dev/screen")) == reads
    assert code_of(rest(daemon, token, "POST /sessions/dev/input", {"input": "x"})) == types
    assert code_of(rest(daemon, token, "GET /tokens")) == rules


def test_an_observer_types_at_no_door(daemon: Daemon, two: int) -> None:
    token = made(daemon, "observe")
    assert http_call_to(daemon, two, "POST /in", token) == "FORBIDDEN"
    failed = tool(daemon, token, "resize_session", {"session": "dev", "rows": 9, "cols": 40})
    assert "FORBIDDEN" in json.dumps(failed)
    with JsonSocket(open_socket(daemon, "/ws/json", token=token)) as ws:
        ws.send("send_input", "dev", input="x")
        answer = receive(ws.connection)
        assert answer["error"]["code"] == "FORBIDDEN"
    with open_socket(daemon, "/ws/raw/dev", token=token) as raw:
        raw.send(b"x")
        while isinstance(message := receive(raw), bytes) or message["event"] != "error":
            pass
        assert message["error"]["code"] == "FORBIDDEN"


def http_call_to(daemon: Daemon, port: int, route: str, token: str) -> str:
    method, _, path = route.partition(" ")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, b"x", {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return "" if answer.status == 200 else str(json.loads(body)["error"]["code"])


# --- sessions ----------------------------------------------------------------------------------


def test_a_limited_token_sees_and_lists_only_its_session(daemon: Daemon, two: int) -> None:
    token = made(daemon, "drive", "dev")
    listed = rest(daemon, token, "GET /sessions").json["sessions"]
    assert [one["name"] for one in listed] == ["dev"]
    assert rest(daemon, token, "GET /status").json["sessions"] == 1
    assert code_of(rest(daemon, token, "POST /sessions/dev/input", {"input": "x"})) == ""
    unknown, hidden = (
        rest(daemon, token, f"GET /sessions/{name}/screen") for name in ("nobody", "other")
    )
    assert (unknown.status, hidden.status) == (404, 404)
    told = hidden.json["error"]["message"]
    assert told == unknown.json["error"]["message"].replace("nobody", "other")
    assert "dev" not in told


def test_a_limited_token_reaches_no_other_session_at_any_door(daemon: Daemon, two: int) -> None:
    token = made(daemon, "admin", "dev")
    assert http_call_to(daemon, two, "GET /out", token) == "SESSION_NOT_FOUND"
    assert "SESSION_NOT_FOUND" in json.dumps(tool(daemon, token, "wait_for", {"session": "other"}))
    with JsonSocket(open_socket(daemon, "/ws/json", token=token)) as ws:
        ws.send("get_screen", "other")
        assert receive(ws.connection)["error"]["code"] == "SESSION_NOT_FOUND"
    with open_socket(daemon, "/ws/raw/other", token=token) as raw:
        assert receive(raw)["error"]["code"] == "SESSION_NOT_FOUND"
    run = daemon.rest("POST", "/sessions", {"name": "sh", "command": "bash"})
    ran = daemon.rest("POST", f"/sessions/{run['session_id']}/run", {"command": "echo hidden"})
    assert code_of(rest(daemon, token, f"GET /runs/{ran['run_id']}")) == "INVALID_INPUT"


def test_an_mcp_session_is_not_there_for_another_token(daemon: Daemon) -> None:
    """Its stream repeats what was answered, and who knows its id could end it."""
    sent = {"Content-Type": "application/json", **ACCEPT}
    opened = http_call(daemon, "POST", "/mcp", opening(), headers=sent)
    held = {**ACCEPT, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
    other = made(daemon, "admin")
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    for method, body in (("GET", None), ("DELETE", None), ("POST", ping)):
        answer = http_call(daemon, method, "/mcp", body, token=other, headers={**sent, **held})
        assert (answer.status, "for this token" in answer.body.decode()) == (404, True), method
    own = http_call(daemon, "POST", "/mcp", ping, headers={**sent, **held})
    assert own.status == 200


def test_a_limited_token_follows_only_its_session(daemon: Daemon, two: int) -> None:
    token = made(daemon, "observe", "dev")
    with JsonSocket(open_socket(daemon, "/ws/json", token=token)) as ws:
        ws.connection.send(
            json.dumps({"id": 1, "method": "subscribe", "params": {"events": ["sessions"]}})
        )
        assert receive(ws.connection)["result"]["events"] == ["sessions"]
        synced = receive(ws.connection)
        assert [one["name"] for one in synced["sessions"]] == ["dev"]
        daemon.rest("POST", "/sessions", {"name": "third", "command": "cat"})
        daemon.rest("POST", "/sessions/dev/resize", {"rows": 30, "cols": 90})
        assert receive(ws.connection)["change"] == "resized"


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("POST /sessions", {"name": "third", "command": "cat"}),
        ("POST /sessions", {"command": "cat"}),
        ("POST /start", {}),
        ("POST /restore", {}),
        ("POST /stop", {}),
        ("POST /sessions/dev/manage", {"action": "rename", "new_name": "third"}),
    ],
)
def test_a_limited_token_does_nothing_that_is_not_about_its_session(
    daemon: Daemon, two: int, route: str, body: Json
) -> None:
    assert code_of(rest(daemon, made(daemon, "admin", "dev"), route, body)) == "FORBIDDEN"


def test_what_a_limited_token_has_open_ends_when_its_session_is_renamed(
    daemon: Daemon, two: int
) -> None:
    token = made(daemon, "drive", "dev")
    with (
        JsonSocket(open_socket(daemon, "/ws/json", token=token)) as ws,
        open_socket(daemon, "/ws/raw/dev", token=token) as raw,
    ):
        one, all_ = ws.subscribe("dev", "output"), ws.subscribe(None, "sessions")
        assert [found["name"] for found in ws.event(all_, "sync")["sessions"]] == ["dev"]
        waits = ws.send("wait_for", "dev", text="private", timeout_ms=600_000)
        ws.send("list_sessions")  # answered behind it: it waits
        renamed = {"action": "rename", "new_name": "private"}
        daemon.rest("POST", "/sessions/dev/manage", renamed)
        daemon.rest("POST", "/sessions/private/input", {"input": "private\r"})
        assert ws.answer(waits)["error"]["code"] == "SESSION_NOT_FOUND"
        assert ws.event(one, "unsubscribed")["error"]["code"] == "SESSION_NOT_FOUND"
        assert ws.event(all_)["sessions"] == []
        assert closing(raw) == 4404


def test_a_limited_token_may_make_the_session_that_it_is_for(daemon: Daemon, two: int) -> None:
    token = made(daemon, "drive", "mine")
    assert code_of(rest(daemon, token, "POST /sessions", {"name": "mine", "command": "cat"})) == ""
    assert code_of(rest(daemon, token, "GET /sessions/mine/screen")) == ""


def test_a_token_has_contexts_of_its_own_in_the_catalog(daemon: Daemon) -> None:
    """REST knows programs by their User-Agent alone, and the libraries of two have the same."""

    def call(token: str, tool: str, **args: Any) -> str:
        body = {"tool": tool, "args": args, "wait_ms": 10_000}
        return str(rest(daemon, token, "POST /commands/call", body).json["output"])

    token, other = made(daemon, "drive"), made(daemon, "drive")
    call(token, "export", name="DEPLOY_KEY", value="hunter2")
    call(token, "cd", path="/tmp")
    assert call(token, "pwd") == "/tmp\n"
    assert "DEPLOY_KEY" in call(token, "history")
    for bearer in (other, ""):
        assert call(bearer, "pwd") != "/tmp\n"
        assert "DEPLOY_KEY" not in call(bearer, "env") + call(bearer, "history")


# --- its end -----------------------------------------------------------------------------------


def test_what_is_open_ends_when_its_token_is_revoked(daemon: Daemon, two: int) -> None:
    token, kept = made(daemon, "drive", name="gone"), made(daemon, "drive")
    waiting = http.client.HTTPConnection("127.0.0.1", daemon.state["port"], timeout=PATIENCE)
    body = json.dumps({"session": "dev", "text": "never", "timeout_ms": 600_000})
    waiting.request("POST", "/api/wait", body, {"Authorization": f"Bearer {token}"})
    stream = http.client.HTTPConnection("127.0.0.1", two, timeout=PATIENCE)
    stream.request("GET", "/stream", headers={"Authorization": f"Bearer {token}"})
    streaming = stream.getresponse()
    assert streaming.status == 200
    with (
        JsonSocket(open_socket(daemon, "/ws/json", token=token)) as ws,
        open_socket(daemon, "/ws/raw/dev", token=token) as raw,
        JsonSocket(open_socket(daemon, "/ws/json", token=kept)) as other,
    ):
        daemon.as_person("revoke_token", token="gone")
        assert closing(ws.connection) == 4401
        assert closing(raw) == 4401
        answer = waiting.getresponse()
        assert answer.status == 401
        assert "revoked" in json.loads(answer.read())["error"]["message"]
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            streaming.read()
        other.send("status")
        assert "result" in receive(other.connection)
    assert code_of(rest(daemon, token, "GET /status")) == "FORBIDDEN"
    assert code_of(rest(daemon, kept, "GET /status")) == ""
    waiting.close()
    stream.close()


def test_a_call_that_waits_in_an_mcp_session_types_nothing_after_its_token_is_revoked(
    daemon: Daemon, two: int
) -> None:
    """The protocol's session answers calls, not the request that brought them."""
    token, key = made(daemon, "drive"), log_in(daemon)
    sent = {**ACCEPT, "Content-Type": "application/json"}
    opened = http_call(daemon, "POST", TERMINAL, opening(), token=token, headers=sent)
    sent["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
    with (
        open_socket(daemon, "/ws/raw/dev?client=anna", token=key),
        JsonSocket(open_socket(daemon, "/ws/json?client=anna", token=key)) as anna,
    ):
        seen = anna.subscribe("dev", "control")
        anna.call("control", "dev", action="take")
        arguments = {"session": "dev", "input": "too late\r"}
        asked = {"name": "send_input", "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}
        with http_stream(daemon, TERMINAL, call, {**sent, "Authorization": f"Bearer {token}"}):
            while anna.event(seen, "control").get("waiting_since") is None:
                pass
            daemon.as_person("revoke_token", token=token.split("_")[1])
        anna.call("control", "dev", action="give")
        anna.call("send_input", "dev", input="in time\r")
        anna.until("dev", "in time")
        screen = anna.call("get_screen", "dev", format="plain")
        assert "too late" not in "\n".join(screen["lines"])


def test_what_is_open_ends_when_its_token_expires(daemon: Daemon, two: int) -> None:
    token = made(daemon, "observe", ttl=0.5)
    with JsonSocket(open_socket(daemon, "/ws/json", token=token)) as ws:
        assert closing(ws.connection) == 4401
    assert code_of(rest(daemon, token, "GET /status")) == "FORBIDDEN"


def test_a_login_ends_with_the_persons_token(daemon: Daemon) -> None:
    token = made(daemon, "drive", name="anna", person=True)
    key = http_call(daemon, "POST", "/api/login", {"token": token}, token=None).json["key"]
    assert code_of(rest(daemon, key, "GET /sessions")) == ""
    assert code_of(rest(daemon, key, "POST /page", {})) == "FORBIDDEN"  # it has not that scope
    ticket = http_call(daemon, "POST", "/api/ticket", token=key).json["ticket"]
    daemon.as_person("revoke_token", token="anna")
    assert code_of(rest(daemon, key, "GET /sessions")) == "FORBIDDEN"
    status, _ = refusal(lambda: open_socket(daemon, f"/ws/json?ticket={ticket}", token=None))
    assert status == 401


def test_who_came_in_by_a_token_lets_nobody_else_in(daemon: Daemon, two: int) -> None:
    token = made(daemon, "admin", "dev", person=True)
    key = http_call(daemon, "POST", "/api/login", {"token": token}, token=None).json["key"]
    for bearer in (token, key):
        assert code_of(rest(daemon, bearer, "POST /page", {"session": "dev"})) == "FORBIDDEN"
        assert code_of(rest(daemon, bearer, "POST /tokens", {"scope": "admin"})) == "FORBIDDEN"


def test_logins_and_refused_ones_are_in_the_audit(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon()
    log_in(daemon)
    http_call(daemon, "POST", "/api/login", {"token": daemon.token}, token=None)
    token = made(daemon, "drive", person=True, name="anna")
    http_call(daemon, "POST", "/api/login", {"token": token}, token=None)
    daemon.stop()
    folder = find_paths(daemon.env).audit
    found = [json.loads(line) for _, line in read_lines(folder)]
    logins = [
        (one["by"], one["outcome"], one.get("token_name"))
        for one in found
        if one["kind"] == "login"
    ]
    assert logins == [("code", "ok", ""), ("token", "refused", None), ("token", "ok", "anna")]
    assert token not in json.dumps(found)


def test_tokens_outlive_the_daemon(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon()
    token = made(daemon, "observe")
    daemon.stop()
    daemon = own_daemon()
    assert code_of(rest(daemon, token, "GET /status")) == ""


def test_a_token_that_asks_too_often_is_told_when_to_come_again(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(token_rate=3)
    token, other = made(daemon, "observe"), made(daemon, "observe")
    for _ in range(3):
        assert code_of(rest(daemon, token, "GET /status")) == ""
    refused = rest(daemon, token, "GET /status")
    assert (refused.status, code_of(refused)) == (429, "RESOURCE_LIMIT")
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert code_of(rest(daemon, other, "GET /status")) == ""
    assert code_of(rest(daemon, "", "GET /status")) == ""


def test_no_half_of_a_token_gets_in(daemon: Daemon) -> None:
    token = made(daemon, "admin")
    name, identifier, secret = token.split("_", 2)
    head = f"{name}_{identifier}"
    for wrong in (head, f"{head}_", f"{head}_{'x' * len(secret)}", secret, token[:-1], token + "x"):
        assert code_of(rest(daemon, wrong, "GET /status")) == "FORBIDDEN"


def test_nobody_without_a_token_reaches_an_operation(daemon: Daemon) -> None:
    with socket.create_connection(("127.0.0.1", daemon.state["port"]), timeout=PATIENCE):
        assert http_call(daemon, "GET", "/api/sessions", token=None).status == 401
