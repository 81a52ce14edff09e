"""A daemon that is ended by force starts no other keeper, and no keeper the next daemon."""

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import PATIENCE
from nacre.client import force
from nacre.client.lock import is_free
from nacre.settings.paths import Paths, find_paths
from nacre.system.keeper import keeper

# What locks the home, and starts the next keeper when the one that it has is gone. That one starts
# `sleep` when this process has ended.
DAEMON = """
import fcntl, os, socket, subprocess, sys
home, keeper = sys.argv[1:]
lock = os.open(home, os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)
first = subprocess.Popen(["sleep", "1000"])
print(first.pid, flush=True)
first.wait()
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
words = ["-I", "-S", keeper, "--adopt", str(theirs.fileno()), str(os.getpid()), ""]
words = [sys.executable, *words, "/bin/sleep", "1000"]
second = subprocess.Popen(words, pass_fds=[theirs.fileno()])
print(second.pid, flush=True)
second.wait()
"""


@contextmanager
def serving(paths: Paths) -> Iterator["subprocess.Popen[str]"]:
    os.makedirs(paths.state, mode=0o700)
    words = [sys.executable, "-c", DAEMON, paths.state, keeper.__file__]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        yield process


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def test_daemon_starts_no_keeper_while_it_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = find_paths({"NACRE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)})
    signalled, further = force._signal, list[str]()
    with serving(paths) as daemon:
        assert daemon.stdout is not None
        first = int(daemon.stdout.readline())

        def holders(_: Paths) -> list[int]:
            return [] if is_free(paths) else [first, daemon.pid]

        def signal_slowly(pids: Collection[int], number: int) -> None:
            """Signal the keeper, and the daemon only when it has had time for the next keeper."""
            for pid in pids:
                signalled([pid], number)
                if (pid, number) == (first, signal.SIGKILL) and state_of(daemon.pid) not in "tT":
                    assert daemon.stdout is not None
                    further.append(daemon.stdout.readline())

        monkeypatch.setattr(force, "all_holders", holders)
        monkeypatch.setattr(force, "_signal", signal_slowly)
        force.end_by_force(paths, 0)
        assert daemon.wait(PATIENCE) < 0
        assert not further, "it started another keeper"


def test_keeper_that_a_daemon_has_just_started_goes_with_it(tmp_path: Path) -> None:
    paths = find_paths({"NACRE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)})
    with serving(paths) as daemon:
        assert daemon.stdout is not None
        os.kill(int(daemon.stdout.readline()), 9)
        second = int(daemon.stdout.readline())
        forced = force.end_by_force(paths, 0)
        assert set(forced.daemons) == {second, daemon.pid}
        assert (forced.programs, forced.left) == ([], [])
