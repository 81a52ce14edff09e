"""One daemon for all of these, and another client of it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PATIENCE, Daemon, load_all, start_daemon
from nacre.client.calls import Client
from nacre.client.start import connect
from nacre.settings.paths import find_paths


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    settings = {"ended_keep": 1, "max_ended": 0, "approval_wait_alone": 0}
    home = tmp_path_factory.mktemp("home")
    started = start_daemon(home, ndjson_enabled=1, ndjson_port=0, **settings)
    load_all(started.env)
    yield started
    assert started.stop() == 0


@pytest.fixture
def other(daemon: Daemon) -> Iterator[Client]:
    """A client that means no harm."""
    with Client(connect(find_paths(daemon.env)), timeout=PATIENCE) as client:
        yield client


class DaemonLog:
    """What the daemon logs from now on; every line of it must be a record."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._from = path.stat().st_size

    def failures(self) -> list[str]:
        with self._path.open() as log:
            log.seek(self._from)
            records = [json.loads(line) for line in log]
        return [str(one) for one in records if one["level"] in ("error", "critical")]


@pytest.fixture
def log(daemon: Daemon) -> DaemonLog:
    return DaemonLog(daemon.home / "daemon.log")


def deadline() -> Iterator[None]:
    """Go on until an event that does not come fails the test."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield
    raise AssertionError("it did not come to that")
