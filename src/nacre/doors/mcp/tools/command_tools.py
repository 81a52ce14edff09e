"""The toolset commands: each command of the catalog is a tool, or three tools stand for all.

Rule 1: a command has one tool. Its other names, and what a whitelist leaves out, are not listed but
can be called: then the command runs, or the catalog's own refusal is told and audited.
Rule 2: with more than so many commands there are three tools instead: search, describe, call. A
list of hundreds costs a model more than it tells.
Rule 3: when the files of commands have changed, the list is another one from then on, for all who
are connected too: they are told (notifications/tools/list_changed).
"""

from collections.abc import Callable, Iterator
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


class CommandTool(Tool, frozen=True):
    """A command as a tool: its parameters are the command's arguments."""

    entry: CommandEntry | None = None
    called: str = ""  # the command's name, or another name of it

    def parse(self, given: dict[str, Any]) -> Operation:
        assert self.entry is not None
        beside = {name: given[name] for name in _BESIDE if given.get(name) is not None}
        args = {name: value for name, value in given.items() if name not in _BESIDE}
        return parse_parameters(self.spec.type, {"tool": self.called, "args": args, **beside})

    def parameter(self, name: str) -> str:
        return name

    def as_wire(self, name_of: Callable[[str], str | None] = str) -> dict[str, Any]:
        entry = self.entry
        assert entry is not None
        schema = entry.schema()
        beside = _BESIDE if entry.program else {"context": _BESIDE["context"]}
        schema["properties"] = {**schema["properties"], **beside}
        structured = {} if self.output is None else {"outputSchema": self.output}
        others = {"_meta": {"nacre/aliases": list(entry.aliases)}} if entry.aliases else {}
        return {
            "name": self.name,
            "title": entry.name.replace("_", " ").capitalize(),
            "description": entry.description,
            "inputSchema": {**schema, "additionalProperties": False},
            **structured,
            "annotations": {
                "readOnlyHint": entry.risk == "read",
                "destructiveHint": entry.risk == "delete",
                "idempotentHint": entry.risk == "read",
                "openWorldHint": entry.risk != "read",
            },
            **others,
        }


class CommandTools:
    """The commands of one book as tools."""

    def __init__(self, book: CommandBook, most: int) -> None:
        self._book = book
        self._most = most

    @property
    def _few(self) -> bool:
        return len(self._book.runnable()) <= self._most

    def tools(self, prefix: str) -> Iterator[Tool]:
        few = self._few
        for entry in self._book.listed():
            if few or entry.name == SEARCH:
                yield _tool(prefix, entry, entry.name)
        for name in _IN_FULL if few else _INSTEAD:
            spec = CATALOG[name]
            yield Tool(prefix + name, spec, output_schema(spec.result), {}, COMMANDS)

    def unlisted(self, prefix: str) -> Iterator[Tool]:
        if self._few:
            for entry in self._book:
                yield from (_tool(prefix, entry, name) for name in (entry.name, *entry.aliases))


def _tool(prefix: str, entry: CommandEntry, called: str) -> CommandTool:
    output = None if entry.refused else _OUTCOME
    return CommandTool(prefix + called, CATALOG[_CALL], output, {}, COMMANDS, entry, called)


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

    def unlisted(self, prefix: str) -> Iterator[Tool]:
        return self.edition.unlisted(prefix)

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        return self._source.on_change(listener)
