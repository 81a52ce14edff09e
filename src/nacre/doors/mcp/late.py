"""The MCP door, loaded late, because its library takes a second of processor time to load.

Rule 1: it is loaded for the first client that asks for something only the library can answer
(lines/connection.py), or when nobody has asked for anything for a while (mcp_load_after): recovery
of sessions, and clients that do not need it, come first. Loading beside them makes them slow.
Rule 2: it is loaded once, in the background; a client that leaves meanwhile does not stop that.
Rule 3: what a client of the bridge is answered first is written down for the next start, when
nobody waits for anything: at leisure, or when the client has left (client/written_answers.py).
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from nacre.client.written_answers import write_answers
from nacre.core.catalog.caller import Caller
from nacre.core.operations.upstream import GatherUpstreamTools
from nacre.doors.mcp.lines.connection import LineConnection, LineQueue, Served
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.server import build_call_tool
from nacre.doors.mcp.standing import Standing
from nacre.doors.mcp.tools.selection import Selection, parse_selection
from nacre.errors import InvalidInput
from nacre.late_import import import_alone
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.paths import Paths
from nacre.settings.table import Settings

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from nacre.doors.mcp.library.door import McpDoor
    from nacre.doors.mcp.tools.command_tools import CommandSource, OfferedCommands
    from nacre.doors.mcp.upstream.tools import UpstreamHub, UpstreamTools

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class LateMcpDoor:
    """Stands for the MCP door until it is loaded. As an ASGI application it serves /mcp."""

    def __init__(
        self,
        dispatch: Dispatch,
        settings: Settings,
        source: "CommandSource | None" = None,
        hub: "Callable[[], UpstreamHub] | None" = None,
        paths: Paths | None = None,
    ) -> None:
        """`source` has the commands of the catalog, for the toolset of that name; `hub` gives what
        knows the servers behind us, for the toolset upstream; `paths` is where answers are written.
        """
        self._dispatch = dispatch
        self._settings = settings
        self._source = source
        self._hub = hub
        self._paths = paths
        self._offered: OfferedCommands | None = None
        self._upstream: UpstreamTools | None = None
        self._loop = asyncio.get_running_loop()
        self._loading: asyncio.Task[McpDoor] | None = None
        self._leisure: asyncio.TimerHandle | None = None
        self._when_leisure: Callable[[], None] | None = None
        self._served: dict[Selection, Served] = {}
        self._unwritten: dict[tuple[str | None, str | None], Selection] = {}  # by what was asked
        self._known: set[tuple[str | None, str | None]] = set()
        self._writing: asyncio.Task[None] | None = None
        if settings.mcp_load_after:
            self._await_leisure()

    def lines(self, caller: Caller, toolsets: str | None, prefix: str | None) -> Serve:
        """Return what serves one client of the bridge.

        Raises InvalidInput for an unknown toolset or an invalid prefix.
        """
        selection = parse_selection(
            toolsets,
            prefix,
            self._commands,
            self._upstreams,
            clustered=bool(self._settings.cluster),
        )
        served = self._serve(selection)
        stands = not selection.changes and not selection.clustered
        if stands and (asked := (toolsets, prefix)) not in self._known:
            self._known.add(asked)
            self._unwritten[asked] = selection

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await LineConnection(served, caller, reader, writer, self._settings).serve()
            await self._write_down()

        return serve

    async def _write_down(self) -> None:
        """Write what stands for the next start. Where it cannot be written, that one is slower."""
        while self._paths is not None and self._unwritten:
            asked, selection = self._unwritten.popitem()
            standing = self._served[selection].standing
            await self._loop.run_in_executor(None, self._write, self._paths, asked, standing)

    @staticmethod
    def _write(paths: Paths, asked: tuple[str | None, str | None], standing: Standing) -> None:
        write_answers(paths, *asked, standing.written())

    def _commands(self) -> "OfferedCommands":
        """Return the tools of the toolset commands; loaded with the first client that names it.

        Raises InvalidInput where there is no catalog.
        """
        if self._offered is None:
            from nacre.doors.mcp.tools.command_tools import OfferedCommands

            if self._source is None:
                raise InvalidInput("there is no catalog of commands here")
            self._offered = OfferedCommands(self._source, self._settings.max_command_tools)
        return self._offered

    def _upstreams(self) -> "UpstreamTools":
        """Return the tools of the toolset upstream; loaded with the first client that names it.

        Raises InvalidInput where there is no hub.
        """
        if self._upstream is None:
            from nacre.doors.mcp.upstream.tools import UpstreamTools

            if self._hub is None:
                raise InvalidInput("there are no upstream servers here")
            self._upstream = UpstreamTools(self._hub(), self._settings.max_upstream_tools)
        return self._upstream

    async def _gather(self, caller: Caller) -> None:
        """Wait a moment for tools of servers behind us that are not known yet."""
        await self._dispatch(caller, GatherUpstreamTools())

    def _serve(self, selection: Selection) -> Served:
        if selection not in self._served:
            offers = Offers(selection)
            call_tool = build_call_tool(self._dispatch, offers, self._settings)

            async def library(client: LineConnection, lines: LineQueue) -> None:
                await (await self.door()).loop(selection, client).serve(lines)

            gather = self._gather if selection.upstream is not None else None
            self._served[selection] = Served(offers, call_tool, library, gather)
        return self._served[selection]

    async def door(self) -> "McpDoor":
        return await asyncio.shield(self._load())

    async def settle(self) -> None:
        """Wait until it is loaded, if that has begun."""
        if self._loading is not None:
            await asyncio.wait([self._loading])

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        await (await self.door()).http(scope, receive, send)

    async def close(self) -> None:
        self.give_up()
        if self._writing is not None:
            await self._writing
        await self.settle()
        # If the library could not be loaded, its clients know already; closing continues.
        if self._loading is None or self._loading.cancelled():
            return
        if self._loading.exception() is None:
            await self._loading.result().close()

    def give_up(self) -> None:
        """Wait no longer for the library if it is being loaded: the daemon stops."""
        self._never_mind()
        if self._loading is not None:
            self._loading.cancel()

    def _load(self) -> "asyncio.Task[McpDoor]":
        if self._loading is None:
            self._never_mind()
            self._loading = self._loop.create_task(self._build(), name="mcp")
        return self._loading

    def _await_leisure(self) -> None:
        seen = self._dispatch.calls
        self._leisure = self._loop.call_later(
            self._settings.mcp_load_after, self._load_at_leisure, seen
        )

    def when_leisure(self, callback: Callable[[], None]) -> None:
        """Call this when there is leisure: something else is loaded then, and this after it."""
        self._when_leisure = callback

    def _load_at_leisure(self, seen: int) -> None:
        """Load it if nobody has asked for anything since; else look again later."""
        if self._dispatch.calls == seen:
            if self._when_leisure is not None:
                self._when_leisure()
            self._writing = self._loop.create_task(self._write_down(), name="written answers")
            self._load()
        else:
            self._await_leisure()

    def _never_mind(self) -> None:
        """Cancel the timer that would load it without a client."""
        if self._leisure is not None:
            self._leisure.cancel()

    async def _build(self) -> "McpDoor":
        name = "nacre.doors.mcp.library.door"
        module = await self._loop.run_in_executor(None, import_alone, name)
        door: McpDoor = module.McpDoor(
            self._dispatch, self._settings, self._commands, self._upstreams
        )
        gc.freeze()  # what was loaded stays (system/memory.py)
        if self._when_leisure is not None and self._settings.mcp_load_after:
            self._when_leisure()  # a client that needed this one has cancelled the timer
        return door
