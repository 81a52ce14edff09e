"""The answers that never change: what a client of one selection asks for before it does anything.

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
from nacre.doors.mcp.resources import list_templates
from nacre.doors.mcp.toolsets import Selection
from nacre.doors.mcp.words import ToolWords

SERVER = {"name": "nacre", "title": "nacre", "version": __version__}

# The revisions with a handshake, the newest last: it is what an unknown one is answered with.
HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

_CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": False},
}


class Standing:
    """The answers to one selection's clients, as they are and as JSON."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection

    @cached_property
    def instructions(self) -> str:
        return instruct(ToolWords(self._selection.tools()).name)

    def initialize(self, revision: str) -> bytes:
        """Return the result of the handshake with who asks for this revision."""
        agreed = revision if revision in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]
        return msgspec.json.encode(
            {
                "protocolVersion": agreed,
                "capabilities": _CAPABILITIES,
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

    def tools(self) -> dict[str, Any]:
        tools = self._selection.tools()
        words = ToolWords(tools)
        return {"tools": [tool.as_wire(words.name) for tool in tools.values()]}

    def prompts(self) -> dict[str, Any]:
        return list_prompts(self._selection)

    def resource_templates(self) -> dict[str, Any]:
        return list_templates(self._selection.prefix)
