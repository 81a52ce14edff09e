"""Learning of a process's end: by event, with its exit code or signal, and without a zombie."""

import asyncio
import os
import signal
import subprocess
from contextlib import suppress

import pytest

from nacre.system.processes import exits
from nacre.system.processes.exits import Ending, wait_gone, watch_exit
from nacre.system.processes.pty import Child, SessionLimits, spawn

pytestmark = pytest.mark.anyio

PATIENCE = 60.0  # seconds until an event that does not come fails the test


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": True}  # the daemon's own loop


def start(line: str) -> Child:
    env = {"PATH": os.environ["PATH"]}
    argv = ["/bin/sh", "-c", line]
    return spawn(argv, cwd="/", env=env, rows=24, cols=80, limits=SessionLimits(256))


async def ending_of(child: Child) -> Ending:
    """Return how the child ended, once it was reaped."""
    loop = asyncio.get_running_loop()
    known: asyncio.Future[Ending] = loop.create_future()
    watch_exit(loop, child, known.set_result)
    ending = await asyncio.wait_for(known, PATIENCE)
    os.close(child.master)
    return ending


def run(*argv: str, stdout: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start a process without a terminal."""
    return subprocess.Popen(argv, stdout=stdout)


def is_process(pid: int) -> bool:
    """Whether the number is anybody's, a zombie's included."""
    return os.path.exists(f"/proc/{pid}")


def wait_until_zombie(pid: int) -> None:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.parametrize("code", [0, 1, 3, 255])
async def test_exit_code_is_told(code: int) -> None:
    ending = await ending_of(start(f"exit {code}"))
    assert ending == Ending(code, None)
    assert str(ending) == f"exit code {code}"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGHUP"])
async def test_signal_is_told(name: str) -> None:
    ending = await ending_of(start(f"kill -{name.removeprefix('SIG')} $$"))
    assert ending == Ending(None, name)
    assert str(ending) == f"killed by {name}"


async def test_child_that_ended_before_it_was_watched_is_told_too() -> None:
    child = start("exit 7")
    wait_until_zombie(child.pid)
    assert await ending_of(child) == Ending(7, None)


async def test_exit_code_can_be_read_while_the_end_is_told_and_the_child_is_reaped_after() -> None:
    loop = asyncio.get_running_loop()
    child = start("exit 4")
    seen: asyncio.Future[int] = loop.create_future()

    def ended(_: Ending) -> None:
        found = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert found is not None
        seen.set_result(found.si_status)

    watch_exit(loop, child, ended)
    assert await asyncio.wait_for(seen, PATIENCE) == 4
    assert not is_process(child.pid)
    assert child.process.returncode == 4
    os.close(child.master)


async def test_hundred_children_that_end_at_once_are_all_told_and_reaped() -> None:
    children = [start(f"exit {number}") for number in range(100)]
    endings = await asyncio.gather(*map(ending_of, children))
    assert [ending.exit_code for ending in endings] == list(range(100))
    assert not [child.pid for child in children if is_process(child.pid)]


async def test_watching_leaves_no_descriptor_behind() -> None:
    await ending_of(start("exit"))
    before = os.listdir("/proc/self/fd")
    for _ in range(5):
        await ending_of(start("exit"))
    assert os.listdir("/proc/self/fd") == before


async def test_processes_that_are_not_our_children_are_waited_for() -> None:
    parent = run("/bin/sh", "-c", "sleep 1000 & echo $!; wait", stdout=subprocess.PIPE)
    assert parent.stdout is not None
    grandchild = int(parent.stdout.readline())
    waiting = asyncio.create_task(wait_gone([grandchild], PATIENCE))
    os.kill(grandchild, signal.SIGKILL)
    await waiting
    assert parent.wait(PATIENCE) == 0
    assert not is_process(grandchild)
    parent.stdout.close()


async def test_wait_for_those_that_are_gone_already_returns_at_once() -> None:
    gone = run("true")
    gone.wait(PATIENCE)
    await wait_gone([gone.pid], float("inf"))
    await wait_gone([], float("inf"))


async def test_of_many_the_first_ends_do_not_end_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exits, "_AT_ONCE", 1)  # the loop goes on after each
    first, second = run("sleep", "1000"), run("sleep", "1000")
    first.kill()
    first.wait(PATIENCE)
    waiting = asyncio.create_task(wait_gone([first.pid, second.pid], PATIENCE))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    second.kill()
    await waiting
    assert second.wait(PATIENCE) < 0


async def test_wait_ends_with_its_patience_and_without_open_descriptors() -> None:
    stubborn = run("sleep", "1000")
    try:
        before = os.listdir("/proc/self/fd")
        await wait_gone([stubborn.pid], 0.01)
        assert os.listdir("/proc/self/fd") == before
        assert stubborn.poll() is None
    finally:
        stubborn.kill()
        stubborn.wait(PATIENCE)


async def test_wait_that_is_cancelled_closes_its_descriptors() -> None:
    stubborn = run("sleep", "1000")
    try:
        before = os.listdir("/proc/self/fd")
        waiting = asyncio.create_task(wait_gone([stubborn.pid], PATIENCE))
        await asyncio.sleep(0)  # it has begun
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        assert os.listdir("/proc/self/fd") == before
    finally:
        stubborn.kill()
        stubborn.wait(PATIENCE)
