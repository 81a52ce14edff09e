"""The bridge: `nacre mcp` as an AI host runs it, from its start to its end."""

import asyncio
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from conftest import PATIENCE, Daemon
from nacre.core.catalog.caller import Caller
from nacre.doors.mcp.library.loop import _Pipe
from nacre.doors.mcp.lines.connection import LineConnection, LineQueue, Served
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.tools.selection import parse_selection
from nacre.settings.paths import find_paths
from nacre.settings.table import Settings

from doors.wire import (
    HANDSHAKE,
    MODERN_META,
    Bridge,
    Doomed,
    daemon_pid,
    request_line,
    tool_line,
)

Bridges = Callable[..., Bridge]
Environments = Callable[..., dict[str, str]]

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601


def processes_of(bridge: Bridge, session: str) -> list[int]:
    """Return a session's leader and a child that it started in the background."""
    created = bridge.call(
        "create_session", name=session, command="sh", args=["-c", "sleep 1000 & echo pid $!.; wait"]
    )
    return [created["pid"], int(until(bridge, session, r"^pid (\d+)\.$")[1])]


def until(bridge: Bridge, session: str, pattern: str) -> re.Match[str]:
    """Return what matches in the plain screen, once something does, woken by output alone."""
    while True:
        screen = bridge.call("get_screen", session=session, format="plain")
        if found := re.search(pattern, "\n".join(screen["lines"]), re.MULTILINE):
            return found
        after = screen["generation"]
        bridge.call("await_quiesce", session=session, timeout_ms=0, last_generation=after)


# --- life and death ------------------------------------------------------------------------


def test_without_a_daemon_one_is_started_and_goes_with_its_bridge(
    bridges: Bridges, home_env: Environments, tmp_path: Path
) -> None:
    env = home_env(grace=0, kill_grace=0.2)
    folder = tmp_path / "where the host stands"
    folder.mkdir()
    bridge = bridges(env, cwd=folder).handshake()
    pids = processes_of(bridge, "job")
    details = bridge.call("list_sessions", session="job")
    assert details["running"] is True
    # Its sessions start where the bridge stands, not where the daemon does.
    assert details["cwd"] == str(folder)
    # Whoever does not heed the hangup is killed.
    stubborn = bridge.call(
        "create_session", name="stubborn", command="trap '' HUP TERM INT; echo armed; cat"
    )
    until(bridge, "stubborn", "^armed$")
    assert stubborn["cwd"] == str(folder)
    doomed = Doomed([daemon_pid(env), *pids, stubborn["pid"]])
    assert bridge.close() == 0
    assert doomed.survivors(PATIENCE) == []


def test_a_killed_bridge_takes_its_daemon_along(bridges: Bridges, home_env: Environments) -> None:
    env = home_env(grace=0)
    bridge = bridges(env).handshake()
    pids = processes_of(bridge, "job")
    doomed = Doomed([daemon_pid(env), *pids])
    bridge.process.kill()
    assert doomed.survivors(PATIENCE) == []
    assert bridge.process.wait(PATIENCE) == -signal.SIGKILL


def test_a_kept_session_keeps_the_daemon_until_it_ends(
    bridges: Bridges, home_env: Environments
) -> None:
    env = home_env(grace=0)
    first = bridges(env).handshake()
    kept = first.call("create_session", name="kept", command="echo kept; exec cat", keep=True)
    pid = daemon_pid(env)
    assert first.close() == 0
    # The next bridge finds the same daemon, and the session as it was.
    second = bridges(env).handshake()
    assert daemon_pid(env) == pid
    assert second.call("list_sessions", session="kept")["pid"] == kept["pid"]
    doomed = Doomed([pid, kept["pid"]])
    second.call("manage_session", session="kept", action="kill")
    assert second.close() == 0
    assert doomed.survivors(PATIENCE) == []


def test_two_bridges_that_start_at_once_share_one_daemon(
    bridges: Bridges, home_env: Environments
) -> None:
    env = home_env(grace=0)
    started = [bridges(env) for _ in range(3)]
    for bridge in started:
        bridge.handshake()
    started[0].call("create_session", name="shared", command="cat")
    for bridge in started:
        assert [one["name"] for one in bridge.call("list_sessions")["sessions"]] == ["shared"]
    doomed = Doomed([daemon_pid(env)])
    assert [bridge.close() for bridge in started] == [0, 0, 0]
    assert doomed.survivors(PATIENCE) == []


def test_a_bridge_that_starts_while_the_daemon_ends_gets_a_daemon(
    bridges: Bridges, home_env: Environments
) -> None:
    env = home_env(grace=0)
    before = bridges(env).handshake()
    for _ in range(2):
        before.close_input()
        after = bridges(env).handshake()
        assert after.call("list_sessions") == {"sessions": []}
        before = after


def test_a_running_daemon_is_used_and_outlives_the_bridge(bridges: Bridges, daemon: Daemon) -> None:
    bridge = bridges(daemon.env).handshake()
    created = bridge.call("create_session", name="left-behind", command="cat")
    assert daemon.rest("GET", "/sessions?session=left-behind")["pid"] == created["pid"]
    assert bridge.close() == 0
    assert daemon.rest("GET", "/status")["pid"] == daemon.pid
    assert daemon.rest("GET", "/sessions?session=left-behind")["running"] is True
    daemon.rest("POST", "/sessions/left-behind/manage", {"action": "kill"})


def test_when_the_daemon_is_stopped_the_bridge_ends_with_an_error(
    bridges: Bridges, own_daemon: Callable[..., Daemon]
) -> None:
    """One that is killed is another matter: tests/cli/bridge/test_reconnect.py."""
    daemon = own_daemon()
    bridge = bridges(daemon.env).handshake()
    assert daemon.stop() == 0
    assert bridge.process.wait(PATIENCE) == 1
    assert "daemon is gone" in bridge.complaint()
    assert not os.path.exists(find_paths(daemon.env).socket)


def test_a_daemon_that_cannot_start_is_explained(bridges: Bridges, home_env: Environments) -> None:
    bridge = bridges(home_env(grace="forever"))
    assert bridge.process.wait(PATIENCE) == 7
    assert "NACRE_GRACE" in bridge.complaint()


def test_the_bridge_loads_no_mcp_library(daemon: Daemon) -> None:
    script = (
        "import sys; from nacre.cli.main import main; sys.argv = ['nacre', 'mcp']; code = main(); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=daemon.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0
    loaded = {module.partition(".")[0] for module in ran.stderr.split()}
    assert "nacre" in loaded
    heavy = {"mcp", "mcp_types", "pydantic", "anyio", "asyncio", "starlette", "uvicorn", "msgspec"}
    assert loaded & (heavy | {"argparse", "_cffi_backend", "uvloop", "subprocess"}) == set()


# --- options -------------------------------------------------------------------------------


def test_a_prefix_goes_before_every_tools_name(bridges: Bridges, daemon: Daemon) -> None:
    for options in (["--prefix", "wsh_"], ["--prefix=wsh_", "--toolsets", "terminal"]):
        bridge = bridges(daemon.env, *options).handshake()
        tools = bridge.ask("tools/list")["result"]["tools"]
        assert len(tools) == 15
        assert all(tool["name"].startswith("wsh_") for tool in tools)
        assert bridge.call("wsh_list_sessions") == {"sessions": []}
        unknown = bridge.ask("tools/call", {"name": "list_sessions", "arguments": {}})
        assert unknown["error"]["code"] == METHOD_NOT_FOUND
        assert bridge.close() == 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--toolsets", "nope"], "no toolset 'nope'; there are agent, terminal"),
        (["--prefix", "white space"], "cannot be a prefix"),
        (["--toolsets"], "--toolsets needs a value"),
        (["--unheard-of"], "unknown option"),
    ],
)
def test_a_bad_option_is_told_and_the_bridge_ends(
    bridges: Bridges, daemon: Daemon, options: list[str], complaint: str
) -> None:
    bridge = bridges(daemon.env, *options)
    assert bridge.process.wait(PATIENCE) == 2
    assert complaint in bridge.complaint()
    assert bridge.rest_of_output() == []


# --- the wire ------------------------------------------------------------------------------


@pytest.fixture
def daemon_bridge(bridges: Bridges, daemon: Daemon) -> Callable[[], Bridge]:
    return lambda: bridges(daemon.env)


# What comes in, and the code and id of the answer.
NO_REQUESTS: list[tuple[bytes, int, Any]] = [
    (b"{not json", PARSE_ERROR, None),
    (b"[" * 100_000 + b"]" * 100_000, PARSE_ERROR, None),
    (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, PARSE_ERROR, None),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "\xff\xfe"}', PARSE_ERROR, None),
    (b"\x00\x01\x02", PARSE_ERROR, None),
    (b"[]", INVALID_REQUEST, None),
    (b'"text"', INVALID_REQUEST, None),
    (b"{}", INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0"}', INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "params": {}}', INVALID_REQUEST, None),
    (b'{"id": 9, "method": "ping"}', INVALID_REQUEST, 9),
    (b'{"jsonrpc": "1.0", "id": "nine", "method": "ping"}', INVALID_REQUEST, "nine"),
    (b'{"jsonrpc": "2.0", "id": 9, "method": 5}', INVALID_REQUEST, 9),
    # Without a look at the id these would be notifications, and their senders wait for ever.
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', INVALID_REQUEST, 1.5),
    (b'{"jsonrpc": "2.0", "id": 1e3, "method": "ping"}', INVALID_REQUEST, 1e3),
    (b'{"jsonrpc": "2.0", "id": [1], "method": "tools/list"}', INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "no/such"}', INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "id": true, "method": "tools/call"}', INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "id": 9}', INVALID_REQUEST, 9),
    (b'{"jsonrpc": "2.0", "id": "x", "method": ""}', INVALID_REQUEST, "x"),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "no/such"}', METHOD_NOT_FOUND, 9),
]


def test_lines_that_are_no_requests_get_errors_and_the_connection_goes_on(
    daemon_bridge: Callable[[], Bridge],
) -> None:
    bridge = daemon_bridge().handshake()
    for line, code, identifier in NO_REQUESTS:
        bridge.write(line + b"\n")
        answer = bridge.read()
        assert answer["jsonrpc"] == "2.0"
        assert (answer["error"]["code"], answer["id"]) == (code, identifier), line[:60]
        assert answer["error"]["message"]
        assert bridge.call("list_sessions") == {"sessions": []}


def test_lines_that_are_no_requests_may_come_before_the_first_request(
    daemon_bridge: Callable[[], Bridge],
) -> None:
    bridge = daemon_bridge()
    for line, code, _ in NO_REQUESTS[:-1]:
        bridge.write(line + b"\n")
        assert bridge.read()["error"]["code"] == code
    bridge.handshake()
    assert bridge.call("list_sessions") == {"sessions": []}


@pytest.mark.parametrize("identifier", [1.5, None, [1], {"a": 1}, True])
def test_an_id_that_is_none_is_answered_in_the_modern_era_too(
    daemon_bridge: Callable[[], Bridge], identifier: Any
) -> None:
    bridge = daemon_bridge()
    assert "result" in bridge.ask("tools/list", {"_meta": MODERN_META})
    message = {"id": identifier, "method": "tools/list", "params": {"_meta": MODERN_META}}
    bridge.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    answer = bridge.read()
    echoed = identifier if isinstance(identifier, float) else None
    assert (answer["error"]["code"], answer["id"]) == (INVALID_REQUEST, echoed)
    assert "result" in bridge.ask("tools/list", {"_meta": MODERN_META})


def test_an_id_is_echoed_as_it_was_written(daemon_bridge: Callable[[], Bridge]) -> None:
    bridge = daemon_bridge().handshake()
    for written in (b"-7", b"123456789012345678901234567890", b'"\\u0061 \xc3\xa4"', b'""', b"0"):
        for method in (b"ping", b"tools/list"):
            bridge.write(b'{"jsonrpc": "2.0", "id": %b, "method": "%b"}\n' % (written, method))
            answer = bridge.read()
            assert (answer["id"], "result" in answer) == (json.loads(written), True)


def test_an_unknown_method_may_be_the_first_request(daemon_bridge: Callable[[], Bridge]) -> None:
    bridge = daemon_bridge()
    assert "error" in bridge.ask("no/such")
    assert bridge.handshake().call("list_sessions") == {"sessions": []}


def test_a_cancelled_wait_is_given_up_and_nobody_waits_for_it(
    daemon_bridge: Callable[[], Bridge],
) -> None:
    bridge = daemon_bridge().handshake()
    created = bridge.call("create_session", command="cat")
    waiting = tool_line(60, "await_quiesce", session=created["session"], timeout_ms=600_000)
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 60}}
    bridge.write(waiting + json.dumps({"jsonrpc": "2.0", **cancelled}).encode() + b"\n")
    bridge.call("manage_session", session=created["session"], action="kill")
    bridge.close_input()
    assert bridge.rest_of_output() == []
    assert bridge.process.wait(PATIENCE) == 0


def test_misshapen_tool_calls_are_invalid_params(daemon_bridge: Callable[[], Bridge]) -> None:
    bridge = daemon_bridge().handshake()
    for params, wrong in (
        (None, "params"),
        ({}, "name"),
        ({"name": 5}, "name"),
        ({"name": "list_sessions", "arguments": []}, "arguments"),
        ({"name": "list_sessions", "arguments": "x"}, "arguments"),
    ):
        error = bridge.ask("tools/call", params)["error"]
        assert (error["code"], error["data"]["code"]) == (-32602, "INVALID_INPUT"), params
        assert error["message"].startswith("the parameters of tools/call do not fit: "), params
        assert wrong in error["message"], params
    # A tool without arguments needs none.
    assert bridge.ask("tools/call", {"name": "list_sessions"})["result"]["isError"] is False


def test_a_folder_whose_name_is_no_text_keeps_nobody_out(
    bridges: Bridges, daemon: Daemon, tmp_path: Path
) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff")
    folder.mkdir()
    env = {**daemon.env, "LC_ALL": os.fsdecode(b"C\xff")}
    bridge = bridges(env, cwd=folder).handshake()
    created = bridge.call("create_session", command="cat")
    assert created["cwd"]
    bridge.call("manage_session", session=created["session"], action="kill")


def test_a_request_before_the_handshake_is_told_so(daemon_bridge: Callable[[], Bridge]) -> None:
    bridge = daemon_bridge()
    error = bridge.ask("tools/list")["error"]
    assert (error["code"], error["data"]["code"]) == (-32602, "INVALID_INPUT")
    assert "send initialize first" in error["message"]
    assert bridge.handshake().call("list_sessions") == {"sessions": []}


def test_a_lone_surrogate_is_refused(daemon_bridge: Callable[[], Bridge]) -> None:
    bridge = daemon_bridge().handshake()
    created = bridge.call("create_session", command="cat")
    for tool, arguments in (
        ("send_input", {"session": created["session"], "input": "\ud800"}),
        ("create_session", {"name": "a\udfff"}),
        ("create_session", {"command": "echo \ud800"}),
    ):
        bridge.write(tool_line(99, tool, **arguments))
        answer = bridge.read()  # under its id: who asked would wait for it for ever
        assert (answer["id"], answer["error"]["code"]) == (99, -32602)
        data = answer["error"]["data"]
        assert data == {"code": "INVALID_INPUT", "message": answer["error"]["message"]}
    bridge.write(b'{"jsonrpc": "2.0", "id": "\\ud83d", "method": "ping"}\n')
    answer = bridge.read()
    assert (answer["id"], answer["error"]["code"]) == (None, PARSE_ERROR)
    assert len(bridge.call("list_sessions")["sessions"]) == 1
    bridge.call("manage_session", session=created["session"], action="kill")


def test_a_line_of_ten_megabytes_is_read_and_answered(
    daemon_bridge: Callable[[], Bridge],
) -> None:
    bridge = daemon_bridge().handshake()
    answer = bridge.ask(
        "tools/call",
        {"name": "send_input", "arguments": {"session": "x", "input": "y" * 10_000_000}},
    )
    assert answer["error"]["code"] == -32602
    bridge.write(b"z" * 10_000_000 + b"\n")
    assert bridge.read()["error"]["code"] == PARSE_ERROR
    assert bridge.call("list_sessions") == {"sessions": []}


def test_a_line_over_the_limit_is_refused_and_the_connection_goes_on(
    bridges: Bridges, small_daemon: Daemon
) -> None:
    bridge = bridges(small_daemon.env).handshake()
    # Just over, several times over, and with another request in the same write.
    for size in (65_600, 1_000_000):
        bridge.write(b"z" * size + b"\n" + tool_line(50, "list_sessions"))
        assert bridge.read()["error"]["code"] == INVALID_REQUEST
        assert bridge.read()["id"] == 50


def test_blank_lines_are_passed_over(daemon_bridge: Callable[[], Bridge]) -> None:
    bridge = daemon_bridge()
    bridge.write(b"\n  \n\r\n")
    bridge.handshake()
    bridge.write(b"\n")
    assert bridge.call("list_sessions") == {"sessions": []}


@pytest.mark.parametrize("ending", [b"\n", b""], ids=["whole-last-line", "unended-last-line"])
def test_requests_piped_in_at_once_are_all_answered(
    daemon_bridge: Callable[[], Bridge], ending: bytes
) -> None:
    bridge = daemon_bridge()
    lines = [
        request_line(1, "initialize", HANDSHAKE),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
        tool_line(2, "list_sessions"),
        request_line(3, "tools/list"),
        tool_line(4, "get_screen", session="nobody"),
    ]
    bridge.write(b"".join(lines).rstrip(b"\n") + ending)
    bridge.close_input()
    answers = {answer["id"]: answer for answer in bridge.rest_of_output()}
    assert set(answers) == {1, 2, 3, 4}
    assert answers[4]["error"]["data"]["code"] == "SESSION_NOT_FOUND"
    assert bridge.process.wait(PATIENCE) == 0


def test_a_request_under_way_when_the_input_closes_is_answered(
    daemon_bridge: Callable[[], Bridge],
) -> None:
    bridge = daemon_bridge().handshake()
    bridge.call("create_session", name="waited", command="cat")
    bridge.write(tool_line(77, "await_quiesce", session="waited", timeout_ms=300))
    bridge.close_input()
    (answer,) = bridge.rest_of_output()
    assert (answer["id"], answer["result"]["isError"]) == (77, False)
    assert bridge.process.wait(PATIENCE) == 0
    daemon_bridge().handshake().call("manage_session", session="waited", action="kill")


def test_the_modern_era_needs_no_handshake(daemon_bridge: Callable[[], Bridge]) -> None:
    bridge = daemon_bridge()
    discovered = bridge.ask("server/discover", {"_meta": MODERN_META})["result"]
    assert "2026-07-28" in discovered["supportedVersions"]
    called = bridge.ask(
        "tools/call", {"name": "list_sessions", "arguments": {}, "_meta": MODERN_META}
    )
    assert json.loads(called["result"]["content"][0]["text"]) == []
    # No handshake belongs to it; the connection stays.
    assert "error" in bridge.ask("initialize", HANDSHAKE)
    assert "result" in bridge.ask("tools/list", {"_meta": MODERN_META})


def test_answers_that_nobody_reads_yet_do_not_stop_further_requests(
    daemon_bridge: Callable[[], Bridge],
) -> None:
    """A host may write all its requests before it reads: 8 MB of answers fit in no pipe."""
    bridge = daemon_bridge().handshake()
    script = "seq -f '%0100.0f' 1 200; exec cat"
    created = bridge.call("create_session", name="full", command=script, rows=200, cols=100)
    until(bridge, "full", r"^0+200\n\Z")
    count = 400
    padding = base64.b64encode(bytes(3000)).decode()  # requests fill a pipe too
    for number in range(count):
        bridge.write(
            request_line(
                1000 + number,
                "tools/call",
                {
                    "name": "get_screen",
                    "arguments": {"session": "full", "format": "plain"},
                    "_meta": {"padding": padding},
                },
            )
        )
    answered = {bridge.read()["id"] for _ in range(count)}
    assert answered == set(range(1000, 1000 + count))
    bridge.call("manage_session", session=created["session"], action="kill")


@pytest.mark.anyio
async def test_what_a_client_that_is_gone_would_be_told_goes_nowhere() -> None:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    served = Served(Offers(parse_selection("terminal", None)), cast("Any", None), cast("Any", None))
    client = LineConnection(served, Caller(door="mcp"), reader, writer, Settings())
    pipe = _Pipe(client, LineQueue())
    theirs.close()
    answer = types.JSONRPCResponse(jsonrpc="2.0", id=1, result={})
    for _ in range(3):  # the first may still find the socket open, the kernel refuses the next
        await pipe.outgoing.send(SessionMessage(answer))
        await asyncio.sleep(0)
    writer.close()
    await pipe.outgoing.send(SessionMessage(answer))
    client.wire.refuse(INVALID_REQUEST, "not a message")


@pytest.mark.anyio
async def test_a_client_that_does_not_read_is_not_read_from_and_goes_on_when_it_reads() -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=ours)
    called: list[str] = []

    async def call_tool(_: Any, call: Any) -> dict[str, Any]:
        called.append(call.name)
        return {"content": [{"type": "text", "text": "x" * 10_000}]}

    served = Served(Offers(parse_selection("terminal", None)), call_tool, cast("Any", None))
    settings = Settings(max_requests=4, max_waiting_requests=8)
    client = LineConnection(served, Caller(door="mcp"), reader, writer, settings)
    serving = asyncio.create_task(client.serve())
    info = {"name": "t", "version": "1"}
    shake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    lines = [_line(0, "initialize", shake)]
    more = {"_meta": {"padding": "x" * 8000}}  # in all more than the kernel holds
    lines += [_line(n, "tools/list", more) for n in range(1, 101)]
    lines += [_line(n, "tools/call", {"name": "t", **more}) for n in range(101, 301)]
    asking, waiting = b"".join(lines), 0
    for _ in range(1000):  # more turns than it takes to read all of that
        with suppress(BlockingIOError):
            asking = asking[theirs.send(asking[:4096]) :]
        await asyncio.sleep(0)
        waiting = max(waiting, writer.transport.get_write_buffer_size())
    assert asking, "the rest stays with the client"
    assert waiting < 300_000, "the writer's own limit, one list and four answers"
    assert len(called) <= 4

    answered = b""
    loop = asyncio.get_running_loop()
    while answered.count(b"\n") < 301:
        if asking:
            with suppress(BlockingIOError):
                asking = asking[theirs.send(asking[:65536]) :]
        answered += await asyncio.wait_for(loop.sock_recv(theirs, 1 << 20), PATIENCE)
    told = {json.loads(line)["id"] for line in answered.splitlines()}
    assert told == set(range(301))
    theirs.close()
    await serving
    writer.close()


@pytest.mark.anyio
async def test_an_answer_that_no_json_can_carry_fails_its_call_alone() -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=ours)

    async def call_tool(_: Any, call: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "\udcff" if call.name == "odd" else "fine"}]}

    served = Served(Offers(parse_selection("terminal", None)), call_tool, cast("Any", None))
    client = LineConnection(served, Caller(door="mcp"), reader, writer, Settings())
    serving = asyncio.create_task(client.serve())
    info = {"name": "t", "version": "1"}
    shake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    theirs.send(_line(0, "initialize", shake))
    for number, name in enumerate(("odd", "even"), 1):
        theirs.send(_line(number, "tools/call", {"name": name}))
    loop, answered = asyncio.get_running_loop(), b""
    while answered.count(b"\n") < 3:
        answered += await asyncio.wait_for(loop.sock_recv(theirs, 1 << 20), PATIENCE)
    told = {answer["id"]: answer for answer in map(json.loads, answered.splitlines())}
    assert told[1]["error"]["code"] == -32603
    assert told[1]["error"]["data"]["code"] == "INTERNAL_ERROR"
    assert told[2]["result"]["content"][0]["text"] == "fine"
    theirs.close()
    await serving
    writer.close()


def _line(number: int, method: str, params: dict[str, Any]) -> bytes:
    asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(asked).encode() + b"\n"


def test_a_call_with_a_progress_token_needs_no_library_either(
    bridges: Bridges, own_daemon: Callable[..., Daemon]
) -> None:
    daemon = own_daemon(mcp_load_after=0)
    bridge = bridges(daemon.env).handshake()
    call = {"name": "list_sessions", "arguments": {}, "_meta": {"progressToken": "p"}}
    assert bridge.ask("tools/call", call)["result"]["structuredContent"] == {"sessions": []}
    assert "pydantic_core" not in Path(f"/proc/{daemon.pid}/maps").read_text()


@pytest.mark.parametrize("later", [False, True])
def test_half_a_character_for_a_tool_of_another_toolset_is_a_result(
    bridges: Bridges, daemon: Daemon, *, later: bool
) -> None:
    bridge = bridges(daemon.env, "--toolsets", "shell")
    meta = {"_meta": MODERN_META} if later else {}
    if not later:
        bridge.handshake()
    call = {"name": "run", "arguments": {"port": 20000, "command": "echo \ud83d"}, **meta}
    bridge.write(request_line(7, "tools/call", call))
    answer = bridge.read()
    assert (answer["id"], answer["result"]["isError"]) == (7, True)
    assert answer["result"]["_meta"]["nacre/error"]["code"] == "INVALID_INPUT"
    assert ("resultType" in answer["result"]) == later
