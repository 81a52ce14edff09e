"""A visit to each wire: what a client of it would say, more or less."""

import base64
import json
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from fuzz.visit import ANSWER, SILENCE, Visit
from nacre.core.operations.all import CATALOG


def by_socket(visit: Visit) -> None:
    """The command line's door: greeting, then operations."""
    damage, dice = visit.damage, visit.dice
    connection = visit.local()
    lines = [visit.greeting("call", person=dice.random() < 0.5, own_words=dice.random() < 0.5)]
    for number in range(dice.randint(1, 12)):
        name, given = damage.operation()
        identifier = damage.value() if dice.random() < 0.1 else number
        lines.append(damage.line({"id": identifier, "operation": name, "params": given}))
    lines.append(b'{"id":"last","operation":"status","params":{}}\n')
    visit.send(connection, *lines)
    visit.read(connection, b'"id":"last"')
    visit.leave(connection)


def by_attach(visit: Visit) -> None:
    """A person's terminal: greeting, then keys, sizes and requests."""
    damage, dice = visit.damage, visit.dice
    connection = visit.local()
    hello = visit.greeting(
        "attach",
        session=damage.session(),
        size=[dice.choice((24, 1, 300)), dice.choice((80, 1, 500))],
        person=True,
        status=dice.random() < 0.5,
        typing=dice.choice((None, "me", "")),
    )
    visit.send(connection, hello)
    visit.read(connection, b"\n")
    for number in range(dice.randint(1, 10)):
        typed = base64.b64encode(damage.noise(20)).decode()
        wishes: tuple[dict[str, Any], ...] = (
            {"input": typed, "number": number},
            {"input": damage.text()},
            {"input": typed, "number": damage.number(), "go_on": True},
            {"resize": [damage.whole(), damage.whole()]},
            {"refresh": True},
            {"control": True},
            {"look": {"id": 1, "limit": damage.whole(), "first": damage.whole()}},
            {"find": {"id": 1, "text": damage.text(), "start": damage.whole()}},
            {"answer": [damage.text(), "once"]},
            {damage.text(): damage.value()},
        )
        visit.send(connection, damage.line(dice.choice(wishes)))
    visit.read(connection)
    visit.leave(connection)


# --- MCP -------------------------------------------------------------------------------------

_METHODS = (
    "tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get",
    "ping", "completion/complete", "logging/setLevel", "resources/subscribe", "server/discover",
    "resources/templates/list", "notifications/cancelled", "notifications/initialized", "", "x",
)  # fmt: skip
_SHAKE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "fuzz", "version": "1"},
    },
}
_SHAKEN = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_LAST = b'{"jsonrpc":"2.0","id":"last","method":"ping"}\n'


def _mcp_message(visit: Visit, number: int) -> dict[str, Any]:
    damage, dice = visit.damage, visit.dice
    identifier = damage.value() if dice.random() < 0.1 else number
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": identifier}
    if dice.random() < 0.6:
        name, given = damage.operation()
        message |= {"method": "tools/call", "params": {"name": name, "arguments": given}}
        if dice.random() < 0.2:
            message["params"]["_meta"] = {"progressToken": damage.value()}
    else:
        uri = f"nacre://sessions/{damage.text()}/{dice.choice(('screen', 'scrollback', 'x'))}"
        several: tuple[Any, ...] = (
            {},
            {"uri": uri},
            {"name": damage.text()},
            {"cursor": damage.value()},
        )
        message |= {"method": dice.choice(_METHODS), "params": dice.choice(several)}
    if dice.random() < 0.1:
        message[dice.choice(list(message))] = damage.value()
    return message


def by_mcp_lines(visit: Visit) -> None:
    """What the bridge pipes: MCP lines over the Unix socket."""
    damage, dice = visit.damage, visit.dice
    connection = visit.local()
    toolsets = dice.choice(("all", "terminal", "terminal,shell,extra", damage.text()))
    lines = [visit.greeting("mcp", toolsets=toolsets)]
    if dice.random() < 0.9:
        lines += [damage.line(_SHAKE), damage.line(_SHAKEN)]
    lines += [damage.line(_mcp_message(visit, number)) for number in range(dice.randint(1, 10))]
    visit.send(connection, *lines, _LAST)
    visit.read(connection, b'"id":"last"')
    visit.leave(connection)


def by_bridge(visit: Visit) -> None:
    """A real `nacre mcp`, with many lines at once: it takes a while to start."""
    lines = [json.dumps(one).encode() + b"\n" for one in (_SHAKE, _SHAKEN)]
    lines += [visit.damage.line(_mcp_message(visit, number)) for number in range(150)]
    process = subprocess.Popen(
        [sys.executable, "-m", "nacre", "mcp", "--toolsets", "all"],
        env=visit.target.env,
        cwd=visit.target.env["HOME"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        answers, said = process.communicate(b"".join([*lines, _LAST]), timeout=60)
    finally:
        process.kill()
    visit.judge(answers)
    if b"Traceback" in said or b'"id":"last"' not in answers or process.returncode != 0:
        visit.target.found.append(f"the bridge ended with {process.returncode}: {said!r}")


# --- HTTP ------------------------------------------------------------------------------------

_HEADERS = (
    ("Transfer-Encoding", "chunked"), ("Content-Length", "-1"), ("Expect", "100-continue"),
    ("Content-Length", "99999999999999999999"), ("Content-Length", "5, 6"), ("Range", "bytes=0-"),
    ("Host", "evil.example"), ("Origin", "null"), ("Authorization", "Bearer é"), ("é", "語"),
    ("Connection", "upgrade"), ("Upgrade", "h2c"), ("X", "y" * 9000), ("Cookie", "=;=;"),
    ("Transfer-Encoding", "gzip, chunked"), ("Mcp-Session-Id", "x" * 40), ("Last-Event-ID", "-1"),
    ("Accept", "*/*;q=x"),
)  # fmt: skip


def _request(
    visit: Visit, method: str, path: str, body: bytes = b"", **more: str
) -> tuple[bytes, bool]:
    """Return a request, and whether it is a whole one."""
    damage, dice = visit.damage, visit.dice
    headers = {
        "Host": f"127.0.0.1:{visit.target.port}",
        "Authorization": f"Bearer {visit.target.token}",
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    whole = dice.random() < 0.6
    if not whole and dice.random() < 0.5:
        headers.update([dice.choice(_HEADERS)])
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    data = f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body
    if not whole and dice.random() < 0.7:
        data = damage.damaged(data)
    return data, whole


def _exchange(visit: Visit, port: int, *requests: tuple[bytes, bool]) -> None:
    try:
        connection = visit.tcp(port)
    except ConnectionRefusedError:
        return  # the port of a session that has ended
    visit.send(connection, *(data for data, _ in requests))
    whole = all(sound for _, sound in requests)
    visit.read(connection, b"\r\n\r\n", ANSWER if whole else SILENCE)
    visit.read(connection)
    visit.leave(connection)


def _quoted(text: str) -> str:
    return "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"%{byte:02X}"
        for byte in text.encode()
    )


def _path(visit: Visit, pattern: str, given: dict[str, Any]) -> str:
    """Fill a route's places; what is in none of them stays in `given`."""
    parts = []
    for part in pattern.split("/"):
        if part.startswith("{"):
            value = str(given.pop(part[1:-1], None) or visit.damage.text())
            parts.append(value if visit.dice.random() < 0.2 else _quoted(value))
        else:
            parts.append(part)
    return "/".join(parts)


def by_rest(visit: Visit) -> None:
    """The routes of all operations, one or several in a connection."""
    damage, dice = visit.damage, visit.dice
    requests = []
    for _ in range(dice.choice((1, 1, 1, 3))):
        name, given = damage.operation()
        method, _, pattern = CATALOG[name].route.partition(" ")
        path = "/api" + _path(visit, pattern, given)
        if method == "GET" and given:
            path += "?" + "&".join(f"{key}={value}" for key, value in given.items())
        body = b"" if method == "GET" else damage.json(given)
        method = dice.choice(("PUT", "HEAD", "OPTIONS", "x")) if dice.random() < 0.05 else method
        requests.append(_request(visit, method, path, body))
    _exchange(visit, visit.target.port, *requests)


def by_mcp_http(visit: Visit) -> None:
    """Streamable HTTP: both eras, with and without a session."""
    damage, dice = visit.damage, visit.dice
    message = _SHAKE if dice.random() < 0.3 else _mcp_message(visit, 1)
    more = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}
    if dice.random() < 0.5:
        more["Mcp_Protocol_Version"] = dice.choice(("2025-11-25", "2026-07-28", "x", "é"))
    if dice.random() < 0.3:
        more["Mcp_Method"] = str(message.get("method"))
    body = damage.json([message] * dice.randint(0, 3) if dice.random() < 0.1 else message)
    query = dice.choice(("", "", "?toolsets=all", "?prefix=wsh_", "?toolsets=x&prefix=%00"))
    method = dice.choice(("POST", "POST", "POST", "GET", "DELETE"))
    _exchange(visit, visit.target.port, _request(visit, method, f"/mcp{query}", body, **more))


_PORT_ROUTES = (
    "GET /", "GET /status", "GET /out?lines=5", "GET /out?lines=x", "GET /raw", "GET /stream",
    "GET /logs", "GET /web", "POST /in", "POST /in?nonewline=1", "POST /key", "POST /run",
    "POST /interrupt", "POST /resize", "POST /resize?rows=0&cols=-1", "GET /../status",
    "POST /resize?rows=30&cols=90", "POST /close?x", "DELETE /", "GET /%00", "POST /reset",
)  # fmt: skip


def by_session_port(visit: Visit) -> None:
    """A session's own port."""
    damage, dice = visit.damage, visit.dice
    method, _, path = dice.choice(_PORT_ROUTES).partition(" ")
    given = {"command": "true", "key": damage.text(), "text": damage.text(), "timeout": 1}
    body = dice.choice((damage.json(given), damage.text().encode(), damage.noise()))
    host = f"127.0.0.1:{visit.target.session_port}"
    data = _request(visit, method, path, body if method == "POST" else b"", Host=host)
    _exchange(visit, visit.target.session_port, data)


# --- WebSockets ------------------------------------------------------------------------------

Frames = list[tuple[bytes, int]]  # what is in them, and their opcodes


def _frame(dice: random.Random, payload: bytes, code: int) -> bytes:
    """Return a client's frame (RFC 6455, 5.2), now and then one that breaks the rules."""
    final, masked, reserved = 0x80, 0x80, 0
    declared = len(payload)
    if dice.random() < 0.2:
        final = dice.choice((0, 0x80))
        masked = dice.choice((0, 0x80, 0x80))
        reserved = dice.choice((0, 0, 0x10, 0x20, 0x40))
        code = dice.choice((code, dice.randrange(16)))
        declared = dice.choice((declared, declared + 1, 0, 2**16, 2**31, 2**63, 2**64 - 1))
    if declared < 126:
        size = bytes([masked | declared])
    elif declared < 1 << 16:
        size = bytes([masked | 126]) + struct.pack(">H", declared)
    else:
        size = bytes([masked | 127]) + struct.pack(">Q", declared)
    key = b"\0\0\0\0" if masked else b""  # such a mask changes nothing
    return bytes([final | reserved | code]) + size + key + payload


def _by_websocket(visit: Visit, path: str, messages: Frames) -> None:
    dice = visit.dice
    connection = visit.tcp(visit.target.port)
    more = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec_WebSocket_Extensions": dice.choice(("permessage-deflate", "x", "deflate; é=1")),
    }
    data, whole = _request(visit, "GET", path, b"", **more)
    if not whole and dice.random() < 0.7:  # most are let in
        data, whole = _request(visit, "GET", path, b"", **more)
    visit.send(connection, data)
    if b" 101 " in visit.read(connection, b"\r\n\r\n", ANSWER if whole else SILENCE):
        sent = b"".join(_frame(dice, payload, code) for payload, code in messages)
        visit.send(connection, visit.damage.damaged(sent) if dice.random() < 0.1 else sent)
        visit.read(connection)
    visit.leave(connection)


def _control_frames(visit: Visit) -> Frames:
    close = struct.pack(">H", visit.dice.choice((1000, 1005, 0, 65535, 4999)))
    several = ((b"x" * 200, 9), (b"", 9), (b"", 10), (close, 8), (b"x", 8), (b"\xff", 1), (b"", 0))
    return [visit.dice.choice(several)] if visit.dice.random() < 0.3 else []


def by_ws_json(visit: Visit) -> None:
    """Operations and subscriptions in frames."""
    damage, dice = visit.damage, visit.dice
    messages: Frames = []
    for number in range(dice.randint(1, 8)):
        name, given = damage.operation()
        name = dice.choice(("subscribe", "unsubscribe")) if dice.random() < 0.15 else name
        message = {"id": number, "method": name, "params": given}
        if dice.random() < 0.2:
            message |= {"session": damage.session(), "id": damage.value()}
        messages += [(damage.json(message), dice.choice((1, 1, 1, 1, 2))), *_control_frames(visit)]
    _by_websocket(visit, dice.choice(("/ws/json", "/ws/json?beats=true", "/ws/json?x=%")), messages)


def by_ws_raw(visit: Visit) -> None:
    """A terminal in frames: bytes, and wishes as text."""
    damage, dice = visit.damage, visit.dice
    messages: Frames = []
    for number in range(dice.randint(1, 8)):
        wishes: tuple[dict[str, Any], ...] = (
            {"resize": [damage.whole(), damage.whole()]},
            {"refresh": True, "scrollback": damage.number()},
            {"type": base64.b64encode(damage.noise(20)).decode(), "number": number},
            {"type": damage.text(), "number": damage.number(), "beat": damage.number()},
            {damage.text(): damage.value()},
        )
        wish = damage.json(dice.choice(wishes))
        frame = (wish, 1) if dice.random() < 0.7 else (damage.noise(), 2)
        messages += [frame, *_control_frames(visit)]
    queries = ("", "?rows=24&cols=80", "?typing=me", "?rows=0&cols=9999999999", "?scrollback=x")
    name = dice.choice(visit.target.sessions) if dice.random() < 0.8 else "%00"
    _by_websocket(visit, f"/ws/raw/{name}{dice.choice(queries)}", messages)


# --- lines of JSON on TCP --------------------------------------------------------------------


def by_ndjson(visit: Visit) -> None:
    damage, dice = visit.damage, visit.dice
    connection = visit.tcp(visit.target.ndjson_port)
    hello = {"id": "1", "method": "initialize", "params": {"token": visit.target.token}}
    lines = [json.dumps(hello).encode() + b"\n" if dice.random() < 0.8 else damage.line(hello)]
    methods = ("list_tools", "call_tool", "get_execution_status", "cancel_execution", "initialize")
    for number in range(dice.randint(1, 8)):
        call = {"tool": damage.tool(), "args": damage.value(), "dry_run": damage.value()}
        echo = {"tool": "echo", "args": {"text": damage.text()}}
        given = dice.choice((call, echo, damage.value()))
        message = {"id": damage.value(), "method": dice.choice(methods), "params": given}
        if dice.random() < 0.1:
            message[dice.choice(list(message))] = damage.value()
        lines.append(damage.line(message | ({"id": number} if dice.random() < 0.5 else {})))
    lines.append(b'{"id":"last","method":"get_execution_status","params":{"execution_id":"x"}}\n')
    visit.send(connection, *lines)
    visit.read(connection, b'"id":"last"')
    visit.leave(connection)


WIRES: dict[str, Callable[[Visit], None]] = {
    "socket": by_socket,
    "attach": by_attach,
    "mcp lines": by_mcp_lines,
    "bridge": by_bridge,
    "rest": by_rest,
    "mcp over http": by_mcp_http,
    "session port": by_session_port,
    "ws json": by_ws_json,
    "ws raw": by_ws_raw,
    "ndjson": by_ndjson,
}
