"""Which operations are tools, under which names, and how a result looks on this wire.

Rule: names, parameters and result fields are the documents'; a prefix goes before every name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from nacre.core.catalog import PARAMETERS_ARE, Operation, Result, Spec, parse_parameters
from nacre.core.control_operations import Handover
from nacre.core.operations import CATALOG
from nacre.core.results import PictureTaken, RunOutcome, SessionList
from nacre.core.schema import input_schema, output_schema
from nacre.core.visual_operations import OverlayList, PanelList
from nacre.errors import InvalidInput


class Entry(NamedTuple):
    """A tool: its operation, and the operation's parameters that are called otherwise in it."""

    operation: str
    renamed: Mapping[str, str] = MappingProxyType({})  # the tool's name → the operation's


# SILC's callers name a session by its port; the parameter takes name and id all the same.
_BY_PORT = MappingProxyType({"port": "session"})

# toolset → tool
TOOLSETS: dict[str, dict[str, Entry]] = {
    "terminal": {
        name: Entry(name)
        for name in (
            "create_session",
            "list_sessions",
            "manage_session",
            "send_input",
            "get_screen",
            "get_scrollback",
            "await_quiesce",
            "run_command",
            "overlay",
            "remove_overlay",
            "panel",
            "remove_panel",
            "input_mode",
            "screen_mode",
        )
    },
    "shell": {
        "send": Entry("send", _BY_PORT),
        "read": Entry("read_output", _BY_PORT),
        "send_key": Entry("send_key", _BY_PORT),
        "run": Entry("run", _BY_PORT),
        "start_session": Entry("start_session"),
        "close_session": Entry("close_session", _BY_PORT),
        "get_status": Entry("get_status", _BY_PORT),
        "list_sessions": Entry("list_sessions"),
    },
    "extra": {
        name: Entry(name)
        for name in (
            "wait_for",
            "read_run",
            "screenshot",
            "screen_at",
            "export_recording",
            "await_input",
            "control",
        )
    },
}
DEFAULT_TOOLSET = "terminal"

# What the documents return as an array.
_BARE = {SessionList: "sessions", OverlayList: "overlays", PanelList: "panels"}

# A prefixed name must fit what clients take: ^[A-Za-z0-9_-]{1,64}$.
_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,32}")


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    spec: Spec
    output: dict[str, Any]
    renamed: Mapping[str, str]

    def parse(self, given: dict[str, Any]) -> Operation:
        """Return the operation for the tool's parameters.

        Raises InvalidInput, in the tool's names; also for the operation's own name of a parameter
        that is renamed here.
        """
        for ours, theirs in self.renamed.items():
            if theirs in given:
                raise InvalidInput(f"unknown parameter {theirs!r}; it is called {ours!r} here")
        named = {self.renamed.get(name, name): value for name, value in given.items()}
        try:
            return parse_parameters(self.spec.type, named)
        except InvalidInput as error:
            raise InvalidInput(self._in_our_names(error.message)) from error

    def _in_our_names(self, message: str) -> str:
        """Rename in what parse_parameters says; what the caller gave stays as it is."""
        wrong, end, known = message.rpartition(PARAMETERS_ARE)
        names = known.split(", ")
        for ours, theirs in self.renamed.items():
            wrong = wrong.replace(f"field `{theirs}`", f"field `{ours}`")
            wrong = wrong.replace(f"at `$.{theirs}`", f"at `$.{ours}`")
            names = [ours if name == theirs else name for name in names]
        return wrong + end + ", ".join(names)

    def as_wire(self) -> dict[str, Any]:
        spec = self.spec
        return {
            "name": self.name,
            "title": spec.name.replace("_", " ").capitalize(),
            "description": spec.doc,
            "inputSchema": self._input(),
            "outputSchema": self.output,
            "annotations": {
                "readOnlyHint": spec.read_only,
                "destructiveHint": spec.destructive,
                "idempotentHint": spec.idempotent,
                "openWorldHint": not spec.read_only,
            },
        }

    def _input(self) -> dict[str, Any]:
        schema = input_schema(self.spec.type)
        names = {theirs: ours for ours, theirs in self.renamed.items()}
        schema["properties"] = {
            names.get(name, name): value for name, value in schema["properties"].items()
        }
        schema["required"] = [names.get(name, name) for name in schema.get("required", ())]
        return schema


@dataclass(frozen=True, slots=True)
class Selection:
    """The toolsets and the prefix that one client asked for."""

    toolsets: tuple[str, ...] = (DEFAULT_TOOLSET,)
    prefix: str = ""

    def tools(self) -> dict[str, Tool]:
        found: dict[str, Tool] = {}
        for toolset in self.toolsets:
            for name, entry in TOOLSETS[toolset].items():
                spec = CATALOG[entry.operation]
                full = self.prefix + name
                tool = Tool(full, spec, _output(spec), entry.renamed)
                found.setdefault(full, tool)
        return found


def _output(spec: Spec) -> dict[str, Any]:
    """Return the schema of the structured content, which has no picture in it."""
    schema = output_schema(spec.result)
    if spec.result is PictureTaken:
        del schema["properties"]["data"]
        schema["required"].remove("data")
    return schema


def parse_selection(toolsets: str | None, prefix: str | None) -> Selection:
    """Read "a,b" or "all" and a prefix. Raises InvalidInput, listing what there is."""
    names = [name.strip() for name in (toolsets or DEFAULT_TOOLSET).split(",") if name.strip()]
    if "all" in names:
        names = list(TOOLSETS)
    for name in names:
        if name not in TOOLSETS:
            raise InvalidInput(f"no toolset {name!r}; there are {', '.join(TOOLSETS)} and all")
    if not _PREFIX.fullmatch(prefix or ""):
        raise InvalidInput(f"{prefix!r} cannot be a prefix: use up to 32 letters, digits, _ and -")
    return Selection(tuple(dict.fromkeys(names)) or (DEFAULT_TOOLSET,), prefix or "")


def shape_result(result: Result) -> dict[str, Any]:
    """Return the tool result: JSON as text, and the same as structured content."""
    structured = msgspec.to_builtins(result)
    if isinstance(result, PictureTaken):
        return _shape_picture(result, structured)
    if isinstance(result, RunOutcome) and result.status in ("busy", "error"):
        # The result's own fields stay readable; the failure is one the model can act upon.
        code = {"busy": "BUSY", "error": "NOT_AT_PROMPT"}[result.status]
        return shape_failure({"code": code, "message": result.hint or result.status, **structured})
    # The documents return a bare array; the protocol demands an object (CONTRACTS, "Bare arrays").
    field = _BARE.get(type(result))
    text = structured if field is None else structured[field]
    return _succeeded([_text(text)], structured)


def _shape_picture(result: PictureTaken, structured: dict[str, Any]) -> dict[str, Any]:
    """Return the picture as what a model sees, and what is known of it as JSON beside it."""
    data = structured.pop("data")
    if result.format == "png":
        picture = {"type": "image", "data": data, "mimeType": "image/png"}
    else:
        uri = f"nacre://sessions/{quote(result.session)}/screenshot.svg"
        resource = {"uri": uri, "mimeType": "image/svg+xml", "text": data}
        picture = {"type": "resource", "resource": resource}
    return _succeeded([picture, _text(structured)], structured)


def _succeeded(content: list[dict[str, Any]], structured: Any) -> dict[str, Any]:
    return {
        "content": content,
        "structuredContent": structured,
        "isError": False,
        "resultType": "complete",  # the 2026 revision demands it, the older ones drop it
    }


def add_handover(shaped: dict[str, Any], session: str, handover: Handover) -> None:
    """Tell besides what a person did meanwhile; what was asked for stays as it is."""
    shaped["content"].append({"type": "text", "text": handover.in_words(session)})
    told = {"session": session, **msgspec.to_builtins(handover)}
    shaped.setdefault("_meta", {})["nacre/handover"] = told


def _text(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": msgspec.json.encode(value).decode()}


def shape_failure(error: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an operation that ran and failed; clients check no schema on these."""
    plain = msgspec.to_builtins(error)
    return {
        "content": [_text(plain)],
        "isError": True,
        "resultType": "complete",
        "_meta": {"nacre/error": {"code": plain["code"], "message": plain["message"]}},
    }
