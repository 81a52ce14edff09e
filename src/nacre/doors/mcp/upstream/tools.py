"""The toolset upstream: the tools of MCP servers behind nacre, or three tools that stand for all.

Rule 1: a tool is passed on as its server described it: schema, title, annotations. Only its name is
ours.
Rule 2: the list changes while clients are connected; they are told. So nothing here is kept longer
than the version of the list.
Rule 3: with more tools than so many there are three instead: search, describe, call. The others can
still be called by their names.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import field

from nacre.core.catalog.catalog import Operation, parse_parameters
from nacre.core.catalog.schema import output_schema
from nacre.core.operations.all import CATALOG
from nacre.core.upstream.names import tool_name
from nacre.doors.mcp.tools.selection import UpstreamListKind
from nacre.doors.mcp.tools.tool import Tool
from nacre.doors.mcp.tools.toolsets import UPSTREAM
from nacre.doors.mcp.upstream.offered import (
    named_prompts,
    prompt_as_wire,
    resources_as_wire,
    templates_as_wire,
)

_CALL = "call_upstream_tool"
_READ = "read_upstream_result"
_INSTEAD = ("search_upstream_tools", "describe_upstream_tool", _CALL)
_PASSED_ON = ("title", "inputSchema", "outputSchema", "annotations", "icons", "_meta")


class ServersTool(Protocol):
    """A tool of a server, as the hub knows it."""

    @property
    def name(self) -> str: ...

    @property
    def server(self) -> str: ...

    @property
    def tool(self) -> dict[str, Any]: ...


class UpstreamHub(Protocol):
    """What this door needs of the hub."""

    version: int

    def servers(self) -> Mapping[str, Any]: ...

    def tools(self) -> Mapping[str, ServersTool]: ...

    def listings(self) -> Mapping[str, Any]: ...

    def on_change(
        self, listener: Callable[[], None], kind: UpstreamListKind = "tools"
    ) -> Callable[[], None]: ...

    def on_update(self, listener: Callable[[str, str], None]) -> Callable[[], None]: ...


class UpstreamTool(Tool, frozen=True):
    """A server's tool as one of ours."""

    server: str = ""
    described: dict[str, Any] = field(default_factory=dict)

    def parse(self, given: dict[str, Any]) -> Operation:
        called = {"server": self.server, "tool": self.described["name"], "arguments": given}
        return parse_parameters(self.spec.type, called)

    def parameter(self, name: str) -> str:
        return name

    def as_wire(self, name_of: Callable[[str], str | None] = str) -> dict[str, Any]:
        told = {key: self.described[key] for key in _PASSED_ON if key in self.described}
        schema = told.get("inputSchema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            told["inputSchema"] = {**(schema or {}), "type": "object"}
        description = str(self.described.get("description") or "")
        plain = f"mcp_{self.server}_{self.described['name']}"
        if not self.name.endswith(plain):  # what it was shortened from
            description = f"{description}\n\n({self.described['name']} of {self.server})".strip()
        return {"name": self.name, "description": description, **told}


class UpstreamTools:
    """The tools of all servers as they are now, and what else they offer."""

    def __init__(self, hub: UpstreamHub, most: int) -> None:
        self.hub = hub
        self._most = most

    @property
    def edition(self) -> int:
        self.hub.servers()  # the config may have been edited
        return self.hub.version

    def on_change(
        self, listener: Callable[[], None], kind: UpstreamListKind = "tools"
    ) -> Callable[[], None]:
        return self.hub.on_change(listener, kind)

    def on_update(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        return self.hub.on_update(listener)

    # --- what is no tool -------------------------------------------------------------------

    def prompts(self, prefix: str) -> list[dict[str, Any]]:
        found = named_prompts(self.hub.listings(), self.hub.servers(), prefix)
        return [prompt_as_wire(*one) for one in found]

    def prompt(self, prefix: str, name: str) -> tuple[str, str] | None:
        found = named_prompts(self.hub.listings(), self.hub.servers(), prefix)
        return next(
            ((server, str(own["name"])) for ours, server, own in found if ours == name), None
        )

    def resources(self, root: str) -> list[dict[str, Any]]:
        return resources_as_wire(self.hub.listings(), root)

    def templates(self, root: str) -> list[dict[str, Any]]:
        return templates_as_wire(self.hub.listings(), root)

    # --- tools -----------------------------------------------------------------------------

    @property
    def _few(self) -> bool:
        return len(self.hub.tools()) <= self._most

    def tools(self, prefix: str) -> Iterator[Tool]:
        few = self._few
        if few:
            yield from self._all(prefix)
        for operation in (_READ,) if few else (*_INSTEAD, _READ):
            spec = CATALOG[operation]
            output = None if operation == _CALL else output_schema(spec.result)
            yield Tool(prefix + operation, spec, output, {}, UPSTREAM)

    def unlisted(self, prefix: str) -> Iterator[Tool]:
        if not self._few:
            yield from self._all(prefix)

    def _all(self, prefix: str) -> Iterator[Tool]:
        calls, servers = CATALOG[_CALL], self.hub.servers()
        for one in self.hub.tools().values():
            name = tool_name(one.server, one.tool["name"], servers, prefix)
            output = one.tool.get("outputSchema")
            yield UpstreamTool(name, calls, output, {}, UPSTREAM, one.server, one.tool)
