"""MCP as newline-delimited JSON over a stream: what `nacre mcp` pipes to the daemon.

Rule 1: one message a line. What is no JSON-RPC message gets an error answer, and the connection
goes on.
Rule 2: when the client closes its side, requests under way have a moment to be answered: a script
that pipes its requests in and closes still gets its answers.
"""

import asyncio
import json
import logging
from types import TracebackType
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from nacre.core.caller import Caller
from nacre.core.catalog import HALF
from nacre.errors import InvalidInput

_log = logging.getLogger("nacre.mcp")

_LAST_ANSWERS = 1.0  # seconds that requests under way have after the client closed its side

_STREAM = "subscriptions/listen"  # answered when the client has left, and not before

_PARSE_ERROR, _INVALID_REQUEST, _INVALID_PARAMS = -32700, -32600, -32602


async def serve_lines(
    server: Server[Any], caller: Caller, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve one client until it is gone."""
    pipe = _Pipe(reader, writer)
    await serve_dual_era_loop(
        server,
        pipe.incoming,
        pipe.outgoing,
        lifespan_state=caller,
        init_options=server.create_initialization_options(),
    )


class _Pipe:
    """Both directions of a connection, and the requests that wait for their answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.unanswered: set[Any] = set()
        self.all_answered = asyncio.Event()
        self.incoming = _Incoming(self)
        self.outgoing = _Outgoing(self)

    def write(self, line: bytes) -> None:
        self.writer.write(line + b"\n")

    def answered(self, request: Any) -> None:
        self.unanswered.discard(request)
        if not self.unanswered:
            self.all_answered.set()

    def refuse(self, code: int, message: str, request: Any = None, data: Any = None) -> None:
        error = {"code": code, "message": message} | ({"data": data} if data else {})
        answer = {"jsonrpc": "2.0", "id": request, "error": error}
        self.write(msgspec.json.encode(answer))


class _Stream:
    async def aclose(self) -> None:
        return None

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Incoming(_Stream):
    def __init__(self, pipe: _Pipe) -> None:
        self._pipe = pipe

    def __aiter__(self) -> "_Incoming":
        return self

    async def __aenter__(self) -> "_Incoming":
        return self

    async def receive(self) -> SessionMessage | Exception:
        return await self.__anext__()

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            try:
                line = await self._pipe.reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                line = end.partial
                if not line.strip():
                    await self._finish()
                    raise StopAsyncIteration from None
            except asyncio.LimitOverrunError as over:
                await self._skip_line(over.consumed)
                self._pipe.refuse(_INVALID_REQUEST, "the message is over max_message_bytes")
                continue
            except ConnectionError:
                raise StopAsyncIteration from None
            if message := self._parse(line):
                return message

    def _parse(self, line: bytes) -> SessionMessage | None:
        if not line.strip():
            return None
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            self._refuse(line)
            return None
        if isinstance(message, types.JSONRPCRequest) and message.method != _STREAM:
            self._pipe.unanswered.add(message.id)
            self._pipe.all_answered.clear()
        elif (
            isinstance(message, types.JSONRPCNotification)
            and message.method == "notifications/cancelled"
            and isinstance(request := (message.params or {}).get("requestId"), str | int)
        ):
            self._pipe.answered(request)  # none will come
        return SessionMessage(message)

    def _refuse(self, line: bytes) -> None:
        try:
            found = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            if (request := _id_beside_halves(line)) is not None:
                half = InvalidInput(HALF)
                self._pipe.refuse(_INVALID_PARAMS, half.message, request, half.as_dict())
            else:
                self._pipe.refuse(_PARSE_ERROR, "not valid JSON; send one JSON-RPC message a line")
            return
        request = found.get("id") if isinstance(found, dict) else None
        request = request if isinstance(request, str | int) else None
        self._pipe.refuse(_INVALID_REQUEST, "not a JSON-RPC 2.0 message", request)

    async def _skip_line(self, size: int) -> None:
        reader = self._pipe.reader
        while True:
            await reader.readexactly(size)
            try:
                await reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as over:
                size = over.consumed
            except asyncio.IncompleteReadError:
                return
            else:
                return

    async def _finish(self) -> None:
        if self._pipe.unanswered:
            try:
                async with asyncio.timeout(_LAST_ANSWERS):
                    await self._pipe.all_answered.wait()
            except TimeoutError:
                _log.debug("client left before its answers")


class _Outgoing(_Stream):
    def __init__(self, pipe: _Pipe) -> None:
        self._pipe = pipe

    async def __aenter__(self) -> "_Outgoing":
        return self

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        pipe = self._pipe
        pipe.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        await pipe.writer.drain()
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            pipe.answered(message.id)


def _id_beside_halves(line: bytes) -> str | int | None:
    """Return the id of a request in which half a character stands: "\\ud83d", cut in two.

    Only the standard library reads such JSON. Without the id its sender would wait for ever.
    """
    if b"\\ud" not in line.lower():
        return None
    try:
        found = json.loads(line.decode())
        identifier = found["id"] if "method" in found else None
        msgspec.json.encode(identifier)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return identifier if isinstance(identifier, str | int) else None
