"""Kills in the midst of output, and of the recovery from a kill: they cost no byte."""

import os
import random
import signal
import sys
from pathlib import Path

import printing
from conftest import Daemon
from crashing import (
    PRINTING,
    Twin,
    call,
    create,
    is_dead,
    kill,
    listed,
    next_pid,
    send,
    sight,
    until,
)

from crashes.conftest import Start


class Printers:
    """Programs that print at full speed, and a terminal beside each that nothing happens to."""

    def __init__(self, daemon: Daemon, count: int, lines: int) -> None:
        self.daemon = daemon
        self.names = [f"load{number}" for number in range(count)]
        self.blocks = [0] * count
        self.twins = [Twin(lines) for _ in self.names]
        self.pids: list[int] = []
        for number, name in enumerate(self.names):
            args = ["-S", "-E", PRINTING, str(number)]
            self.pids.append(create(daemon, name, sys.executable, args=args)["pid"])
        for name in self.names:
            until(daemon, name, text=":000")

    def toggle(self) -> None:
        """Have all of them stop, or go on."""
        for pid in self.pids:
            os.kill(pid, signal.SIGUSR1)

    def go_on(self) -> None:
        before = [call(self.daemon, "get_screen", session=name) for name in self.names]
        self.toggle()
        for name, seen in zip(self.names, before, strict=True):
            after = seen["generation"]
            call(self.daemon, "await_quiesce", session=name, timeout_ms=0, last_generation=after)

    def check(self) -> None:
        """Assert that all of them, once they have stopped, look like their twins."""
        for number, name in enumerate(self.names):
            until(self.daemon, name, text=" blocks")
            seen = sight(self.daemon, name)
            text = "".join(span["text"] for line in seen["screen"] for span in line)
            last = int(text.rpartition("printed ")[2].partition(" ")[0])
            self.twins[number].feed(printing.part(number, self.blocks[number], last))
            assert last > self.blocks[number]
            self.blocks[number] = last
            assert seen == self.twins[number].sight(), (name, last)


def test_kills_under_load_cost_no_byte(begin: Start) -> None:
    daemon = begin(scrollback=3000, journal_segment_bytes=300_000)
    printers = Printers(daemon, 8, 3000)
    moments = random.Random(4)
    for left in reversed(range(5)):
        for _ in range(moments.randrange(30)):
            call(daemon, "status")
        kill(daemon)
        printers.toggle()
        printers.check()
        if left:
            printers.go_on()


KILLED_IN_REPLAY = """
from nacre.services.recovery import screens as rebuilding
import pathlib
left = pathlib.Path({left!r})
rebuild = rebuilding.Screens._rebuild
def rebuild_and_die(self, *arguments):
    rebuilt = rebuild(self, *arguments)
    if (count := int(left.read_text())):
        left.write_text(str(count - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return rebuilt
rebuilding.Screens._rebuild = rebuild_and_die
"""


def test_kills_during_the_recovery_lose_nothing(begin: Start, tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.write_text("0")
    daemon = begin(doctored=KILLED_IN_REPLAY.format(left=str(left)), scrollback=1000)
    printers = Printers(daemon, 2, 1000)
    ended = create(daemon, "ends", "read line; exit 4")
    pid = kill(daemon)
    printers.toggle()
    for _ in range(2):  # as soon as the keeper has started it
        pid = kill(daemon, next_pid(daemon, pid))
    left.write_text("4")  # and in the middle of a session's replay
    printers.check()
    assert left.read_text() == "0"
    send(daemon, "ends", "\r")
    assert is_dead(daemon, "ends")
    assert listed(daemon)["ends"]["exit_code"] == 4
    assert listed(daemon)["ends"]["session_id"] == ended["session_id"]
