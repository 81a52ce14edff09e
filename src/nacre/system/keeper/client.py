"""The daemon's side of the keeper: what it stores there, and what it finds after a crash.

Rule 1: keys are paths; `drop` removes everything below one. A new value replaces the one under its
key.
Rule 2: a daemon without a keeper (by choice, or because the keeper was killed) works the same, but
stores nothing; `alive` says so.
Rule 3: a keeper that takes nothing (stopped, hung) holds nobody up: what it should know waits here,
and after a while it is killed, so that another one takes its place (succession.py).
"""

import asyncio
import logging
import os
import select
import signal
import socket
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from nacre.system.keeper import keeper

_log = logging.getLogger("nacre.keeper")

_PACKET = 65536
_DESCRIPTORS = 253  # of one message, at most (SCM_MAX_FD)
_LAG = 0.1  # seconds that a keeper may lag while we wait for it


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
        self._parent = os.getppid()
        self._outbox: deque[tuple[bytes, list[int]]] = deque()  # with descriptors of our own
        self._timer: asyncio.TimerHandle | None = None
        self.give_up_after()

    def give_up_after(self, *, seconds: float = 10.0, messages: int = 4096) -> None:
        """Give a keeper up that takes nothing for so long, or for which so many messages wait."""
        self._patience, self._most_waiting = seconds, messages

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
        data = message.encode(errors="surrogateescape")  # a path may be bytes that are not text
        if self._outbox or not self._is_sent(channel, data, descriptors, patience=_LAG):
            self._queue(channel, data, descriptors)

    def _is_sent(
        self, channel: socket.socket, data: bytes, descriptors: Sequence[int], *, patience: float
    ) -> bool:
        """Send a message, if the keeper takes it in time. What nobody can get any more is sent."""
        if self._loop is None:
            channel.setblocking(True)  # nobody else is served yet
        try:
            socket.send_fds(channel, [data], descriptors)
        except BlockingIOError:
            poll = select.poll()
            poll.register(channel, select.POLLOUT)
            if not patience or not poll.poll(patience * 1000):
                return False
            return self._is_sent(channel, data, descriptors, patience=0)
        except OSError:
            self._lost()
        return True

    def _queue(self, channel: socket.socket, data: bytes, descriptors: Sequence[int]) -> None:
        assert self._loop is not None
        if not self._outbox:
            self._loop.add_writer(channel.fileno(), self._flush)
            self._timer = self._loop.call_later(self._patience, self._give_up)
        try:
            self._outbox.append((data, [os.dup(one) for one in descriptors]))
        except OSError:  # no descriptor is left for it
            self._give_up()
        if len(self._outbox) > self._most_waiting:
            self._give_up()

    def _flush(self) -> None:
        while self._outbox and self._channel is not None:
            data, descriptors = self._outbox[0]
            if not self._is_sent(self._channel, data, descriptors, patience=0):
                return
            if self._outbox:  # else it was lost
                self._outbox.popleft()
                _close_all(descriptors)
                self._wait_again()
        if self._channel is not None:
            self._end_waiting(self._channel)

    def _wait_again(self) -> None:
        assert self._loop is not None
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._patience, self._give_up)

    def _end_waiting(self, channel: socket.socket) -> None:
        """Nothing waits any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            assert self._loop is not None
            self._loop.remove_writer(channel.fileno())
        while self._outbox:
            _close_all(self._outbox.popleft()[1])

    def _give_up(self) -> None:
        """Kill a keeper that takes nothing. What it holds we hold as well."""
        pid = self._parent if self._pid is None else self._pid
        _log.error("the keeper takes nothing: another one replaces it", extra={"pid": pid})
        if hasattr(os, "pidfd_open"):  # else it may not be replaced either
            with suppress(OSError):
                pinned = os.pidfd_open(pid)  # whoever has its number later is not meant
                try:
                    if self._pid is not None or os.getppid() == pid:
                        signal.pidfd_send_signal(pinned, signal.SIGKILL)
                finally:
                    os.close(pinned)
        self._lost()

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
            self._end_waiting(self._channel)
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


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def descriptor_limit() -> int | None:
    """Return the descriptor limit for sessions if a keeper started us, since it raised its own."""
    found = os.environ.pop(keeper.OPEN_FILES, None)
    return int(found) if found is not None else None
