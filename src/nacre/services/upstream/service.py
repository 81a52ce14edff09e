"""The operations on upstream servers: their config, their tools, and calls of these.

Rule 1: a call passes the same plane as a command: its parameters are checked, the policy judges it,
a person may be asked, and what became of it is recorded.
Rule 2: to change which programs the daemon starts is the owner's: see ToolCalls.require_owner.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.operations.upstream import (
    AddUpstream,
    CallUpstreamTool,
    DescribeUpstreamTool,
    EnableUpstream,
    GatherUpstreamTools,
    GetUpstreamPrompt,
    ImportedUpstream,
    ImportUpstreams,
    LeftOutUpstream,
    ListUpstreams,
    ListUpstreamTools,
    ReadUpstreamLog,
    ReadUpstreamResource,
    ReadUpstreamResult,
    ReloadUpstreams,
    RemoveUpstream,
    SearchUpstreamTools,
    TestUpstream,
    UpstreamAnswer,
    UpstreamList,
    UpstreamLog,
    UpstreamMessages,
    UpstreamsChanged,
    UpstreamsImported,
    UpstreamSummary,
    UpstreamTested,
    UpstreamText,
    UpstreamToolInfo,
    UpstreamToolList,
    UpstreamWatched,
    WatchUpstreamResource,
)
from nacre.core.upstream.imports import import_servers
from nacre.core.upstream.search import search_tools
from nacre.core.upstream.servers import ServerTable
from nacre.errors import InvalidInput, NacreError, UpstreamNotFound, UpstreamUnavailable
from nacre.services.host.host import Host
from nacre.services.policy.tool_calls import ToolCalls
from nacre.services.upstream.hub import Hub, NamedTool
from nacre.services.upstream.results import LongResults
from nacre.services.upstream.server import UpstreamServer
from nacre.services.upstream.validation import check_arguments

_SHORT = 160  # characters of a description in a list

_T = TypeVar("_T")


class Upstreams:
    def __init__(self, hub: Hub, calls: ToolCalls, host: Host) -> None:
        self.hub = hub
        self._calls = calls
        self._host = host
        self._long = LongResults(host.settings.upstream_result_bytes)
        self._writing = asyncio.Lock()  # the config is read, changed and written by one at a time

    async def end_all(self) -> None:
        await self.hub.end_all()

    # --- servers ---------------------------------------------------------------------------

    async def list(self, caller: Caller, request: ListUpstreams) -> UpstreamList:
        servers = self.hub.servers()
        return UpstreamList(
            servers=[self._summary(one, caller) for one in servers.values()],
            file=self.hub.file.path,
            error=self.hub.file.problem or None,
        )

    def _summary(self, server: UpstreamServer, caller: Caller) -> UpstreamSummary:
        table = server.configured
        known = table if isinstance(table, ServerTable) else None
        state, error = server.state, server.error
        if state == "idle":
            try:
                self.hub.resolve(server, caller)
            except UpstreamUnavailable as unset:
                state, error = "failed", unset.message
        statistics = server.statistics
        return UpstreamSummary(
            name=server.name,
            transport=known.transport if known else None,
            enabled=known is None or known.enabled,
            state=state,
            error=error,
            tools=None if server.listing is None else len(server.tools()),
            calls=statistics.calls,
            p50_ms=statistics.p50_ms,
            failures=statistics.failures,
            target=known.target if known else "",
        )

    async def test(self, caller: Caller, request: TestUpstream) -> UpstreamTested:
        """Raises UpstreamNotFound, UpstreamUnavailable."""
        await self._calls.require_owner(caller)
        server = self.hub.server(request.server)
        began = time.perf_counter()
        resolved = self.hub.resolve(server, caller)
        connection = await server.connection(resolved, self.hub.values_of(caller), probe=True)
        listing = connection.listing
        return UpstreamTested(
            name=server.name,
            server=connection.server,
            revision=connection.revision,
            transport=connection.transport.kind,
            tools=len(server.tools()),
            prompts=len(listing.prompts),
            resources=len(listing.resources),
            ms=round((time.perf_counter() - began) * 1000, 1),
        )

    async def read_log(self, caller: Caller, request: ReadUpstreamLog) -> UpstreamLog:
        """Raises UpstreamNotFound."""
        self._calls.require_all_sessions(caller)
        return UpstreamLog(lines=self.hub.server(request.server).log.lines())

    async def reload(self, caller: Caller, request: ReloadUpstreams) -> UpstreamsChanged:
        await self._calls.require_owner(caller)
        if caller.pid is not None and await self._calls.is_person(caller):
            self.hub.hold(caller.values)
        servers = self.hub.servers()
        if request.server is not None:
            servers = {request.server: self.hub.server(request.server)}
        await asyncio.gather(*(one.end() for one in servers.values()))
        await self.hub.settle()
        self.hub.note_change()
        return self._changed(*servers)

    # --- the config ------------------------------------------------------------------------

    async def add(self, caller: Caller, request: AddUpstream) -> UpstreamsChanged:
        """Raises InvalidInput."""
        keys = [name for name in request.__struct_fields__ if name not in ("name", "replace")]
        table = {key: value for key in keys if (value := getattr(request, key)) is not None}
        if table["enabled"]:
            del table["enabled"]
        put = self.hub.file.put
        await self._write(caller, lambda: put(request.name, table, replace=request.replace))
        return self._changed(request.name)

    async def remove(self, caller: Caller, request: RemoveUpstream) -> UpstreamsChanged:
        """Raises UpstreamNotFound."""
        await self._write(caller, lambda: self.hub.file.remove(request.server))
        return self._changed(request.server)

    async def enable(self, caller: Caller, request: EnableUpstream) -> UpstreamsChanged:
        """Raises UpstreamNotFound."""
        enable = self.hub.file.enable
        await self._write(caller, lambda: enable(request.server, enabled=request.enabled))
        return self._changed(request.server)

    async def import_all(self, caller: Caller, request: ImportUpstreams) -> UpstreamsImported:
        """Raises InvalidInput for a file that is none."""
        await self._calls.require_owner(caller)
        folder = request.folder or caller.cwd or ""
        try:
            found = import_servers(request.text, request.host, folder, self.hub.home)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"this is no file of MCP servers: {error}") from error
        added: list[ImportedUpstream] = []
        left_out = [LeftOutUpstream(name=one.name, why=one.why) for one in found.left_out]

        def put() -> None:
            for one in found.servers:
                try:
                    self.hub.file.put(one.name, one.table, replace=request.replace)
                except InvalidInput as error:
                    left_out.append(LeftOutUpstream(name=one.name, why=error.message))
                else:
                    added.append(ImportedUpstream(name=one.name, notes=list(one.notes)))

        await self._write(caller, put)
        return UpstreamsImported(added=added, left_out=left_out, file=self.hub.file.path)

    async def _write(self, caller: Caller, change: Callable[[], None]) -> None:
        await self._calls.require_owner(caller)
        async with self._writing:
            await asyncio.to_thread(change)
            self.hub.servers()
            await self.hub.settle()  # who disables a server wants its process gone

    def _changed(self, *names: str) -> UpstreamsChanged:
        return UpstreamsChanged(names=list(names), file=self.hub.file.path)

    # --- tools -----------------------------------------------------------------------------

    async def gather(self, caller: Caller, request: GatherUpstreamTools) -> UpstreamToolList:
        await self.hub.gather_tools(caller)
        return UpstreamToolList(tools=[])

    async def list_tools(self, caller: Caller, request: ListUpstreamTools) -> UpstreamToolList:
        """Raises UpstreamNotFound."""
        if request.server is not None:
            server = self.hub.server(request.server)
            if server.listing is None:
                resolved = self.hub.resolve(server, caller)
                await server.connection(resolved, self.hub.values_of(caller))
        else:
            await self.hub.gather_tools(caller)
        wanted = [
            _info(one, whole=request.schemas)
            for one in self.hub.tools().values()
            if request.server in (None, one.server)
        ]
        failed = [
            f"{one.name}: {one.error}"
            for one in (self._summary(each, caller) for each in self.hub.servers().values())
            if one.state == "failed" and request.server in (None, one.name)
        ]
        return self._within(wanted, request.max_chars, failed)

    def _within(
        self, tools: "list_of[UpstreamToolInfo]", max_chars: int | None, failed: "list_of[str]"
    ) -> UpstreamToolList:
        room = self._host.budget(max_chars)
        kept: list_of[UpstreamToolInfo] = []
        for one in tools:
            room -= len(msgspec.json.encode(one)) + 1
            if room < 0:
                break
            kept.append(one)
        return UpstreamToolList(tools=kept, left_out=len(tools) - len(kept), failed=tuple(failed))

    async def search(self, caller: Caller, request: SearchUpstreamTools) -> UpstreamToolList:
        await self.hub.gather_tools(caller)
        tools = self.hub.tools()
        described = ((one.name, one.server, _description(one)) for one in tools.values())
        names = search_tools(request.query, described, request.most)
        return self._within([_info(tools[name]) for name in names], None, [])

    async def describe(self, caller: Caller, request: DescribeUpstreamTool) -> UpstreamToolInfo:
        """Raises UpstreamNotFound."""
        return _info(self._find("", request.tool), whole=True)

    # --- calls -----------------------------------------------------------------------------

    async def call(self, caller: Caller, request: CallUpstreamTool) -> UpstreamAnswer:
        """Raises UpstreamNotFound, InvalidInput, PolicyDenied, UpstreamUnavailable,
        UpstreamTimedOut, UpstreamFailed.
        """
        arguments = request.arguments or {}
        if request.server and self.hub.server(request.server).listing is None:
            # Its tools are not known yet.
            server = self.hub.server(request.server)
            resolved = self.hub.resolve(server, caller)
            await server.connection(resolved, self.hub.values_of(caller))
        named = self._find(request.server, request.tool)
        server = self.hub.server(named.server)
        check_arguments(named.tool, arguments)
        shown = f"{named.name} {msgspec.json.encode(arguments, order='sorted').decode()}"
        await self._calls.admit(caller, named.name, definition_of(named.tool), shown, arguments)
        tool = str(named.tool["name"])

        async def ask() -> dict[str, Any]:
            resolved = self.hub.resolve(server, caller)
            connection = await server.connection(resolved, self.hub.values_of(caller))
            return await connection.call(tool, arguments, _owner(caller), server.call_timeout)

        result = await self._recorded(caller, server, tool, arguments, ask)
        listing = server.listing
        return self._long.fit(
            result,
            self._host.budget(request.max_chars),
            has_schema=named.tool.get("outputSchema") is not None,
            server=server.name if listing is not None and listing.reads else None,
        )

    async def get_prompt(self, caller: Caller, request: GetUpstreamPrompt) -> UpstreamMessages:
        """Raises as `call` does."""
        server = self.hub.server(request.server)

        async def ask() -> dict[str, Any]:
            resolved = self.hub.resolve(server, caller)
            connection = await server.connection(resolved, self.hub.values_of(caller))
            return await connection.get_prompt(
                request.prompt, request.arguments, _owner(caller), server.call_timeout
            )

        shown = f"{request.prompt} {msgspec.json.encode(request.arguments or {}).decode()}"
        await self._calls.admit(caller, f"mcp_{server.name}_prompts/get", "", shown)
        name = f"prompt:{request.prompt}"
        return UpstreamMessages(
            content=await self._recorded(caller, server, name, request.arguments or {}, ask)
        )

    async def read_resource(
        self, caller: Caller, request: ReadUpstreamResource
    ) -> UpstreamMessages:
        """Raises as `call` does."""
        server = self.hub.server(request.server)

        async def ask() -> dict[str, Any]:
            resolved = self.hub.resolve(server, caller)
            connection = await server.connection(resolved, self.hub.values_of(caller))
            return await connection.read_resource(request.uri, _owner(caller), server.call_timeout)

        await self._calls.admit(caller, _reading(server), "", f"{server.name}: {request.uri}")
        told = await self._recorded(caller, server, "resource", {"uri": request.uri}, ask)
        return UpstreamMessages(content=told)

    async def watch_resource(
        self, caller: Caller, request: WatchUpstreamResource
    ) -> UpstreamWatched:
        """Raises as `read_resource` does, InvalidInput where updates are not offered."""
        server = self.hub.server(request.server)
        resolved = self.hub.resolve(server, caller)
        if request.watch:
            await self._calls.admit(caller, _reading(server), "", f"{server.name}: {request.uri}")
            await server.watch(resolved, self.hub.values_of(caller), request.uri)
        else:
            await server.unwatch(resolved, request.uri)
        return UpstreamWatched(watched=request.watch)

    async def _recorded(
        self,
        caller: Caller,
        server: UpstreamServer,
        tool: str,
        arguments: dict[str, Any],
        ask: Callable[[], Awaitable[dict[str, Any]]],
    ) -> dict[str, Any]:
        """Make a call, count it and record it."""
        began = time.perf_counter()
        outcome = "given up"
        try:
            result = await self._asked(ask)
            outcome = "error" if result.get("isError") else "ok"
            return result
        except NacreError as error:
            outcome = error.code
            error.details.setdefault("server", server.name)
            raise
        finally:
            seconds = time.perf_counter() - began
            failed = outcome not in ("ok", "error", "given up")
            server.statistics.note(seconds, failed=failed)
            if self._host.audit is not None:
                self._host.audit.record(
                    "upstream",
                    None,
                    caller,
                    {
                        "server": server.name,
                        "tool": tool,
                        "outcome": outcome,
                        "ms": round(seconds * 1000, 1),
                        **self._host.audit.text(msgspec.json.encode(arguments)),
                    },
                )

    async def _asked(self, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        try:
            return await ask()
        except UpstreamUnavailable as error:
            if not error.details.pop("again", False):
                raise
            return await ask()  # it provably did not take the call: the session was gone

    async def read_result(self, caller: Caller, request: ReadUpstreamResult) -> UpstreamText:
        """Raises InvalidInput."""
        self._calls.require_all_sessions(caller)
        return self._long.read(request, self._host.budget(request.max_chars))

    def _find(self, server: str, tool: str) -> NamedTool:
        if server:
            return self.hub.tool(server, tool)
        found = self.hub.tools().get(tool)
        if found is not None:
            return found
        alike = [one for one in self.hub.tools().values() if one.tool["name"] == tool]
        if len(alike) == 1:
            return alike[0]
        if alike:
            names = ", ".join(one.name for one in alike)
            raise InvalidInput(f"several servers have a tool {tool!r}", f"name one: {names}")
        raise UpstreamNotFound(f"no upstream tool named {tool!r}")


list_of = list  # the class has a method of that name


def definition_of(tool: dict[str, Any]) -> str:
    """Return a hash of how a tool describes itself, by which a change is noticed."""
    told = {key: tool.get(key) for key in ("name", "description", "inputSchema")}
    return hashlib.sha256(msgspec.json.encode(told, order="sorted")).hexdigest()[:32]


def _reading(server: UpstreamServer) -> str:
    """Return what a rule calls the reading of a server's resources; no tool has such a name."""
    return f"mcp_{server.name}_resources/read"


def _owner(caller: Caller) -> str:
    """Return by what one caller's calls are told from another's."""
    return caller.told_as or caller.key or f"{caller.door}:{caller.pid}:{caller.owner}"


def _description(named: NamedTool) -> str:
    return str(named.tool.get("description") or named.tool.get("title") or "")


def _info(named: NamedTool, *, whole: bool = False) -> UpstreamToolInfo:
    description = _description(named)
    if not whole and len(description) > _SHORT:
        description = description[: _SHORT - 1] + "…"
    return UpstreamToolInfo(
        name=named.name,
        server=named.server,
        tool=str(named.tool["name"]),
        description=description,
        schema=named.tool.get("inputSchema") if whole else None,
    )
