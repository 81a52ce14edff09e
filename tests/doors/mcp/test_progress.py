"""Calls that take long: told of meanwhile where that was asked for, and answered in time."""

import os
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import CallToolResult

from conftest import PATIENCE, Daemon, start_daemon

from doors.conftest import TRANSPORTS, Tools, connect

pytestmark = pytest.mark.anyio

OVER = TRANSPORTS
TOOLSETS = "all"

WITHIN = 0.4  # seconds
LONG = 100_000  # ms: over a minute, so that a slow machine is given the time that it takes


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    started = start_daemon(
        tmp_path_factory.mktemp("home"), progress_interval=0.05, answer_within=WITHIN
    )
    yield started
    assert started.stop() == 0


@pytest.fixture
async def port(tools: Tools) -> int:
    """The port of a bash at its prompt."""
    started = await tools("start_session", shell="bash")
    await tools("wait_for", session=started["port"], state="prompt")
    return int(started["port"])


class Gate:
    """A pipe that a command waits for, and which a notification of progress opens."""

    def __init__(self, folder: Path, opened_by: str, after: float = 0) -> None:
        self.path = folder / "gate"
        os.mkfifo(self.path)
        self.heard: list[tuple[float, str]] = []
        self._text = opened_by
        self._after = after
        self._open = False

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        assert message is not None
        self.heard.append((progress, message))
        if self._text in message and progress >= self._after and not self._open:
            self._open = True
            await anyio.to_thread.run_sync(self.path.write_bytes, b"")


async def call(tools: Tools, gate: Gate, tool: str, **arguments: Any) -> CallToolResult:
    with anyio.fail_after(PATIENCE):
        return await tools.client.call_tool(tool, arguments, progress_callback=gate)


def check(gate: Gate) -> None:
    times = [progress for progress, _ in gate.heard]
    assert times == sorted(set(times)), "each later than the one before"
    assert all(message.split(":")[0].endswith(" s") for _, message in gate.heard)


@pytest.mark.parametrize("tool", ["run", "run_command"])
async def test_a_command_is_told_of_by_time_and_last_line(
    tools: Tools, port: int, tmp_path: Path, tool: str
) -> None:
    gate = Gate(tmp_path, "half''way".replace("'", ""))
    line = f"echo half''way; cat {gate.path}; echo over"
    given = {
        "run": {"command": line, "timeout_ms": LONG},
        "run_command": {"input": line, "max_wait_ms": LONG},
    }[tool]
    result = await call(tools, gate, tool, session=port, **given)
    assert not result.is_error
    assert result.structured_content is not None
    assert "over" in result.structured_content["output"]
    check(gate)
    assert any(message.endswith("s: halfway") for _, message in gate.heard)


async def test_waits_are_told_of(tools: Tools, port: int, tmp_path: Path) -> None:
    gate = Gate(tmp_path, "s: waiting")
    await tools("send", port=port, text=f"echo wai''ting; cat {gate.path}", timeout_ms=0)
    waited = await call(tools, gate, "wait_for", session=port, state=["prompt"], timeout_ms=LONG)
    assert waited.structured_content is not None
    assert waited.structured_content["matched"] is True
    check(gate)
    heard = len(gate.heard)
    given = {"timeout_ms": 300, "max_wait_ms": LONG}
    quiet = await call(tools, gate, "await_quiesce", session=port, **given)
    assert not quiet.is_error
    assert len(gate.heard) > heard


async def test_who_asks_for_a_minute_is_answered_before_it_is_over(
    tools: Tools, port: int, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, "never")
    late = await call(tools, gate, "run", port=port, command=f"cat {gate.path}")
    told = late.structured_content
    assert told is not None
    assert (told["status"], told["ended_by"]) == ("timeout", "deadline")
    assert told["run_id"] in told["hint"]
    assert told["notice"] == f"answered after {WITHIN} s, before clients give up on the call"
    check(gate)
    assert list(told).index("run_id") < list(told).index("output")
    failed = await tools.failure("await_quiesce", session=port, last_generation=10**9)
    assert (failed["code"], f"answered after {WITHIN} s" in failed["notice"]) == ("TIMEOUT", True)


async def test_who_asks_for_more_than_a_minute_and_for_progress_has_it(
    tools: Tools, port: int, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, "", after=WITHIN + 0.2)
    command = f"cat {gate.path}; echo in time"
    ran = await call(tools, gate, "run", port=port, command=command, timeout_ms=LONG)
    assert ran.structured_content is not None
    told = ran.structured_content
    assert (told["status"], told["output"]) == ("completed", "in time")
    assert told["duration_ms"] > WITHIN * 1000


async def test_an_agents_command_is_told_of_by_time_and_last_line(
    daemon: Daemon, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, "stdio-2025-11-25", "agent")
        agent = Tools(client, [])
        for number, given in enumerate(({}, {"session": "named"})):
            folder = tmp_path / str(number)
            folder.mkdir()
            gate = Gate(folder, "s: halfway")
            line = f"echo half''way; cat {gate.path}"
            await call(agent, gate, "run", command=line, wait=LONG / 1000, **given)
            check(gate)
            assert any(message.endswith("s: halfway") for _, message in gate.heard)
