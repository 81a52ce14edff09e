"""A tool: an operation as a model is told of it, and the operation that a call of it asks for."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from nacre.core.agent.tools import ALWAYS_LOADED, SEARCH_HINTS, AgentAnswer
from nacre.core.catalog.catalog import Operation, Spec, parse_parameters
from nacre.core.catalog.schema import input_schema, output_schema
from nacre.core.operations.apps.programs import AppLaunched
from nacre.core.operations.results import PictureTaken, SessionCreated, SessionStarted
from nacre.doors.mcp.tools.toolsets import DEFAULT_TOOLSET
from nacre.errors import InvalidInput

# Toolsets whose document wants JSON-RPC errors, but for the tools that are not the document's. Else
# an error is a result, which the model reads.
_PROTOCOL_ERRORS = frozenset({"terminal"})
_NOT_THE_DOCUMENTS = frozenset({"read_run"})

# Outside of a cluster they are taken, but not listed: a model on one host has no use for them, and
# pays for the list.
_OF_A_CLUSTER = ("host", "labels")
_UNLISTED = {
    **dict.fromkeys(("create_session", "start_session", "launch_app"), _OF_A_CLUSTER),
    "list_sessions": ("limit", "cursor"),
}

# Results that say which host took a new session.
_TOLD_WHERE = (SessionCreated, SessionStarted, AppLaunched)

# A session's reference in a schema, and the same in fewer words.
_EITHER, _EITHER_SHORT = [{"type": "string"}, {"type": "integer"}], ["string", "integer"]


class Tool(Struct, frozen=True):
    name: str
    spec: Spec
    output: dict[str, Any] | None  # the schema of what is structured
    renamed: Mapping[str, str]
    toolset: str = DEFAULT_TOOLSET  # the first of those chosen that has it

    @property
    def clustered(self) -> bool:
        """Whether there are hosts to choose from."""
        return False

    @property
    def plain(self) -> bool:
        """Whether it answers with one text, also when it fails."""
        return self.spec.result is AgentAnswer

    @property
    def raises(self) -> bool:
        """Whether what is wrong with a call is an error of the protocol, not a result."""
        return self.toolset in _PROTOCOL_ERRORS and self.spec.name not in _NOT_THE_DOCUMENTS

    def parse(self, given: dict[str, Any]) -> Operation:
        """Return the operation for the tool's parameters.

        The operation's own name of a parameter is accepted too. Raises InvalidInput, which uses the
        operation's names.
        """
        for ours, theirs in self.renamed.items():
            if ours in given and theirs in given:
                raise InvalidInput(f"{ours} and {theirs} are the same here", "give one of them")
        named = {self.renamed.get(name, name): value for name, value in given.items()}
        return parse_parameters(self.spec.type, named)

    def parameter(self, name: str) -> str:
        """Return what a parameter of the operation is called in this tool."""
        return next((ours for ours, theirs in self.renamed.items() if theirs == name), name)

    def as_wire(self, name_of: Callable[[str], str | None] = str) -> dict[str, Any]:
        """Return the tool for tools/list. `name_of` returns the tool of another operation."""
        spec = self.spec
        structured = {} if self.output is None else {"outputSchema": self.output}
        if self.plain:
            return _plain_wire(self, name_of)
        return {
            "name": self.name,
            "title": spec.name.replace("_", " ").capitalize(),
            "description": spec.describe(name_of),
            "inputSchema": self.input(),
            **structured,
            "annotations": {
                "readOnlyHint": spec.read_only,
                "destructiveHint": spec.destructive,
                "idempotentHint": spec.idempotent,
                "openWorldHint": not spec.read_only,
            },
        }

    def input(self) -> dict[str, Any]:
        schema = input_schema(self.spec.type)
        for name in _UNLISTED.get(self.spec.name, ()):
            if name not in _OF_A_CLUSTER or not self.clustered:
                schema["properties"].pop(name)
        properties = schema["properties"].items()
        schema["properties"] = {self.parameter(name): value for name, value in properties}
        schema["required"] = [self.parameter(name) for name in schema.get("required", ())]
        return schema


class ClusteredTool(Tool, frozen=True):
    """A tool of a daemon that is in a cluster."""

    @property
    def clustered(self) -> bool:
        return True


def _plain_wire(tool: Tool, name_of: Callable[[str], str | None]) -> dict[str, Any]:
    """Return a tool of the plain toolset: every model pays for the list, so it says nothing twice.

    Hints that are as the protocol takes them to be by default are left out.
    """
    spec, schema = tool.spec, tool.input()
    for said in schema["properties"].values():
        if said.get("anyOf") == _EITHER:
            said["type"] = _EITHER_SHORT
            del said["anyOf"]
    if not schema["required"]:
        del schema["required"]
    world = {"openWorldHint": False} if spec.read_only else {}
    # Claude Code puts tools aside until its model looks for them, but for these.
    loaded = {"anthropic/alwaysLoad": True} if spec.name in ALWAYS_LOADED else {}
    return {
        "name": tool.name,
        "description": " ".join(spec.describe(name_of).split()),
        "inputSchema": schema,
        "annotations": {"readOnlyHint": spec.read_only, **world},
        "_meta": {**loaded, "anthropic/searchHint": SEARCH_HINTS[spec.name]},
    }


def output_of(spec: Spec, *, clustered: bool) -> dict[str, Any] | None:
    """Return the schema of the structured content; a picture has none, and neither a plain text.

    Hosts that prefer structured content drop everything else, and so the picture.
    """
    if spec.result in (PictureTaken, AgentAnswer):
        return None
    schema = output_schema(spec.result)
    if not clustered and spec.result in _TOLD_WHERE:
        del schema["properties"]["host"]
    return schema
