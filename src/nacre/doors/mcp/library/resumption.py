"""MCP sessions over HTTP that outlive the daemon that opened them.

In the protocol, a client opens a new session when its own is not found (404). But the official SDKs
only report that as an error, so their clients could not continue with a daemon that was replaced.

Rule 1: a session's id names the daemon that opened it. A session of this daemon is either known or
over. A session of an earlier daemon is opened again under its id, as if its client had sent the
handshake.
Rule 2: that gives nobody more rights: they come with each request, and the session's only state is
the revision, which each request names. What its client supports (elicitation, sampling) is no
longer known, so it is asked nothing.
Rule 3: a session is its token's: to all others it does not exist. Its streams repeat what was
answered, and they cannot end it.
Rule 4: a session speaks the revision that it was opened with, whatever later requests say in their
header: what a client can read follows from that.
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
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from nacre.core.catalog.caller import Caller
from nacre.doors.mcp.identifiers import UNREADABLE
from nacre.doors.mcp.identifiers import Message as JsonRpcMessage
from nacre.doors.mcp.server import UNNAMED
from nacre.doors.mcp.standing import HANDSHAKE_REVISIONS, MODERN_REVISIONS

_SESSION = MCP_SESSION_ID_HEADER.lower().encode()
_VERSION = MCP_PROTOCOL_VERSION_HEADER.lower().encode()
_OUTER = re.compile(rb"([0-9a-f]{8})-([0-9a-f]{32})")

_NOT_FOUND = (
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no such session for this token; '
    b'initialize one of your own"}}'
)
_REVISIONS = [revision.encode() for revision in (*HANDSHAKE_REVISIONS, *MODERN_REVISIONS)]
_UNKNOWN = (
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"MCP-Protocol-Version is none '
    b'that there is; send the one that initialize agreed on: %b"}}' % b", ".join(_REVISIONS)
)
_MOST_RESUMED = 10_000  # the SDK's own limit of sessions; a forgotten one is opened once more


class _Opening(msgspec.Struct, frozen=True, rename="camel"):
    protocol_version: str


def name_daemon() -> bytes:
    """Return the prefix of the session ids of one daemon."""
    return secrets.token_hex(4).encode()


class ResumedSessions:
    """An ASGI application in front of the SDK's session manager, which has its own ids."""

    def __init__(self, manager: StreamableHTTPSessionManager, daemon: bytes) -> None:
        self._manager = manager
        self._daemon = daemon
        self._resumed: dict[bytes, bytes] = {}  # ids from earlier daemons → the manager's ids
        self._resuming = asyncio.Lock()
        self._revisions: dict[bytes, bytes] = {}  # of sessions that were opened here, by outer id
        self._holders: dict[bytes, str | None] = {}  # the token that each belongs to, by outer id

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, asked: JsonRpcMessage | None = None
    ) -> None:
        """Serve a request; `asked` is the message in it."""
        outer, holder = _header(scope, _SESSION), _holder(scope)
        if outer is not None and self._holders.get(outer, holder) != holder:
            await Response(_NOT_FOUND, 404, media_type="application/json")(scope, receive, send)
            return
        if outer is not None and (_header(scope, _VERSION) or _REVISIONS[0]) not in _REVISIONS:
            # "It MUST respond with 400" (2025-06-18, transports): the client speaks something else.
            await Response(_UNKNOWN, 400, media_type="application/json")(scope, receive, send)
            return
        inner = None if outer is None else await self._find(outer, scope)
        opened = None if outer is not None or asked is None else _revision(asked)

        async def send_outer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                message["headers"] = [
                    (
                        name,
                        outer or self._named(value, opened, holder) if name == _SESSION else value,
                    )
                    for name, value in headers
                ]
            await send(message)

        replaced = {}
        if inner != outer:
            replaced[_SESSION] = inner
        if outer is not None and (revision := self._revisions.get(outer)) is not None:
            replaced[_VERSION] = revision
        if replaced:
            kept = [(name, value) for name, value in scope["headers"] if name not in replaced]
            scope = {**scope, "headers": [*kept, *replaced.items()]}
        if scope["method"] == "DELETE" and outer is not None:
            self._revisions.pop(outer, None)
            self._holders.pop(outer, None)
        await self._manager.handle_request(scope, receive, send_outer)

    def _named(self, inner: bytes, revision: bytes | None, holder: str | None) -> bytes:
        """Return the outer id of a session that is opened."""
        outer = b"%b-%b" % (self._daemon, inner)
        self._note_holder(outer, holder)
        if revision is not None:
            if len(self._revisions) >= _MOST_RESUMED:
                del self._revisions[next(iter(self._revisions))]
            self._revisions[outer] = revision
        return outer

    def _note_holder(self, outer: bytes, holder: str | None) -> None:
        if len(self._holders) >= 2 * _MOST_RESUMED:
            del self._holders[next(iter(self._holders))]
        self._holders[outer] = holder

    async def _find(self, outer: bytes, scope: Scope) -> bytes:
        """Return the manager's id for a session; an unknown one if the session is over."""
        named = _OUTER.fullmatch(outer)
        if named is None:
            return outer
        if named[1] == self._daemon:
            return named[2]
        async with self._resuming:  # a client may come back with several requests at once
            if outer not in self._resumed and scope["method"] in ("POST", "GET"):
                if len(self._resumed) >= _MOST_RESUMED:
                    del self._resumed[next(iter(self._resumed))]
                self._resumed[outer] = await self._open(scope) or outer
                self._note_holder(outer, _holder(scope))
            return self._resumed.get(outer, outer)

    async def _open(self, scope: Scope) -> bytes | None:
        version = _header(scope, _VERSION) or DEFAULT_NEGOTIATED_VERSION.encode()
        handshake = {
            "protocolVersion": version.decode("latin-1"),
            "capabilities": {},
            "clientInfo": {"name": UNNAMED, "version": "0"},
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
        """Send a message as the session's client would. Return the session id in the answer."""
        body = msgspec.json.encode(message)
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])
        answered: list[bytes] = []

        async def receive() -> Message:
            for part in parts:
                return part
            # The client does not disconnect: this ends with the answer.
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


def _revision(asked: JsonRpcMessage) -> bytes | None:
    """Return the revision that a handshake agrees on."""
    if asked.method != "initialize":
        return None
    try:
        wanted = msgspec.json.decode(asked.params, type=_Opening).protocol_version
    except UNREADABLE:
        return None
    return (wanted if wanted in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]).encode()


def _holder(scope: Scope) -> str | None:
    """Return the token that a request came with; None: the daemon's own."""
    caller: Caller | None = scope.get("nacre.caller")
    return None if caller is None else caller.token


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    return next((value for name, value in scope["headers"] if name == wanted), None)
