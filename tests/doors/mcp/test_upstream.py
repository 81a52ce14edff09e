"""Tools of upstream servers as MCP hosts list and call them, over each transport and era."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp_types import TextContent

from conftest import PATIENCE, Daemon, start_daemon
from nacre.settings.paths import find_paths

from doors.conftest import connect
from doors.wire import Bridge
from upstreams.configs import odd, sdk

pytestmark = pytest.mark.anyio

Bridges = Callable[..., Bridge]

OVER = ("stdio-2025-11-25", "stdio-2026-07-28", "http-2025-06-18", "http-2026-07-28")
TABLES = (sdk("sdk"), odd("odd", env={"TOKEN": "${TOK:-none}"}))


def config_of(daemon: Daemon) -> Path:
    return Path(find_paths(daemon.env).config_file)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    started = start_daemon(tmp_path_factory.mktemp("upstream"), upstream_list_wait=PATIENCE)
    config_of(started).write_text("\n".join(TABLES))
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module", params=OVER)
async def client(
    request: pytest.FixtureRequest, house: Daemon, anyio_backend: str
) -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:
        yield await connect(stack, house, request.param, "upstream")


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_tools_are_listed_as_their_servers_describe_them(client: Client) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    echo = listed["mcp_sdk_echo"]
    assert echo.description == "Say a text again."
    assert echo.input_schema["required"] == ["text"]
    assert echo.annotations is not None
    assert echo.annotations.read_only_hint is True
    assert listed["mcp_sdk_add"].output_schema is not None
    assert {"mcp_odd_echo", "mcp_odd_where", "read_upstream_result"} <= set(listed)
    if (offered := client.server_capabilities.tools) is not None:  # who pins a revision asks not
        assert offered.list_changed is True


async def test_results_come_through(client: Client) -> None:
    assert text_of(await client.call_tool("mcp_sdk_echo", {"text": "hi"})) == "hi"
    added = await client.call_tool("mcp_sdk_add", {"a": 2, "b": 3})
    assert added.structured_content == {"sum": 5}
    (picture,) = (await client.call_tool("mcp_sdk_picture")).content
    assert isinstance(picture, types.ImageContent)
    failed = await client.call_tool("mcp_sdk_fail")
    assert (failed.is_error, text_of(failed)) == (True, "it went wrong")
    huge = await client.call_tool("mcp_sdk_huge")
    assert len(text_of(huge)) < 30_000
    assert huge.meta is not None
    read = await client.call_tool(
        "read_upstream_result", {"result_id": huge.meta["nacre/result"]["result_id"]}
    )
    assert read.structured_content is not None
    assert read.structured_content["text"].startswith("line 0\n")


async def test_errors_are_results_and_a_servers_own_error_is_its_own(client: Client) -> None:
    wrong = await client.call_tool("mcp_sdk_echo", {"txt": 1})
    assert wrong.is_error
    assert wrong.meta is not None
    assert wrong.meta["nacre/error"]["code"] == "INVALID_INPUT"
    with pytest.raises(MCPError) as caught:
        await client.call_tool("mcp_sdk_refuse")
    assert (caught.value.error.code, caught.value.error.data) == (-32042, {"hint": "other"})
    died = await client.call_tool("mcp_odd_die")
    assert died.is_error
    assert died.meta is not None
    assert died.meta["nacre/error"]["code"] == "UPSTREAM_UNAVAILABLE"
    assert "exit code 7" in died.meta["nacre/error"]["message"]
    with pytest.raises(MCPError) as unknown:
        await client.call_tool("mcp_sdk_none")
    assert unknown.value.error.code == -32601


async def test_progress_comes_through(client: Client) -> None:
    told: list[str | None] = []

    async def progress(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        told.append(message)

    await client.call_tool("mcp_sdk_progress", progress_callback=progress)
    # The last ones may come with the answer, and the client drops them then.
    assert told == ["step 1", "step 2", "step 3"][: len(told)] != []


@pytest.mark.parametrize("transport", ["stdio-2025-11-25", "http-2025-11-25"])
async def test_questions_reach_the_host(house: Daemon, transport: str) -> None:
    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        assert params.message == "Is it ok?"
        return types.ElicitResult(action="accept", content={"ok": True})

    async with AsyncExitStack() as stack:
        client = await connect(stack, house, transport, "upstream", elicit=elicit)
        answer = await client.call_tool("mcp_sdk_ask")
        assert text_of(answer) == "answer: accept {'ok': True}"


@pytest.mark.parametrize("transport", ["stdio-2025-11-25", "http-2025-11-25"])
async def test_an_edit_of_the_config_is_told_to_all_who_listed(
    house: Daemon, transport: str
) -> None:
    changed = asyncio.Event()

    async def heard(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    config = config_of(house)
    before = config.read_text()
    async with AsyncExitStack() as stack:
        client = await connect(stack, house, transport, "upstream", heard=heard)
        await client.list_tools()
        try:
            config.write_text(before + odd("late", env={"TOOLS": "only"}))
            await asyncio.wait_for(changed.wait(), PATIENCE)
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert "mcp_late_only" in listed
            assert text_of(await client.call_tool("mcp_late_only", {"text": "x"})) == "x"
        finally:
            config.write_text(before)


def test_each_bridge_hands_over_its_own_values(house: Daemon, bridges: Bridges) -> None:
    found = []
    for token in ("anna-token", "bert-token"):
        env = {**house.env, "TOK": token}
        bridge = bridges(env, "--toolsets", "upstream").handshake()
        bridge.ask("tools/list")
        answer = bridge.ask("tools/call", {"name": "mcp_odd_where", "arguments": {}})
        found.append(answer["result"]["content"][0]["text"].split())
        bridge.close()
    assert [one[2] for one in found] == ["anna-token", "bert-token"]
    assert found[0][0] != found[1][0]


async def test_many_tools_are_three(tmp_path: Path) -> None:
    names = ",".join(f"tool_{number}" for number in range(50))
    daemon = start_daemon(tmp_path, upstream_list_wait=PATIENCE)
    config_of(daemon).write_text(odd("many", env={"TOOLS": names}))
    try:
        async with AsyncExitStack() as stack:
            client = await connect(stack, daemon, OVER[0], "upstream", prefix="p_")
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert listed == [
                "p_search_upstream_tools",
                "p_describe_upstream_tool",
                "p_call_upstream_tool",
                "p_read_upstream_result",
            ]
            wanted = {"query": "tool 7", "most": 1}
            found = await client.call_tool("p_search_upstream_tools", wanted)
            assert found.structured_content is not None
            assert found.structured_content["tools"][0]["name"] == "mcp_many_tool_7"
            tool = {"tool": "mcp_many_tool_7"}
            whole = await client.call_tool("p_describe_upstream_tool", tool)
            assert whole.structured_content is not None
            assert whole.structured_content["schema"]["type"] == "object"
            called = {**tool, "arguments": {"text": "x"}}
            assert text_of(await client.call_tool("p_call_upstream_tool", called)) == "x"
    finally:
        assert daemon.stop() == 0
