"""What of the MCP door needs the library: its loop over a client's lines, and HTTP at /mcp."""

from collections.abc import Callable
from typing import Any

from mcp.server.lowlevel import Server

from nacre.doors.mcp.library.http import McpOverHttp
from nacre.doors.mcp.library.loop import LibraryLoop
from nacre.doors.mcp.library.rounds import HeldCalls
from nacre.doors.mcp.library.server import build_server
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.lines.connection import LineConnection
from nacre.doors.mcp.tools.selection import OffersTools, OffersUpstream, Selection
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings


class McpDoor:
    def __init__(
        self,
        dispatch: Dispatch,
        settings: Settings,
        commands: Callable[[], OffersTools] | None = None,
        upstream: Callable[[], OffersUpstream] | None = None,
    ) -> None:
        self._dispatch = dispatch
        self._settings = settings
        self._subscriptions = Subscriptions(dispatch, settings)
        self._held = HeldCalls(settings.max_upstream_questions, settings.upstream_question_wait)
        self._servers: dict[Selection, Server[Any]] = {}
        self.http = McpOverHttp(self._server, settings, commands, upstream)

    def loop(self, selection: Selection, client: LineConnection) -> LibraryLoop:
        """Return what serves what a client of the bridge asks of the library."""
        return LibraryLoop(self._server(selection), client)

    async def close(self) -> None:
        self._held.close()
        self._subscriptions.close()
        await self.http.close()

    def _server(self, selection: Selection) -> Server[Any]:
        if selection not in self._servers:
            self._servers[selection] = build_server(
                self._dispatch, self._subscriptions, selection, self._settings, self._held
            )
        return self._servers[selection]
