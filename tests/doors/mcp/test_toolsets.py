"""Answers as hosts get them: within the budget, small things first, errors that a model reads."""

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

from conftest import Daemon, start_daemon

from doors.conftest import EACH_ONCE, TRANSPORTS, Tools, connect

pytestmark = pytest.mark.anyio

OVER = EACH_ONCE
TOOLSETS = "all"

BUDGET = 30_000

# A line of 80 cells with a colour each, over and over.
RAINBOW = (
    "awk 'BEGIN { for (y = 0; y < 300; y++) { for (x = 0; x < 80; x++) "
    'printf "\\033[38;2;%d;%d;%dm#", x, y % 256, x + y % 99; printf "\\n" } }\'; '
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    started = start_daemon(tmp_path_factory.mktemp("home"))
    yield started
    assert started.stop() == 0


@pytest.fixture
async def rainbow(tools: Tools) -> str:
    created = await tools("create_session", command=f"{RAINBOW} echo end; exec cat")
    await tools.until_line(created["session"], "end")
    return str(created["session"])


@pytest.fixture
async def port(tools: Tools) -> int:
    started = await tools("start_session", shell="bash")
    return int(started["port"])


def sizes(result: CallToolResult) -> tuple[int, int]:
    """How many characters the texts are, and the structured content."""
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    structured = json.dumps(result.structured_content, separators=(",", ":"), ensure_ascii=False)
    return sum(map(len, texts)), len(structured)


async def within(tools: Tools, tool: str, **arguments: Any) -> Any:
    """Call a tool; check both forms of its answer against the budget."""
    result = await tools.result(tool, **arguments)
    assert not result.is_error
    assert max(sizes(result)) <= arguments.get("max_chars", BUDGET)
    return result.structured_content


# --- budgets -------------------------------------------------------------------------------


async def test_coloured_scrollback_is_within_the_budget_by_default(
    tools: Tools, rainbow: str
) -> None:
    above = await within(tools, "get_scrollback", session=rainbow)
    assert above["lines"] == [[{"text": "#" * 80}]] * 100
    assert above["omitted_styles"] is True
    assert "max_chars" in above["hint"]
    few = await within(tools, "get_scrollback", session=rainbow, limit=5)
    assert [len(line) for line in few["lines"]] == [80] * 5
    assert "omitted_styles" not in few


async def test_coloured_screen_keeps_its_text(tools: Tools, rainbow: str) -> None:
    screen = await within(tools, "get_screen", session=rainbow)
    assert screen["lines"][:2] == [[{"text": "#" * 80}]] * 2
    assert (len(screen["lines"]), screen["omitted_styles"]) == (24, True)
    whole = await within(tools, "get_screen", session=rainbow, max_chars=400_000)
    assert len(whole["lines"][0]) == 80


async def test_resources_are_within_the_budget(tools: Tools, rainbow: str) -> None:
    for kind in ("screen", "scrollback"):
        read = await tools.client.read_resource(f"nacre://sessions/{rainbow}/{kind}")
        (content,) = read.contents
        assert isinstance(content, TextResourceContents)
        assert len(content.text) <= BUDGET
        told = json.loads(content.text)
        assert (told["omitted_styles"], "max_chars" in told["hint"]) == (True, True)


async def test_long_output_of_a_run_keeps_head_and_tail_and_says_where_the_rest_is(
    tools: Tools, port: int
) -> None:
    ran = await within(tools, "run", port=port, command="seq 1 100000")
    lines = ran["output"].split("\n")
    assert (lines[0], lines[-1]) == ("1", "100000")
    assert len(lines) - 1 + ran["omitted_lines"] == 100_000
    assert f'read_run {{"run_id": "{ran["run_id"]}"}}' in ran["hint"]
    page = await within(tools, "read_run", run_id=ran["run_id"], offset=50_000, limit=10_000)
    assert page["output"].startswith("50001\n50002\n")
    assert page["lines"] == len(page["output"].split("\n"))
    small = await within(tools, "run", port=port, command="seq 1 1000", max_chars=1500)
    assert small["omitted_lines"] > 0


async def test_one_endless_line_is_shown_at_both_ends_and_counted(tools: Tools, port: int) -> None:
    script = "printf 'begin%0100000dend' 0"
    ran = await within(tools, "run", port=port, command=script)
    assert ran["output"].startswith("begin000")
    assert ran["output"].endswith("000end")
    assert "characters left out" in ran["output"]
    assert ran["omitted_lines"] == 1
    page = await within(tools, "read_run", run_id=ran["run_id"])
    assert "characters left out" in page["output"]
    whole = await within(tools, "read_run", run_id=ran["run_id"], max_chars=200_000)
    assert len(whole["output"]) == 100_008


async def test_output_full_of_escapes_is_within_the_budget(tools: Tools, port: int) -> None:
    command = r"""yes '"\"\"\' | head -n 20000"""
    ran = await within(tools, "run", port=port, command=command)
    assert ran["omitted_lines"] > 10_000
    sent = await within(tools, "send", port=port, text=command)
    assert sent["alive"] is True
    await within(tools, "read", port=port, lines=5000)
    shown = await within(tools, "run_command", session=port, input=f"{command}\n", timeout_ms=300)
    assert len(shown["screen"]["lines"]) == 24


# --- small things first --------------------------------------------------------------------

LONG = {"lines", "output", "screen", "sessions", "recording", "match", "run"}


async def test_small_fields_stand_before_long_ones(tools: Tools, port: int, rainbow: str) -> None:
    ran = await tools("run", port=port, command="seq 1 100000")
    answers = [
        await tools.result("run", port=port, command="seq 1 100000"),
        await tools.result("run_command", session=port, input="echo hi", timeout_ms=300),
        await tools.result("get_screen", session=rainbow),
        await tools.result("get_scrollback", session=rainbow),
        await tools.result("screen_at", session=rainbow, time=0.0 - 0.001),
        await tools.result("read", port=port),
        await tools.result("read_run", run_id=ran["run_id"]),
        await tools.result("send", port=port, text="echo hi"),
        await tools.result("send_key", port=port, key="enter"),
        await tools.result("wait_for", session=rainbow, text="end"),
    ]
    for answer in answers:
        (text,) = answer.content
        assert isinstance(text, TextContent)
        fields = list(json.loads(text.text))
        first_long = next(index for index, name in enumerate(fields) if name in _long(fields))
        assert set(fields[first_long:]) <= _long(fields), fields
    assert list(ran).index("omitted_lines") < list(ran).index("output")


def _long(fields: list[str]) -> set[str]:
    """Where there is an output, `lines` is how many it has."""
    return LONG - {"lines"} if "output" in fields else LONG


# --- errors --------------------------------------------------------------------------------

WRONG: dict[str, dict[str, Any]] = {
    "run": {"port": "nobody", "command": "ls"},
    "start_session": {"cwd": "/no/such/folder"},
    "wait_for": {"session": "nobody", "text": "x"},
    "screenshot": {"session": "nobody"},
    "resize_session": {"session": "nobody", "rows": 10, "cols": 10},
    "read_run": {},
}


@pytest.mark.over(*TRANSPORTS)
async def test_errors_of_other_toolsets_than_terminal_are_results(tools: Tools) -> None:
    for tool, arguments in WRONG.items():
        told = await tools.failure(tool, **arguments)
        assert told["code"] in ("SESSION_NOT_FOUND", "INVALID_INPUT")
    for tool in ("get_screen", "list_sessions", "manage_session"):
        more = {"action": "kill"} if tool == "manage_session" else {}
        assert await tools.error(tool, session="nobody", **more) == (-32602, "SESSION_NOT_FOUND")
    assert await tools.error("no_such_tool") == (-32601, "UNKNOWN_OPERATION")


@pytest.mark.parametrize(
    ("toolsets", "raised"), [("shell", False), ("shell,terminal", False), ("terminal,shell", True)]
)
async def test_a_shared_tool_belongs_to_the_toolset_that_was_named_first(
    daemon: Daemon, toolsets: str, raised: bool
) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, EACH_ONCE[1], toolsets)
        try:
            result = await client.call_tool("list_sessions", {"session": "nobody"})
            assert (result.is_error, raised) == (True, False)
        except MCPError:
            assert raised


async def test_wrong_name_is_told_with_the_right_one(tools: Tools, port: int) -> None:
    told = await tools.failure("run", port=port, input="ls")
    assert told["message"].startswith("input is not a parameter; did you mean command? run takes")
    for name in ("session", "session_id"):
        assert (await tools("run", **{name: port}, command="echo hi"))["output"] == "hi"
    assert (await tools("get_screen", port=port))["rows"] == 24


async def test_cut_numbers_are_told_in_both_forms(tools: Tools, port: int) -> None:
    above = await tools("get_scrollback", session=port, limit="20000")
    assert above["notice"] == "limit was cut from 20000 to 10000, the most that there is"
    waited = await tools("wait_for", session=port, state="prompt", timeout_ms=1e12)
    assert waited["notice"].startswith("timeout_ms was cut from 1000000000000 to 3600000")


# --- what hints need -----------------------------------------------------------------------


async def test_sessions_are_restarted_resized_and_dismissed_by_tools(tools: Tools) -> None:
    created = await tools("create_session", name="dev", command="stty size; exit 3")
    assert (await tools.ended("dev"))["code"] == "SESSION_DEAD"
    done = {"success": True}
    assert await tools("manage_session", session="dev", action="resize", rows=30) == done
    assert await tools("manage_session", session="dev", action="restart") == done
    assert (await tools.ended("dev"))["exit_code"] == 3
    screen = await tools("get_screen", session="dev", format="plain")
    assert (screen["lines"][0], screen["rows"]) == ("30 80", 30)
    again = await tools("restart_session", session="dev")
    assert again["session_id"] == created["session_id"]
    assert await tools("resize_session", session="dev", rows=10, cols=50) == {
        "success": True,
        "rows": 10,
        "cols": 50,
    }
    await tools.ended("dev")
    assert await tools("manage_session", session="dev", action="dismiss") == done
    assert (await tools("list_sessions"))["sessions"] == []


@pytest.mark.parametrize(
    "given",
    [
        {"action": "resize"},
        {"action": "kill", "rows": 3},
        {"action": "dismiss"},
        {"action": "resize", "rows": 0},
    ],
)
async def test_management_that_makes_no_sense_is_refused(tools: Tools, given: Any) -> None:
    await tools("create_session", name="dev", command="cat")
    assert (await tools.error("manage_session", session="dev", **given))[1] == "INVALID_INPUT"
