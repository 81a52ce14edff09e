"""Lines typed without a pause by attach's own connection, and the daemon killed a hundred times.

The program writes down what it gets. No line may come twice, out of order or in halves; what is
missing must have been told as dropped, since a kill can hit the very moment of a write.
Other numbers: `python bench/keys.py KILLS SECONDS`. After so many seconds (600) there are no more
kills, and what was seen is told. The exit code is 1 if something was lost in silence.
"""

import json
import os
import random
import select
import socket
import sys
import time
from pathlib import Path

from crash import PATIENCE, Daemon, daemon
from nacre.cli.attach.connection import Connection
from nacre.client.greeting import greeting, read_line
from nacre.client.start import connect
from nacre.settings.paths import find_paths

from scratch import scratch_environment, table

PAUSE = 0.0005  # seconds between two lines
LONGEST_LIFE = 0.3  # seconds until the next kill
END = b"end\n"


class Typist:
    """Types numbered lines, whatever happens to the daemon."""

    def __init__(self, session: str) -> None:
        self._session = session
        hello, rest = read_line(door := self._knock())
        self._connection = Connection(door, rest, self._knock, hello)
        self.lines = self.drops = 0

    def _knock(self) -> socket.socket:
        door = connect(find_paths())
        named = {"client_id": "keys", "typing": "00000000000000a1"}
        door.sendall(greeting("attach", person=True, session=self._session, **named))
        return door

    def work(self, until: float, *, last: bytes = b"") -> None:
        """Type lines until a time, or the last ones."""
        while time.monotonic() < until and not last:
            self._connection.type(b"%06d\n" % self.lines)
            self.lines += 1
            self._exchange(PAUSE)
        if last:
            self._connection.type(b"\n")  # ends what may be dropped now
            self._connection.type(last)
            self._exchange(0)

    def _exchange(self, patience: float) -> None:
        connection = self._connection
        writing = [connection] if connection.sending else []
        ready, writable, _ = select.select([connection], writing, [], patience)
        if writable:
            connection.send()
        if not ready:
            return
        if not connection.receive():
            connection.knock_again(time.monotonic())
            return
        for line in connection.lines():
            if not connection.inside:
                connection.come_in(line)
            elif (message := json.loads(line)).keys() & {"typing", "taken", "dropped"}:
                self.drops += bool(connection.take_receipt(message))
            elif "snapshot" in message:
                connection.has_painted()

    def finish(self, written: Path) -> None:
        self.work(0, last=END)
        end = time.monotonic() + PATIENCE
        while not written.read_bytes().endswith(END):
            assert time.monotonic() < end, "the last line never came"
            self._exchange(0.05)


def main() -> int:
    given = [int(word) for word in sys.argv[1:]]
    kills, seconds = given + [100, 600][len(given) :]
    chance = random.Random(11)
    with scratch_environment(keeper=True) as env, daemon(env):
        os.environ.update(env)
        written = Path(env["HOME"]) / "written"
        control = Daemon(env)
        command = f"stty raw -echo; echo ready; exec cat > {written}"
        session = control.call("create_session", command=command, keep=True)["session_id"]
        control.call("wait_for", session=session, text="ready")
        typist = Typist(session)
        end = time.monotonic() + seconds
        killed = 0
        while killed < kills and time.monotonic() < end:
            killed += 1
            typist.work(time.monotonic() + chance.uniform(0, LONGEST_LIFE))
            control.call("status")  # it is up, and its state file is its own
            control.kill()
        typist.work(time.monotonic() + LONGEST_LIFE)
        typist.finish(written)
        control.hang_up()
        got = [line for line in written.read_bytes().split(b"\n") if line not in (b"", b"end")]
    whole = [line for line in got if len(line) == 6 and line.isdigit()]
    missing = typist.lines - len(set(whole))
    table(
        ("kills", "lines", "twice", "halves", "in order", "drops told", "lines in them"),
        (
            *(killed, typist.lines, len(whole) - len(set(whole)), len(got) - len(whole)),
            *(whole == sorted(whole), typist.drops, missing),
        ),
    )
    silent = missing and not typist.drops
    return int(len(whole) != len(set(whole)) or whole != sorted(whole) or bool(silent))


if __name__ == "__main__":
    sys.exit(main())
