"""MCP over Streamable HTTP: who may come in, both eras on one address, and what is refused."""

import json
from typing import Any

import pytest

from conftest import Daemon

from doors.wire import HANDSHAKE, MODERN_META, Answer, http_call

TERMINAL = "/mcp?toolsets=terminal"
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def post(
    daemon: Daemon,
    body: object,
    path: str = TERMINAL,
    *,
    token: str | None = "",
    **headers: str,
) -> Answer:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return http_call(daemon, "POST", path, body, token=token, headers={**HEADERS, **sent})


def message_of(answer: Answer) -> Any:
    """Return the JSON-RPC message of an answer, be it plain JSON or an event stream."""
    if answer.headers["content-type"].startswith("application/json"):
        return answer.json
    events = [line for line in answer.body.decode().splitlines() if line.startswith("data: ")]
    return json.loads([event for event in events if event != "data: "][-1].removeprefix("data: "))


def request(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


def modern(
    daemon: Daemon, method: str, path: str = TERMINAL, *, status: int = 200, **params: Any
) -> Any:
    """Send a request of the 2026 revision, which needs no session; return the message."""
    named = {"Mcp_Name": params["name"]} if method == "tools/call" else {}
    answer = post(
        daemon,
        request(method, {**params, "_meta": MODERN_META}),
        path,
        MCP_Protocol_Version="2026-07-28",
        Mcp_Method=method,
        **named,
    )
    assert answer.status == status, answer
    return message_of(answer)


def goes_on(daemon: Daemon) -> bool:
    called = modern(daemon, "tools/call", name="list_sessions", arguments={})
    return bool(called["result"]["structuredContent"] == {"sessions": []})


def handshake(daemon: Daemon, path: str = TERMINAL) -> Answer:
    return post(daemon, request("initialize", HANDSHAKE), path)


def test_both_eras_are_served_at_one_address(daemon: Daemon) -> None:
    opened = handshake(daemon)
    assert opened.status == 200
    assert message_of(opened)["result"]["protocolVersion"] == "2025-11-25"
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"]}
    told = post(daemon, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
    assert told.status == 202
    old = message_of(post(daemon, request("tools/list"), **session))["result"]["tools"]

    discovered = modern(daemon, "server/discover")["result"]
    assert "2026-07-28" in discovered["supportedVersions"]
    new = modern(daemon, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in old] == [tool["name"] for tool in new]
    # A revision that nobody knows is refused, another one that somebody knows is not.
    for revision, status in (("1999-01-01", 400), ("2025-06-18", 200)):
        asked = post(daemon, request("ping"), MCP_Protocol_Version=revision, **session)
        assert asked.status == status, revision
    # A session that is over, or never was, is not found.
    closed = http_call(
        daemon, "DELETE", TERMINAL, headers={"Mcp-Session-Id": session["Mcp_Session_Id"]}
    )
    assert closed.status == 200
    assert post(daemon, request("tools/list"), **session).status == 404
    assert post(daemon, request("tools/list"), Mcp_Session_Id="0" * 32).status == 404


def test_prefix_and_toolsets_come_by_the_query(daemon: Daemon) -> None:
    path = "/mcp?prefix=wsh_&toolsets=terminal"
    names = [tool["name"] for tool in modern(daemon, "tools/list", path)["result"]["tools"]]
    assert len(names) == 15
    assert all(name.startswith("wsh_") for name in names)
    called = modern(daemon, "tools/call", path, name="wsh_list_sessions", arguments={})
    assert called["result"]["structuredContent"] == {"sessions": []}
    asked: Any = {"arguments": {"session": "nobody"}, "status": 400}
    refused = modern(daemon, "tools/call", path, name="wsh_get_screen", **asked)
    assert refused["error"]["message"].endswith("; list them with wsh_list_sessions")
    both = modern(daemon, "tools/list", "/mcp?toolsets=shell&toolsets=apps")["result"]["tools"]
    assert {"send", "launch_app"} <= {tool["name"] for tool in both}
    few = "/mcp?toolsets=extra"
    asked["status"] = 200
    refused = modern(daemon, "tools/call", few, name="screenshot", **asked)["result"]
    told = "no session 'nobody' (there are: none)"
    assert refused["_meta"]["nacre/error"] == {"code": "SESSION_NOT_FOUND", "message": told}
    # The other address is not touched by it.
    plain = [tool["name"] for tool in modern(daemon, "tools/list")["result"]["tools"]]
    assert [f"wsh_{name}" for name in plain] == names
    # The handshake era has the query on every request of its session.
    opened = handshake(daemon, path)
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"]}
    post(daemon, {"jsonrpc": "2.0", "method": "notifications/initialized"}, path, **session)
    listed = message_of(post(daemon, request("tools/list"), path, **session))
    assert [tool["name"] for tool in listed["result"]["tools"]] == names


@pytest.mark.parametrize("query", ["toolsets=nope", "prefix=a%20b", "prefix=" + "x" * 33])
def test_a_selection_that_there_is_not_is_refused(daemon: Daemon, query: str) -> None:
    answer = handshake(daemon, f"/mcp?{query}")
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32602
    assert answer.json["error"]["message"]
    assert goes_on(daemon)


# --- who may come in -----------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "wrong", "é" * 20])
def test_without_the_token_nobody_comes_in(daemon: Daemon, token: str | None) -> None:
    answer = post(daemon, request("initialize", HANDSHAKE), token=token)
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json["error"]["code"] == "FORBIDDEN"
    assert daemon.token not in answer.body.decode()


def test_the_token_counts_in_the_header_alone(daemon: Daemon) -> None:
    for path in (f"/mcp?token={daemon.token}", f"/mcp?access_token={daemon.token}"):
        assert post(daemon, request("initialize", HANDSHAKE), path, token=None).status == 401
    basic = post(daemon, request("initialize"), token=None, Authorization=f"Basic {daemon.token}")
    assert basic.status == 401


@pytest.mark.parametrize("path", ["/mcp", "/api/status", "/api/docs", "/"])
def test_a_foreign_host_or_origin_is_refused_whoever_asks(daemon: Daemon, path: str) -> None:
    port = daemon.state["port"]
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", ""):
        answer = http_call(daemon, "GET", path, headers={"Host": host})
        assert answer.status == 421, host
        assert answer.json["error"]["code"] == "FORBIDDEN"
    for origin in (
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{port}",
        "http://127.0.0.1",
        f"http://127.0.0.1:{port + 1}",
        "",
    ):
        answer = http_call(daemon, "GET", path, headers={"Origin": origin})
        assert answer.status == 403, origin
        assert answer.json["error"]["code"] == "FORBIDDEN"


def test_the_own_origin_and_every_loopback_name_are_taken(daemon: Daemon) -> None:
    port = daemon.state["port"]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
        answer = post(
            daemon, request("initialize", HANDSHAKE), Host=host, Origin=f"http://{host.lower()}"
        )
        assert answer.status == 200, host


# --- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "identifier"),
    [
        (b"{not json", -32700, None),
        (b"", -32700, None),
        (b"[" * 100_000 + b"]" * 100_000, -32700, None),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}', -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32602, 1),
        (b'"text"', -32600, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, 1),
        (b'{"id": "\\ud83c\\udf89", "method": "ping"}', -32600, "\U0001f389"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600, 1),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600, 1),
    ],
    ids=lambda given: given[:40].decode("latin-1") if isinstance(given, bytes) else "",
)
def test_a_body_that_is_no_request_gets_an_error_and_the_daemon_goes_on(
    daemon: Daemon, body: bytes, code: int, identifier: object
) -> None:
    for headers in ({}, {"MCP_Protocol_Version": "2026-07-28"}):
        answer = post(daemon, body, **headers)
        assert answer.status == 400
        assert (answer.json["error"]["code"], answer.json["id"]) == (code, identifier)
        # A sentence, and not the innards of a library.
        assert len(answer.json["error"]["message"]) < 100
    assert goes_on(daemon)


def test_an_unknown_method_is_not_found(daemon: Daemon) -> None:
    answer = post(
        daemon,
        request("no/such", {"_meta": MODERN_META}),
        MCP_Protocol_Version="2026-07-28",
        Mcp_Method="no/such",
    )
    assert message_of(answer)["error"]["code"] == -32601


def test_a_body_over_the_limit_is_refused_and_the_daemon_goes_on(small_daemon: Daemon) -> None:
    daemon = small_daemon
    for headers in ({}, {"MCP_Protocol_Version": "2026-07-28"}):
        huge = request("tools/call", {"name": "send_input", "arguments": {"input": "x" * 70_000}})
        assert post(daemon, huge, **headers).status == 413
    assert goes_on(daemon)
    rest = http_call(daemon, "POST", "/api/sessions", b" " * 70_000)
    assert rest.status == 400
    assert rest.json["error"]["code"] == "INVALID_INPUT"
    assert daemon.rest("GET", "/status")["sessions"] == 0


@pytest.mark.parametrize("identifier", [1.5, None, [1], {"a": 1}, True])
def test_an_id_that_is_none_gets_an_answer(daemon: Daemon, identifier: Any) -> None:
    """The library takes such a request for a notification: 202, and no answer ever."""
    opened = handshake(daemon)
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"]}
    message = {**request("tools/list"), "id": identifier}
    revision = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/list"}
    for headers in (session, revision):
        refused = post(daemon, message, **headers)
        assert refused.status == 400
        answer = message_of(refused)
        echoed = identifier if isinstance(identifier, float) else None
        assert (answer["id"], answer["error"]["code"]) == (echoed, -32600)
    assert "result" in message_of(post(daemon, request("tools/list"), **session))


def test_half_a_character_is_answered_as_any_wrong_parameter(daemon: Daemon) -> None:
    call = request("tools/call", {"name": "run", "arguments": {"command": "\ud83d"}})
    opened = post(daemon, request("initialize", HANDSHAKE), "/mcp?toolsets=shell")
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"]}
    answer = post(daemon, call, "/mcp?toolsets=shell", **session)
    told = answer.json["result"]
    assert (answer.status, answer.json["id"], told["isError"]) == (200, 1, True)
    assert told["_meta"]["nacre/error"]["code"] == "INVALID_INPUT"
    call["params"]["name"] = "send_input"
    assert post(daemon, call, **session).json["error"]["code"] == -32602


def test_clients_of_one_token_are_told_apart_by_the_name_in_the_address(daemon: Daemon) -> None:
    def main(path: str) -> tuple[str, str]:
        called = modern(daemon, "tools/call", path, name="run", arguments={"command": "true"})
        result = called["result"]
        return result["_meta"]["nacre/answer"]["session"], result["content"][0]["text"]

    shared, told = main("/mcp")
    assert "client=NAME" in told, "another program of this name has the same main"
    mine, told = main("/mcp?client=mine")
    assert mine != shared
    assert "client=NAME" not in told
    assert main("/mcp?client=mine")[0] == mine
    assert main("/mcp?client=yours")[0] not in (mine, shared)
    assert main("/mcp")[0] == shared
    refused = modern(daemon, "tools/list", "/mcp?client=a%20b", status=400)
    assert refused["error"]["code"] == "INVALID_INPUT"
    for name in ("main", "main-2", "main-3"):
        closing = {"action": "close", "session": name}
        modern(daemon, "tools/call", "/mcp", name="sessions", arguments=closing)


def test_what_a_client_runs_is_listed_under_the_name_it_gave_itself(daemon: Daemon) -> None:
    daemon.rest("POST", "/sessions", {"name": "named"})
    first = post(daemon, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HANDSHAKE})
    session = first.headers["mcp-session-id"]
    arguments = {"session": "named", "input": "echo older", "timeout_ms": 300}
    called = request("tools/call", {"name": "run_command", "arguments": arguments})
    assert "result" in message_of(post(daemon, called, Mcp_Session_Id=session))
    newer = {**arguments, "input": "echo newer"}
    assert "result" in modern(daemon, "tools/call", name="run_command", arguments=newer)
    listed = daemon.rest("GET", "/sessions/named/activity")["entries"]
    assert [(entry["command"], entry["by"]) for entry in listed] == [
        ("echo older", "door-tests 1"),  # of both eras: by the handshake, and by the request
        ("echo newer", "door-tests 1"),
    ]
    daemon.rest("POST", "/sessions/named/manage", {"action": "kill"})
