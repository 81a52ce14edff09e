"""The toolset commands: each command of the catalog is a tool, or three tools stand for all.

Rule 1: a command that is refused, or that a whitelist leaves out, is no tool.
Rule 2: with more than so many commands there are three tools instead: search, describe, call. A
list of hundreds costs a model more than it tells.
Rule 3: when the files of commands have changed, the list is another one from then on, for all who
are connected too: they are told (notifications/tools/list_changed).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from nacre.core.catalog.catalog import Operation, parse_parameters
from nacre.core.catalog.schema import output_schema
from nacre.core.commands.book import CommandBook
from nacre.core.commands.entry import SEARCH, CommandEntry
from nacre.core.operations.all import CATALOG
from nacre.doors.mcp.tools.tool import Tool
from nacre.doors.mcp.tools.toolsets import COMMANDS

_CALL = "call_command"
_IN_FULL = ("get_execution_status", "cancel_execution")
_INSTEAD = ("describe_command", _CALL)  # beside the command search_commands

# Of call_command itself: a command's own arguments cannot have these names.
_BESIDE = {
    "context": {"type": "string", "description": "Name of a context of your own"},
    "stdin": {"type": "string", "description": "Text for it to read"},
}

# What every command answers; the whole of it ninety times would be most of the list.
_OUTCOME: dict[str, Any] = {
    "type": "object",
    "properties": {
        "output": {"type": "string"},
        "exit_code": {"type": ["integer", "null"]},
        "status": {"type": "string"},
        "execution_id": {"type": "string"},
    },
    "required": ["output", "exit_code", "status", "execution_id"],
}


@dataclass(frozen=True, slots=True)
class CommandTool(Tool):
    """A command as a tool: its parameters are the command's arguments."""

    entry: CommandEntry | None = None

    def parse(self, given: dict[str, Any]) -> Operation:
        assert self.entry is not None
        beside = {name: given[name] for name in _BESIDE if given.get(name) is not None}
        args = {name: value for name, value in given.items() if name not in _BESIDE}
        return parse_parameters(self.spec.type, {"tool": self.entry.name, "args": args, **beside})

    def parameter(self, name: str) -> str:
        return name

    def as_wire(self, name_of: Callable[[str], str | None] = str) -> dict[str, Any]:
        entry = self.entry
        assert entry is not None
        schema = entry.schema()
        beside = _BESIDE if entry.program else {"context": _BESIDE["context"]}
        schema["properties"] = {**schema["properties"], **beside}
        return {
            "name": self.name,
            "title": entry.name.replace("_", " ").capitalize(),
            "description": entry.description,
            "inputSchema": {**schema, "additionalProperties": False},
            "outputSchema": self.output,
            "annotations": {
                "readOnlyHint": entry.risk == "read",
                "destructiveHint": entry.risk == "delete",
                "idempotentHint": entry.risk == "read",
                "openWorldHint": entry.risk != "read",
            },
        }


class CommandTools:
    """The commands of one book as tools."""

    def __init__(self, book: CommandBook, most: int) -> None:
        self._book = book
        self._most = most

    def tools(self, prefix: str) -> Iterator[Tool]:
        entries = self._book.runnable()
        few = len(entries) <= self._most
        calls = CATALOG[_CALL]
        for entry in entries:
            if few or entry.name == SEARCH:
                yield CommandTool(prefix + entry.name, calls, _OUTCOME, {}, COMMANDS, entry)
        for name in _IN_FULL if few else _INSTEAD:
            spec = CATALOG[name]
            yield Tool(prefix + name, spec, output_schema(spec.result), {}, COMMANDS)


class CommandSource(Protocol):
    """The commands as they are now, and who hears when they have changed."""

    def book(self) -> CommandBook: ...

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]: ...


class OfferedCommands:
    """The tools of the book as it is now, the same ones until it changes."""

    def __init__(self, source: CommandSource, most: int) -> None:
        self._source = source
        self._most = most
        self._last: tuple[CommandBook, CommandTools] | None = None

    @property
    def edition(self) -> CommandTools:
        book = self._source.book()
        if self._last is None or self._last[0] is not book:
            self._last = (book, CommandTools(book, self._most))
        return self._last[1]

    def tools(self, prefix: str) -> Iterator[Tool]:
        return self.edition.tools(prefix)

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        return self._source.on_change(listener)
