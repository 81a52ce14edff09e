"""`nacre mcp` when its daemon dies: the host goes on with the next one, and nothing runs twice.

A played daemon dies at the byte that a test is about; a real one shows that it all fits.
"""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Daemon
from nacre.settings.paths import find_paths
from restarts import PATIENCE, PlayedDaemon, crash

from doors.wire import (
    HANDSHAKE,
    MODERN_META,
    Bridge,
    Doomed,
    Line,
    daemon_pid,
    request_line,
    tool_line,
)

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
def bridges() -> Iterator[Callable[[dict[str, str]], Bridge]]:
    started: list[Bridge] = []

    def start(env: dict[str, str]) -> Bridge:
        started.append(Bridge(env))
        return started[-1]

    yield start
    for bridge in started:
        bridge.dispose()


@pytest.fixture
def played(tmp_path: Path) -> Iterator[PlayedDaemon]:
    daemon = PlayedDaemon(tmp_path)
    yield daemon
    daemon.close()


@pytest.fixture
def bridge(played: PlayedDaemon, bridges: Callable[[dict[str, str]], Bridge]) -> Bridge:
    return bridges(played.env)


def answers(line: Line, number: int, **more: object) -> None:
    line.send({"jsonrpc": "2.0", "id": number, **(more or {"result": {}})})


def handshake(bridge: Bridge, line: Line) -> None:
    bridge.write(request_line(1, "initialize", HANDSHAKE))
    assert line.read()["method"] == "initialize"
    answers(line, 1, result={"first": True})
    assert bridge.read()["result"] == {"first": True}
    bridge.write(json.dumps(INITIALIZED).encode() + b"\n")
    assert line.read() == INITIALIZED


def restarted(answer: Any) -> bool:
    return answer["error"]["data"]["code"] == "DAEMON_RESTARTED"  # type: ignore[no-any-return]  # JSON


# --- a played daemon -----------------------------------------------------------------------------


def test_the_next_daemon_gets_the_handshake_and_the_host_one_error_a_request(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    first = played.accept(door="mcp")
    hello = played.hello
    handshake(bridge, first)
    bridge.write(tool_line(2, "run_command", session="a", input="make"))
    bridge.write(tool_line(3, "get_screen", session="a"))
    assert [first.read()["id"] for _ in range(2)] == [2, 3]
    answers(first, 3)
    assert bridge.read() == {"jsonrpc": "2.0", "id": 3, "result": {}}
    played.die(first)

    second = played.accept(door="mcp")
    assert played.hello == hello  # the same folder, the same tools
    assert second.read() == json.loads(request_line(1, "initialize", HANDSHAKE))
    assert second.read() == INITIALIZED
    answers(second, 1, result={"first": False})
    lost = bridge.read()
    assert lost["id"] == 2
    assert restarted(lost)
    # The host hears of no second handshake; what it asks next is what the daemon gets next.
    bridge.write(tool_line(4, "get_screen", session="a"))
    assert second.read()["id"] == 4
    answers(second, 4)
    assert bridge.read() == {"jsonrpc": "2.0", "id": 4, "result": {}}
    bridge.close_input()
    assert second.reader.readline() == b""
    played.die(second)
    assert bridge.process.wait(PATIENCE) == 0


def test_a_half_received_answer_is_dropped_and_what_came_before_it_is_not(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    first = played.accept(door="mcp")
    bridge.write(tool_line(1, "get_screen") + tool_line(2, "get_screen"))
    assert [first.read()["id"] for _ in range(2)] == [1, 2]
    first.connection.sendall(b'{"jsonrpc":"2.0","id":2,"result":{}}\n{"jsonrpc":"2.0","id":1,"res')
    played.die(first)
    assert bridge.read() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    second = played.accept(door="mcp")
    lost = bridge.read()
    assert lost["id"] == 1
    assert restarted(lost)
    answers(second, 9)
    assert bridge.read()["id"] == 9


def test_a_half_sent_request_is_sent_again_whole(played: PlayedDaemon, bridge: Bridge) -> None:
    first = played.accept(door="mcp")
    line = tool_line(1, "send_input", session="a", input="y" * 3_000_000)
    # The bridge and the pipe cannot hold it: it is written while it is read.
    writing = threading.Thread(target=bridge.write, args=(line,))
    writing.start()
    assert line.startswith(first.reader.read(1_000_000))
    played.die(first)
    second = played.accept(door="mcp")
    assert second.reader.readline() == line
    writing.join(PATIENCE)
    answers(second, 1)
    assert bridge.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("method", ["initialize", "tools/list", "server/discover"])
def test_what_only_reads_is_asked_again(played: PlayedDaemon, bridge: Bridge, method: str) -> None:
    first = played.accept(door="mcp")
    bridge.write(request_line(1, method))
    asked = first.read()
    played.die(first)
    second = played.accept(door="mcp")
    assert second.read() == asked
    answers(second, 1)
    assert bridge.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_host_that_has_left_is_not_told_to_look_again(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    """Its shutdown must not meet a notification; an answer that it waits for still comes."""
    first = played.accept(door="mcp")
    handshake(bridge, first)
    bridge.write(request_line(2, "resources/list"))
    assert first.read()["id"] == 2
    answers(first, 2)
    assert bridge.read()["id"] == 2
    played.die(first)
    second = played.accept(door="mcp")
    assert [second.read().get("id") for _ in range(3)] == [1, None, 2]
    bridge.write(request_line(3, "prompts/list"))
    assert second.read()["id"] == 3
    bridge.close_input()
    assert second.reader.readline() == b""
    for number in (1, 2, 3):
        answers(second, number)
    played.die(second)
    assert [answer["id"] for answer in bridge.rest_of_output()] == [3]


def test_questions_of_the_daemon_and_unknown_answers_just_pass(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    first = played.accept(door="mcp")
    question = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
    first.send(question)
    assert bridge.read() == question
    reply = {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}
    bridge.write(json.dumps(reply).encode() + b"\n")
    assert first.read() == reply
    played.die(first)
    second = played.accept(door="mcp")
    answers(second, 5)
    assert bridge.read()["id"] == 5  # and no error before it


def test_a_daemon_that_is_told_to_stop_is_not_replaced(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    first = played.accept(door="mcp")
    handshake(bridge, first)
    played.take_leave()
    played.die(first)
    assert bridge.process.wait(PATIENCE) == 1
    assert "daemon is gone" in bridge.complaint()
    assert bridge.rest_of_output() == []
    assert not os.path.exists(played.paths.socket)


def test_daemons_that_die_at_once_are_given_up(played: PlayedDaemon, bridge: Bridge) -> None:
    for _ in range(4):  # the first, and three more
        played.die(played.accept(door="mcp"))
    assert bridge.process.wait(PATIENCE) == 1
    assert bridge.complaint().count("daemon is gone") == 1


def test_daemons_that_answer_before_they_die_are_not_given_up(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    for number in range(8):
        line = played.accept(door="mcp")
        bridge.write(request_line(number, "ping"))
        assert line.read()["id"] == number
        answers(line, number)
        assert bridge.read()["id"] == number
        played.die(line)
    played.accept(door="mcp")
    assert bridge.process.poll() is None


def test_a_daemon_that_dies_before_it_greets_is_tried_again(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    played.hang_up()
    line = played.accept(door="mcp")
    played.die(line)
    played.hang_up()
    line = played.accept(door="mcp")
    bridge.write(request_line(1, "ping"))
    assert line.read()["id"] == 1


def test_answers_that_the_host_has_not_read_yet_are_not_lost(
    played: PlayedDaemon, bridge: Bridge
) -> None:
    first = played.accept(door="mcp")
    bridge.write(b"".join(tool_line(number, "get_screen") for number in range(9)))
    assert [first.read()["id"] for _ in range(9)] == list(range(9))
    screen = "x" * 10_000  # more than a pipe holds, together
    for number in range(8):
        answers(first, number, result=screen)
    played.die(first)
    assert [bridge.read()["result"] for _ in range(8)] == [screen] * 8
    played.accept(door="mcp")
    assert restarted(bridge.read())


# --- a real one ----------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_the_host_goes_on_after_kill_9(
    bridges: Callable[[dict[str, str]], Bridge],
    own_daemon: Callable[..., Daemon],
    era: str,
) -> None:
    daemon = own_daemon()
    bridge = bridges(daemon.env)
    more = {"_meta": MODERN_META} if era == "2026" else {}
    if era == "2025":
        bridge.handshake()
    listing = {"name": "list_sessions", "arguments": {}, **more}
    creating = {"name": "create_session", "arguments": {"command": "cat"}, **more}
    for number in (101, 102):  # it dies, and so does the next one
        created = bridge.ask("tools/call", creating)["result"]["structuredContent"]
        waiting = {"session": created["session"], "timeout_ms": 600_000}
        call = {"name": "await_quiesce", "arguments": waiting, **more}
        bridge.write(request_line(number, "tools/call", call))
        assert "result" in bridge.ask("tools/call", listing)  # it has come in
        crash(daemon)
        lost = bridge.read()
        assert lost["id"] == number
        assert restarted(lost)
        assert bridge.ask("tools/call", listing)["result"]["isError"] is False
    assert bridge.close() == 0
    assert bridge.complaint() == ""


def test_when_nobody_listens_any_more_a_daemon_is_started(
    bridges: Callable[[dict[str, str]], Bridge], own_daemon: Callable[..., Daemon]
) -> None:
    daemon = own_daemon()
    bridge = bridges(daemon.env).handshake()
    before = daemon_pid(daemon.env)
    # The keeper first, or else it would start the next one; and it must not be replaced meanwhile.
    os.kill(before, signal.SIGSTOP)
    for pid in dict.fromkeys([daemon.process.pid, before]):
        doomed = Doomed([pid])
        os.kill(pid, signal.SIGKILL)
        if pid == daemon.process.pid:
            daemon.process.wait(PATIENCE)
        assert doomed.survivors(PATIENCE) == []
    assert bridge.call("list_sessions") == {"sessions": []}
    assert daemon_pid(daemon.env) != before
    doomed = Doomed([daemon_pid(daemon.env)])
    os.kill(daemon_pid(daemon.env), signal.SIGTERM)
    assert doomed.survivors(PATIENCE) == []
    assert bridge.process.wait(PATIENCE) == 1
    assert "daemon is gone" in bridge.complaint()
    assert not os.path.exists(find_paths(daemon.env).socket)
