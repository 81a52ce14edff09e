"""One connection of a client that means harm: connect, send, read a while, leave somehow.

Rule 1: a visit raises for nothing that the daemon may do: refuse, close, say nothing. What it must
not do is an unexpected error in an answer; those are put into `Target.found`.
Rule 2: a visit takes milliseconds. What would be answered late is left: that is a case, too.
"""

import json
import random
import select
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fuzz.damage import Damage
from nacre.settings.paths import SocketAddress

ANSWER = 0.5  # seconds to read for an answer that should come
SILENCE = 0.02  # seconds without a byte after which nothing more is read

# An operation, or a door, has failed in a way that nobody thought of.
UNEXPECTED = (b"INTERNAL_ERROR", b"unexpected error", b"HTTP/1.1 500", b'"code":-32603')
_KEPT = 3000  # bytes of what was sent last, for who looks for the reason


@dataclass
class Target:
    """A daemon, as its clients know it; `sessions` are two that live, by name."""

    socket: str
    port: int
    token: str
    ndjson_port: int
    session_port: int
    env: dict[str, str]
    sessions: tuple[str, ...]
    found: list[str] = field(default_factory=list)  # answers that are defects


class Visit:
    def __init__(self, target: Target, dice: random.Random) -> None:
        self.target = target
        self.dice = dice
        self.damage = Damage(dice, target.sessions, target.env["HOME"])
        self._sent = b""

    def local(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        with SocketAddress(self.target.socket) as address:
            connection.connect(address)
        return connection

    def tcp(self, port: int) -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), timeout=30)

    def greeting(self, door: str, **more: Any) -> bytes:
        hello: dict[str, Any] = {"nacre": 1, "door": door, "version": "0", **more}
        if self.dice.random() < 0.08:
            hello[self.dice.choice(list(hello))] = self.damage.value()
        hello |= {"cwd": self.target.env["HOME"], "env": {"LANG": "C"}}
        data = json.dumps(hello).encode()
        return (self.damage.damaged(data) if self.dice.random() < 0.08 else data) + b"\n"

    def send(self, connection: socket.socket, *parts: bytes) -> None:
        """Send, whole or in pieces; a connection that is closed meanwhile takes no more."""
        data = b"".join(parts)
        self._sent = (self._sent + data)[-_KEPT:]
        pieces = self.dice.choice((0, 0, 1, 3))
        cuts = sorted(self.dice.randint(0, len(data)) for _ in range(pieces))
        connection.settimeout(ANSWER)
        with suppress(OSError):
            for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
                connection.sendall(data[begin:end])

    def read(
        self, connection: socket.socket, until: bytes = b"", patience: float = ANSWER
    ) -> bytes:
        """Read until these bytes, the end, or silence."""
        found = b""
        deadline = time.monotonic() + patience
        with suppress(OSError):
            while not (until and until in found):
                wait = deadline - time.monotonic() if until else SILENCE
                if wait <= 0 or not select.select([connection], [], [], wait)[0]:
                    break
                part = connection.recv(1 << 20)
                if not part:
                    break
                found = found[-100:] + part
                self.judge(part)
        return found

    def judge(self, answer: bytes) -> None:
        for mark in UNEXPECTED:
            if (at := answer.find(mark)) >= 0:
                told = answer[max(0, at - 300) : at + 300]
                self.target.found.append(f"{told!r}\nafter {self._sent!r}")
                return

    def leave(self, connection: socket.socket) -> None:
        """Close: politely, by a reset, or one side first."""
        how = self.dice.randrange(4)
        with suppress(OSError):
            if how == 0:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif how == 1:
                connection.shutdown(socket.SHUT_WR)
                self.read(connection)
        connection.close()
