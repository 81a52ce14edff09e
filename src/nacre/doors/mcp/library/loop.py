"""The library's loop over one client's lines: what lines/ does not answer itself.

Rule 1: the library never sees the connection. It gets lines, first what the client began with, and
what it answers to that is not sent: the client has an answer to it.
Rule 2: at the end requests under way have a moment to be answered.
"""

import asyncio
import logging
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from nacre.doors.mcp.lines.connection import LAST_ANSWERS, LineConnection, LineQueue

_log = logging.getLogger("nacre.mcp")

_STREAM = "subscriptions/listen"  # answered when the client has left, and not before


class LibraryLoop:
    def __init__(self, server: Server[Any], client: LineConnection) -> None:
        self._server = server
        self._client = client

    async def serve(self, lines: LineQueue) -> None:
        """Serve the lines, up to the None that ends them."""
        pipe = _Pipe(self._client, lines)
        await serve_dual_era_loop(
            self._server,
            pipe.incoming,
            pipe.outgoing,
            lifespan_state=self._client.caller,
            init_options=self._server.create_initialization_options(),
        )


class _Pipe:
    """Both directions, and the requests that wait for their answers."""

    def __init__(self, client: LineConnection, lines: LineQueue) -> None:
        self.client = client
        self.lines = lines
        self.unanswered: set[Any] = set()
        self.all_answered = asyncio.Event()
        # What the client was answered already, by its request.
        self.known: set[Any] = set()
        self.incoming = _Incoming(self)
        self.outgoing = _Outgoing(self)

    def answered(self, request: Any) -> None:
        self.unanswered.discard(request)
        if not self.unanswered:
            self.all_answered.set()


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
        self._first = iter(list(pipe.client.opening))

    def __aiter__(self) -> "_Incoming":
        return self

    async def __aenter__(self) -> "_Incoming":
        return self

    async def receive(self) -> SessionMessage | Exception:
        return await self.__anext__()

    async def __anext__(self) -> SessionMessage | Exception:
        for known in self._first:
            return self._known(known)
        while (line := await self._pipe.lines.get()) is not None:
            if message := self._parse(line):
                return message
        await self._finish()
        raise StopAsyncIteration

    def _known(self, line: bytes) -> SessionMessage:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if isinstance(message, types.JSONRPCRequest):
            self._pipe.known.add(message.id)
        return SessionMessage(message)

    def _parse(self, line: bytes) -> SessionMessage | None:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            self._pipe.client.refuse_line(line)
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

    async def _finish(self) -> None:
        # No wait for a session's change, which have their deadline in the services: how long a
        # connection outlives its client. What its calls wait for has a deadline of its own.
        if self._pipe.unanswered:
            try:
                async with asyncio.timeout(LAST_ANSWERS):
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
        answered = None
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            answered = message.id
            if answered in pipe.known:
                pipe.known.discard(answered)
                return
        pipe.client.wire.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        await pipe.client.wire.drain()
        pipe.answered(answered)
