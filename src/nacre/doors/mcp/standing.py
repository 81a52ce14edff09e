"""The answers that stand: what a client of one selection asks for before it does anything.

Rule 1: no MCP library in here, which takes a second of a processor to load: who starts `nacre mcp`
without a daemon waits for these answers.
Rule 2: they say what the library says: tests/doors/mcp/test_standing.py compares them in each
revision. The library's own server takes its lists from here.
"""

from functools import cached_property
from typing import Any

import msgspec

from nacre import __version__
from nacre.doors.mcp.instructions import instruct
from nacre.doors.mcp.prompts import list_prompts
from nacre.doors.mcp.resources import list_templates, scheme_of
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.tools.tool import Tool
from nacre.doors.mcp.words import ToolWords

SERVER = {"name": "nacre", "title": "nacre", "version": __version__}

# The revisions with a handshake, the newest last: it is what an unknown one is answered with.
HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

# The revisions without one: each request says of itself which it is of.
MODERN_REVISIONS = ("2026-07-28",)

# Of the lists, that of the resources changes; that of the tools where commands or tools of upstream
# servers are among them, and that of the prompts with those servers.
_RESOURCES = {"listChanged": True, "subscribe": True}

# What each of their answers says of itself, as the library has it: not to be kept for later.
_STAMP = {
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {"io.modelcontextprotocol/serverInfo": SERVER},
}


class Standing:
    """The answers to one selection's clients, as they are and as JSON."""

    def __init__(self, selection: Selection, offered: dict[str, Tool] | None = None) -> None:
        """`offered` are its tools, if they are known."""
        self._selection = selection
        self.offered = selection.tools() if offered is None else offered

    @cached_property
    def capabilities(self) -> dict[str, dict[str, bool]]:
        behind = self._selection.upstream is not None
        return {
            **({"completions": {}} if behind else {}),
            "prompts": {"listChanged": behind},
            "resources": _RESOURCES,
            "tools": {"listChanged": self._selection.changes},
        }

    @cached_property
    def instructions(self) -> str:
        return instruct(ToolWords(self.offered).name)

    def initialize(self, revision: str) -> bytes:
        """Return the result of the handshake with who asks for this revision."""
        agreed = revision if revision in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]
        return msgspec.json.encode(
            {
                "protocolVersion": agreed,
                "capabilities": self.capabilities,
                "serverInfo": SERVER,
                "instructions": self.instructions,
            }
        )

    @cached_property
    def lists(self) -> dict[str, bytes]:
        """The lists by their methods."""
        return {
            "tools/list": msgspec.json.encode(self.tools()),
            "prompts/list": msgspec.json.encode(self.prompts()),
            "resources/templates/list": msgspec.json.encode(self.resource_templates()),
        }

    @cached_property
    def modern(self) -> dict[str, bytes]:
        """What a client of a revision without a handshake asks for first, by its methods."""
        found = {
            "supportedVersions": MODERN_REVISIONS,
            "capabilities": self.capabilities,
            "instructions": self.instructions,
        }
        answers = {
            "server/discover": found,
            "tools/list": self.tools(),
            "prompts/list": self.prompts(),
            "resources/templates/list": self.resource_templates(),
        }
        return {name: msgspec.json.encode({**answer, **_STAMP}) for name, answer in answers.items()}

    def written(self) -> dict[str, bytes]:
        """Return all of them, for a bridge that has no daemon yet (cli/bridge/early.py).

        What depends on the revision has it before the method.
        """
        handshakes = {f"{one} initialize": self.initialize(one) for one in HANDSHAKE_REVISIONS}
        modern = {
            f"{one} {method}": answer
            for one in MODERN_REVISIONS
            for method, answer in self.modern.items()
        }
        return {"ping": b"{}", **self.lists, **handshakes, **modern}

    def tools(self) -> dict[str, Any]:
        words = ToolWords(self.offered)
        return {"tools": [tool.as_wire(words.name) for tool in self.offered.values()]}

    def prompts(self) -> dict[str, Any]:
        found = list_prompts(self._selection)
        if (upstream := self._selection.upstream) is not None:
            found["prompts"] += upstream.prompts(self._selection.prefix)
        return found

    def resource_templates(self) -> dict[str, Any]:
        found = list_templates(self._selection.prefix)
        if (upstream := self._selection.upstream) is not None:
            root = f"{scheme_of(self._selection.prefix)}://"
            found["resourceTemplates"] += upstream.templates(root)
        return found
