"""Commands of the catalog as MCP hosts call them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from conftest import PATIENCE, Daemon
from nacre.settings.paths import find_paths

from doors.conftest import MODERN, TRANSPORTS, Tools, connect, text_of

pytestmark = pytest.mark.anyio

TOOLSETS = "shell,commands"
OVER = ("stdio-2025-11-25", "http-2026-07-28")


async def test_a_command_is_a_tool_and_its_context_stays_between_calls(tools: Tools) -> None:
    done = await tools("echo", text="hello")
    assert (done["output"], done["exit_code"], done["status"]) == ("hello\n", 0, "completed")
    await tools("cd", path="/usr")
    assert (await tools("pwd"))["output"] == "/usr\n"
    assert (await tools("pwd", context="another"))["output"] != "/usr\n"
    listed = await tools("ls", path="/usr")
    assert "bin\n" in listed["output"]
    assert (await tools("sort", stdin="b\na\n"))["output"] == "a\nb\n"


async def test_what_is_refused_is_a_result_that_the_model_reads(tools: Tools) -> None:
    failure = await tools.failure("cat", path="/etc/passwd")
    assert failure["message"].startswith("Path contains dangerous pattern")
    assert failure["code"] == "FORBIDDEN"
    for name, given in (("kill", {"job": "1"}), ("rm", {"path": "x"}), ("sudo", {})):
        assert name in tools.listed
        failure = await tools.failure(name, **given)
        assert failure["message"].startswith(f"Command '{name}' is blacklisted")


async def test_a_command_is_called_by_its_other_names_too(tools: Tools) -> None:
    done = json.loads(text_of(await tools.result("list_files", path="/usr")))
    assert (done["tool"], done["exit_code"]) == ("list_files", 0)
    failure = await tools.failure("delete_file", path="/etc/passwd")
    assert failure["message"].startswith("Path contains dangerous pattern")


async def test_status_and_cancel_reach_an_execution(tools: Tools) -> None:
    done = await tools("uname")
    status = await tools("get_execution_status", execution_id=done["execution_id"])
    assert status["output"] == done["output"]
    cancelled = await tools("cancel_execution", execution_id=done["execution_id"])
    assert cancelled == {"cancelled": False}


# --- the list changes -----------------------------------------------------------------------


class Changes:
    """Counts what a client is told of its list of tools."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[str] = asyncio.Queue()

    async def heard(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            await self.told.put("tools")

    async def wait(self) -> None:
        await asyncio.wait_for(self.told.get(), PATIENCE)


@asynccontextmanager
async def listening(daemon: Daemon, transport: str) -> AsyncIterator[tuple[Tools, Changes]]:
    async with AsyncExitStack() as stack:
        changes = Changes()
        client = await connect(stack, daemon, transport, TOOLSETS, heard=changes.heard)
        tools = Tools(client, (await client.list_tools()).tools)
        if transport.endswith(MODERN):
            stream = await stack.enter_async_context(client.listen(tools_list_changed=True))

            async def follow() -> None:
                async for _ in stream:
                    await changes.told.put("tools")

            following = asyncio.create_task(follow())
            stack.callback(following.cancel)
        yield tools, changes


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_client_is_told_when_the_users_commands_change(
    daemon: Daemon, transport: str
) -> None:
    file = Path(find_paths(daemon.env).config) / "commands.json"
    async with listening(daemon, transport) as (tools, changes):
        assert "shout" not in tools.listed
        made = file.with_suffix(".new")
        made.write_text(
            json.dumps(
                [{"name": "shout", "description": "Say it", "program": "echo", "args": ["text"]}]
            )
        )
        made.rename(file)  # as editors save
        try:
            await changes.wait()
            tools = Tools(tools.client, (await tools.client.list_tools()).tools)
            assert (await tools("shout", text="hi"))["output"] == "hi\n"
        finally:
            file.unlink()
        await changes.wait()
        assert "shout" not in {one.name for one in (await tools.client.list_tools()).tools}


# --- the client's own model -----------------------------------------------------------------


def answering(text: str, asked: list[Any]) -> Callable[..., Any]:
    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        asked.append(params)
        said = types.TextContent(type="text", text=text)
        return types.CreateMessageResult(role="assistant", content=said, model="a-model")

    return sample


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_clients_model_is_asked_where_no_recipe_covers_a_request(
    daemon: Daemon, transport: str
) -> None:
    asked: list[Any] = []
    said = json.dumps({"command": "stat -- zebra", "explanation": "Look at it."})
    async with AsyncExitStack() as stack:
        sample = answering(f"```json\n{said}\n```", asked)
        client = await connect(stack, daemon, transport, TOOLSETS, sample=sample)
        tools = Tools(client, (await client.list_tools()).tools)
        found = json.loads(
            (await tools("suggest_command", query="find all Python files"))["output"]
        )
        assert (found["source"], asked) == ("recipes", [])
        query = "fathom the zebra's innermost essence"
        found = json.loads((await tools("suggest_command", query=query))["output"])
        assert found == {
            "query": query,
            "command": "stat -- zebra",
            "explanation": "Look at it.",
            "source": "sampling",
            "model": "a-model",
            "tool": "stat",
            "args": {"path": ["zebra"]},
        }
        assert asked[0].messages[0].content.text == query


async def test_a_model_that_says_something_else_gives_no_line(daemon: Daemon) -> None:
    asked: list[Any] = []
    async with AsyncExitStack() as stack:
        sample = answering("Sure! Just run rm -rf /", asked)
        client = await connect(stack, daemon, TRANSPORTS[0], TOOLSETS, sample=sample)
        tools = Tools(client, (await client.list_tools()).tools)
        query = "fathom the zebra's innermost essence"
        found = json.loads((await tools("suggest_command", query=query))["output"])
        assert len(asked) == 1
        assert (found["command"], found["source"]) == (None, None)
