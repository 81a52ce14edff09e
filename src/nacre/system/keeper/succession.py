"""Replace a keeper that was killed, so that a crash of the daemon still loses no session.

The new keeper is a child of the daemon, which gives it duplicates of all that it holds itself:
lock, sockets, terminals, rings. From then on everything is as before, with one difference:
processes of sessions that exist already do not become the new keeper's children when the daemon
dies, so their exit codes are unknown if they end after that.

Rule 1: Linux only: elsewhere there is no pidfd by which the keeper could see the daemon's end.
Rule 2: a keeper that does not come up is tried again after a growing pause; status says meanwhile
that a crash would lose the sessions.
"""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Collection
from contextlib import suppress

from nacre.system.keeper import keeper
from nacre.system.keeper.client import Keeping

_log = logging.getLogger("nacre.keeper")

_PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 60.0)  # seconds before each further attempt
_STEADY = 10.0  # seconds after which a keeper counts as healthy


class Succession:
    def __init__(
        self,
        keeping: Keeping,
        hand_over: Callable[[], None],
        *,
        open_files: int,
        umask: int,
        ignored: Collection[int],
        wanted: bool,
    ) -> None:
        """`hand_over` keeps everything anew; the rest is what a keeper was started with."""
        self._keeping = keeping
        self._hand_over = hand_over
        self._open_files = open_files
        self._umask = umask
        self._ignored = ignored
        self._loop = asyncio.get_running_loop()
        self._started = -_STEADY
        self._failures = 0
        self._timer: asyncio.TimerHandle | None = None
        if wanted and hasattr(os, "pidfd_open"):
            keeping.when_lost = self._lost
            if not keeping.alive:  # it was lost while we started
                self._lost()

    def end(self) -> None:
        """Start no further keeper: the daemon is stopping."""
        self._keeping.when_lost = None
        if self._timer is not None:
            self._timer.cancel()

    def _lost(self) -> None:
        if self._loop.time() - self._started >= _STEADY:
            self._failures = 0
        pause = _PAUSES[min(self._failures, len(_PAUSES) - 1)]
        self._failures += 1
        self._timer = self._loop.call_later(pause, self._start)

    def _start(self) -> None:
        self._started = self._loop.time()
        try:
            ours, process = self._spawn()
            self._reap_later(process)
        except OSError as error:
            _log.error("no keeper can be started", extra={"error": str(error)})
            self._lost()
            return
        self._loop.add_reader(ours.fileno(), self._came_up, ours, process.pid)

    def _spawn(self) -> "tuple[socket.socket, subprocess.Popen[bytes]]":
        ours, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
        ours.setblocking(False)
        ignored = ",".join(str(int(number)) for number in self._ignored)
        words = ["--adopt", str(theirs.fileno()), str(os.getpid()), ignored]
        with theirs:
            try:
                process = subprocess.Popen(
                    [
                        *(sys.executable, "-I", "-S", keeper.__file__, *words),
                        *(sys.executable, *sys.orig_argv[1:]),
                    ],
                    env={**os.environ, keeper.OPEN_FILES: str(self._open_files)},
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    umask=self._umask,
                )
            except OSError:
                ours.close()
                raise
        return ours, process

    def _came_up(self, channel: socket.socket, pid: int) -> None:
        """Give the new keeper everything, once it listens: until then we would wait for it."""
        self._loop.remove_reader(channel.fileno())
        try:
            came = channel.recv(16) == b"HERE"
        except OSError:
            came = False
        if not came:
            channel.close()
            _log.error("a new keeper did not come up")
            self._lost()
            return
        self._keeping.follow(channel, pid)
        self._hand_over()
        if self._keeping.alive:
            _log.warning("a new keeper holds the sessions", extra={"pid": pid})

    def _reap_later(self, process: "subprocess.Popen[bytes]") -> None:
        descriptor = os.pidfd_open(process.pid)

        def ended() -> None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
            with suppress(ChildProcessError):
                process.wait()

        self._loop.add_reader(descriptor, ended)
