"""The toolset commands over MCP: a tool for each command, and three where there are too many."""

from typing import Any

import pytest

from nacre.core.commands.book import CommandBook
from nacre.core.operations.commands import CallCommand
from nacre.doors.mcp.command_tools import CommandTools, OfferedCommands
from nacre.doors.mcp.instructions import instruct
from nacre.doors.mcp.toolsets import TOOLSETS, parse_selection
from nacre.doors.mcp.words import ToolWords
from nacre.errors import InvalidInput
from nacre.system.command_files import shipped_commands

BOOK = CommandBook(shipped_commands())
OFFERED = OfferedCommands(lambda: BOOK, 120)


def chosen(toolsets: str, most: int = 120, prefix: str = "") -> dict[str, Any]:
    offered = OfferedCommands(lambda: BOOK, most)
    return dict(parse_selection(toolsets, prefix, offered).tools())


def test_each_command_that_may_run_is_a_tool() -> None:
    tools = chosen("commands")
    runnable = {entry.name for entry in BOOK.runnable()}
    assert set(tools) == runnable | {"get_execution_status", "cancel_execution"}
    assert "rm" not in tools
    assert "sudo" not in tools


def test_the_toolset_is_only_for_who_names_it() -> None:
    assert "grep" not in chosen("all")
    assert "grep" in chosen("all,commands")
    assert set(chosen("terminal")) == set(TOOLSETS["terminal"])
    with pytest.raises(InvalidInput, match="no toolset 'commands'"):
        parse_selection("commands", None)


def test_three_tools_stand_for_too_many() -> None:
    tools = chosen("commands", most=10, prefix="x_")
    assert set(tools) == {"x_search_commands", "x_describe_command", "x_call_command"}


def test_a_tools_parameters_are_the_commands_arguments() -> None:
    tool = chosen("commands")["grep"]
    wire = tool.as_wire()
    assert wire["inputSchema"]["required"] == ["pattern"]
    assert {"pattern", "file", "context", "stdin"} <= set(wire["inputSchema"]["properties"])
    assert wire["annotations"]["readOnlyHint"]
    operation = tool.parse({"pattern": "x", "file": "y", "context": "mine"})
    assert operation == CallCommand(tool="grep", args={"pattern": "x", "file": "y"}, context="mine")


def test_the_tools_are_the_same_until_the_book_changes() -> None:
    books = [BOOK, BOOK, CommandBook(shipped_commands())]
    offered = OfferedCommands(lambda: books.pop(0), 120)
    first, second, third = offered(), offered(), offered()
    assert isinstance(first, CommandTools)
    assert first is second
    assert second is not third


def test_the_instructions_name_no_tool_that_is_not_there() -> None:
    told = instruct(ToolWords(chosen("commands")).name)
    assert "without a shell" in told
    assert "None" not in told
    assert "None" not in instruct(ToolWords(chosen("terminal,commands")).name)
