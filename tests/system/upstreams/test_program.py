"""A server's program has three pipes, and none of its processes outlives who started it."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.errors import UpstreamUnavailable
from nacre.system.upstreams.program import UpstreamProgram, start_program

pytestmark = pytest.mark.anyio

PATH = os.environ["PATH"]
STUBBORN = "trap '' TERM; sleep 1000 & echo $!; cat >/dev/null; wait"

# Starts a stubborn program, prints the ids of its processes, and waits to be killed.
STARTER = """
import asyncio, os, sys, time
from nacre.system.upstreams.program import start_program

async def main():
    program = start_program(["sh", "-c", sys.argv[1]], cwd="/", env={"PATH": os.environ["PATH"]})
    os.set_blocking(program.stdout, True)
    print(program.pid, os.read(program.stdout, 100).decode().strip(), flush=True)
    time.sleep(1000)

asyncio.run(main())
"""


def start(*argv: str, cwd: str = "/") -> UpstreamProgram:
    return start_program(argv, cwd=cwd, env={"PATH": PATH})


async def read(descriptor: int) -> bytes:
    os.set_blocking(descriptor, True)
    return await asyncio.to_thread(os.read, descriptor, 1000)


def close(program: UpstreamProgram) -> None:
    for descriptor in (program.stdin, program.stdout, program.stderr):
        os.close(descriptor)


def wait_until_gone(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], 60)[0], f"{pid} still runs"
    finally:
        os.close(descriptor)


async def test_pipes_and_exit_code() -> None:
    program = start("sh", "-c", "read line; echo got $line; echo hm >&2; exit 3")
    os.write(program.stdin, b"it\n")
    assert await read(program.stdout) == b"got it\n"
    assert await read(program.stderr) == b"hm\n"
    assert str(await program.wait()) == "exit code 3"
    await program.end()
    close(program)


async def test_what_ignores_everything_is_killed_with_its_children() -> None:
    program = start("sh", "-c", STUBBORN)
    child = int(await read(program.stdout))
    close(program)
    await program.end()
    wait_until_gone(program.pid)
    wait_until_gone(child)


async def test_a_program_that_ends_takes_its_children_with_it() -> None:
    program = start("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")
    child = int(await read(program.stdout))
    await program.wait()
    await program.end()
    close(program)
    wait_until_gone(child)


def test_nothing_outlives_a_daemon_that_is_killed() -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, STUBBORN], stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    leader, child = map(int, starter.stdout.readline().split())
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    wait_until_gone(child)
    wait_until_gone(leader)


async def test_why_it_cannot_be_started_is_said(tmp_path: Path) -> None:
    with pytest.raises(UpstreamUnavailable, match="no program 'no-such-program'"):
        start("no-such-program")
    with pytest.raises(UpstreamUnavailable, match="does not exist"):
        start("true", cwd=str(tmp_path / "none"))
