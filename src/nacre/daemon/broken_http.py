"""What answers at HTTP's sockets when its libraries are broken: 503, and why, to whoever connects.

Rule: it needs nothing of HTTP's libraries, and reads no more of a request than its end: else the
answer would be lost with what was not read.
"""

import asyncio
import json
import socket

MESSAGE = (
    "this daemon cannot serve HTTP: its libraries cannot be loaded. The command line and nacre mcp "
    "still work; the daemon's log says what is broken, and reinstalling nacre mends it"
)
_BODY = json.dumps({"error": {"code": "INTERNAL_ERROR", "message": MESSAGE}}).encode()
_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n" % len(_BODY)
) + _BODY
_HEAD_END = b"\r\n\r\n"  # RFC 9112, 2.1
_MOST = 65536  # bytes


class BrokenHttp:
    """Stands in for the server: it closes each connection when it was answered."""

    def __init__(self, patience: float) -> None:
        """`patience` is how many seconds a request may take to arrive."""
        self._patience = patience
        self._servers: dict[int, asyncio.Server] = {}  # by their ports

    async def serve(self, listener: socket.socket, *, answers: bool = True) -> None:
        """`answers`: it is in plain text; who wants TLS is only disconnected."""
        server = await asyncio.get_running_loop().create_server(
            lambda: _Refusing(self._patience, answers=answers), sock=listener
        )
        self._servers[listener.getsockname()[1]] = server

    def close(self, port: int) -> None:
        if (server := self._servers.pop(port, None)) is not None:
            server.close()

    def end(self) -> None:
        for port in list(self._servers):
            self.close(port)


class _Refusing(asyncio.Protocol):
    def __init__(self, patience: float, *, answers: bool) -> None:
        self._patience = patience
        self._answers = answers
        self._came = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        if not self._answers:
            transport.abort()
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._patience, transport.abort)

    def data_received(self, data: bytes) -> None:
        self._came += data
        if _HEAD_END in self._came or len(self._came) > _MOST:
            self._timer.cancel()
            self._came = b""
            self._transport.write(_ANSWER)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if self._answers:
            self._timer.cancel()
