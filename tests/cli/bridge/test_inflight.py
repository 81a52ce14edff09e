"""What a host waits for, as the bridge keeps it: lines in any pieces, and what follows a break."""

import json
from typing import Any

import pytest

from nacre.cli.bridge.inflight import (
    _DEFAULT_TOOLSET,
    _ELSE,
    _LOOKS,
    _PLAIN_LOOKS,
    _READS,
    _TERMINAL,
    _TOOLSETS,
    InFlight,
)
from nacre.core.operations.all import CATALOG
from nacre.doors.mcp.tools.selection import parse_selection
from nacre.doors.mcp.tools.toolsets import DEFAULT_TOOLSET, PLAIN, TOOLSETS, spec_named

from doors.wire import HANDSHAKE, request_line, tool_line

# The tools of the documents; those of the plain toolset have names of theirs.
DOCUMENTS = {name: tools for name, tools in TOOLSETS.items() if name != PLAIN}

INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def answer(identifier: object, **more: object) -> bytes:
    """An answer as the daemon writes it."""
    message = {"jsonrpc": "2.0", "id": identifier, **(more or {"result": {}})}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def apologies(inflight: InFlight) -> list[Any]:
    return [json.loads(line) for line in inflight.apologies().splitlines()]


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_lines_are_understood_in_any_pieces(size: int) -> None:
    inflight = InFlight(toolsets="terminal")
    sent = tool_line(1, "run", port=1) + b"\n" + tool_line(2, "send") + tool_line(3, "é") + b'{"je'
    for at in range(0, len(sent), size):
        inflight.sent(sent[at : at + size])
    said = (
        answer(2) + b'{"jsonrpc":"2.0","method":"notifications/x"}\n' + answer(7) + b'{"jsonrpc":'
    )
    got = b"".join(inflight.received(said[at : at + size]) for at in range(0, len(said), size))
    assert got == said[: said.rindex(b"\n") + 1]
    assert [error["id"] for error in apologies(inflight)] == [1, 3]
    assert apologies(inflight) == []
    assert inflight.unsent() == b'{"je'
    assert inflight.unsent() == b""
    # What was half received is forgotten with its daemon.
    assert inflight.again() == b""
    assert inflight.received(answer(8)) == answer(8)


@pytest.mark.parametrize("identifier", [0, -5, "a", 'quoted " and, more', "é\\n", "x" * 500, "7"])
@pytest.mark.parametrize("more", [{"result": {"id": 1}}, {"error": {"code": 1, "message": "x"}}])
def test_an_answer_is_found_by_its_id(identifier: object, more: dict[str, object]) -> None:
    inflight = InFlight(toolsets="terminal")
    call = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": {"name": "x"}}
    inflight.sent(json.dumps(call).encode() + b"\n" + tool_line(1000, "y"))
    inflight.received(answer(identifier, **more))
    assert [error["id"] for error in apologies(inflight)] == [1000]


def test_an_answer_in_another_order_of_fields_is_found() -> None:
    inflight = InFlight(toolsets="terminal")
    inflight.sent(tool_line(1, "x"))
    assert inflight.received(b'{"id": 1, "result": {}, "jsonrpc": "2.0"}\n')
    assert apologies(inflight) == []


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"\xff\xfe",
        b"[]",
        b"[" * 100_000,
        b'{"jsonrpc": "2.0", "id": null, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": [1], "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 4, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 4, "method": 5}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    ],
)
def test_what_is_no_request_is_not_waited_for(line: bytes) -> None:
    inflight = InFlight(toolsets="terminal")
    inflight.sent(line + b"\n")
    assert inflight.received(answer(None, error={})) == answer(None, error={})
    assert (inflight.again(), inflight.apologies(), inflight.unsent()) == (b"", b"", b"")


def test_a_question_of_the_daemons_answers_nothing() -> None:
    inflight = InFlight(toolsets="terminal")
    inflight.sent(tool_line(1, "x"))
    question = b'{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}\n'
    assert inflight.received(question) == question
    assert [error["id"] for error in apologies(inflight)] == [1]


def test_a_cancelled_request_is_not_waited_for() -> None:
    inflight = InFlight(toolsets="terminal")
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    inflight.sent(tool_line(1, "x") + json.dumps(cancelled).encode() + b"\n")
    assert apologies(inflight) == []


def test_a_handshake_is_made_again_and_the_host_does_not_notice() -> None:
    inflight = InFlight(toolsets="terminal")
    initialize = request_line(0, "initialize", HANDSHAKE)
    inflight.sent(initialize)
    assert inflight.received(answer(0)) == answer(0)
    inflight.sent(INITIALIZED)
    for _ in range(2):  # the first attempt does not come through
        assert inflight.again() == initialize + INITIALIZED
    inflight.sent(tool_line(1, "x"))
    assert inflight.received(answer(0) + answer(1)) == answer(1)
    # Once: an answer that comes again is the host's.
    assert inflight.received(answer(0)) == answer(0)


def test_a_handshake_that_was_not_answered_is_answered_by_the_next_daemon() -> None:
    inflight = InFlight(toolsets="terminal")
    inflight.sent(request_line(0, "initialize", HANDSHAKE))
    assert inflight.again() == request_line(0, "initialize", HANDSHAKE)
    assert apologies(inflight) == []
    assert inflight.received(answer(0)) == answer(0)


def test_a_handshake_that_was_refused_is_not_made_again() -> None:
    inflight = InFlight(toolsets="terminal")
    inflight.sent(request_line(0, "initialize", HANDSHAKE))
    inflight.received(answer(0, error={"code": -32600, "message": "no"}))
    assert inflight.again() == b""


def test_what_only_reads_is_asked_again_and_what_may_have_run_is_not() -> None:
    inflight = InFlight(toolsets="terminal")
    reading = request_line(1, "tools/list")
    inflight.sent(reading + tool_line(2, "get_screen") + request_line(3, "logging/setLevel"))
    assert inflight.again() == reading
    assert [error["id"] for error in apologies(inflight)] == [2, 3]
    assert inflight.received(answer(1)) == answer(1)
    assert inflight.again() == b""


@pytest.mark.parametrize("prefix", ["", "wsh_"])
def test_the_error_says_what_to_do(prefix: str) -> None:
    inflight = InFlight(prefix, "terminal")
    inflight.sent(tool_line(1, f"{prefix}run_command") + tool_line(2, f"{prefix}send_input"))
    inflight.sent(request_line(3, "logging/setLevel"))
    run, send, other = (error["error"] for error in apologies(inflight))
    for error in (run, send, other):
        assert error["code"] == -32603
        assert error["data"]["code"] == "DAEMON_RESTARTED"
        assert error["data"]["retry"] is True
        assert "the sessions are still running" in error["message"]
        assert "try again" in error["message"]
    assert f"with {prefix}get_screen. Else" in run["message"]
    assert f"with {prefix}get_screen, else" in send["message"]
    assert "get_screen" not in other["message"]


@pytest.mark.parametrize("toolsets", ["shell,extra", "all"])
def test_the_error_names_a_wait_where_that_is_a_tool(toolsets: str) -> None:
    inflight = InFlight("wsh_", toolsets)
    inflight.sent(tool_line(1, "wsh_run"))
    (result,) = (answer["result"] for answer in apologies(inflight))
    assert result["isError"] is True
    error = result["_meta"]["nacre/error"]
    assert error["code"] == json.loads(result["content"][0]["text"])["code"] == "DAEMON_RESTARTED"
    told = error["message"]
    assert "with wsh_get_status; wsh_wait_for with state prompt waits for its end." in told


def told_of(tool: str, toolsets: str = "terminal", prefix: str = "") -> str:
    inflight = InFlight(prefix, toolsets)
    inflight.sent(tool_line(1, tool))
    (answer,) = apologies(inflight)
    error = answer["error"] if "error" in answer else answer["result"]["_meta"]["nacre/error"]
    message: str = error["message"]
    return message.removeprefix(
        "the daemon was restarted before it answered; the sessions are still running"
    )


@pytest.mark.parametrize("tool", sorted(_READS))
def test_what_only_reads_is_just_tried_again(tool: str) -> None:
    assert told_of(tool, "all") == ": try again"
    entry = next(tools[tool] for tools in DOCUMENTS.values() if tool in tools)
    # The keys that await_input tells of are kept: whoever may read them may drive.
    assert CATALOG[entry.operation].read_only or tool == "await_input"


@pytest.mark.parametrize(
    ("tool", "toolsets", "look"),
    [
        ("overlay", "terminal", " with list_sessions or get_screen"),
        ("x_screen_mode", "terminal,shell", " with x_list_sessions or x_get_screen"),
        ("x_control", "shell,extra", " with x_list_sessions or x_read"),
        ("x_export_recording", "extra", " with x_screenshot"),
        ("x_manage_session", "all", " with x_list_sessions"),
        ("x_send", "all", " with x_read"),
    ],
)
def test_any_other_tool_says_where_to_look(tool: str, toolsets: str, look: str) -> None:
    prefix = "x_" if tool.startswith("x_") else ""
    told = told_of(tool, toolsets, prefix)
    assert told == f". It may have been carried out: look first{look}, else try again"


def test_the_bridge_knows_where_the_tools_are_that_it_names() -> None:
    named = {*_ELSE, *(look for looks in _LOOKS.values() for look in looks), "wait_for"}
    assert named == _TOOLSETS.keys()
    for tool, toolsets in _TOOLSETS.items():
        assert toolsets == tuple(name for name, tools in DOCUMENTS.items() if tool in tools)
    # Who was given the tool was given one that tells what became of it.
    for called, looks in _LOOKS.items():
        assert any({called, look} <= set(tools) for look in looks for tools in DOCUMENTS.values())


def test_every_tool_that_changes_something_is_looked_after() -> None:
    tools = {name: entry for tools in DOCUMENTS.values() for name, entry in tools.items()}
    reading = {name for name, entry in tools.items() if CATALOG[entry.operation].read_only}
    assert reading == _READS - {"await_input"}


def test_the_plain_toolset_is_told_in_words() -> None:
    inflight = InFlight("x_", "agent,shell")
    inflight.sent(tool_line(1, "x_run") + tool_line(2, "x_read") + tool_line(3, "x_send"))
    run, read, send = (answer["result"]["content"][0]["text"] for answer in apologies(inflight))
    assert run.startswith("error: the daemon was restarted before it answered")
    assert run.endswith('look first with x_read {"what": "screen"}, else try again')
    assert read.endswith("the sessions are still running: try again")
    assert json.loads(send)["code"] == "DAEMON_RESTARTED"
    reading = {name for name, look in _PLAIN_LOOKS.items() if look is None}
    assert _PLAIN_LOOKS.keys() == TOOLSETS[PLAIN].keys()
    specs = {name: spec_named(entry.operation) for name, entry in TOOLSETS[PLAIN].items()}
    assert reading == {name for name, spec in specs.items() if spec.read_only}
    assert _DEFAULT_TOOLSET == DEFAULT_TOOLSET


def test_tools_of_the_toolset_terminal_are_known() -> None:
    tools = parse_selection("terminal", None).tools()
    assert {tool.name for tool in tools.values() if tool.raises} == _TERMINAL


def test_subscriptions_are_made_again_and_the_host_is_told_to_look() -> None:
    inflight = InFlight(toolsets="terminal")
    shaken = request_line(0, "initialize", HANDSHAKE)
    uris = [f"nacre://sessions/{name}/screen" for name in ("kept", "left", "refused", "pending")]
    kept, left, refused, pending = (
        request_line(number, "resources/subscribe", {"uri": uri})
        for number, uri in enumerate(uris, 1)
    )
    listed = request_line(5, "resources/list")
    inflight.sent(shaken + kept + left + refused + listed)
    inflight.received(b"".join(map(answer, (0, 1, 2, 5))))
    inflight.received(answer(3, error={"code": -32602, "message": "no session"}))
    inflight.sent(request_line(6, "resources/unsubscribe", {"uri": uris[1]}))
    inflight.received(answer(6))
    inflight.sent(pending)
    for _ in range(2):
        assert inflight.again() == shaken + kept + listed + pending
    assert apologies(inflight) == []
    told = inflight.received(b"".join(map(answer, (0, 1, 5, 4))))
    # The host hears nothing of the answers, but that what it subscribed to may have changed.
    assert [json.loads(line) for line in told.splitlines()] == [
        {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uris[0]}},
        {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"},
        json.loads(answer(4)),
    ]
    # One that the next daemon refuses is over.
    inflight.again()
    inflight.received(answer(1, error={"code": -32602, "message": "no session"}))
    assert inflight.again() == shaken + listed + pending


def test_without_a_handshake_nothing_stands() -> None:
    inflight = InFlight(toolsets="terminal")
    inflight.sent(request_line(1, "resources/list", {"_meta": {}}))
    inflight.received(answer(1))
    assert inflight.again() == b""


def test_what_is_remembered_is_bounded() -> None:
    inflight = InFlight(toolsets="terminal")
    inflight.sent(b"".join(tool_line(number, "x") for number in range(5000)))
    kept = apologies(inflight)
    assert (len(kept), kept[-1]["id"]) == (4096, 4999)
    for _ in range(600):
        inflight.sent(b"z" * 65536)
    assert len(inflight.unsent()) < 32 * 1024 * 1024
