"""The toolset agent on the wire: one block of text, the state first, and nothing beside it."""

import asyncio
import json
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from conftest import Daemon
from nacre.core.agent.tools import AGENT, RUN_WAIT, TYPE_WAIT, WAIT_WAIT
from nacre.doors.mcp.prompts import render
from nacre.doors.mcp.standing import Standing
from nacre.doors.mcp.tools.selection import parse_selection

from doors.conftest import EACH_ONCE, Tools, connect, text_of

pytestmark = pytest.mark.anyio
TOOLSETS = "agent"
OVER = EACH_ONCE


def test_the_list_and_the_instructions_are_small() -> None:
    standing = Standing(parse_selection("agent", None))
    assert len(standing.lists["tools/list"]) < 6000
    assert len(standing.instructions.encode()) < 1024
    assert list(standing.offered) == ["run", "type", "wait", "read", "sessions", "screenshot"]
    assert {tool.spec.name for tool in standing.offered.values()} == set(AGENT)


def test_numbers_in_the_list_are_those_of_the_code() -> None:
    for tool in Standing(parse_selection("agent", None)).tools()["tools"]:
        assert not re.search(r"\d{2,}", tool["description"]), "a number that nothing checks"
        properties = tool["inputSchema"]["properties"]
        waits = {"run": RUN_WAIT, "type": TYPE_WAIT, "wait": WAIT_WAIT}
        assert properties.get("wait", {}).get("default") == waits.get(tool["name"])


def test_hosts_that_put_tools_aside_keep_these() -> None:
    listed = {
        tool["name"]: tool for tool in Standing(parse_selection("agent", None)).tools()["tools"]
    }
    assert listed["run"]["_meta"]["anthropic/alwaysLoad"] is True
    assert all(tool["_meta"]["anthropic/searchHint"] for tool in listed.values())
    assert all("outputSchema" not in tool for tool in listed.values())
    assert listed["read"]["annotations"]["readOnlyHint"] is True
    assert listed["run"]["annotations"]["readOnlyHint"] is False


def test_all_are_the_documents_toolsets() -> None:
    """They have tools of the same names; who wants both names both."""
    assert "agent" not in parse_selection("all", None).toolsets
    assert parse_selection("all,agent", None).toolsets[0] == "agent"


def test_a_prefix_goes_before_each_name_also_in_the_instructions() -> None:
    standing = Standing(parse_selection("agent", "t_"))
    assert "t_run" in standing.offered
    assert "Use t_run for" in standing.instructions


async def test_an_answer_is_one_text_and_its_facts_are_in_meta(connected: Tools) -> None:
    result = await connected.result("run", command="echo hello; false")
    assert not result.is_error
    assert result.structured_content is None
    assert re.fullmatch(
        r"\[exit 1 · \d\.\ds · .* · run \d+( · new session main(-\d+)?)?\]"
        r"(\n\(every client of this token .*\))?\nhello",
        text_of(result),
    )
    assert result.meta is not None
    facts = result.meta["nacre/answer"]
    assert (facts["exit_code"], facts["lines"], facts["running"]) == (1, 1, False)
    assert re.fullmatch("[0-9a-f]+", facts["run_id"])


async def test_an_error_is_a_text_that_says_what_to_do(connected: Tools) -> None:
    result = await connected.result("type", session="nobody", text="x")
    assert result.is_error
    assert result.structured_content is None
    assert text_of(result).startswith("error: no session 'nobody'")
    assert text_of(result).endswith("list them with sessions")
    assert result.meta is not None
    assert result.meta["nacre/error"]["code"] == "SESSION_NOT_FOUND"
    wrong = text_of(await connected.result("run", cmd="ls"))
    assert wrong.startswith("error: cmd is not a parameter; did you mean command?")
    assert "run takes: command, session, wait, cwd, max_chars" in wrong
    late = text_of(await connected.result("wait", **{"for": "x", "session": "nobody"}))
    assert late.startswith("error: no session")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"session": "my build"}, "'my build' cannot be a session's name; use up to 64 letters"),
        ({"session": "fresh", "cwd": "/no/such"}, "/no/such"),
        ({"session": "feedf00d"}, "no session 'feedf00d'; list them with sessions"),
        ({"session": "12345678"}, "no session '12345678'; list them with sessions"),
    ],
    ids=str,
)
async def test_a_command_for_a_session_that_cannot_be_made_says_why(
    connected: Tools, given: dict[str, Any], told: str
) -> None:
    result = await connected.result("run", command="pwd", **given)
    assert result.is_error
    assert told in text_of(result)


async def test_calls_of_one_batch_queue(connected: Tools) -> None:
    calls = [connected.result("run", command=f"echo {number}") for number in range(4)]
    results = await asyncio.gather(*calls)
    assert [text_of(result).split("\n")[-1] for result in results] == list("0123")


async def test_a_wait_and_a_search_by_the_names_that_models_know(connected: Tools) -> None:
    # One program: between two of them Ctrl+C may reach the shell alone, and dash lives on.
    line = "sh -c 'seq 3000; exec sleep 1000'"
    started = text_of(await connected.result("run", command=line, wait=0))
    number = re.search(r"run (\d+)", started)
    assert number is not None
    ready = text_of(await connected.result("wait", **{"for": "^3000$"}))
    assert ready.startswith('[matched "^3000$" · run ')
    assert "still running]" in ready
    page = {"what": f"run {number[1]}", "from": 1500, "lines": 2}
    assert text_of(await connected.result("read", **page)).split("\n")[1:] == ["1500", "1501"]
    stopped = text_of(await connected.result("type", keys=["C-c"]))
    assert stopped.startswith("[exit 130 · ")


async def test_a_picture_is_the_only_block(connected: Tools) -> None:
    await connected.result("run", command="true")
    result = await connected.result("screenshot")
    assert [block.type for block in result.content] == ["image"]
    assert result.structured_content is None


def examples() -> list[tuple[str, dict[str, Any], str]]:
    """The calls of the prompt core, and what it says that they return."""
    page = render(parse_selection("agent", None), "core")
    blocks = re.findall(r"```call\n(\w+) (.*?)\n```\n```returns\n(.*?)\n```", page, re.DOTALL)
    assert len(blocks) == page.count("```call") > 8, "every call says what it returns"
    return [(tool, json.loads(arguments), told) for tool, arguments, told in blocks]


async def test_the_examples_of_the_prompt_core_do_what_it_says(
    daemon: Daemon, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, EACH_ONCE[0], "agent", cwd=tmp_path)
        for tool, arguments, told in examples():
            result = await client.call_tool(tool, arguments)
            pattern = ".*".join(map(re.escape, told.split("…")))
            text = text_of(result)
            assert re.fullmatch(pattern, text, re.DOTALL), f"{tool} {arguments}: {text}"


def test_the_other_prompts_say_how_to_get_their_tools() -> None:
    page = render(parse_selection(None, None), "tui")
    assert "Not offered on this connection" in page
    assert "--toolsets agent," in page
    assert "(toolset `terminal`)" in page
    assert "Not offered" not in render(parse_selection(None, None), "core")


def test_the_default_is_this_toolset() -> None:
    assert parse_selection(None, None).toolsets == ("agent",)
