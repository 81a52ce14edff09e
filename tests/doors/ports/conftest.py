"""A daemon with ports of its own."""

import socket
from collections.abc import Iterator

import pytest

from conftest import PATIENCE, Daemon, start_daemon
from ranges import own_ports


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon for this file whose freed ports nobody else takes."""
    started = start_daemon(tmp_path_factory.mktemp("home"), first_session_port=own_ports())
    yield started
    assert started.stop() == 0
