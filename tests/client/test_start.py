"""Connections to a daemon that is there, or about to be."""

import fcntl
import os
import socket
import threading
from pathlib import Path

import pytest

from conftest import PATIENCE
from nacre.client import start
from nacre.client.lock import acquire
from nacre.client.start import connect, connect_started
from nacre.errors import DaemonUnreachable
from nacre.settings.paths import find_paths


def test_a_daemon_that_somebody_starts_just_now_is_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = find_paths({"NACRE_HOME": str(tmp_path)})
    gate = start._open_gate(paths)
    fcntl.flock(gate, fcntl.LOCK_EX)
    looked = threading.Event()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    first_look = start._connected

    def look(path: str) -> socket.socket | None:
        found = first_look(path)
        looked.set()
        return found

    def listen_and_open_the_gate() -> None:
        assert looked.wait(PATIENCE)
        os.makedirs(paths.runtime, exist_ok=True)
        listener.bind(paths.socket)
        listener.listen()
        os.close(gate)

    monkeypatch.setattr(start, "_connected", look)
    starter = threading.Thread(target=listen_and_open_the_gate)
    starter.start()
    try:
        connection = connect_started(paths, PATIENCE)
        assert connection is not None
        connection.close()
    finally:
        starter.join()
        listener.close()


def test_nobody_is_awaited_where_no_daemon_is_being_started(tmp_path: Path) -> None:
    paths = find_paths({"NACRE_HOME": str(tmp_path)})
    assert connect_started(paths, PATIENCE) is None
    os.close(start._open_gate(paths))  # one was started before
    assert connect_started(paths, PATIENCE) is None


def test_a_daemon_whose_socket_is_missing_is_not_said_to_be_none(tmp_path: Path) -> None:
    paths = find_paths({"NACRE_HOME": str(tmp_path)})
    os.makedirs(paths.state)
    held = acquire(paths)
    assert held is not None
    try:
        with pytest.raises(DaemonUnreachable, match="its socket is missing"):
            connect(paths)
    finally:
        os.close(held)
    with pytest.raises(DaemonUnreachable, match="no daemon is running"):
        connect(paths)
