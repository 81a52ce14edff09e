"""The operations on which upstream servers there are: their states, their config, their logs.

Rule: to change which programs the daemon starts is the owner's: see ToolCalls.require_owner.
"""

import asyncio
import time
from collections.abc import Callable

from nacre.core.catalog.caller import Caller
from nacre.core.operations.upstream import (
    AddUpstream,
    EnableUpstream,
    ImportedUpstream,
    ImportUpstreams,
    LeftOutUpstream,
    ListUpstreams,
    ReadUpstreamLog,
    ReloadUpstreams,
    RemoveUpstream,
    TestUpstream,
    UpstreamList,
    UpstreamLog,
    UpstreamsChanged,
    UpstreamsImported,
    UpstreamSummary,
    UpstreamTested,
)
from nacre.core.upstream.imports import import_servers
from nacre.core.upstream.servers import ServerTable
from nacre.errors import InvalidInput, UpstreamUnavailable
from nacre.services.policy.tool_calls import ToolCalls
from nacre.services.upstream.hub import Hub
from nacre.services.upstream.server import UpstreamServer

list_of = list  # the class has a method of that name


class ConfiguredUpstreams:
    def __init__(self, hub: Hub, calls: ToolCalls) -> None:
        self.hub = hub
        self._calls = calls
        self._writing = asyncio.Lock()  # the config is read, changed and written by one at a time

    async def list(self, caller: Caller, request: ListUpstreams) -> UpstreamList:
        return UpstreamList(
            servers=self.summaries(caller),
            file=self.hub.file.path,
            error=self.hub.file.problem or None,
        )

    def summaries(self, caller: Caller) -> "list_of[UpstreamSummary]":
        return [self._summary(one, caller) for one in self.hub.servers().values()]

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
