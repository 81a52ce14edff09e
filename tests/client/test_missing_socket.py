"""What a running daemon makes again is awaited; where none runs, nobody waits."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import PATIENCE
from nacre.client import missing_socket
from nacre.client.lock import acquire
from nacre.client.missing_socket import made_again
from nacre.client.start import connect
from nacre.errors import DaemonUnreachable
from nacre.settings.paths import Paths, find_paths

# Locks the home like a daemon, says so, and ends with its input.
HOLDER = """
import sys
from nacre.client.lock import acquire
from nacre.settings.paths import find_paths
held = acquire(find_paths())
print(held, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = find_paths({"NACRE_HOME": str(tmp_path)})
    os.makedirs(found.state)
    return found


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when somebody begins to wait; who waits looks only when something has happened."""
    begun = threading.Event()
    wait = missing_socket._await_event

    def watched(*given: object) -> None:
        begun.set()
        wait(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(missing_socket, "_await_event", watched)
    monkeypatch.setattr(missing_socket, "_LOOK", PATIENCE)
    return begun


@contextmanager
def held(paths: Paths) -> Iterator[Callable[[], None]]:
    """Hold the lock; what this yields gives it up."""
    env = {**os.environ, "NACRE_HOME": paths.config}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process.kill


def after(begun: threading.Event, act: Callable[[], None]) -> threading.Thread:
    def wait_and_act() -> None:
        assert begun.wait(PATIENCE)
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    return thread


def test_socket_that_is_missing_is_awaited(paths: Paths, waits: threading.Event) -> None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def listen() -> None:
        os.makedirs(paths.runtime)
        listener.bind(paths.runtime + "/made")
        listener.listen()
        os.rename(paths.runtime + "/made", paths.socket)

    with held(paths):
        actor = after(waits, listen)
        began = time.monotonic()
        connect(paths, patience=PATIENCE).close()
        actor.join()
        listener.close()
    assert time.monotonic() - began < PATIENCE


def test_end_of_the_daemon_ends_the_wait(paths: Paths, waits: threading.Event) -> None:
    with held(paths) as give_up:
        actor = after(waits, give_up)
        began = time.monotonic()
        with pytest.raises(DaemonUnreachable, match="no daemon is running"):
            connect(paths, patience=PATIENCE)
        actor.join()
    assert time.monotonic() - began < PATIENCE


def test_wait_is_bounded(paths: Paths) -> None:
    lock = acquire(paths)
    assert lock is not None
    try:
        with pytest.raises(DaemonUnreachable, match="was not made again") as told:
            connect(paths, patience=0.01)
    finally:
        os.close(lock)
    assert "nacre stop" in str(told.value)


def test_nobody_waits_where_no_daemon_runs(paths: Paths, waits: threading.Event) -> None:
    assert made_again(paths, lambda: None, PATIENCE) is None
    assert not waits.is_set()
