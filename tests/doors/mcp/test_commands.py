"""Commands of the catalog as MCP hosts call them."""

import pytest

from doors.conftest import Tools

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
    assert "rm" not in tools.listed
    failure = await tools.failure("kill", job="1")
    assert failure["message"].startswith("Command 'kill' is blacklisted")


async def test_status_and_cancel_reach_an_execution(tools: Tools) -> None:
    done = await tools("uname")
    status = await tools("get_execution_status", execution_id=done["execution_id"])
    assert status["output"] == done["output"]
    cancelled = await tools("cancel_execution", execution_id=done["execution_id"])
    assert cancelled == {"cancelled": False}
