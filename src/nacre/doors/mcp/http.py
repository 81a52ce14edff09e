"""MCP over Streamable HTTP at /mcp, both protocol eras on the one address.

Rule 1: stateful and with event streams: the SDK's other modes silently lose progress, subscriptions
and cancellation.
Rule 2: toolsets and prefix come by the query, so that a list of tools never varies on one address.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import QueryParams
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from nacre.doors.mcp.resumption import ResumedSessions, name_daemon
from nacre.doors.mcp.toolsets import Selection, parse_selection
from nacre.errors import InvalidInput

# Each selection has a server of its own; nobody needs this many at once.
_MAX_SELECTIONS = 64


@dataclass(slots=True)
class _Served:
    sessions: ResumedSessions
    ready: asyncio.Event
    task: "asyncio.Task[None]"


class McpOverHttp:
    """An ASGI application; `close` ends its sessions."""

    def __init__(self, server: Callable[[Selection], Server[Any]], *, max_body: int) -> None:
        self._server = server
        self._max_body = max_body
        self._name = name_daemon()
        self._served: dict[Selection, _Served] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = QueryParams(scope["query_string"])
        try:
            selection = parse_selection(query.get("toolsets"), query.get("prefix"))
            sessions = await self._sessions(selection)
        except InvalidInput as error:
            body = {
                "jsonrpc": "2.0",
                "id": None,
                "error": {"code": -32602, "message": error.message},
            }
            await JSONResponse(body, status_code=400)(scope, receive, send)
            return
        await sessions(scope, receive, send)

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
                    f"{_MAX_SELECTIONS} different selections of toolsets and prefix were used "
                    "since the daemon started; use one of those"
                )
            manager = StreamableHTTPSessionManager(
                self._server(selection), max_request_body_size=self._max_body
            )
            ready = asyncio.Event()
            task = asyncio.create_task(_hold(manager, ready), name="mcp-http")
            sessions = ResumedSessions(manager, self._name)
            served = self._served[selection] = _Served(sessions, ready, task)
        await served.ready.wait()
        return served.sessions


async def _hold(manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
    """Keep a manager entered: it must be left by the task that entered it."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(manager.run())
        ready.set()
        never: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        await never
