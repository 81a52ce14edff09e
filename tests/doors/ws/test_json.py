"""/ws/json: every operation as a method, events, and who is let in."""

import base64
import json
import os
import re
import signal
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import pytest

from conftest import PATIENCE, Daemon
from nacre import __version__
from nacre.core.operations.all import CATALOG
from nacre.core.operations.follow import Event, Follow, Kind
from nacre.settings.paths import find_paths
from restarts import crash

from doors.sockets import (
    JsonSocket,
    closed_for,
    closing,
    log_in,
    open_socket,
    receive,
    refusal,
    ticket,
)
from doors.wire import Bridge, Doomed, daemon_pid, http_call
from doors.ws.conftest import ECHO

Json = dict[str, Any]


# --- requests ----------------------------------------------------------------------------------


def test_the_first_message_greets_with_the_version(ws: JsonSocket) -> None:
    assert ws.greeting == {"connected": True, "version": __version__}


@pytest.mark.parametrize("method", CATALOG)
def test_every_operation_is_a_method(ws: JsonSocket, method: str) -> None:
    error = ws.error(method, surplus=1)
    assert error["code"] == "INVALID_INPUT"
    assert "surplus" in error["message"]


def test_a_session_may_stand_beside_the_parameters_or_among_them(ws: JsonSocket, job: str) -> None:
    beside = ws.call("get_screen", job, format="plain")
    among = ws.call("get_screen", session=job, format="plain")
    assert beside == among
    assert beside["lines"][0] == "ready"
    nobody = ws.error("get_screen", "nobody")
    assert nobody["code"] == "SESSION_NOT_FOUND"
    (step,) = nobody["next"]
    assert step == {"operation": "list_sessions", "params": {}, "why": "list them"}
    assert "sessions" in ws.call(step["operation"], **step["params"])


@pytest.mark.parametrize(
    ("method", "params"), [("send_input", {"input": "x"}), ("subscribe", {"events": ["lines"]})]
)
def test_two_different_sessions_are_refused_and_neither_is_taken(
    ws: JsonSocket, job: str, method: str, params: Json
) -> None:
    asked = {"id": 7, "method": method, "session": job, "params": {**params, "session": "other"}}
    ws.connection.send(json.dumps(asked))
    answer = receive(ws.connection)
    assert (answer["id"], answer["error"]["code"]) == (7, "INVALID_INPUT")
    assert "give one" in answer["error"]["message"]


def test_an_answer_repeats_the_id_whatever_it_is(ws: JsonSocket) -> None:
    for identifier in (0, -1, "a", None, [1, {"b": 2}], 1.5):
        ws.connection.send(json.dumps({"id": identifier, "method": "list_sessions"}))
        answer = receive(ws.connection)
        assert answer == {
            "id": identifier,
            "method": "list_sessions",
            "result": {"sessions": []},
        }
    ws.connection.send('{"method": "list_sessions"}')
    assert receive(ws.connection) == {"method": "list_sessions", "result": {"sessions": []}}


def test_an_unknown_method_is_told_with_those_there_are(ws: JsonSocket) -> None:
    error = ws.error("make_coffee")
    assert error["code"] == "UNKNOWN_OPERATION"
    assert "subscribe" in error["message"]
    assert "list_sessions" in error["message"]


def test_an_error_carries_its_details(ws: JsonSocket) -> None:
    ws.call("create_session", name="brief", command="exit 3")
    ws.call("wait_for", "brief", exit=True)
    dead = ws.error("send_input", "brief", input="x")
    assert (dead["code"], dead["exit_code"]) == ("SESSION_DEAD", 3)
    ws.call("dismiss_session", "brief")


@pytest.mark.parametrize(
    "message",
    [
        "",
        "no json",
        "[]",
        "1",
        "null",
        '"method"',
        "{}",
        '{"id": 1}',
        '{"id": 1, "method": 5}',
        '{"id": 1, "method": "status", "params": []}',
        '{"id": 1, "method": "status", "surplus": 1}',
        '{"id": 1, "method": "status", "session": []}',
        '{"method": "status", "params": {"a": NaN}}',
        '{"method": "\\ud800"}',
        "[" * 50_000,
        '{"params": ' + '{"a": ' * 50_000 + "1" + "}" * 50_001,
        b'{"id": 1, "method": "status"}',
    ],
    ids=lambda message: str(message)[:30],
)
def test_what_is_no_request_is_told_without_an_id(ws: JsonSocket, message: str | bytes) -> None:
    ws.connection.send(message)
    answer = receive(ws.connection)
    assert set(answer) == {"error"}
    assert answer["error"]["code"] == "INVALID_INPUT"
    assert ws.call("status")["version"] == __version__


def test_a_message_over_the_limit_closes_the_socket(small_daemon: Daemon) -> None:
    with JsonSocket(open_socket(small_daemon, "/ws/json")) as ws:
        number = ws.subscribe(None, "sessions")
        assert ws.event(number)["event"] == "sync"
        assert closed_for(ws.connection, "x" * 65_537) == 1009
    with JsonSocket(open_socket(small_daemon, "/ws/json")) as ws:
        assert closed_for(ws.connection, ["x"] * 65_537) == 1009  # the same, in fragments
    with JsonSocket(open_socket(small_daemon, "/ws/json")) as ws:
        ws.connection.send("x" * 65_536)
        assert receive(ws.connection)["error"]["code"] == "INVALID_INPUT"


def test_who_is_refused_in_the_middle_of_a_message_may_send_it_to_its_end(
    small_daemon: Daemon,
) -> None:
    """Closed at once, what it still sends would be answered by a reset, and the code be lost."""
    port = small_daemon.state["port"]
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
        raw.sendall(
            f"GET /ws/json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {small_daemon.token}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        answers = raw.makefile("rb")
        while answers.readline() != b"\r\n":
            pass
        frame = answers.read(2)
        assert frame[0] == 0x81  # the greeting; its length fits into seven bits
        answers.read(frame[1])
        # A masked text of 10 MB: its header, and as much as was sent until the answer came.
        raw.sendall(b"\x81\xff" + struct.pack("!Q", 10_000_000) + b"\0\0\0\0" + b"x" * 1000)
        frame = answers.read(2)
        assert frame[0] == 0x88
        assert struct.unpack("!H", answers.read(frame[1])[:2]) == (1009,)
        assert answers.read() == b""
        for _ in range(10):
            raw.sendall(b"x" * 1_000_000)


def test_requests_run_side_by_side(ws: JsonSocket, job: str) -> None:
    slow = ws.send("wait_for", job, text="awaited", timeout_ms=30_000)
    assert ws.call("list_sessions", session=job)["name"] == job
    ws.call("send_input", job, input="awaited\r")
    assert ws.answer(slow)["result"]["matched"] is True


def test_input_keeps_its_order(ws: JsonSocket, job: str) -> None:
    numbers = [ws.send("send_input", job, input=f"{number},") for number in range(200)]
    ws.call("send_input", job, input="\r")
    assert all("result" in ws.answer(number) for number in numbers)
    ws.until(job, "199,")
    shown = "".join(ws.call("get_screen", job, format="plain")["lines"])
    assert shown == "ready" + "".join(f"{number}," for number in range(200))


def test_what_is_too_much_at_once_is_refused_not_kept(
    daemon: Daemon, ws: JsonSocket, job: str
) -> None:
    waits = [ws.send("wait_for", job, text="go on", timeout_ms=60_000) for _ in range(1100)]
    refused = [ws.answer(number) for number in waits[1000:]]
    assert {answer["error"]["code"] for answer in refused} == {"RESOURCE_LIMIT"}
    assert ws.connection.close_code is None
    with JsonSocket(open_socket(daemon, "/ws/json")) as other:
        other.call("send_input", job, input="go on\r")
    assert all(ws.answer(number)["result"]["matched"] for number in waits[:1000])


def test_as_many_requests_run_and_wait_as_the_settings_say(narrow_daemon: Daemon) -> None:
    """One runs at a time, and three are taken: the first answer is the refusal of the fourth."""
    narrow_daemon.rest("POST", "/sessions", {"name": "busy", "command": "cat"})
    with JsonSocket(open_socket(narrow_daemon, "/ws/json")) as ws:
        sent = [
            ws.send("wait_for", "busy", text="awaited", timeout_ms=60_000),
            *(ws.send("list_sessions") for _ in range(3)),
        ]
        refused = receive(ws.connection)
        assert (refused["id"], refused["error"]["code"]) == (sent[3], "RESOURCE_LIMIT")
        assert "max_waiting_requests" in refused["error"]["message"]
        with JsonSocket(open_socket(narrow_daemon, "/ws/json")) as other:
            other.call("send_input", "busy", input="awaited\r")
        assert [receive(ws.connection)["id"] for _ in range(3)] == sent[:3]
    narrow_daemon.rest("POST", "/sessions/busy/manage", {"action": "kill"})


def test_when_the_socket_closes_its_waits_are_given_up(
    bridges: Callable[..., Bridge], home_env: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """An ephemeral daemon without grace ends with its last client: a wait left behind shows."""
    env = home_env(grace=0)
    bridge = bridges(env).handshake()
    bridge.call("create_session", name="job", command="cat")
    daemon = Daemon(bridge.process, env, tmp_path)
    doomed = Doomed([daemon_pid(env)])
    with JsonSocket(open_socket(daemon, "/ws/json")) as ws:
        assert ws.event(ws.subscribe("job", "changes"))["event"] == "sync"
        for _ in range(100):
            ws.send("wait_for", "job", text="never", timeout_ms=600_000)
        assert bridge.close() == 0
        # A page that is connected keeps the daemon.
        assert http_call(daemon, "GET", "/api/status").json["ephemeral"] is True
    assert doomed.survivors(PATIENCE) == []


# --- events ------------------------------------------------------------------------------------


def test_a_subscription_begins_with_a_sync_and_numbers_its_events(ws: JsonSocket, job: str) -> None:
    answer = ws.call("subscribe", job, events=["lines", "cursor"])
    assert answer == {"subscription": 1, "events": ["lines", "cursor"]}
    sync = ws.event(1)
    assert (sync["event"], sync["session"]) == ("sync", job)
    assert sync["screen"]["lines"][0] == [{"text": "ready"}]
    ws.call("send_input", job, input="more\r")
    while (line := ws.event(1, "line"))["line"] != [{"text": "more"}]:
        pass  # in pieces, as the kernel hands them over
    assert line["index"] == 1
    assert ws.subscribe(None, "sessions") == 2


def test_the_answer_comes_before_the_first_event(daemon: Daemon, job: str) -> None:
    connection = open_socket(daemon, "/ws/json")
    receive(connection)
    with connection:
        for number in range(1, 30):
            request = {"id": number, "method": "subscribe", "session": job}
            connection.send(json.dumps({**request, "params": {"events": ["lines"]}}))
        begun: set[int] = set()
        synced: set[int] = set()
        while len(synced) < 29:
            message = receive(connection)
            if "result" in message:
                begun.add(message["result"]["subscription"])
            else:
                assert message["subscription"] in begun
                synced.add(message["subscription"])


def test_plain_lines_are_sent_when_asked_for(ws: JsonSocket, job: str) -> None:
    number = ws.subscribe(job, "lines", format="plain")
    assert ws.event(number)["screen"]["lines"][0] == "ready"


def test_output_comes_as_bytes(ws: JsonSocket, job: str) -> None:
    number = ws.subscribe(job, "output")
    assert b"ready" in base64.b64decode(ws.event(number, "snapshot")["data"])
    ws.call("send_input", job, input="bytes\r")
    printed = b""
    while len(printed) < len(b"bytes\r\n"):
        printed += base64.b64decode(ws.event(number, "output")["data"])
    assert printed == b"bytes\r\n"


def test_all_sessions_are_followed_at_once(ws: JsonSocket) -> None:
    number = ws.subscribe(None, "sessions")
    assert ws.event(number)["sessions"] == []
    made = ws.call("create_session", name="new", command="cat")
    came = ws.event(number, "session")
    assert (came["change"], came["details"]["name"]) == ("created", "new")
    ws.call("manage_session", made["session_id"], action="kill")
    while ws.event(number, "session")["change"] != "removed":
        pass


def test_after_unsubscribe_no_event_comes(ws: JsonSocket, job: str) -> None:
    first, second = ws.subscribe(job, "lines"), ws.subscribe(job, "lines")
    ws.event(first)
    ws.event(second)
    assert ws.call("unsubscribe", subscription=first) == {"subscription": first}
    ws.call("send_input", job, input="after\r")
    while ws.event(second, "line")["line"] != [{"text": "after"}]:
        pass
    assert ws.waiting_events(first) == 0
    again = ws.error("unsubscribe", subscription=first)
    assert again["code"] == "INVALID_INPUT"


def test_a_subscription_ends_when_its_session_is_gone_for_good(ws: JsonSocket) -> None:
    made = ws.call("create_session", name="brief", command="cat")
    number = ws.subscribe("brief", "lines")
    assert ws.event(number)["event"] == "sync"
    ws.call("manage_session", made["session_id"], action="kill")
    last = ws.event(number, "unsubscribed")
    assert last == {"subscription": number, "event": "unsubscribed"}
    assert ws.error("unsubscribe", subscription=number)["code"] == "INVALID_INPUT"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"session": "nobody", "events": ["lines"]}, "SESSION_NOT_FOUND"),
        ({"events": ["lines"]}, "INVALID_INPUT"),
        ({"events": []}, "INVALID_INPUT"),
        ({"events": ["gossip"]}, "INVALID_INPUT"),
        ({"events": "lines"}, "INVALID_INPUT"),
        ({}, "INVALID_INPUT"),
        ({"events": ["sessions"], "surplus": 1}, "INVALID_INPUT"),
    ],
)
def test_a_subscription_that_cannot_be_is_refused(ws: JsonSocket, params: Json, code: str) -> None:
    assert ws.error("subscribe", **params)["code"] == code


@pytest.mark.parametrize("params", [{}, {"subscription": "1"}, {"subscription": True}, {"a": 1}])
def test_unsubscribe_takes_a_number(ws: JsonSocket, params: Json) -> None:
    assert ws.error("unsubscribe", **params)["code"] == "INVALID_INPUT"


def test_a_socket_has_so_many_subscriptions_and_no_more(ws: JsonSocket) -> None:
    for _ in range(256):
        ws.subscribe(None, "sessions")
    assert ws.error("subscribe", events=["sessions"])["code"] == "RESOURCE_LIMIT"
    ws.call("unsubscribe", subscription=7)
    ws.subscribe(None, "sessions")


def test_a_socket_has_as_many_subscriptions_as_the_setting_says(narrow_daemon: Daemon) -> None:
    with JsonSocket(open_socket(narrow_daemon, "/ws/json")) as ws:
        for _ in range(2):
            ws.subscribe(None, "sessions")
        refused = ws.error("subscribe", events=["sessions"])
        assert refused["code"] == "RESOURCE_LIMIT"
        assert "max_subscriptions" in refused["message"]


# --- who is let in -----------------------------------------------------------------------------

PATHS = ["/ws/json", "/ws/raw/job"]


@pytest.mark.parametrize("path", PATHS)
def test_a_foreign_origin_is_refused_before_the_upgrade(daemon: Daemon, path: str) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"):
        status, error = refusal(lambda: open_socket(daemon, path, origin=origin))  # noqa: B023
        assert (status, error["code"]) == (403, "FORBIDDEN")


def test_our_own_origin_is_taken(daemon: Daemon) -> None:
    for name in ("127.0.0.1", "localhost"):
        origin = f"http://{name}:{daemon.state['port']}"
        with JsonSocket(open_socket(daemon, "/ws/json", origin=origin, host=name)) as ws:
            assert ws.greeting["connected"] is True


@pytest.mark.parametrize("path", PATHS)
def test_a_foreign_host_is_refused(daemon: Daemon, path: str) -> None:
    status, error = refusal(lambda: open_socket(daemon, path, host="evil.example"))
    assert (status, error["code"]) == (421, "FORBIDDEN")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", [None, "wrong"])
def test_without_token_or_ticket_nobody_is_let_in(
    daemon: Daemon, path: str, token: str | None
) -> None:
    status, error = refusal(lambda: open_socket(daemon, path, token=token))
    assert (status, error["code"]) == (401, "FORBIDDEN")
    assert "nacre status" in error["message"]
    in_the_address = f"{path}?token={daemon.token}"
    assert refusal(lambda: open_socket(daemon, in_the_address, token=token))[0] == 401


def test_a_ticket_opens_one_socket(daemon: Daemon) -> None:
    given = ticket(daemon)
    with JsonSocket(open_socket(daemon, f"/ws/json?ticket={given}", token=None)) as ws:
        assert ws.call("status")["pid"] == daemon.pid
    status, error = refusal(lambda: open_socket(daemon, f"/ws/json?ticket={given}", token=None))
    assert (status, error["code"]) == (401, "FORBIDDEN")
    assert "/api/ticket" in error["message"]
    assert refusal(lambda: open_socket(daemon, "/ws/json?ticket=", token=None))[0] == 401


def test_a_ticket_is_of_no_use_elsewhere(daemon: Daemon) -> None:
    given = ticket(daemon)
    assert http_call(daemon, "GET", f"/api/status?ticket={given}", token=None).status == 401
    assert http_call(daemon, "GET", "/api/status", token=given).status == 401


def test_a_key_opens_sockets_and_routes_as_the_token_does(daemon: Daemon) -> None:
    key = log_in(daemon)
    with JsonSocket(open_socket(daemon, "/ws/json", token=key)) as ws:
        assert ws.call("status")["pid"] == daemon.pid
    path = f"/ws/json?ticket={ticket(daemon, key)}"
    with JsonSocket(open_socket(daemon, path, token=None)) as ws:
        assert ws.call("status")["pid"] == daemon.pid
    assert http_call(daemon, "GET", "/api/status", token=key).status == 200


def test_a_page_is_a_person_and_a_script_is_none(daemon: Daemon, job: str) -> None:
    with JsonSocket(open_socket(daemon, "/ws/json")) as script:
        assert script.error("control", job, action="take")["code"]
    key = log_in(daemon)
    query = "?client=page-1"
    with (
        open_socket(daemon, f"/ws/raw/{job}{query}", token=key) as raw,
        JsonSocket(open_socket(daemon, f"/ws/json{query}", token=key)) as page,
        JsonSocket(open_socket(daemon, "/ws/json?client=page-2", token=key)) as other,
    ):
        receive(raw)
        taken = page.call("control", job, action="take")
        assert (taken["driver"], taken["yours"]) == ("web page", True)
        assert other.call("control", job)["yours"] is False
        # Both sockets of the page are the same person: the lease lets the other's keys pass.
        raw.send(b"typed\r")
        page.until(job, "typed")
        assert page.call("control", job, action="give")["driver"] is None


@pytest.mark.parametrize("name", ["a b", "x" * 65, "é", "a/b"])
def test_a_client_that_cannot_be_named_is_refused(daemon: Daemon, name: str) -> None:
    status, error = refusal(lambda: open_socket(daemon, f"/ws/json?client={quote(name, safe='')}"))
    assert (status, error["code"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("path", ["/", "/ws", "/ws/jsonx", "/api/status", "/mcp", "/ws/raw/"])
def test_there_are_no_other_sockets(daemon: Daemon, path: str) -> None:
    status, error = refusal(lambda: open_socket(daemon, path))
    assert (status, error["code"]) == (404, "UNKNOWN_OPERATION")
    assert refusal(lambda: open_socket(daemon, path, token=None))[0] == 401


@pytest.mark.parametrize("path", [*PATHS, "/"])
def test_a_sessions_port_has_no_socket(daemon: Daemon, ws: JsonSocket, job: str, path: str) -> None:
    port = ws.call("list_sessions", session=job)["port"]
    status, error = refusal(lambda: open_socket(daemon, path, port=port))
    assert (status, error["code"]) == (404, "UNKNOWN_OPERATION")
    assert refusal(lambda: open_socket(daemon, path, port=port, token=None))[0] == 401


def test_an_address_that_is_not_ascii_is_refused(daemon: Daemon) -> None:
    with socket.create_connection(("127.0.0.1", daemon.state["port"]), timeout=PATIENCE) as raw:
        raw.sendall(
            b"GET /ws/\xc3\xa9 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
            b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        assert b" 400 " in raw.recv(1000)
    assert "Traceback" not in (daemon.home / "daemon.log").read_text()


# --- the daemon's end --------------------------------------------------------------------------


def test_a_key_and_new_tickets_hold_after_the_daemon_was_killed(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    key = log_in(daemon)
    old = ticket(daemon, key)
    with JsonSocket(open_socket(daemon, "/ws/json", token=key)) as ws:
        ws.call("create_session", name="job", command=ECHO)
        ws.until("job", "ready")
        crash(daemon)
        assert closing(ws.connection) is None
    path = f"/ws/json?ticket={ticket(daemon, key)}"
    with JsonSocket(open_socket(daemon, path, token=None)) as ws:
        assert ws.call("get_screen", "job", format="plain")["lines"][0] == "ready"
    assert refusal(lambda: open_socket(daemon, f"/ws/json?ticket={old}", token=None))[0] == 401


def test_all_keys_are_void_without_the_file_that_they_were_made_of(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    key = log_in(daemon)
    assert http_call(daemon, "GET", "/api/status", token=key).status == 200
    daemon.stop()
    Path(find_paths(daemon.env).page_key_file).unlink()
    daemon = own_daemon()
    assert http_call(daemon, "GET", "/api/status", token=key).status == 401


@pytest.mark.parametrize("way", ["stop", "signal"])
def test_when_the_daemon_stops_sockets_are_closed_as_going_away(
    own_daemon: Callable[..., Daemon], way: str
) -> None:
    daemon = own_daemon()
    doomed = Doomed([daemon.pid])
    with (
        JsonSocket(open_socket(daemon, "/ws/json")) as ws,
        JsonSocket(open_socket(daemon, "/ws/json")) as other,
    ):
        ws.call("create_session", name="job", command=ECHO)
        ws.until("job", "ready")
        other.subscribe("job", "lines")
        other.send("wait_for", "job", text="never", timeout_ms=600_000)
        if way == "stop":
            ws.call("stop")
        else:
            os.kill(daemon.pid, signal.SIGTERM)
        assert closing(ws.connection) == 1001
        assert closing(other.connection) == 1001
    assert doomed.survivors(PATIENCE) == []
    assert "Traceback" not in (daemon.home / "daemon.log").read_text()


def test_sockets_that_nobody_reads_do_not_hold_up_the_end(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(kill_grace=0.3)
    doomed = Doomed([daemon.pid])
    with JsonSocket(open_socket(daemon, "/ws/json")) as ws:
        ws.call("create_session", name="flood", command="yes")
        stuck = [open_socket(daemon, "/ws/raw/flood") for _ in range(3)]
        ws.error("await_quiesce", "flood", timeout_ms=60_000, max_wait_ms=500)
        os.kill(daemon.pid, signal.SIGTERM)
        assert doomed.survivors(PATIENCE) == []
        for one in stuck:
            one.close()
    text = (daemon.home / "daemon.log").read_text()
    assert "Traceback" not in text


# --- the docs ----------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[3] / "docs" / "websocket.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_of_event_is_documented(kind: str) -> None:
    assert f"\n| {kind} |" in PAGE


def test_every_event_is_documented_with_its_fields() -> None:
    for event in Event.__subclasses__():
        tag = str(event.__struct_config__.tag)
        fields = set(event.__struct_fields__) - set(Event.__struct_fields__)
        if tag == "sync":  # in words
            continue
        shown = re.findall(rf"`{tag} {{([^}}]*)}}`", PAGE)
        if tag == "idle":
            assert "`idle` event" in PAGE
        else:
            assert fields in [set(one.split(", ")) for one in shown], tag


def test_every_parameter_of_subscribe_is_documented() -> None:
    for name in Follow.__struct_fields__:
        assert f"| `{name}` |" in PAGE


def test_what_is_wrong_with_a_subscription_is_said_of_subscribe(daemon: Daemon) -> None:
    with JsonSocket(open_socket(daemon, "/ws/json")) as ws:
        message = ws.error("subscribe")["message"]
        assert "subscribe takes" in message
        assert "follow" not in message
