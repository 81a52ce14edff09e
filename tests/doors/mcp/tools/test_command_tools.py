"""The toolset commands over MCP: a tool for each command, and three where there are too many."""

from collections.abc import Callable
from typing import Any

import pytest

from nacre.core.commands.book import CommandBook
from nacre.core.commands.entry import BLACKLIST, entries_from
from nacre.core.operations.commands import CallCommand
from nacre.doors.mcp.instructions import instruct
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.standing import Standing
from nacre.doors.mcp.tools.command_tools import CommandTools, OfferedCommands
from nacre.doors.mcp.tools.selection import parse_selection
from nacre.doors.mcp.tools.toolsets import TOOLSETS
from nacre.doors.mcp.words import ToolWords
from nacre.errors import InvalidInput
from nacre.system.command_files import shipped_commands

BOOK = CommandBook(shipped_commands())


class Source:
    """A catalog whose book can become another."""

    def __init__(self) -> None:
        self.now = BOOK
        self.listeners: list[Callable[[], None]] = []

    def book(self) -> CommandBook:
        return self.now

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def change(self, book: CommandBook) -> None:
        self.now = book
        for listener in self.listeners:
            listener()


def chosen(toolsets: str, most: int = 120, prefix: str = "") -> dict[str, Any]:
    offered = OfferedCommands(Source(), most)
    return dict(parse_selection(toolsets, prefix, lambda: offered).tools())


def test_each_command_is_a_tool_and_what_is_refused_is_listed_too() -> None:
    tools = chosen("commands")
    assert set(tools) == {entry.name for entry in BOOK} | {
        "get_execution_status",
        "cancel_execution",
    }
    assert set(BLACKLIST) <= set(tools)
    assert "refused" in tools["rm"].as_wire()["description"]
    assert tools["ls"].as_wire()["_meta"] == {"nacre/aliases": ["myls", "list_files", "dir"]}


@pytest.mark.parametrize("whitelist", [frozenset[str](), frozenset({"ls"})])
def test_other_names_and_what_is_left_out_can_be_called(whitelist: frozenset[str]) -> None:
    source = Source()
    source.now = CommandBook(shipped_commands(), whitelist=whitelist)
    offers = Offers(parse_selection("commands", "x_", lambda: OfferedCommands(source, 120)))
    for name in ("list_files", "delete_file", "myls", "rm", "cat"):
        tool = offers.now.find(f"x_{name}")
        assert tool is not None
        assert tool.parse({"path": "a"}) == CallCommand(tool=name, args={"path": "a"})
    assert "x_list_files" not in offers.now.tools
    assert ("x_rm" in offers.now.tools) == (not whitelist)
    assert offers.now.find("x_nothing") is None


def test_the_toolset_is_only_for_who_names_it() -> None:
    assert "grep" not in chosen("all")
    assert "grep" in chosen("all,commands")
    assert set(chosen("terminal")) == set(TOOLSETS["terminal"])
    with pytest.raises(InvalidInput, match="no toolset 'commands'"):
        parse_selection("commands", None)


def test_three_tools_stand_for_too_many() -> None:
    tools = chosen("commands", most=10, prefix="x_")
    assert set(tools) == {"x_search_commands", "x_describe_command", "x_call_command"}


def test_what_a_whitelist_leaves_out_is_no_tool() -> None:
    book = CommandBook(shipped_commands(), whitelist=frozenset(("ls", "delete_file")))
    names = {tool.name for tool in CommandTools(book, 10).tools("")}
    beside = {"search_commands", "get_execution_status", "cancel_execution"}
    assert names == {"ls", "myrm", *beside}


def test_a_tools_parameters_are_the_commands_arguments() -> None:
    tool = chosen("commands")["grep"]
    wire = tool.as_wire()
    assert wire["inputSchema"]["required"] == ["pattern"]
    assert {"pattern", "file", "context", "stdin"} <= set(wire["inputSchema"]["properties"])
    assert wire["annotations"]["readOnlyHint"]
    operation = tool.parse({"pattern": "x", "file": "y", "context": "mine"})
    assert operation == CallCommand(tool="grep", args={"pattern": "x", "file": "y"}, context="mine")


def test_the_offer_is_the_same_until_the_book_changes() -> None:
    source = Source()
    offered = OfferedCommands(source, 120)
    selection = parse_selection("commands", None, lambda: offered)
    assert selection == parse_selection("commands", None, lambda: offered)
    offers = Offers(selection)
    first = offers.now
    assert offers.now is first
    told: list[str] = []
    deaf = selection.on_change(lambda: told.append("changed"))
    more = entries_from([{"name": "todo", "description": "x", "args": ["file"]}], "commands.json")
    source.change(CommandBook(shipped_commands(), more))
    assert told == ["changed"]
    assert "todo" in offers.now.tools
    assert "todo" not in first.tools
    assert b'"todo"' in offers.now.standing.lists["tools/list"]
    deaf()
    assert source.listeners == []


def test_only_a_selection_with_commands_says_that_its_list_changes() -> None:
    offered = OfferedCommands(Source(), 120)
    changing = Standing(parse_selection("commands", None, lambda: offered))
    assert changing.capabilities["tools"] == {"listChanged": True}
    assert Standing(parse_selection("all", None)).capabilities["tools"] == {"listChanged": False}


def test_the_instructions_name_no_tool_that_is_not_there() -> None:
    told = instruct(ToolWords(chosen("commands")).name)
    assert "without a shell" in told
    assert "None" not in told
    assert "None" not in instruct(ToolWords(chosen("terminal,commands")).name)
