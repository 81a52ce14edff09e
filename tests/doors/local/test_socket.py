"""The Unix socket: its greeting, and calls side by side."""

import asyncio
import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, cast

import msgspec
import pytest

from conftest import PATIENCE, Daemon
from nacre import __version__
from nacre.client.calls import AnsweredError, Client
from nacre.client.start import connect
from nacre.doors.local.socket import Hello, serve_calls
from nacre.services.dispatch.dispatch import Answer
from nacre.settings.paths import find_paths
from nacre.settings.table import Settings

from doors.wire import GREETING, Bridge, Doomed, Line, daemon_pid, local_line


def greet(line: Line) -> None:
    line.send(GREETING)
    assert line.read() == {"nacre": 1, "version": __version__}


def call(line: Line, identifier: Any, operation: str, **params: Any) -> Any:
    line.send({"id": identifier, "operation": operation, "params": params})
    answer = line.read()
    assert answer["id"] == identifier
    return answer


# --- the greeting --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ({**GREETING, "nacre": 2}, "nacre stop"),
        ({**GREETING, "door": "window"}, "no door 'window'; there are"),
        ({**GREETING, "door": "mcp", "toolsets": "nope"}, "no toolset 'nope'"),
        ({**GREETING, "door": "mcp", "prefix": "a b"}, "cannot be a prefix"),
        ({"nacre": 1}, "not a greeting"),
        ({**GREETING, "nacre": "one"}, "not a greeting"),
        ({**GREETING, "cwd": 5}, "not a greeting"),
        ([], "not a greeting"),
        (b"GET / HTTP/1.1\n", "not a greeting"),
        (b"\n", "not a greeting"),
        (b"\xff\xfe\x00\n", "not a greeting"),
        (b"[" * 100_000 + b"\n", "not a greeting"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_greeting_that_does_not_fit_is_refused_by_one_line(
    daemon: Daemon, first: object, told: str
) -> None:
    with local_line(daemon.env) as line:
        if isinstance(first, bytes):
            line.connection.sendall(first)
        else:
            line.send(first)
        answer = line.read()
        assert (answer["nacre"], answer["version"]) == (1, __version__)
        assert answer["error"]["code"] == "INVALID_INPUT"
        assert told in answer["error"]["message"]
        assert line.reader.read() == b""
    with local_line(daemon.env) as line:
        greet(line)


def test_a_client_of_another_protocol_is_refused_whatever_else_it_says(daemon: Daemon) -> None:
    with local_line(daemon.env) as line:
        line.send({"nacre": 7, "door": "of-the-future", "version": "9"})
        told = line.read()["error"]["message"]
    assert __version__ in told
    assert "nacre stop" in told


def test_a_client_that_leaves_without_a_word_is_no_trouble(daemon: Daemon) -> None:
    for first in (b"", b'{"nacre": 1'):
        with local_line(daemon.env) as line:
            line.connection.sendall(first)
            line.connection.shutdown(socket.SHUT_WR)
            # It may be told what is wrong; it is not left hanging.
            line.reader.read()
    with local_line(daemon.env) as line:
        greet(line)


def test_who_does_not_say_who_they_are_is_disconnected_by_time_and_by_number(
    own_daemon: Callable[..., Daemon],
) -> None:
    quick = own_daemon(greeting_time=0.2, max_ungreeted=512)
    with local_line(quick.env) as late:
        late.connection.sendall(b'{"nacre": 1')
        told = late.read()["error"]
        assert (told["code"], "(greeting_time)" in told["message"]) == ("RESOURCE_LIMIT", True)
        assert late.reader.read() == b""
    quick.stop()
    full = own_daemon(greeting_time=3600, max_ungreeted=3)
    with ExitStack() as stack:
        lines = [stack.enter_context(local_line(full.env)) for _ in range(4)]
        told = lines[0].read()["error"]
        assert (told["code"], "(max_ungreeted)" in told["message"]) == ("RESOURCE_LIMIT", True)
        for line in lines[1:]:
            greet(line)


# --- calls ---------------------------------------------------------------------------------


def test_calls_are_answered_under_their_id(daemon: Daemon) -> None:
    with local_line(daemon.env) as line:
        greet(line)
        assert call(line, 1, "status")["result"]["pid"] == daemon.pid
        assert call(line, "two", "list_sessions")["result"] == {"sessions": []}
        assert call(line, None, "status")["result"]["sessions"] == 0
        assert call(line, 3, "no_such")["error"]["code"] == "UNKNOWN_OPERATION"
        assert call(line, 4, "get_screen", session="x")["error"]["code"] == "SESSION_NOT_FOUND"
        assert call(line, 5, "get_screen")["error"]["code"] == "INVALID_INPUT"


def test_an_error_is_a_sentence_and_data_for_who_has_words_of_their_own(daemon: Daemon) -> None:
    step = {"operation": "list_sessions", "params": {}}
    said = "no session 'x' (there are: none)"
    with local_line(daemon.env) as line:
        greet(line)
        told = call(line, 1, "get_screen", session="x")["error"]
        assert told["message"] == f"{said}; list them with list_sessions"
        assert told["next"] == [{**step, "why": "list them"}]
    with local_line(daemon.env) as line:
        line.send({**GREETING, "own_words": True})
        line.read()
        told = call(line, 1, "get_screen", session="x")["error"]
        steps = [{**step, "to": "list them"}]
        assert told == {"code": "SESSION_NOT_FOUND", "message": said, "next": steps}
        told = call(line, 2, "create_session", cwd="/nowhere")["error"]
        assert (told["parameters"], told["problem"]) == (["cwd"], "is not a folder: '/nowhere'")


@pytest.mark.parametrize(
    "garbage",
    [
        b"{not json\n",
        b"[]\n",
        b"5\n",
        b"null\n",
        b"\n",
        b"\xff\n",
        b"[" * 100_000 + b"\n",
        b'{"id": 1}\n',
        b'{"id": 1, "operation": "status"}\n',
        b'{"id": 1, "operation": "status", "params": []}\n',
        b'{"id": 1, "operation": "status", "params": null}\n',
        b'{"id": 1, "operation": [], "params": {}}\n',
        b'{"id": 1, "operation": {}, "params": {}}\n',
        b'{"id": 1, "operation": 5, "params": {}}\n',
    ],
    ids=lambda value: value[:44].decode("latin-1"),
)
def test_a_request_that_is_none_is_told_and_the_connection_goes_on(
    daemon: Daemon, garbage: bytes
) -> None:
    with local_line(daemon.env) as line:
        greet(line)
        line.connection.sendall(garbage)
        assert line.read()["error"]["code"] in ("INVALID_INPUT", "UNKNOWN_OPERATION")
        assert call(line, 2, "status")["result"]["version"] == __version__


@pytest.mark.parametrize("greeted", [False, True], ids=["greeting", "request"])
def test_a_line_over_the_limit_is_told(small_daemon: Daemon, greeted: bool) -> None:
    with local_line(small_daemon.env) as line:
        if greeted:
            greet(line)
        line.connection.sendall(b"x" * 70_000 + b"\n")
        told = line.read()["error"]
        assert told["code"] == "INVALID_INPUT"
        assert "max_message_bytes" in told["message"]


def test_the_client_says_that_its_request_is_too_long(small_daemon: Daemon) -> None:
    with (
        Client(connect(find_paths(small_daemon.env)), timeout=PATIENCE) as client,
        pytest.raises(AnsweredError, match="max_message_bytes; send less at once"),
    ):
        client.call("send_input", session="any", input="x" * 3_000_000)


def test_pipelined_calls_run_side_by_side(daemon: Daemon) -> None:
    with local_line(daemon.env) as line:
        greet(line)
        call(line, 0, "create_session", name="pipe", command="stty -echo; echo up; exec cat")
        seen = 0
        while seen == 0:
            wait = {"session": "pipe", "timeout_ms": 50, "last_generation": seen}
            seen = call(line, 0, "await_quiesce", **wait)["result"]["generation"]
        wait = {"session": "pipe", "timeout_ms": 0, "last_generation": seen}
        line.send(
            {"id": "wait", "operation": "await_quiesce", "params": wait},
            {"id": "status", "operation": "status", "params": {}},
        )
        assert line.read()["id"] == "status"
        line.send(
            {"id": "send", "operation": "send_input", "params": {"session": "pipe", "input": "x\r"}}
        )
        answers = {answer["id"]: answer for answer in (line.read(), line.read())}
        assert answers["send"]["result"]["success"] is True
        assert answers["wait"]["result"]["generation"] > seen
        call(line, 9, "manage_session", session="pipe", action="kill")


def test_more_calls_than_run_at_once_are_all_answered(daemon: Daemon) -> None:
    with local_line(daemon.env) as line:
        greet(line)
        line.send(*({"id": one, "operation": "status", "params": {}} for one in range(500)))
        assert {line.read()["id"] for _ in range(500)} == set(range(500))


def test_as_many_calls_run_at_once_as_the_setting_says(narrow_daemon: Daemon) -> None:
    with local_line(narrow_daemon.env) as line, local_line(narrow_daemon.env) as other:
        greet(line)
        greet(other)
        call(line, 0, "create_session", name="one", command="stty -echo; echo up; exec cat")
        wait = {"session": "one", "text": "awaited", "timeout_ms": 60_000}
        line.send(
            {"id": "wait", "operation": "wait_for", "params": wait},
            {"id": "status", "operation": "status", "params": {}},
        )
        call(other, 1, "send_input", session="one", input="awaited\r")
        assert [line.read()["id"] for _ in range(2)] == ["wait", "status"]
        call(line, 2, "manage_session", session="one", action="kill")


def test_a_client_that_leaves_during_a_wait_leaves_nothing_behind(
    bridges: Callable[..., Bridge], home_env: Callable[..., dict[str, str]]
) -> None:
    env = home_env(grace=0)
    bridge = bridges(env).handshake()
    bridge.call("create_session", name="job", command="cat")
    with local_line(env) as line:
        greet(line)
        long = {"session": "job", "timeout_ms": 600_000, "max_wait_ms": 600_000}
        line.send(
            {"id": 1, "operation": "await_quiesce", "params": long},
            {"id": 2, "operation": "status", "params": {}},
        )
        assert line.read()["id"] == 2
        doomed = Doomed([daemon_pid(env)])
        assert bridge.close() == 0
        # A client is still there, and so is the daemon.
        assert call(line, 3, "status")["result"]["ephemeral"] is True
    assert doomed.survivors(PATIENCE) == []


# --- attached ------------------------------------------------------------------------------


def attach(line: Line, **more: Any) -> None:
    line.send({**GREETING, "door": "attach", "person": True, **more})


def test_who_attaches_without_naming_a_session_is_refused(daemon: Daemon) -> None:
    with local_line(daemon.env) as line:
        attach(line)
        assert "names a session" in line.read()["error"]["message"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"session": "nope"}, "SESSION_NOT_FOUND"),
        ({"session": "nope", "size": [0, 5]}, "INVALID_INPUT"),
        ({"session": "nope", "size": [5, 5000], "read_only": True}, "INVALID_INPUT"),
    ],
)
def test_who_attaches_to_nothing_is_told_and_closed(
    daemon: Daemon, more: dict[str, Any], code: str
) -> None:
    with local_line(daemon.env) as line:
        attach(line, **more)
        assert line.read() == {"nacre": 1, "version": __version__}
        assert line.read()["error"]["code"] == code
        assert line.reader.read() == b""


def test_lines_that_are_none_and_input_to_look_at_only_are_told(daemon: Daemon) -> None:
    daemon.rest("POST", "/sessions", {"name": "seen", "command": "cat"})
    with local_line(daemon.env) as line:
        attach(line, session="seen", size=[10, 40], read_only=True)
        assert line.read() == {"nacre": 1, "version": __version__}
        assert line.read() == {"resized": [24, 80]}
        assert "snapshot" in line.read()
        for garbage in (b"{\n", b"[]\n", b'{"nope": 1}\n', b'{"resize": [1]}\n', b"\xff\n"):
            line.connection.sendall(garbage)
            assert line.read()["error"]["code"] == "INVALID_INPUT"
        line.send({"input": "eA=="})
        assert line.read()["error"]["code"] == "FORBIDDEN"
        line.send({"refresh": True})
        assert "snapshot" in line.read()
        daemon.rest("POST", "/sessions/seen/manage", {"action": "kill"})
        told = line.read()
        while "ended" not in told:
            told = line.read()
        assert line.reader.read() == b""


def test_a_client_that_never_reads_does_not_keep_the_daemon_from_stopping(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    info = {"name": "t", "version": "1"}
    shake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    with local_line(daemon.env) as line:
        line.send({**GREETING, "door": "mcp", "toolsets": "terminal"})
        line.read()
        asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": shake}
        line.send(asked)
        line.read()
        line.send(*({"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in range(1, 200)))
        assert line.read()["id"] == 1, "its answers are on the way, and more than the kernel holds"
        assert daemon.stop() == 0


@pytest.mark.anyio
async def test_an_answer_that_no_json_can_carry_is_told_as_an_error() -> None:
    class Odd:
        async def ask(self, caller: object, operation: object) -> Answer:
            return Answer(cast("Any", "\udcff"), None)

    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    serve = serve_calls(cast("Any", Odd()), msgspec.convert(GREETING, Hello), Settings())
    serving = asyncio.ensure_future(serve(reader, writer))
    theirs.sendall(b'{"id": 1, "operation": "list_sessions", "params": {}}\n')
    theirs.setblocking(False)
    told = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(theirs, 65536), PATIENCE)
    answer = msgspec.json.decode(told)
    assert (answer["id"], answer["error"]["code"]) == (1, "INTERNAL_ERROR")
    theirs.close()
    await serving
    writer.close()


@pytest.mark.parametrize("door", ["call", "mcp"])
def test_no_more_is_read_from_a_client_that_never_reads(
    own_daemon: Callable[..., Daemon], door: str
) -> None:
    daemon = own_daemon(unread_time=1, read_ahead_bytes=65536)
    asked: dict[str, Any] = {"id": 1, "operation": "list_sessions", "params": {"max_chars": 30_000}}
    if door == "mcp":
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    requests = b"".join(json.dumps(asked).encode() + b"\n" for _ in range(1000))
    sent = 0
    with local_line(daemon.env) as line:
        line.send({**GREETING, "door": door})
        line.read()
        # It is disconnected for not reading.
        try:
            while sent < 50_000_000:
                sent += line.connection.send(requests)
        except ConnectionError:
            pass
    assert sent < 3_000_000, "what is sent beyond stays in its own socket"
