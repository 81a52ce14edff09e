"""Everything that a session started is found, and nobody else."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.system.processes import (
    COOKIE,
    Tree,
    find_members,
    send_signal,
    signal_name,
    signal_number,
    working_directory,
)

PATIENCE = 60.0  # seconds until an event that does not come fails the test


@contextmanager
def started(script: str, cookie: str = "feed") -> Iterator[tuple[int, int]]:
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
def test_member_is_found(way: str) -> None:
    with started(WAYS[way]) as (leader, member):
        assert {leader, member} <= find_members([Tree(leader, "feed")])


def test_member_is_found_while_it_executes_one_program_after_the_other() -> None:
    again = 'exec "$0" -c "$1" "$0" "$1"'
    script = f'(setsid sh -c \'echo $$; exec "$0" -c "$1" "$0" "$1"\' /bin/sh \'{again}\' &)'
    with started(script) as (leader, member):
        for _ in range(300):
            assert {leader, member} <= find_members([Tree(leader, "feed")])


def test_members_are_found_by_their_cookie_once_the_leader_is_reaped() -> None:
    with started(WAYS["a double-forked one in its own session"]) as (leader, member):
        os.kill(leader, signal.SIGKILL)
        os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
        assert find_members([Tree(None, "feed")]) == {member}


def test_ended_members_do_not_count() -> None:
    with started("echo $$") as (leader, _):
        os.kill(leader, signal.SIGKILL)
        os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)  # a zombie now
        assert find_members([Tree(leader, "feed")]) == set()


def test_our_own_process_is_no_member_even_with_the_cookie() -> None:
    program = (
        "import os; from nacre.system.processes import Tree, find_members; "
        "print(find_members([Tree(None, 'feed'), Tree(os.getsid(0), 'feed')]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, COOKIE: "feed"},
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    assert found.stdout == "set()\n"


def test_another_sessions_processes_are_no_members() -> None:
    with (
        started(WAYS["a setsid child"], "feed") as (leader, member),
        started(WAYS["a setsid child"], "f00d") as (other, others_member),
    ):
        found = find_members([Tree(leader, "feed")])
        assert found >= {leader, member}
        assert not found & {other, others_member, os.getpid(), os.getppid(), 1}


def test_several_sessions_are_looked_for_at_once() -> None:
    with (
        started(WAYS["a setsid child"], "feed") as one,
        started(WAYS["a double-forked one in its own session"], "f00d") as other,
    ):
        found = find_members([Tree(one[0], "feed"), Tree(other[0], "f00d")])
        assert found == {*one, *other}
    assert find_members([]) == set()


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
