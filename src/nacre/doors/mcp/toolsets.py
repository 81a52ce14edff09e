"""Which operations are tools, under which names, and how a result looks on this wire.

Rule: names, parameters and result fields are the documents'; a prefix goes before every name.
"""

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from nacre.core.catalog import Result, Spec
from nacre.core.operations import CATALOG
from nacre.core.results import SessionList
from nacre.core.schema import input_schema, output_schema
from nacre.errors import InvalidInput

# toolset → tool → operation
TOOLSETS: dict[str, dict[str, str]] = {
    "terminal": {
        name: name
        for name in (
            "create_session",
            "list_sessions",
            "manage_session",
            "send_input",
            "get_screen",
            "get_scrollback",
            "await_quiesce",
            "run_command",
        )
    },
}
DEFAULT_TOOLSET = "terminal"

# A prefixed name must fit what clients take: ^[A-Za-z0-9_-]{1,64}$.
_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,32}")


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    spec: Spec
    output: dict[str, Any]

    def as_wire(self) -> dict[str, Any]:
        spec = self.spec
        return {
            "name": self.name,
            "title": spec.name.replace("_", " ").capitalize(),
            "description": spec.doc,
            "inputSchema": input_schema(spec.type),
            "outputSchema": self.output,
            "annotations": {
                "readOnlyHint": spec.read_only,
                "destructiveHint": spec.destructive,
                "idempotentHint": spec.idempotent,
                "openWorldHint": not spec.read_only,
            },
        }


@dataclass(frozen=True, slots=True)
class Selection:
    """The toolsets and the prefix that one client asked for."""

    toolsets: tuple[str, ...] = (DEFAULT_TOOLSET,)
    prefix: str = ""

    def tools(self) -> dict[str, Tool]:
        found: dict[str, Tool] = {}
        for toolset in self.toolsets:
            for name, operation in TOOLSETS[toolset].items():
                spec = CATALOG[operation]
                full = self.prefix + name
                found.setdefault(full, Tool(full, spec, output_schema(spec.result)))
        return found


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
    # The documents return a bare array; the protocol demands an object (CONTRACTS, "Bare arrays").
    text = structured["sessions"] if isinstance(result, SessionList) else structured
    return {
        "content": [{"type": "text", "text": msgspec.json.encode(text).decode()}],
        "structuredContent": structured,
        "isError": False,
        "resultType": "complete",  # the 2026 revision demands it, the older ones drop it
    }


def shape_failure(error: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an operation that ran and failed; clients check no schema on these."""
    plain = msgspec.to_builtins(error)
    return {
        "content": [{"type": "text", "text": msgspec.json.encode(plain).decode()}],
        "isError": True,
        "resultType": "complete",
        "_meta": {"nacre/error": {"code": plain["code"], "message": plain["message"]}},
    }
