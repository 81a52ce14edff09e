"""Upstream servers as a service: their config, their tools, and calls of these."""

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.operations.upstream import (
    DescribeUpstreamTool,
    GatherUpstreamTools,
    ListUpstreamTools,
    SearchUpstreamTools,
    UpstreamToolInfo,
    UpstreamToolList,
)
from nacre.core.upstream.search import search_tools
from nacre.services.host.host import Host
from nacre.services.policy.tool_calls import ToolCalls
from nacre.services.upstream.calls import UpstreamCalls, find_tool
from nacre.services.upstream.configured import ConfiguredUpstreams
from nacre.services.upstream.hub import Hub, NamedTool

_SHORT = 160  # characters of a description in a list


class Upstreams:
    def __init__(self, hub: Hub, calls: ToolCalls, host: Host) -> None:
        self.hub = hub
        self.configured = ConfiguredUpstreams(hub, calls)
        self.calls = UpstreamCalls(hub, calls, host)
        self._host = host

    async def end_all(self) -> None:
        await self.hub.end_all()

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
            for one in self.configured.summaries(caller)
            if one.state == "failed" and request.server in (None, one.name)
        ]
        return self._within(wanted, request.max_chars, failed)

    def _within(
        self, tools: list[UpstreamToolInfo], max_chars: int | None, failed: list[str]
    ) -> UpstreamToolList:
        room = self._host.budget(max_chars)
        kept: list[UpstreamToolInfo] = []
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
        return _info(find_tool(self.hub, "", request.tool), whole=True)


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
