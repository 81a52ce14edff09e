"""A bare MCP client over stdio: it costs little, so that the server is what is measured."""

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Any


class StdioClient:
    """Speaks to `nacre mcp`, or to another server, in the handshake era."""

    def __init__(self, env: dict[str, str], *options: str, argv: "list[str] | None" = None) -> None:
        ours = [sys.executable, "-m", "nacre", "mcp", *(options or ("--toolsets", "terminal"))]
        self._process = subprocess.Popen(
            argv or ours,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        self._buffer = b""
        self.pid = self._process.pid
        self._next_id = 0
        self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> "StdioClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._input)
        self._process.stdin = None
        self._process.wait(30)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next_id += 1
        self._send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        while True:
            answer: dict[str, Any] = json.loads(self._line())
            if answer.get("id") == self._next_id:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                result: dict[str, Any] = answer["result"]
                return result

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        content: dict[str, Any] = result.get("structuredContent") or result
        return content

    def _send(self, message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(self._input, data) :]

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            part = os.read(self._output, 1 << 20)
            if not part:
                raise RuntimeError("the server has ended")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line
