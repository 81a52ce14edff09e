"""The document's protocol and security sections over the socket, and clients that misbehave."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from nacre import __version__
from nacre.core.commands.checks import BLACKLIST, METACHARACTERS

from doors.ndjson.wire import TOKEN, Opened, Wire, opened

pytestmark = pytest.mark.anyio

HAS_IPV6 = socket.has_ipv6 and os.path.exists("/proc/sys/net/ipv6/conf/lo")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
async def door(folder: Path) -> AsyncIterator[Opened]:
    async with opened(folder) as found:
        yield found


@pytest.fixture
async def wire(door: Opened) -> AsyncIterator[Wire]:
    async with door.wire() as found:
        yield found


# --- protocol ------------------------------------------------------------------------------


async def test_initialize_says_who_this_is(wire: Wire) -> None:
    assert await wire.ask("initialize", {}) == {
        "id": "1",
        "type": "response",
        "result": {"server": "nacre", "version": __version__, "protocol_version": "1.0"},
    }


async def test_list_tools_has_each_command_once_with_schema_and_aliases(wire: Wire) -> None:
    tools = (await wire.ask("list_tools"))["result"]["tools"]
    by_name = {tool["name"]: tool for tool in tools}
    assert len(by_name) == len(tools) >= 72
    assert by_name["ls"]["aliases"] == ["myls", "list_files", "dir"]
    assert by_name["ls"]["description"] == "List directory contents"
    path = by_name["ls"]["schema"]["properties"]["path"]
    assert by_name["ls"]["schema"]["type"] == "object"
    assert (path["type"], path["description"]) == ("string", "Directory path")
    assert path["many"]  # a list of them is taken, too
    assert by_name["rm"]["refused"]
    assert "refused" not in by_name["myrm"]


async def test_a_call_is_started_answered_then_completed(wire: Wire, folder: Path) -> None:
    (folder / "file1.txt").touch()
    wire.send("call_tool", {"tool": "list_files", "args": {"path": str(folder)}}, "3")
    started = await wire.receive()
    answer = await wire.receive()
    completed = await wire.receive()
    execution = started["execution_id"]
    assert started == {
        "type": "notification",
        "event": "tool_started",
        "tool": "list_files",
        "execution_id": execution,
    }
    assert answer["id"] == "3"
    assert answer["type"] == "response"
    assert list(answer["result"])[:3] == ["output", "exit_code", "execution_id"]
    assert answer["result"]["output"] == "file1.txt\n"
    assert answer["result"]["exit_code"] == 0
    assert completed == {**started, "event": "tool_completed", "exit_code": 0}


async def test_a_failed_command_is_a_response_and_a_tool_failed(wire: Wire) -> None:
    result = await wire.tool("cat", path="none")
    assert result["exit_code"] == 1
    assert "No such file" in result["stderr"]
    failed = await wire.receive()
    assert (failed["event"], failed["exit_code"]) == ("tool_failed", 1)
    assert failed["error"]


async def test_status_and_cancel(wire: Wire) -> None:
    wire.send("call_tool", {"tool": "sleep", "args": {"seconds": 600}}, "call")
    execution = (await wire.until("tool_started"))["execution_id"]
    params = {"execution_id": execution}
    status = await wire.ask("get_execution_status", params, "status")
    assert status["result"]["status"] == "running"
    wire.send("cancel_execution", params, "cancel")
    answers = {one["id"]: one["result"] for one in [await wire.answer(), await wire.answer()]}
    assert answers["cancel"] == {"cancelled": True}
    assert answers["call"]["exit_code"] == 128 + 15
    again = await wire.ask("cancel_execution", params)
    assert again["result"] == {"cancelled": False}
    status = await wire.ask("get_execution_status", params)
    assert list(status["result"])[:3] == ["status", "exit_code", "output"]
    assert status["result"]["status"] == "cancelled"


async def test_a_long_command_tells_how_it_goes_on(wire: Wire) -> None:
    wire.send("call_tool", {"tool": "sleep", "args": {"seconds": 600}})
    told = await wire.until("tool_progress")
    assert told["progress"]["elapsed_ms"] >= 900
    assert told["progress"]["output_bytes"] == 0
    assert told["tool"] == "sleep"


@pytest.mark.parametrize("identifier", ["x", 7, 1.5, True, None, "é", 10**15])
async def test_any_scalar_is_an_id_and_is_echoed(identifier: Any, wire: Wire) -> None:
    assert (await wire.ask("initialize", identifier=identifier))["id"] == identifier


async def test_lines_are_ascii_without_blanks_between_tokens(wire: Wire) -> None:
    wire.send("call_tool", {"tool": "echo", "args": {"text": "grüße"}})
    lines = [await wire.reader.readline() for _ in range(3)]
    assert b'"exit_code":0' in lines[1]
    assert all(line.isascii() for line in lines)
    assert json.loads(lines[1])["result"]["output"] == "grüße\n"


async def test_several_requests_are_in_flight(wire: Wire) -> None:
    wire.send("call_tool", {"tool": "sleep", "args": {"seconds": 600}}, "slow")
    wire.send("call_tool", {"tool": "uname"}, "quick")
    assert (await wire.answer())["id"] == "quick"


async def test_the_context_is_the_connections_own(door: Opened, wire: Wire, folder: Path) -> None:
    (folder / "sub").mkdir()
    assert (await wire.tool("cd", directory="sub"))["exit_code"] == 0
    assert await wire.output("pwd") == f"{folder}/sub\n"
    async with door.wire() as other:
        assert await other.output("pwd") == f"{folder}\n"


async def test_executions_outlive_their_connection(door: Opened) -> None:
    async with door.wire() as wire:
        wire.send("call_tool", {"tool": "sleep", "args": {"seconds": 600}})
        execution = (await wire.until("tool_started"))["execution_id"]
    async with door.wire() as other:
        status = await other.ask("get_execution_status", {"execution_id": execution})
        assert status["result"]["status"] == "running"
        done = await other.ask("cancel_execution", {"execution_id": execution})
        assert done["result"]["cancelled"]


async def test_exit_closes_the_connection_after_its_answer(wire: Wire) -> None:
    assert (await wire.tool("exit"))["exit_code"] == 0
    assert (await wire.receive())["event"] == "tool_completed"
    assert await wire.receive() is None


async def test_stdin_pipeline_and_dry_run(wire: Wire) -> None:
    sorted_ = await wire.ask("call_tool", {"tool": "sort", "stdin": "b\na\n"})
    assert sorted_["result"]["output"] == "a\nb\n"
    piped = await wire.ask("call_tool", {"pipeline": [["echo", "b"], ["tr", "a-z", "A-Z"]]})
    assert piped["result"]["output"] == "B\n"
    dry = await wire.ask("call_tool", {"tool": "uname", "dry_run": True})
    assert dry["result"]["argv"][0][0].endswith("uname")


@pytest.mark.parametrize("tool", ["get_shell_context", "search_commands", "suggest_command"])
async def test_tools_for_models_answer_as_any_other(tool: str, wire: Wire) -> None:
    args = {} if tool == "get_shell_context" else {"query": "find all Python files"}
    result = await wire.tool(tool, **args)
    assert result["exit_code"] == 0
    assert result["execution_id"]
    assert isinstance(json.loads(result["output"]), dict)


# --- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "error", "identifier"),
    [
        ('{"id": 1, "method": "nonsense"}', "Unknown method 'nonsense'", 1),
        ('{"id": 2}', "Invalid request: method", 2),
        ('{"id": 3, "method": "call_tool", "params": []}', "Invalid request: params", 3),
        ('{"id": {}, "method": "list_tools"}', "Invalid request: id must be a scalar", None),
        ('{"id": 4, "method": "call_tool"}', "the call names no command", 4),
        ('{"id": 5, "method": "call_tool", "params": {"tool": "x"}}', "there is no command", 5),
        ('{"id": 6, "method": "call_tool", "params": {"tool": 7}}', "tool", 6),
        (
            '{"id": 6, "method": "call_tool", "params": {"tool": "ls", "x": 1}}',
            "x is not a parameter; call_tool takes: tool, args, pipeline, stdin, dry_run, context, "
            "max_chars",
            6,
        ),
        ('{"id": 6, "method": "call_tool", "params": {"wait_ms": 1}}', "wait_ms is not a", 6),
        ('{"id": 7, "method": "get_execution_status"}', "execution_id", 7),
        ('{"id": 8, "method": "cancel_execution", "params": {"execution_id": "x"}}', "no exec", 8),
    ],
)
async def test_what_is_wrong_is_an_error_with_a_code(
    line: str, error: str, identifier: Any, wire: Wire
) -> None:
    wire.raw(line)
    answer = await wire.answer()
    assert (answer["type"], answer["id"]) == ("error", identifier)
    assert answer["error"].startswith(error)
    assert answer["code"]


async def test_malformed_lines_later_on_are_answered_and_the_connection_lives(wire: Wire) -> None:
    await wire.ask("initialize")
    for line in ("nonsense", "[1]", "3", "[" * 100_000, '{"a":' * 50_000, "\x00", '"\\ud800"'):
        wire.raw(line)
        answer = await wire.answer()
        assert (answer["id"], answer["type"]) == (None, "error"), line[:20]
    wire.raw(b'{"id": "\xff"}')
    assert (await wire.answer())["type"] == "error"
    assert await wire.output("pwd")


@pytest.mark.parametrize("line", ["POST / HTTP/1.1", "[]", "3", "nonsense"])
async def test_a_first_line_that_is_no_object_closes_the_connection(line: str, wire: Wire) -> None:
    wire.raw(line)
    wire.send("call_tool", {"tool": "touch", "args": {"path": "made"}})
    assert (await wire.receive())["type"] == "error"
    assert await wire.receive() is None


async def test_a_line_that_is_too_long_is_skipped_and_answered(folder: Path) -> None:
    async with opened(folder, ndjson_max_line_bytes=2000) as door, door.wire() as wire:
        await wire.ask("initialize")
        for size in (2001, 10_000, 10_000_000):
            wire.raw(b'{"id":"' + b"x" * size + b'"}')
            answer = await wire.answer()
            assert answer["id"] is None
            assert answer["error"].startswith("Line too long")
        assert await wire.output("pwd")
        async with door.wire() as another:  # nobody knows that its first line is an object
            another.raw(b"\r\nPOST /" + b"x" * 10_000)
            another.send("call_tool", {"tool": "touch", "args": {"path": "made"}})
            assert (await another.receive())["error"].startswith("Line too long")
            assert await another.receive() is None
    assert not (folder / "made").exists()


# --- access --------------------------------------------------------------------------------


async def test_nothing_is_done_before_a_right_token(folder: Path) -> None:
    async with opened(folder, ndjson_auth="token") as door, door.wire() as wire:
        for method in ("list_tools", "call_tool", "get_execution_status"):
            refused = await wire.ask(method, {"tool": "touch", "args": {"path": "made"}})
            assert refused["error"].startswith("Not initialized")
        for params in ({}, {"token": "wrong"}, {"token": 7}):
            refused = await wire.ask("initialize", params)
            assert refused["error"].startswith("Not authorized")
            assert refused["code"] == "FORBIDDEN"
        assert (await wire.ask("initialize", {"token": TOKEN}))["type"] == "response"
        assert await wire.output("pwd") == f"{folder}\n"
    assert not (folder / "made").exists()


async def test_one_client_too_many_gets_an_error_and_is_closed(folder: Path) -> None:
    async with opened(folder, ndjson_max_clients=1) as door, door.wire() as wire:
        await wire.ask("initialize")
        async with door.wire() as other:
            refused = await other.receive()
            assert (refused["id"], refused["code"]) == (None, "RESOURCE_LIMIT")
            assert await other.receive() is None
        assert await wire.output("pwd")


async def test_a_client_that_asks_for_nothing_is_closed_but_not_one_that_waits(
    folder: Path,
) -> None:
    async with opened(folder, ndjson_timeout=0.3) as door, door.wire() as wire:
        wire.send("call_tool", {"tool": "sleep", "args": {"seconds": 0.8}})
        assert (await wire.answer())["result"]["exit_code"] == 0
        assert (await wire.receive())["event"] == "tool_completed"
        assert await wire.receive() is None


async def test_the_door_is_on_both_loopbacks_and_a_taken_port_fails_clearly(door: Opened) -> None:
    from nacre.errors import Internal
    from nacre.system.endpoints import listen_ndjson

    if HAS_IPV6:
        async with door.wire("::1") as wire:
            assert await wire.output("pwd")
    with pytest.raises(Internal, match=rf"port {door.port} of the NDJSON door cannot be used"):
        listen_ndjson(door.port)


# --- the document's security section -------------------------------------------------------


@pytest.mark.parametrize("name", BLACKLIST)
async def test_the_blacklist(name: str, wire: Wire) -> None:
    args = {"job": "1"} if name == "kill" else {}
    told = await wire.tool(name, **args)
    assert told.startswith(f"Command '{name}' is blacklisted for security reasons")


async def test_the_metacharacters(wire: Wire) -> None:
    for sign in [*METACHARACTERS, "\n", "\r", "\0"]:
        told = await wire.tool("echo", text=f"a{sign}b")
        assert told.startswith("Invalid characters in argument"), sign


async def test_the_paths(wire: Wire, folder: Path) -> None:
    (folder / "link").symlink_to("/etc")
    for path in ("..", "/etc/passwd", "/sys", "/proc/1", "/root", "/boot", "link/passwd"):
        told = await wire.tool("cat", path=path)
        assert told.startswith("Path contains dangerous pattern"), path


async def test_every_execution_and_refusal_is_in_the_audit_log(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "audit.log"
    async with opened(folder, audit_log=str(log)) as door, door.wire() as wire:
        await wire.output("ls")
        await wire.tool("rm", path="x")
    found = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["command"], one["status"]) for one in found] == [
        ("ls", "success"),
        ("rm", "denied"),
    ]


# --- clients that misbehave ----------------------------------------------------------------


async def test_a_thousand_pipelined_requests_are_all_answered(wire: Wire) -> None:
    for index in range(1000):
        wire.send("call_tool", {"tool": "echo", "args": {"text": str(index)}}, index)
    answers = {}
    for _ in range(1000):
        answer = await wire.answer()
        answers[answer["id"]] = answer["result"]["output"]
    assert answers == {index: f"{index}\n" for index in range(1000)}


async def test_a_half_closed_connection_gets_all_its_answers(door: Opened) -> None:
    async with door.wire() as wire:
        wire.send("call_tool", {"tool": "uname"}, "1")
        wire.writer.write(b'{"id":"2","method":"call_tool","params":{"tool":"pwd"}}')  # no newline
        wire.writer.write_eof()
        answers = [await wire.answer(), await wire.answer()]
        assert {one["id"] for one in answers} == {"1", "2"}
        while (last := await wire.receive()) is not None:
            assert last["event"] == "tool_completed"


async def test_half_lines_and_single_bytes_are_put_together(wire: Wire) -> None:
    for byte in b'{"id":"1","method":"call_tool","params":{"tool":"pwd"}}\n':
        wire.writer.write(bytes([byte]))
        await wire.writer.drain()
    assert (await wire.answer())["result"]["exit_code"] == 0


async def test_a_client_that_never_reads_holds_nobody_up(folder: Path) -> None:
    (folder / "big").write_text("x" * 500_000)
    async with opened(folder, unread_time=0.5) as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port, limit=1)
        silent = Wire(reader, writer)
        for index in range(50):
            silent.send("call_tool", {"tool": "cat", "args": {"path": "big"}}, index)
        async with door.wire() as wire:
            assert await wire.output("pwd") == f"{folder}\n"
        writer.transport.abort()


async def test_a_client_that_asks_for_one_thing_at_a_time_reads_one_message_at_a_time(
    folder: Path,
) -> None:
    """Whatever comes after the message that it waits for: the next request overtakes it."""
    async with opened(folder, ndjson_apart=60) as door:
        loop = asyncio.get_running_loop()
        with socket.create_connection(("127.0.0.1", door.port)) as client:
            client.setblocking(False)
            for number in range(20):
                asked = {"id": number, "method": "call_tool", "params": {"tool": "pwd"}}
                await loop.sock_sendall(client, json.dumps(asked).encode() + b"\n")
                answer: Any = {}
                while answer.get("type") != "response":
                    read = await loop.sock_recv(client, 65536)
                    assert read.count(b"\n") == 1, read
                    answer = json.loads(read)
                assert answer["id"] == number
