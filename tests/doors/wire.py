"""The wires as bytes: the bridge's stdio, the Unix socket, HTTP; and processes that must go."""

import http.client
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from conftest import PATIENCE, Daemon
from nacre.settings.paths import SocketAddress, find_paths

HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "door-tests", "version": "1"},
}

# What a request of the 2026 revision carries instead of a handshake.
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "door-tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Json = dict[str, Any]


def request_line(number: int, method: str, params: Json | None = None) -> bytes:
    message: Json = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return json.dumps(message).encode() + b"\n"


def tool_line(number: int, tool: str, **arguments: Any) -> bytes:
    return request_line(number, "tools/call", {"name": tool, "arguments": arguments})


class Bridge:
    """A real `nacre mcp`, spoken to line by line."""

    def __init__(self, env: dict[str, str], *options: str, cwd: Path | None = None) -> None:
        """It offers the toolset terminal unless the options name others."""
        if not any(option.startswith("--toolsets") for option in options):
            options = ("--toolsets=terminal", *options)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nacre", "mcp", *options],
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the bridge closed its output"
        return json.loads(line)

    def ask(self, method: str, params: Json | None = None) -> Any:
        """Send a request and return its whole answer; other lists may be told of before it."""
        self._number += 1
        self.write(request_line(self._number, method, params))
        answer = self.read()
        while "id" not in answer and answer["method"].endswith("/list_changed"):
            answer = self.read()
        assert answer.get("id") == self._number, answer
        return answer

    @property
    def last(self) -> int:
        """The id of the last request."""
        return self._number

    def handshake(self) -> "Bridge":
        assert "result" in self.ask("initialize", HANDSHAKE)
        self.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        return self

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed; return its structured content."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer["result"]["isError"], answer
        return answer["result"]["structuredContent"]

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest_of_output(self) -> list[Any]:
        assert self.process.stdout is not None
        return [json.loads(line) for line in self.process.stdout.read().splitlines()]

    def complaint(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def close(self) -> int:
        """Close its input; return its exit code."""
        self.close_input()
        return self.process.wait(PATIENCE)

    def dispose(self) -> None:
        """Kill it if it still runs, and close the pipes."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):  # what was still buffered has no reader any more
                pipe.close()


def check_schema(schema: Any) -> None:
    """Raise unless this is itself a valid JSON Schema."""
    _check_schema_text(json.dumps(schema))


@cache  # the same tools are listed over every transport, and a check takes as long as a call
def _check_schema_text(schema: str) -> None:
    Draft202012Validator.check_schema(json.loads(schema))


def check_fits(value: object, schema: Any) -> None:
    """Raise unless the value is what the schema says."""
    Draft202012Validator(schema).validate(value)


class Line(NamedTuple):
    """A connection to the Unix socket and its reading side."""

    connection: socket.socket
    reader: Any

    def send(self, *messages: object) -> None:
        self.connection.sendall(b"".join(json.dumps(one).encode() + b"\n" for one in messages))

    def read(self) -> Any:
        line = self.reader.readline()
        assert line, "the daemon closed the connection"
        return json.loads(line)


@contextmanager
def local_line(env: dict[str, str]) -> Iterator[Line]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        with SocketAddress(find_paths(env).socket) as address:
            connection.connect(address)
        with connection.makefile("rb") as reader:
            yield Line(connection, reader)


GREETING: Json = {"nacre": 1, "door": "call", "version": "0"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def http_call(
    daemon: Daemon,
    method: str,
    path: str,
    body: object = None,
    *,
    token: str | None = "",
    headers: dict[str, str] | None = None,
) -> Answer:
    """Send one request; `token` None sends none, "" the right one. Bytes go out as they are."""
    sent = dict(headers or {})
    if token is not None:
        sent.setdefault("Authorization", f"Bearer {token or daemon.token}")
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", daemon.state["port"], timeout=PATIENCE)
    try:
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        return Answer(
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            answer.read(),
        )
    finally:
        connection.close()


class Doomed:
    """Processes whose end is waited for by event; made while they are still there."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._open = {os.pidfd_open(pid): pid for pid in pids}

    def survivors(self, within: float) -> list[int]:
        """Return who is still there after `within` seconds; return early when nobody is."""
        poll = select.poll()
        for descriptor in self._open:
            poll.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + within
        while self._open and (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in poll.poll(left * 1000):
                poll.unregister(descriptor)
                os.close(descriptor)
                del self._open[descriptor]
        left_over = list(self._open.values())
        for descriptor in self._open:
            os.close(descriptor)
        self._open.clear()
        return left_over


def daemon_pid(env: dict[str, str]) -> int:
    return int(json.loads(Path(find_paths(env).state_file).read_text())["pid"])
