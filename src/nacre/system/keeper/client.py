"""The daemon's side of the keeper: what it stores there, and what it finds after a crash.

Rule 1: keys are paths; `drop` removes everything below one. A new value replaces the one under its
key.
Rule 2: a daemon without a keeper (by choice, or because the keeper was killed) works the same, but
stores nothing; `alive` says so.
"""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable

from nacre.system.keeper import keeper

_log = logging.getLogger("nacre.keeper")

_PACKET = 65536
_DESCRIPTORS = 253  # of one message, at most (SCM_MAX_FD)


class Keeping:
    def __init__(
        self,
        channel: socket.socket | None,
        last_status: int | None = None,
        *,
        reaper: int | None = None,
    ) -> None:
        """`reaper` is our parent if all orphans of our sessions become its children."""
        self._channel = channel
        self.reaper = reaper
        self.last_status = last_status  # how the daemon before this one ended, if there was one
        self.exits: dict[int, int] = {}  # of watched processes that ended without a daemon
        self.when_lost: Callable[[], None] | None = None
        self.when_changed: Callable[[], None] | None = None  # `alive` has changed
        self._on_exit: dict[int, Callable[[int], None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid: int | None = None  # of a keeper that we started; else it is our parent

    @classmethod
    def from_environment(cls) -> "Keeping":
        """Find the keeper that started us, and remove it from the environment."""
        descriptor = os.environ.pop(keeper.DESCRIPTOR, None)
        last = os.environ.pop(keeper.LAST_STATUS, None)
        reaps = os.environ.pop(keeper.REAPS, "0") == "1"
        if descriptor is None:
            return cls(None)
        os.set_inheritable(int(descriptor), False)
        channel = socket.socket(fileno=int(descriptor))
        reaper = os.getppid() if reaps else None
        return cls(channel, int(last) if last is not None else None, reaper=reaper)

    @property
    def alive(self) -> bool:
        return self._channel is not None

    @property
    def pid(self) -> int | None:
        if self._channel is None:
            return None
        return os.getppid() if self._pid is None else self._pid

    @property
    def crashed(self) -> bool:
        """Whether the daemon before this one crashed by itself, not by a kill or an upgrade."""
        if self.last_status is None or not os.WIFSIGNALED(self.last_status):
            return False
        return os.WTERMSIG(self.last_status) not in (9, 15)

    # --- at the start ----------------------------------------------------------------------

    def take(self) -> dict[str, int]:
        """Return everything that is stored, as our own descriptors.

        Blocks for some milliseconds.
        """
        taken: dict[str, int] = {}
        if self._channel is None:
            return taken
        self._channel.setblocking(True)
        try:
            self._take(self._channel, taken)
        except OSError:
            self._lost()
        return taken

    def _take(self, channel: socket.socket, taken: dict[str, int]) -> None:
        channel.send(b"TAKE")
        while True:
            data, descriptors, _flags, _address = socket.recv_fds(channel, _PACKET, _DESCRIPTORS)
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)  # our children must not get it
            word, _, rest = data.decode(errors="surrogateescape").partition(" ")
            if word == "HAVE":
                taken.update(zip(rest.split("\n"), descriptors, strict=True))
                channel.send(b"MORE")
            elif word == "EXIT":
                self._note_exit(rest)
            elif word == "END":
                for pair in rest.split():
                    pid, _, status = pair.partition(":")
                    self.exits[int(pid)] = int(status)
                return
            else:
                raise ConnectionResetError

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Receive exits from now on."""
        if self._channel is not None:
            self._channel.setblocking(False)
            self._loop = loop
            loop.add_reader(self._channel.fileno(), self._receive)

    def follow(self, channel: socket.socket, pid: int) -> None:
        """Use another keeper from now on, which we started ourselves."""
        assert self._loop is not None
        self._channel, self._pid = channel, pid
        channel.setblocking(False)
        self._loop.add_reader(channel.fileno(), self._receive)
        self._change()

    def leave(self, code: int) -> None:
        """Announce our exit code: a keeper that is not our parent cannot see it."""
        self._send(f"LEAVE {code}")

    def ready(self, log_file: str | None) -> None:
        """Say that we serve: from now on the keeper starts a new daemon if we die."""
        if log_file is not None:
            self._send(f"LOG {log_file}")
        self._send("READY")

    # --- keeping ---------------------------------------------------------------------------

    def keep(self, key: str, descriptor: int) -> None:
        """Give the keeper a duplicate of a descriptor."""
        if self._channel is not None:
            self._send(f"KEEP {key}", descriptor)

    def drop(self, prefix: str) -> None:
        self._send(f"DROP {prefix}")

    def watch(self, pid: int, ended: Callable[[int], None] | None = None) -> None:
        """Let the keeper remember a process's exit code if we die; `ended` gets its wait status."""
        if ended is not None:
            if pid in self.exits:
                asyncio.get_running_loop().call_soon(ended, self.exits.pop(pid))
            else:
                self._on_exit[pid] = ended
        self._send(f"WATCH {pid}")

    def forget(self, pid: int) -> None:
        self._on_exit.pop(pid, None)
        self.exits.pop(pid, None)
        self._send(f"FORGET {pid}")

    # --- the channel -----------------------------------------------------------------------

    def _send(self, message: str, *descriptors: int) -> None:
        channel = self._channel
        if channel is None:
            return
        # The keeper only reads, so if it lags, we can wait for it.
        channel.setblocking(True)
        try:
            # A path may be bytes that are not text.
            socket.send_fds(channel, [message.encode(errors="surrogateescape")], descriptors)
        except OSError:
            self._lost()
        else:
            channel.setblocking(False)

    def _receive(self) -> None:
        channel = self._channel
        while channel is not None and channel is self._channel:
            try:
                data = channel.recv(_PACKET)
            except BlockingIOError:
                return
            except ConnectionResetError:
                continue  # reported once, before the keeper's last messages
            except OSError:
                data = b""
            if not data:
                self._lost()
                return
            word, _, rest = data.decode().partition(" ")
            if word == "EXIT":
                self._note_exit(rest)

    def _note_exit(self, rest: str) -> None:
        pid, _, status = rest.partition(" ")
        ended = self._on_exit.pop(int(pid), None)
        if ended is not None:
            ended(int(status))
        else:
            self.exits[int(pid)] = int(status)

    def _lost(self) -> None:
        if self._channel is not None:
            if self._loop is not None:
                # Before it is closed: then its number may be reused for a terminal.
                self._loop.remove_reader(self._channel.fileno())
            self._channel.close()
            self._channel = None
            _log.warning(
                "the keeper is gone; sessions keep running, but would end with this daemon"
            )
            if self.when_lost is not None:
                self.when_lost()
            self._change()

    def _change(self) -> None:
        if self.when_changed is not None:
            self.when_changed()


def keeper_command(daemon: list[str]) -> list[str]:
    """Return the command that runs a daemon under a keeper."""
    return [sys.executable, "-I", "-S", keeper.__file__, *daemon]


def descriptor_limit() -> int | None:
    """Return the descriptor limit for sessions if a keeper started us, since it raised its own."""
    found = os.environ.pop(keeper.OPEN_FILES, None)
    return int(found) if found is not None else None
