"""What the fuzzers found, one by one."""

import json
import socket
import struct

import pytest
from websockets.exceptions import ConnectionClosedError

from conftest import PATIENCE, Daemon
from fuzz.conftest import DaemonLog, deadline
from nacre.client.calls import Client

from doors.sockets import open_socket
from doors.wire import GREETING, http_call, local_line

UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)
RESET = struct.pack("ii", 1, 0)  # close by a reset (SO_LINGER)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def head(daemon: Daemon, request: str, *more: str) -> bytes:
    host = f"Host: 127.0.0.1:{daemon.state['port']}"
    lines = (request, host, f"Authorization: Bearer {daemon.token}", *more, "", "")
    return "\r\n".join(lines).encode()


def frame(code: int, payload: bytes) -> bytes:
    """A client's frame whose mask changes nothing."""
    return bytes([0x80 | code, 0x80 | len(payload)]) + b"\0\0\0\0" + payload


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_line_that_is_no_utf_8_is_refused_and_the_next_one_answered(
    daemon: Daemon, log: DaemonLog
) -> None:
    with local_line(daemon.env) as line:
        line.send(GREETING)
        line.read()
        line.connection.sendall(b'{"id": 1, "operation": "\xff", "params": {}}\n')
        assert line.read()["error"]["code"] == "INVALID_INPUT"
        line.send({"id": 2, "operation": "status", "params": {}})
        assert line.read()["result"]["pid"] == daemon.pid
    assert log.failures() == []


def test_a_terminal_cannot_have_more_rows_than_memory(
    daemon: Daemon, other: Client, log: DaemonLog
) -> None:
    """The frame was made for the size that the client claimed."""
    other.call("create_session", name="small", command="cat")
    hello = {**GREETING, "door": "attach", "session": "small", "size": [24, 80], "person": True}
    with local_line(daemon.env) as line:
        line.send(hello, {"resize": [2**31, 2**31]})
        for _ in deadline():
            if error := line.read().get("error"):
                break
        assert error["code"] == "INVALID_INPUT"
        assert "resize" in error["message"]
    assert log.failures() == []
    other.call("manage_session", session="small", action="kill")


def test_a_websocket_message_that_is_no_utf_8_closes_it_with_1007(
    daemon: Daemon, log: DaemonLog
) -> None:
    with open_socket(daemon, "/ws/json") as ws:
        ws.recv(PATIENCE)
        ws.socket.sendall(frame(1, b"\xff"))
        with pytest.raises(ConnectionClosedError) as closed:
            ws.recv(PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1007
    assert log.failures() == []


@pytest.mark.parametrize(
    "after",
    [frame(9, b"ping"), frame(8, struct.pack(">H", 1000)), frame(1, b"{}")],
    ids=["ping", "close", "text"],
)
def test_nothing_is_answered_after_it(daemon: Daemon, log: DaemonLog, after: bytes) -> None:
    with connect(daemon.state["port"]) as ws:
        ws.sendall(head(daemon, "GET /ws/json HTTP/1.1", *UPGRADE))
        assert b" 101 " in ws.recv(65536)
        ws.sendall(frame(1, b"\xff") + after)
        ws.shutdown(socket.SHUT_WR)
        read_all(ws)
    assert log.failures() == []


def test_a_refused_websocket_is_no_error_of_the_daemon(daemon: Daemon, log: DaemonLog) -> None:
    """It needs no token: anybody could have filled the log."""
    for _ in range(5):
        with connect(daemon.state["port"]) as ws:
            request = head(daemon, "GET /ws/json HTTP/1.1", *UPGRADE)
            ws.sendall(request.replace(daemon.token.encode(), b"wrong"))
            assert b" 401 " in read_all(ws)
    assert log.failures() == []


@pytest.mark.parametrize("path", ["/api/sessions", "/mcp"])
def test_who_leaves_in_the_middle_of_a_body_is_no_error_of_the_daemon(
    daemon: Daemon, log: DaemonLog, path: str
) -> None:
    for _ in range(5):
        with connect(daemon.state["port"]) as half:
            half.sendall(head(daemon, f"POST {path} HTTP/1.1", "Content-Length: 100") + b'{"na')
    assert http_call(daemon, "GET", "/api/status").status == 200
    assert log.failures() == []


def test_who_resets_the_connection_before_the_answer_is_none_either(
    daemon: Daemon, log: DaemonLog
) -> None:
    for _ in range(20):
        with connect(daemon.state["port"]) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            gone.sendall(head(daemon, "GET /api/openapi.json HTTP/1.1") * 3)
    assert http_call(daemon, "GET", "/api/status").status == 200
    assert log.failures() == []


def test_an_ndjson_client_that_leaves_before_it_is_refused(daemon: Daemon, log: DaemonLog) -> None:
    hello = {"id": "1", "method": "initialize", "params": {"token": daemon.token}}
    lines = [hello, *({"id": n, "method": "nothing"} for n in range(50))]
    data = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    for _ in range(5):
        with connect(daemon.state["ndjson_port"]) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            gone.sendall(data)
    assert http_call(daemon, "GET", "/api/status").status == 200
    assert log.failures() == []
