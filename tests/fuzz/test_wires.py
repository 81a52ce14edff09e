"""Nonsense on every wire, with a fixed seed: nothing crashes, others are answered, nothing grows.

What the daemon must never do is fail in a way that nobody thought of: an unexpected error in an
answer, or a traceback in its log. `bench/fuzz.py` does the same for minutes, with other seeds, and
measures what others wait.
"""

import os
import random
from collections.abc import Iterator
from contextlib import suppress

import pytest

from conftest import Daemon
from fuzz.conftest import DaemonLog, deadline
from fuzz.visit import Target, Visit
from fuzz.wires import WIRES
from nacre.client.calls import AnsweredError, Client
from nacre.settings.paths import find_paths

SESSIONS = ("one", "two")
VISITS = 40
SLOW = {"bridge": 1}  # a process each


@pytest.fixture
def target(daemon: Daemon, other: Client) -> Iterator[Target]:
    # Nonsense may redirect: not into the folder that the tests are run in.
    where = {"cwd": daemon.env["HOME"], "command": "bash --norc"}
    made = [other.call("create_session", name=name, **where) for name in SESSIONS]
    state = daemon.state
    ports = (state["port"], daemon.token, state["ndjson_port"], made[0]["port"])
    yield Target(find_paths(daemon.env).socket, *ports, daemon.env, SESSIONS)
    end_all(other)


def end_all(other: Client) -> None:
    for session in other.call("list_sessions", max_chars=10_000_000)["sessions"]:
        with suppress(AnsweredError):  # it has just ended by itself
            other.call("manage_session", session=session["session_id"], action="kill")


@pytest.mark.parametrize("wire", list(WIRES))
def test_nonsense_harms_nobody(
    wire: str, daemon: Daemon, other: Client, target: Target, log: DaemonLog
) -> None:
    pid = daemon.pid
    for number in range(SLOW.get(wire, VISITS)):
        WIRES[wire](Visit(target, random.Random(f"suite:{wire}:{number}")))
        # Another client is served meanwhile, by the same daemon.
        assert other.call("status")["pid"] == pid
    assert target.found == []
    assert log.failures() == []


def test_nothing_is_left_of_those_who_left(daemon: Daemon, other: Client, target: Target) -> None:
    def descriptors() -> int:
        return len(os.listdir(f"/proc/{daemon.pid}/fd"))

    end_all(other)
    before = descriptors()
    for wire in ("socket", "ws json", "rest"):
        for number in range(10):
            WIRES[wire](Visit(target, random.Random(f"left:{wire}:{number}")))
    end_all(other)
    # Connections end in the loop's next turns, and killed sessions when their programs have gone.
    for _ in deadline():
        if descriptors() <= before:
            break
        other.call("status")
