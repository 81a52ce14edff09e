"""Everything that a session started is found, and nobody else."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.system.processes import process_table, tree
from nacre.system.processes.tree import (
    COOKIE,
    Tree,
    find_members,
    look,
    send_signal,
    signal_name,
    signal_number,
    started_at,
    working_directory,
)

pytestmark = pytest.mark.anyio

# Of this run alone: on the same machine somebody else may run these tests.
FEED = secrets.token_hex(8)

PATIENCE = 60.0  # seconds until an event that does not come fails the test


@contextmanager
def started(script: str, cookie: str = FEED) -> Iterator[tuple[int, int]]:
    """Yield the process ids of a session's leader and of the member that printed its own."""
    process = subprocess.Popen(
        ["/bin/bash", "-c", f"{script}\nexec sleep 1000"],
        env={**os.environ, COOKIE: cookie},
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert process.stdout is not None
    member = int(process.stdout.readline())
    # Before that there may be a subshell that started the member, and has yet to end.
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
        assert time.monotonic() < deadline, "it does not come to sleep"
        os.sched_yield()
    try:
        yield process.pid, member
    finally:
        send_signal({process.pid, member}, signal.SIGKILL)
        process.wait(PATIENCE)
        process.stdout.close()


def kill(pid: int) -> None:
    """Return when it is a zombie."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


WAYS = {
    "a background job": "sh -c 'echo $$; exec sleep 1000' &",
    "a setsid child": "setsid sh -c 'echo $$; exec sleep 1000' &",
    "a double-forked one in its own session": "(setsid sh -c 'echo $$; exec sleep 1000' &)",
    "one behind nohup": "nohup sh -c 'echo $$ >&3; exec sleep 1000' 3>&1 >/dev/null 2>&1 &",
    "a child without environment": "env -i /bin/sh -c 'echo $$; exec sleep 1000' &",
    "a child in its own session without environment": (
        "setsid env -i /bin/sh -c 'echo $$; exec sleep 1000' &"
    ),
    "a stopped one": "sh -c 'echo $$; kill -STOP $$' &",
}


@pytest.mark.parametrize("way", WAYS)
async def test_member_is_found(way: str) -> None:
    with started(WAYS[way]) as (leader, member):
        assert {leader, member} <= await find_members([Tree(leader, FEED)])


async def test_member_is_found_while_it_executes_one_program_after_the_other() -> None:
    again = 'exec "$0" -c "$1" "$0" "$1"'
    script = f'(setsid sh -c \'echo $$; exec "$0" -c "$1" "$0" "$1"\' /bin/sh \'{again}\' &)'
    with started(script) as (leader, member):
        for _ in range(100):
            assert {leader, member} <= await find_members([Tree(leader, FEED)])


class Exec:
    """Processes as the kernel shows them: no real one can be held in the middle of its exec."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def show(
        self,
        pid: int,
        environment: str = "",
        *,
        parent: int = 1,
        code: int = 0,
        ends: int = 0,
        started: int = 0,
        size: int = 1000,
    ) -> None:
        """`code` is where the program's code ends, `ends` where its environment begins and ends."""
        fields = ["0"] * 50
        fields[0], fields[1], fields[3] = "R", str(parent), str(pid)
        fields[19], fields[20] = str(started), str(size)
        fields[24], fields[47] = str(code), str(ends)
        fields[48] = str(ends + len(environment))
        process = self.folder / str(pid)
        process.mkdir(exist_ok=True)
        (process / "stat").write_text(f"{pid} (a name) {' '.join(fields)}")
        (process / "environ").write_text(environment)


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exec:
    monkeypatch.setattr(process_table, "_PROC", str(tmp_path))
    return Exec(tmp_path)


async def test_member_in_exec_is_waited_for_and_the_loop_goes_on(proc: Exec) -> None:
    proc.show(70)
    proc.show(71, f"{COOKIE}={FEED}\0", code=1, ends=9)
    proc.show(72, parent=70, code=1, ends=9)
    finding = asyncio.create_task(find_members([Tree(None, FEED)]))
    await asyncio.sleep(0)
    assert not finding.done(), "the loop goes on, and nothing is decided yet"
    proc.show(70, ends=9)  # the ends of its environment are equal before it is filled in
    await asyncio.sleep(0)
    proc.show(70, f"{COOKIE}={FEED}\0", code=1, ends=9)
    assert await finding == {70, 71, 72}


async def test_the_loop_goes_on_while_many_processes_are_looked_at(
    proc: Exec, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[str] = set()
    read = process_table._read

    def note(path: str) -> bytes:
        threads.add(threading.current_thread().name)
        return read(path)

    monkeypatch.setattr(process_table, "_read", note)
    proc.show(70, f"{COOKIE}={FEED}\0", code=1, ends=9)
    assert await find_members([Tree(None, FEED)]) == {70}
    assert threads == {threading.main_thread().name}, "a thread costs more than a few looks"
    threads.clear()
    monkeypatch.setattr(tree, "_MANY", 4)
    proc.show(71, f"{COOKIE}={FEED}\0", code=1, ends=9)
    assert await find_members([Tree(None, FEED)]) == {70, 71}
    assert threading.main_thread().name not in threads


@pytest.mark.parametrize("ends", [0, 9])
def test_one_look_names_those_in_exec_and_waits_for_nobody(proc: Exec, ends: int) -> None:
    proc.show(70, ends=ends)
    proc.show(71, f"{COOKIE}={FEED}\0", code=1, ends=9)
    assert look([Tree(None, FEED)]) == ({71}, {70})


def test_nobody_waits_for_a_process_that_has_no_environment(proc: Exec) -> None:
    proc.show(70, code=1, ends=9)
    assert look([Tree(None, FEED)]) == (set(), set())


def test_only_what_is_not_older_than_the_session_and_has_memory_is_read(proc: Exec) -> None:
    proc.show(70, started=6)  # in exec, as far as one can see
    proc.show(71, f"{COOKIE}={FEED}\0", code=1, ends=9, started=6)
    proc.show(72, started=5)
    proc.show(73, started=6, size=0)
    assert look([Tree(None, FEED, 6)]) == ({71}, {70})
    assert look([Tree(None, FEED, 6), Tree(None, "f00d", 5)]) == ({71}, {70, 72})


def test_child_is_not_older_than_its_parent() -> None:
    with started("sh -c 'echo $$; exec sleep 1000' &") as (leader, member):
        assert 0 < started_at(os.getpid()) <= started_at(leader) <= started_at(member)
    gone = subprocess.Popen(["true"])
    gone.wait(PATIENCE)
    assert started_at(gone.pid) == 0


def test_real_process_without_environment_is_known_as_such() -> None:
    with started(WAYS["a child in its own session without environment"]) as (_, member):
        deadline = time.monotonic() + PATIENCE
        while member in look([Tree(None, "f00d")]).executing:
            assert time.monotonic() < deadline, "it seems to be in exec for ever"


async def test_members_are_found_by_their_cookie_once_the_leader_is_reaped() -> None:
    with started(WAYS["a double-forked one in its own session"]) as (leader, member):
        kill(leader)
        assert await find_members([Tree(None, FEED)]) == {member}


# A daemon below a process that adopts orphans, as the keeper does. It starts a session in each way,
# and tells what it finds of it, with its leader and after that.
BELOW = """
import asyncio, ctypes, os, signal, subprocess, sys
from nacre.system.processes import tree
from nacre.system.processes.tree import COOKIE, Tree, find_members

ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
if daemon := os.fork():
    os.waitpid(daemon, 0)
    sys.exit()
tree.all_processes = None  # nobody looks through the whole machine
for way in sys.argv[1:]:
    leader = subprocess.Popen(
        ["/bin/bash", "-c", way + "\\nread x"], env={**os.environ, COOKIE: os.environ["FEED"]},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
    )
    member = int(leader.stdout.readline())
    known = Tree(leader.pid, os.environ["FEED"], reaper=os.getppid())
    with_leader = asyncio.run(find_members([known]))
    leader.kill()
    leader.wait()
    left = asyncio.run(find_members([known._replace(leader=None)]))
    os.kill(member, signal.SIGKILL)
    print({leader.pid, member} <= with_leader, member in left, os.getpid() in with_leader)
"""


def test_below_who_adopts_orphans_no_others_are_looked_at() -> None:
    ways = [way for name, way in WAYS.items() if "without environment" not in name]
    told = subprocess.run(
        [sys.executable, "-c", BELOW, *ways],
        env={**os.environ, "FEED": FEED},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert told.stdout == "True True False\n" * len(ways)


async def test_without_the_one_who_adopted_orphans_all_are_looked_at() -> None:
    with started(WAYS["a double-forked one in its own session"]) as (leader, member):
        elsewhere = Tree(leader, FEED, reaper=leader)  # not our parent
        assert {leader, member} <= await find_members([elsewhere])


def test_a_list_of_children_that_changes_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = iter([b"4 5 6 ", b"5 7 ", b"5 7 "])  # 4 ended during the first read, and 7 was left out
    monkeypatch.setattr(process_table, "_read_on", lambda path: next(reads))
    assert process_table._children_of("any") == [5, 7]


async def test_ended_members_do_not_count() -> None:
    with started("echo $$") as (leader, _):
        kill(leader)
        assert await find_members([Tree(leader, FEED)]) == set()


def test_our_own_process_is_no_member_even_with_the_cookie() -> None:
    program = (
        "import os; from nacre.system.processes.tree import Tree, look; "
        f"print(look([Tree(None, {FEED!r}), Tree(os.getsid(0), {FEED!r})]).members)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, COOKIE: FEED},
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    assert found.stdout == "set()\n"


async def test_another_sessions_processes_are_no_members() -> None:
    with (
        started(WAYS["a setsid child"], FEED) as (leader, member),
        started(WAYS["a setsid child"], "f00d") as (other, others_member),
    ):
        found = await find_members([Tree(leader, FEED)])
        assert found >= {leader, member}
        assert not found & {other, others_member, os.getpid(), os.getppid(), 1}


async def test_several_sessions_are_looked_for_at_once() -> None:
    with (
        started(WAYS["a setsid child"], FEED) as one,
        started(WAYS["a double-forked one in its own session"], "f00d") as other,
    ):
        found = await find_members([Tree(one[0], FEED), Tree(other[0], "f00d")])
        assert found == {*one, *other}
    assert await find_members([]) == set()


def test_signals_pass_over_those_that_are_gone() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait(PATIENCE)
    with started("echo $$") as (leader, _):
        send_signal([gone.pid, leader], signal.SIGTERM)
        found = os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
        assert found is not None
        assert found.si_status == signal.SIGTERM


@pytest.mark.parametrize(
    ("name", "number"),
    [("TERM", 15), ("SIGTERM", 15), ("sigterm", 15), ("term", 15), ("15", 15), ("9", 9)],
)
def test_signal_has_a_number_by_any_of_its_names(name: str, number: int) -> None:
    assert signal_number(name) == number


@pytest.mark.parametrize(
    "name", ["", "0", "-9", "NO", "SIG", "SIG_DFL", "_DFL", "999", "²", "٩", "1.5", "9" * 5000]
)
def test_what_is_no_signal_has_no_number(name: str) -> None:
    assert signal_number(name) is None


def test_every_signal_has_a_name() -> None:
    assert signal_name(9) == "SIGKILL"
    assert signal_name(40) == "SIG40", "a real-time signal without a name of its own"


def test_working_directory_is_the_process_s_own() -> None:
    with started("cd /usr; echo $$") as (leader, _):
        assert working_directory(leader) == "/usr"
    assert working_directory(leader) is None


@pytest.fixture
def ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A system without /proc, whose ps is the script that this is called with."""
    monkeypatch.setattr(tree, "_HAS_PROC", False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def write(script: str) -> None:
        program = tmp_path / "ps"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return write


async def test_the_loop_goes_on_while_ps_is_slow(ps: Callable[[str], None], tmp_path: Path) -> None:
    asked, go_on = tmp_path / "asked", tmp_path / "go_on"
    os.mkfifo(asked)
    os.mkfifo(go_on)
    with started(WAYS["a background job"]) as (leader, member):
        listed = f"{leader} 1 S\n{member} {leader} S\n"
        ps(f"echo now > {asked}; read x < {go_on}; printf '{listed}'")
        finding = asyncio.create_task(find_members([Tree(leader, FEED)]))
        # The loop opens both ends in threads: it would hang here, if it waited for ps itself.
        await asyncio.to_thread(asked.read_text)
        assert not finding.done()
        await asyncio.to_thread(go_on.write_text, "go\n")
        assert await finding == {leader, member}


async def test_where_ps_does_not_answer_the_leaders_are_known(
    ps: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = tmp_path / "never"
    os.mkfifo(never)
    ps(f"read x < {never}")
    monkeypatch.setattr(process_table, "_PS_TIME", 0.05)
    with started(WAYS["a background job"]) as (leader, _):
        assert await find_members([Tree(leader, FEED)]) == {leader}
