"""An execution leaves no process behind, whatever its program does to stay."""

import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.catalog.test_service import Agent, catalog

pytestmark = pytest.mark.anyio

# Each prints the number of the process that stays, when that has begun.
WAYS = {
    "in its group": "sh -c 'echo $$ >&3; exec sleep 1000' >/dev/null 2>&1 &",
    "in a session of its own": "setsid sh -c 'echo $$ >&3; exec sleep 1000' >/dev/null 2>&1 &",
    "with our pipes": "setsid sh -c 'echo $$ >&3; exec sleep 1000 3>&-' &",
    "forked twice": "(setsid sh -c 'echo $$ >&3; exec sleep 1000' >/dev/null 2>&1 &)",
    "and deaf": "setsid sh -c 'trap \"\" TERM HUP; echo $$ >&3; sleep 1000' >/dev/null 2>&1 &",
}
_SCRIPT = """#!/bin/sh
mkfifo said
exec 3<>said
{way}
read pid <&3
echo $pid
{then}
"""


@asynccontextmanager
async def leaving(folder: Path, way: str, then: str, **settings: float) -> AsyncIterator[Agent]:
    """A user's command `leave` that does so; then it goes on as `then` says."""
    config = folder / "config"
    work = folder / "work"
    config.mkdir()
    work.mkdir()
    script = folder / "leave"
    script.write_text(_SCRIPT.format(way=WAYS[way], then=then))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    entry = {"name": "leave", "description": "Leave a process behind", "program": str(script)}
    (config / "commands.json").write_text(json.dumps([entry]))
    async with catalog(work, config, **settings) as found:
        yield found.agent()


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_is_left_after_a_usual_end(tmp_path: Path, way: str) -> None:
    async with leaving(tmp_path, way, "exit 3") as agent:
        done = await agent("leave")
        assert (done.status, done.exit_code) == ("failed", 3)
        assert not lives(int(done.output))


@pytest.mark.parametrize("way", WAYS)
async def test_a_cancelled_one_has_ended_when_all_of_it_has(tmp_path: Path, way: str) -> None:
    async with leaving(tmp_path, way, "exec sleep 1000", kill_grace=0.1) as agent:
        execution = await agent.begun("leave")
        while not (begun := await agent.status(execution)).output:
            assert begun.status == "running"
            await agent.status(execution, wait_ms=10)
        assert lives(int(begun.output))
        assert await agent.cancel(execution)
        ended = await agent.status(execution, wait_ms=60_000)
        assert (ended.status, ended.exit_code) == ("cancelled", 128 + 15)
        assert not lives(int(begun.output))


async def test_one_that_takes_too_long_leaves_nothing_either(tmp_path: Path) -> None:
    way = "in a session of its own"
    async with leaving(tmp_path, way, "exec sleep 1000", command_wall_seconds=1.5) as agent:
        done = await agent.call(tool="leave", args={}, wait_ms=60_000)
        assert done.status == "failed"
        assert "command_wall_seconds" in (done.error or "")
        assert not lives(int(done.output))


async def test_what_another_execution_started_goes_on(tmp_path: Path) -> None:
    """They are told apart by their cookies."""
    async with leaving(tmp_path, "in a session of its own", "exit 0") as agent:
        other = await agent.begun("sleep", seconds=600)
        await agent("leave")
        assert (await agent.status(other)).status == "running"
