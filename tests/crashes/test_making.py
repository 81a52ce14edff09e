"""Kills while sessions are being made: each is whole or nothing."""

import random
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from crashing import (
    answering,
    call,
    call_once,
    crash,
    create,
    daemon_children,
    kill,
    listed,
    members,
    until,
)
from nacre.errors import DaemonRestarted

from crashes.conftest import Start

# Dies at a place in the making of a session, which a file names; once.
DIES_AT = """
import pathlib, subprocess
from nacre.system.keeper import client as keeping
from nacre.system.processes import pty
from nacre.services.session import session
place = pathlib.Path({place!r})
def die_at(name):
    if place.exists() and place.read_text() == name:
        place.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
class Popen(subprocess.Popen):
    def __init__(self, *args, **kw):
        die_at("before the process")
        super().__init__(*args, **kw)
        die_at("after the process")
class Subprocess:
    DEVNULL = subprocess.DEVNULL
Subprocess.Popen = Popen
pty.subprocess = Subprocess
keep = keeping.Keeping.keep
def keep_and_die(self, key, descriptor):
    keep(self, key, descriptor)
    for word in ("port", "ring", "master"):
        if word in key:
            die_at(f"after keeping the {{word}}")
keeping.Keeping.keep = keep_and_die
watch = keeping.Keeping.watch
def watch_and_die(self, *args):
    watch(self, *args)
    die_at("after watching")
keeping.Keeping.watch = watch_and_die
"""
PLACES = (
    *("after keeping the port", "after keeping the ring", "after keeping the master"),
    *("before the process", "after the process", "after watching"),
)


def test_sessions_that_were_being_made_are_whole_or_nothing(begin: Start, tmp_path: Path) -> None:
    place = tmp_path / "place"
    daemon = begin(doctored=DIES_AT.format(place=str(place)))
    first = create(daemon, "first", "exec cat")
    keeper = Path(f"/proc/{daemon.process.pid}/fd")
    crash(daemon)  # the keeper reads all that it was told before it starts the next
    answering(daemon)
    held = len(list(keeper.iterdir()))
    for number, where in enumerate(PLACES):
        place.write_text(where)
        with pytest.raises(DaemonRestarted):
            call_once(daemon, "create_session", name=f"half{number}", command="echo made; exec cat")
        answering(daemon)
        assert not place.exists()
    details = listed(daemon)
    assert details["first"]["pid"] == first["pid"]
    halves = [one for name, one in details.items() if name.startswith("half")]
    for one in halves:
        if one["alive"]:
            until(daemon, one["name"], text="made")
        call(daemon, "manage_session", session=one["name"], action="kill")
        assert members(one["session_id"]) == []
    assert {one["name"] for one in halves} >= {"half4", "half5"}, "their processes were there"
    assert list(listed(daemon)) == ["first"]
    crash(daemon)
    answering(daemon)
    assert len(list(keeper.iterdir())) == held, "something of them is left with the keeper"
    assert daemon_children(daemon) == {first["pid"]}


def test_creations_with_kills_in_between_leave_no_orphan(begin: Start) -> None:
    daemon = begin()
    moments = random.Random(20)
    made = []
    for number in range(20):
        killing = number % 5 == 4
        timer = threading.Timer(moments.random() / 200, kill, (daemon,)) if killing else None
        if timer is not None:
            timer.start()
        with suppress(DaemonRestarted):
            created = call_once(daemon, "create_session", name=f"s{number}", command="exec cat")
            made.append(created["session_id"])
        if timer is not None:
            timer.join()
            answering(daemon)
    details = {one["session_id"]: one for one in listed(daemon).values()}
    assert details.keys() >= set(made)
    assert all(details[known]["alive"] for known in made)
    for known in details:
        call(daemon, "manage_session", session=known, action="kill")
    assert daemon_children(daemon) == set()
    assert listed(daemon) == {}
