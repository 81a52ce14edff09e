"""The MCP door as the daemon sees it: lines from the bridge, and HTTP at /mcp."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from mcp.server.lowlevel import Server

from nacre.config import Settings
from nacre.core.caller import Caller
from nacre.doors.mcp.http import McpOverHttp
from nacre.doors.mcp.lines import serve_lines
from nacre.doors.mcp.server import build_server
from nacre.doors.mcp.subscriptions import Subscriptions
from nacre.doors.mcp.toolsets import Selection, parse_selection
from nacre.services.dispatch import Dispatch


class McpDoor:
    def __init__(self, dispatch: Dispatch, settings: Settings) -> None:
        self._dispatch = dispatch
        self._subscriptions = Subscriptions(dispatch, settings)
        self._servers: dict[Selection, Server[Any]] = {}
        self.http = McpOverHttp(self._server, max_body=settings.max_message_bytes)

    def lines(
        self, caller: Caller, toolsets: str | None, prefix: str | None
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        """Return what serves one client of the bridge.

        Raises InvalidInput for a toolset that there is not, or a prefix that cannot be one.
        """
        server = self._server(parse_selection(toolsets, prefix))
        return partial(serve_lines, server, caller)

    async def close(self) -> None:
        self._subscriptions.close()
        await self.http.close()

    def _server(self, selection: Selection) -> Server[Any]:
        if selection not in self._servers:
            self._servers[selection] = build_server(self._dispatch, self._subscriptions, selection)
        return self._servers[selection]
