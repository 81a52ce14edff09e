"""One life of a session's child: its process, its terminal, and the input that waits for it.

Rule 1: what the child prints is read only as fast as it is taken, and goes into the ring first.
Rule 2: a child that a former daemon started is as good as our own; the keeper tells its exit code.
"""

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from nacre.errors import Failed
from nacre.services.host import Host
from nacre.services.input import InputQueue
from nacre.services.launch import Launch
from nacre.system.exits import Ending
from nacre.system.foreground import Facts, sample
from nacre.system.processes import COOKIE, Tree
from nacre.system.pty import (
    Child,
    foreground_group,
    set_size,
    shows_input,
    spawn,
    takes_signals,
)
from nacre.system.ring import Ring
from nacre.system.shells import integrate

# What a terminal may still hold when its child has ended (12 to 22 KB were measured), with room.
_LEFT_OVER = 256 * 1024


@dataclass(frozen=True, slots=True)
class Secrets:
    """What a session's child is known by, and nobody else may know."""

    cookie: str  # in the environment of all its processes
    nonce: str  # in its marks
    file: str | None = None  # that held the nonce for an integrated shell


class Life:
    def __init__(
        self,
        host: Host,
        keys: Secrets,
        pid: int,
        master: int,
        ring: Ring,
        absorb: Callable[["Life", bytes], None],
        full: Callable[[], None],
        ended: Callable[["Life", Ending], None],
    ) -> None:
        """`absorb` takes output, `full` is called to have the ring emptied, `ended` at the end."""
        self.pid = pid
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
        """Read what is there, if anything is."""
        if self._ring.full:
            self._full()
        turns = self._host.turns
        data, closed = self._ring.read(self.master, turns.share())
        if data:
            self._absorb(self, data)
            turns.spent(len(data))
        if closed:
            self.stop_reading()

    def on_exit(self, ending: Ending) -> None:
        """All that the child wrote is readable now: a read flushes the kernel's queue first."""
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
                break  # a process in the background may still have the terminal: it is read on
            left -= len(data)
        self.input.close()
        self.gone.set()
        if self.keys.file is not None:
            # A shell that never came to its first line left it.
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
        return Tree(None if self.gone.is_set() else self.pid, self.keys.cookie)

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
                "the foreground program runs as another user and may not be signalled; "
                "send the key instead (ctrl+c), or kill the session"
            ) from error

    @property
    def takes_signals(self) -> bool:
        return takes_signals(self.master)

    @property
    def shows_input(self) -> bool:
        """Whether the terminal itself echoes what is typed."""
        return self.reading and shows_input(self.master)

    def facts(self) -> Facts | None:
        """What the kernel knows of the terminal now; None when it is closed."""
        return sample(self.master) if self.reading else None

    @property
    def foreground(self) -> int | None:
        """The process group that has the terminal."""
        return foreground_group(self.master) if self.reading else None


def new_secrets() -> Secrets:
    return Secrets(secrets.token_hex(16), secrets.token_hex(16))


def start_child(
    host: Host, identifier: str, launch: Launch, keys: Secrets, rows: int, cols: int
) -> tuple[Child, Secrets]:
    """Start what a session runs. Raises Internal when there is no terminal or process left."""
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
