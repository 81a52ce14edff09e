"""What MCP says: tools that the client was given, by the names it has for them."""

import re
from itertools import combinations
from typing import Any

import pytest

from nacre.core.operations import steps
from nacre.core.operations.all import CATALOG
from nacre.core.operations.results import PictureTaken
from nacre.doors.mcp.instructions import instruct
from nacre.doors.mcp.resources import scheme_of
from nacre.doors.mcp.tools.answers import shape_result
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.tools.toolsets import PLAIN, TOOLSETS
from nacre.doors.mcp.words import ToolWords
from nacre.errors import InvalidInput
from nacre.wording import Use

SELECTIONS = [
    Selection(toolsets, prefix)
    for size in range(1, len(TOOLSETS) + 1)
    for toolsets in combinations(TOOLSETS, size)
    for prefix in ("", "wsh_")
]

# Names that are words of English as well (run, send, control) cannot be looked for.
_TOOLS = {*CATALOG, *(name for tools in TOOLSETS.values() for name in tools)}
NAMED = re.compile(rf"\b\w*({'|'.join(name for name in _TOOLS if '_' in name)})\b")


def words(*toolsets: str, prefix: str = "") -> ToolWords:
    return ToolWords(Selection(toolsets, prefix).tools())


def said(told: ToolWords, step: Use) -> str:
    return told.sentence("so", [step]).removeprefix("so").removeprefix("; ")


def test_a_tool_is_named_with_its_prefix_and_its_own_parameters() -> None:
    assert said(words("terminal", prefix="wsh_"), steps.LIST_SESSIONS) == (
        "list them with wsh_list_sessions"
    )
    assert said(words("shell"), steps.read_output("dev")) == 'read it with read {"port": "dev"}'
    assert said(words("extra"), steps.wait_for_run("dev", "3f2a")) == (
        'wait for it with wait_for {"session": "dev", "run_id": "3f2a"}'
    )


@pytest.mark.parametrize(
    ("toolset", "step", "instead"),
    [
        ("extra", steps.LIST_SESSIONS, ""),
        (
            "terminal",
            steps.read_whole_run("3f2a", "dev", 40, 900),
            'read those lines with read_run {"run_id": "3f2a"}',
        ),
        (
            "shell",
            steps.read_whole_run("3f2a", "dev", 40, 900),
            "read what the session still has of them with read "
            '{"port": "dev", "lines": 40, "max_chars": 900}',
        ),
        ("terminal", steps.wait_for_run("dev", "3f2a"), ""),
        (
            "shell",
            steps.wait_for_run("dev", "3f2a"),
            'see whether it has ended with get_status {"port": "dev"}',
        ),
        (
            "terminal",
            steps.interrupt("dev"),
            r'interrupt it with send_input {"session": "dev", "input": "\u0003"}',
        ),
        (
            "shell",
            steps.interrupt("dev"),
            'interrupt it with send_key {"port": "dev", "key": "ctrl+c"}',
        ),
        ("shell", steps.restart("dev"), "start a new one with start_session"),
        (
            "terminal",
            steps.restart("dev"),
            'start it again with manage_session {"session": "dev", "action": "restart"}',
        ),
        ("extra", steps.restart("dev"), 'start it again with restart_session {"session": "dev"}'),
        ("shell", steps.kill("dev"), 'close it with close_session {"port": "dev"}'),
    ],
)
def test_where_a_tool_was_not_given_another_is_named_or_none(
    toolset: str, step: Use, instead: str
) -> None:
    assert said(words(toolset), step) == instead


def test_a_bad_parameter_is_told_in_the_tool_s_names() -> None:
    selection = Selection(("shell",), "wsh_")
    tool = selection.tools()["wsh_run"]
    told = words("shell", prefix="wsh_").about(tool)
    with pytest.raises(InvalidInput) as error:
        tool.parse({"port": [], "command": "ls"})
    takes = "wsh_run takes: port, command, timeout_ms, max_chars, since_generation"
    assert told.message(error.value) == f"port must be a string or an integer; {takes}"
    assert told.error(error.value)["parameters"] == ["port"]
    with pytest.raises(InvalidInput) as error:
        tool.parse({"port": 1, "command": "the field `session` at `$.session`", "x": 1})
    assert told.message(error.value) == f"x is not a parameter; {takes}"
    with pytest.raises(InvalidInput) as error:
        tool.parse({"port": 1, "input": "ls"})
    meant = "did you mean command?"
    assert told.message(error.value) == f"input is not a parameter; {meant} {takes}"


@pytest.mark.parametrize("name", ["session", "port", "session_id"])
@pytest.mark.parametrize(("toolset", "tool"), [("shell", "read"), ("terminal", "get_screen")])
def test_a_session_is_named_by_any_of_its_three_parameters(
    toolset: str, tool: str, name: str
) -> None:
    parsed: Any = Selection((toolset,)).tools()[tool].parse({name: "dev"})
    assert parsed.session == "dev"


@pytest.mark.parametrize(("toolset", "tool"), [("shell", "read"), ("terminal", "get_screen")])
def test_a_session_that_is_named_twice_is_refused(toolset: str, tool: str) -> None:
    for two in ({"session": "dev", "port": 1}, {"port": 1, "session_id": "dev"}):
        with pytest.raises(InvalidInput, match="give one of"):
            Selection((toolset,)).tools()[tool].parse(two)


def texts(node: Any) -> list[str]:
    """Everything that is described in a tool."""
    if isinstance(node, dict):
        own = [node["description"]] if isinstance(node.get("description"), str) else []
        return own + [text for value in node.values() for text in texts(value)]
    return [text for value in node for text in texts(value)] if isinstance(node, list) else []


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_descriptions_and_instructions_name_only_tools_that_were_given(
    selection: Selection,
) -> None:
    tools = selection.tools()
    told = ToolWords(tools)
    described = [text for tool in tools.values() for text in texts(tool.as_wire(told.name))]
    for text in [*described, instruct(told.name)]:
        for named in NAMED.finditer(text):
            assert named[0] in tools, f"{named[0]} in {text!r}"


@pytest.mark.parametrize(
    "selection", [one for one in SELECTIONS if PLAIN not in one.toolsets], ids=str
)
def test_instructions_are_three_sentences_that_say_which_tool_comes_first(
    selection: Selection,
) -> None:
    tools = selection.tools()
    sentences = re.findall(r"[^.]+\.(?: |$)", instruct(ToolWords(tools).name))
    assert len(sentences) == 3
    first = next(
        name
        for name in ("run", "run_command", "launch_app", "wait_for")
        if selection.prefix + name in tools
    )
    assert f"ake {selection.prefix}{first} first" in sentences[1]


def test_with_tools_of_other_servers_alone_no_terminal_is_promised() -> None:
    told = instruct(lambda _: None)
    assert "None" not in told
    assert "terminal" not in told


def test_run_command_is_the_primary_tool_only_where_there_is_no_run() -> None:
    def told(*toolsets: str) -> str:
        tools = Selection(toolsets, "wsh_").tools()
        described: str = tools["wsh_run_command"].as_wire(ToolWords(tools).name)["description"]
        return described

    assert "primary tool" in told("terminal")
    assert "primary tool" not in told("terminal", "shell")
    assert "wsh_run is the better tool" in told("terminal", "shell")


def test_a_description_names_other_tools_where_they_were_given() -> None:
    both = Selection(("terminal", "extra"), "wsh_").tools()
    told = both["wsh_screenshot"].as_wire(ToolWords(both).name)["description"]
    assert told.endswith("programs. wsh_get_screen is cheaper if the text is enough.")
    alone = Selection(("extra",), "wsh_").tools()
    told = alone["wsh_screenshot"].as_wire(ToolWords(alone).name)["description"]
    assert told.endswith("full-screen programs.")


@pytest.mark.parametrize(("prefix", "scheme"), [("", "nacre"), ("wsh_", "wsh")])
def test_a_picture_has_an_address_of_the_prefixs_own_scheme(prefix: str, scheme: str) -> None:
    taken = PictureTaken(
        session="dev", format="svg", data="<svg/>", width=8, height=16, rows=1, cols=1, generation=1
    )
    shaped = shape_result(taken, words("extra"), scheme_of(prefix))
    uri = shaped["content"][0]["resource"]["uri"]
    assert uri == f"{scheme}://sessions/dev/screenshot.svg"
