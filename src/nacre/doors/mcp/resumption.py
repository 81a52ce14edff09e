"""MCP sessions over HTTP that outlive the daemon that opened them.

The protocol has a client open a new session when its own is not found (404). The official SDKs only
hand that on as an error, for good: their clients could not go on with a daemon that was replaced.

Rule 1: a session's id names the daemon that opened it. One of this daemon's is known, or over; one
of a daemon's before it is opened again, as by its client's handshake, under the id that it has.
Rule 2: that gives nobody anything: rights come with each request, and the session's only state is
the revision, which each request names. What its client can be asked (elicitation, sampling) is
not known any more, so that it is asked nothing.
"""

import asyncio
import re
import secrets
from typing import Any

import msgspec
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import DEFAULT_NEGOTIATED_VERSION
from starlette.types import Message, Receive, Scope, Send

_SESSION = MCP_SESSION_ID_HEADER.lower().encode()
_VERSION = MCP_PROTOCOL_VERSION_HEADER.lower().encode()
_OUTER = re.compile(rb"([0-9a-f]{8})-([0-9a-f]{32})")

_MOST_RESUMED = 10_000  # as the SDK bounds a manager's sessions; the oldest is opened once more


def name_daemon() -> bytes:
    """Return what stands before the ids of the sessions that one daemon opens."""
    return secrets.token_hex(4).encode()


class ResumedSessions:
    """An ASGI application before a manager of sessions, which has its own ids for them."""

    def __init__(self, manager: StreamableHTTPSessionManager, daemon: bytes) -> None:
        self._manager = manager
        self._daemon = daemon
        self._resumed: dict[bytes, bytes] = {}  # outer ids of daemons before us, our inner ones
        self._resuming = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outer = _header(scope, _SESSION)
        inner = None if outer is None else await self._find(outer, scope)

        async def send_outer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                message["headers"] = [
                    (name, outer or b"%b-%b" % (self._daemon, value) if name == _SESSION else value)
                    for name, value in headers
                ]
            await send(message)

        if inner != outer:
            kept = [(name, value) for name, value in scope["headers"] if name != _SESSION]
            scope = {**scope, "headers": [*kept, (_SESSION, inner)]}
        await self._manager.handle_request(scope, receive, send_outer)

    async def _find(self, outer: bytes, scope: Scope) -> bytes:
        """Return the manager's id for a session; one that it does not know for one that is over."""
        named = _OUTER.fullmatch(outer)
        if named is None:
            return outer
        if named[1] == self._daemon:
            return named[2]
        async with self._resuming:  # a client comes back with several requests at once
            if outer not in self._resumed and scope["method"] in ("POST", "GET"):
                if len(self._resumed) >= _MOST_RESUMED:
                    del self._resumed[next(iter(self._resumed))]
                self._resumed[outer] = await self._open(scope) or outer
            return self._resumed.get(outer, outer)

    async def _open(self, scope: Scope) -> bytes | None:
        version = _header(scope, _VERSION) or DEFAULT_NEGOTIATED_VERSION.encode()
        handshake = {
            "protocolVersion": version.decode("latin-1"),
            "capabilities": {},
            "clientInfo": {"name": "unknown", "version": "0"},
        }
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": handshake}
        inner = await self._post(scope, message)
        if inner is not None:
            done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self._post(scope, done, (_SESSION, inner), (_VERSION, version))
        return inner

    async def _post(
        self, scope: Scope, message: dict[str, Any], *headers: tuple[bytes, bytes]
    ) -> bytes | None:
        """Do as the session's client would; return the session's id that is answered."""
        body = msgspec.json.encode(message)
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])
        answered: list[bytes] = []

        async def receive() -> Message:
            for part in parts:
                return part
            # The client stays: the answer's end ends this.
            never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
            return await never

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.extend(value for name, value in message["headers"] if name == _SESSION)

        sent = [
            (b"content-type", b"application/json"),
            (b"accept", b"application/json, text/event-stream"),
            (b"content-length", b"%d" % len(body)),
            *headers,
        ]
        await self._manager.handle_request(
            {**scope, "method": "POST", "headers": sent}, receive, send
        )
        return answered[0] if answered else None


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    return next((value for name, value in scope["headers"] if name == wanted), None)
