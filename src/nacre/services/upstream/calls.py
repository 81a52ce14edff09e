"""Calls of upstream tools, and what goes the same way: prompts, resources, completion.

Rule 1: a call passes the same plane as a command: its parameters are checked, the policy judges it,
a person may be asked, and what became of it is recorded.
Rule 2: completion asks nobody, for it comes with each key: who may not do without being asked what
it is for gets none.
"""

import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.operations.upstream import (
    CallUpstreamTool,
    CompleteUpstreamArgument,
    GetUpstreamPrompt,
    ReadUpstreamResource,
    ReadUpstreamResult,
    UpstreamAnswer,
    UpstreamMessages,
    UpstreamText,
    UpstreamWatched,
    WatchUpstreamResource,
)
from nacre.errors import InvalidInput, NacreError, UpstreamNotFound, UpstreamUnavailable
from nacre.services.host.host import Host
from nacre.services.policy.tool_calls import ToolCalls
from nacre.services.upstream.hub import Hub, NamedTool
from nacre.services.upstream.results import LongResults
from nacre.services.upstream.server import UpstreamServer
from nacre.services.upstream.validation import check_arguments


class UpstreamCalls:
    def __init__(self, hub: Hub, calls: ToolCalls, host: Host) -> None:
        self.hub = hub
        self._calls = calls
        self._host = host
        self._long = LongResults(host.settings.upstream_result_bytes)

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
        named = find_tool(self.hub, request.server, request.tool)
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

        given = msgspec.json.encode(request.arguments or {}, order="sorted").decode()
        shown = f"{server.name}: {request.prompt} {given}"
        await self._calls.admit(caller, _prompting(server), "", shown)
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

    async def complete(self, caller: Caller, request: CompleteUpstreamArgument) -> UpstreamMessages:
        """Return what an argument may be. Raises UpstreamNotFound, UpstreamFailed …"""
        server = self.hub.server(request.server)
        prompt = request.ref.get("type") == "ref/prompt"
        name = _prompting(server) if prompt else _reading(server)
        if not await self._calls.is_free(caller, name):
            return UpstreamMessages(content={})
        resolved = self.hub.resolve(server, caller)
        connection = await server.connection(resolved, self.hub.values_of(caller))
        asked: dict[str, Any] = {"ref": request.ref, "argument": request.argument}
        if request.context is not None:
            asked["context"] = request.context
        return UpstreamMessages(
            content=await connection.complete(asked, _owner(caller), server.call_timeout)
        )

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


def find_tool(hub: Hub, server: str, tool: str) -> NamedTool:
    """Raises UpstreamNotFound, InvalidInput for a name that several servers have."""
    if server:
        return hub.tool(server, tool)
    found = hub.tools().get(tool)
    if found is not None:
        return found
    alike = [one for one in hub.tools().values() if one.tool["name"] == tool]
    if len(alike) == 1:
        return alike[0]
    if alike:
        names = ", ".join(one.name for one in alike)
        raise InvalidInput(f"several servers have a tool {tool!r}", f"name one: {names}")
    raise UpstreamNotFound(f"no upstream tool named {tool!r}")


def definition_of(tool: dict[str, Any]) -> str:
    """Return a hash of how a tool describes itself, by which a change is noticed."""
    told = {key: tool.get(key) for key in ("name", "description", "inputSchema")}
    return hashlib.sha256(msgspec.json.encode(told, order="sorted")).hexdigest()[:32]


def _prompting(server: UpstreamServer) -> str:
    """Return what a rule calls the getting of a server's prompts; no tool has such a name."""
    return f"mcp_{server.name}_prompts/get"


def _reading(server: UpstreamServer) -> str:
    """Return what a rule calls the reading of a server's resources; no tool has such a name."""
    return f"mcp_{server.name}_resources/read"


def _owner(caller: Caller) -> str:
    """Return by what one caller's calls are told from another's."""
    return caller.told_as or caller.key or f"{caller.door}:{caller.pid}:{caller.owner}"
