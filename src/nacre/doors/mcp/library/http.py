"""MCP over Streamable HTTP at /mcp, both protocol eras on one address.

Rule 1: sessions are stateful and use event streams: in its other modes the SDK silently loses
progress, subscriptions and cancellation.
Rule 2: toolsets and prefix are in the query, so the list of tools is always the same at one
address.
Rule 3: what is no message, and a request that the library would take for a notification, is
answered here (identifiers.py), as over lines: the library tells the innards of its validation.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import msgspec
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import Message as Part
from starlette.types import Receive, Scope, Send

from nacre.doors.mcp.halves import answer_halves
from nacre.doors.mcp.identifiers import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    Refusal,
    echo,
    misfit,
    read_message,
    refusal,
)
from nacre.doors.mcp.library.replay import ReplayingSessions
from nacre.doors.mcp.library.resumption import ResumedSessions, name_daemon
from nacre.doors.mcp.tools.selection import OffersTools, OffersUpstream, Selection, parse_selection
from nacre.errors import InvalidInput
from nacre.settings.table import Settings
from nacre.wording import OPERATIONS

# Each selection has its own server; nobody needs this many at once.
_MAX_SELECTIONS = 64


@dataclass(slots=True)
class _Served:
    sessions: ResumedSessions
    ready: asyncio.Event
    task: "asyncio.Task[None]"


class McpOverHttp:
    """An ASGI application; `close` ends its sessions."""

    def __init__(
        self,
        server: Callable[[Selection], Server[Any]],
        settings: Settings,
        commands: Callable[[], OffersTools] | None = None,
        upstream: Callable[[], OffersUpstream] | None = None,
    ) -> None:
        self._server = server
        self._commands = commands
        self._upstream = upstream
        self._clustered = bool(settings.cluster)
        self._max_body = settings.max_message_bytes
        self._replay_bytes = settings.mcp_replay_bytes
        self._name = name_daemon()
        self._served: dict[Selection, _Served] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = QueryParams(scope["query_string"])
        try:
            selection = parse_selection(
                ",".join(query.getlist("toolsets")) or None,
                query.get("prefix"),
                self._commands,
                self._upstream,
                clustered=self._clustered,
            )
            sessions = await self._sessions(selection)
        except InvalidInput as error:
            refusal = {
                "jsonrpc": "2.0",
                "id": None,
                "error": {"code": -32602, "message": OPERATIONS.message(error)},
            }
            await JSONResponse(refusal, status_code=400)(scope, receive, send)
            return
        body, receive = await _read_ahead(scope, receive, self._max_body)
        message = read_message(body)
        if body and (refused := _refused(body, message, selection)) is not None:
            await refused(scope, receive, send)
            return
        await sessions(scope, receive, send, message)

    async def close(self) -> None:
        for served in self._served.values():
            served.task.cancel()
        await asyncio.gather(
            *(served.task for served in self._served.values()), return_exceptions=True
        )

    async def _sessions(self, selection: Selection) -> ResumedSessions:
        served = self._served.get(selection)
        if served is None:
            if len(self._served) >= _MAX_SELECTIONS:
                raise InvalidInput(
                    f"{_MAX_SELECTIONS} different combinations of toolsets and prefix were used "
                    "since the daemon started",
                    "use one of those",
                )
            manager = ReplayingSessions(
                self._server(selection),
                max_body=self._max_body,
                daemon=self._name.decode(),
                replay_bytes=self._replay_bytes,
            )
            ready = asyncio.Event()
            task = asyncio.create_task(_hold(manager, ready), name="mcp-http")
            sessions = ResumedSessions(manager, self._name)
            served = self._served[selection] = _Served(sessions, ready, task)
        await served.ready.wait()
        return served.sessions


async def _hold(manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
    """Keep a manager open: the task that entered it must also leave it."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(manager.run())
        ready.set()
        never: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        await never


async def _read_ahead(scope: Scope, receive: Receive, limit: int) -> tuple[bytes, Receive]:
    """Return a request's body, and what gives it out once more; empty when it is over the limit.

    Raises ClientDisconnect when the client leaves before it has sent all of it.
    """
    if scope["method"] != "POST":
        return b"", receive
    parts: list[Part] = []
    size = 0
    while size <= limit:
        part = await receive()
        if part["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(part)
        size += len(part.get("body", b""))
        if not part.get("more_body"):
            break
    waiting = iter(parts)

    async def again() -> Part:
        for part in waiting:
            return part
        return await receive()

    body = b"".join(part.get("body", b"") for part in parts) if size <= limit else b""
    return body, again


def _refused(body: bytes, message: Message | None, selection: Selection) -> Response | None:
    """Return the answer to what is no message, or no fitting one; None for all others."""
    if message is None:
        wrong = refusal(body)
        halved = answer_halves(body, selection.tools()) if wrong.code == PARSE_ERROR else None
        if halved is not None:
            status = 400 if halved.refused else 200
            return Response(halved.answer, status, media_type="application/json")
    elif problem := misfit(message):
        wrong = Refusal(INVALID_REQUEST, problem, echo(message.id))
    else:
        return None
    error = msgspec.json.encode({"code": wrong.code, "message": wrong.problem})
    told = b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (wrong.id, error)
    return Response(told, 400, media_type="application/json")
