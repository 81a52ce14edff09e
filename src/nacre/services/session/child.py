"""A session's child: its process, its terminal, and the input that waits for it.

A restart creates a new one.

Rule 1: output is read only as fast as it can be handled, and goes into the ring first.
Rule 2: a child that an earlier daemon started works like our own; the keeper knows its exit code.
"""

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from signal import SIGINT

from nacre.errors import Failed
from nacre.services.host.host import Host
from nacre.services.session.input_queue import InputQueue
from nacre.services.session.record import Secrets, SessionRecord
from nacre.system.processes.exits import Ending
from nacre.system.processes.foreground import TerminalFacts, sample
from nacre.system.processes.integration import integrate
from nacre.system.processes.pty import (
    Child,
    foreground_group,
    set_size,
    shows_input,
    spawn,
    takes_signals,
)
from nacre.system.processes.tree import COOKIE, Tree
from nacre.system.storage.ring import Ring

# What a terminal may still hold when its child has ended (we measured 12 to 22 KB), and some more.
_LEFT_OVER = 256 * 1024

_INTERRUPT = b"\x03"  # Ctrl+C


class ChildProcess:
    def __init__(
        self,
        host: Host,
        keys: Secrets,
        pid: int,
        master: int,
        ring: Ring,
        absorb: Callable[["ChildProcess", bytes], None],
        full: Callable[[], None],
        ended: Callable[["ChildProcess", Ending], None],
    ) -> None:
        """`absorb` gets output, `full` is called to empty the ring, `ended` at the end."""
        self.pid = pid
        self.since = 0  # when it was started; see Tree
        self.master = master
        self.keys = keys
        self.reading = True
        self.gone = asyncio.Event()
        self.input = InputQueue(host.loop, master, host.settings.max_pending_input_bytes)
        self._host = host
        self._ring = ring
        self._absorb = absorb
        self._full = full
        self._ended = ended

    def begin(self) -> None:
        self._host.loop.add_reader(self.master, self.read_now)

    # --- output ----------------------------------------------------------------------------

    def read_now(self) -> None:
        """Read what is available, if anything."""
        if self._ring.full:
            self._full()
        shared = self._host.read_share
        data, closed = self._ring.read(self.master, shared.share())
        if data:
            self._absorb(self, data)
            shared.spent(len(data))
        if closed:
            self.stop_reading()

    def on_exit(self, ending: Ending) -> None:
        """Read the rest of the output, all of which is available now: a read flushes the queue."""
        left = _LEFT_OVER
        while self.reading and left > 0:
            if self._ring.full:
                self._full()
            data, closed = self._ring.read(self.master, left)
            if data:
                self._absorb(self, data)
            if closed:
                self.stop_reading()
            if not data:
                break  # a background process may still have the terminal: reading continues
            left -= len(data)
        self.input.close()
        self.gone.set()
        if self.keys.file is not None:
            # A shell that did not get to its first line left the file.
            with suppress(FileNotFoundError):
                os.unlink(self.keys.file)
        self._ended(self, ending)

    def stop_reading(self) -> None:
        if self.reading:
            self.reading = False
            self._host.loop.remove_reader(self.master)
            self.input.close()
            os.close(self.master)

    # --- control ---------------------------------------------------------------------------

    @property
    def tree(self) -> Tree:
        return Tree(None if self.gone.is_set() else self.pid, self.keys.cookie, self.since)

    def set_size(self, rows: int, cols: int) -> None:
        if self.reading:
            set_size(self.master, rows, cols)

    def signal(self, number: int) -> None:
        """Send a signal to the foreground process group, else to the child's own."""
        try:
            os.killpg(self.foreground or self.pid, number)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise Failed(
                "the foreground program runs as another user, so nacre may not signal it",
                "send the key instead (ctrl+c)",
                "kill the session",
            ) from error

    def interrupted_by(self, data: bytes) -> bool:
        """If this is Ctrl+C and input is waiting, drop that and send the signal instead of the key.

        The terminal is full then, and could not take the key. Return whether the signal was sent.
        """
        if data != _INTERRUPT or not self.input.pending:
            return False
        self.input.discard()
        if not takes_signals(self.master):
            return False
        self.signal(SIGINT)
        return True

    @property
    def shows_input(self) -> bool:
        """Whether the terminal itself echoes what is typed."""
        return self.reading and shows_input(self.master)

    def facts(self) -> TerminalFacts | None:
        """What the kernel knows about the terminal now; None if it is closed."""
        return sample(self.master) if self.reading else None

    @property
    def foreground(self) -> int | None:
        """The process group that has the terminal."""
        return foreground_group(self.master) if self.reading else None


def new_secrets() -> Secrets:
    return Secrets(secrets.token_hex(16), secrets.token_hex(16))


def start_child(host: Host, record: SessionRecord, rows: int, cols: int) -> tuple[Child, Secrets]:
    """Start a session's program. Raises Internal when the system has no terminal or process left.

    Returns the secrets, now with the file that holds one of them.
    """
    identifier, launch, keys = record.identity.id, record.launch, record.secrets
    argv = launch.argv
    env: Mapping[str, str]
    env = {**launch.env, "NACRE_SESSION": identifier, COOKIE: keys.cookie}
    if launch.integrated and host.settings.shell_integration and host.runtime is not None:
        started = integrate(launch.program, argv, env, keys.nonce, host.runtime)
        argv, env = started.argv, started.env
        keys = Secrets(keys.cookie, keys.nonce, started.secret)
    child = spawn(
        argv,
        cwd=launch.cwd,
        env=env,
        rows=rows,
        cols=cols,
        descriptor_limit=host.descriptor_limit,
        opened=lambda master: host.keeping.keep(f"sessions/{identifier}/master", master),
    )
    host.keeping.watch(child.pid)
    return child, keys
