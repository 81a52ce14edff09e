"""One execution of a command: queued, running, then completed, failed or cancelled.

Rule 1: it belongs to no connection: it goes on when the caller has left.
Rule 2: it has ended when its programs have, and all they printed is read. Nothing of it is left
then: what they left running in their sessions is killed at once; what has left its session (setsid)
is looked for by its cookie, where there may be such: one look at all processes takes milliseconds.
Rule 3: the exit code of a program that a signal ended is 128 + its number.
"""

import asyncio
import os
import secrets
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

from nacre.errors import NacreError
from nacre.services.catalog.captured import Captured, Stream
from nacre.system.processes.ending import end_trees, kill_trees
from nacre.system.processes.exits import Ending, watch_exit
from nacre.system.processes.one_shot import Started
from nacre.system.processes.tree import COOKIE, Tree, now_in_ticks

ExecutionState = Literal["queued", "running", "completed", "failed", "cancelled"]

_CHUNK = 65536  # bytes of one read
_READS = 16  # in one turn of the loop: 1 MiB, then others have theirs
_LAST_READS = 64  # after the end: no pipe holds more than 1 MiB (pipe(7)), and nobody adds to it


class Execution:
    def __init__(
        self, tool: str, name: str, words: Sequence[str], owner: str, client: str, most: int
    ) -> None:
        """`tool` is the command's name as called, `words` what it was given."""
        self.id = f"exec_{secrets.token_hex(6)}"
        self.tool = tool
        self.name = name
        self.words = list(words)
        self.owner = owner
        self.client = client
        self.state: ExecutionState = "queued"
        self.exit_code: int | None = None
        self.exit_codes: list[int] = []  # of a pipeline's programs
        self.error: str | None = None
        self.refusal: NacreError | None = None  # what its caller is told instead of a result
        # Called once, before anybody who waits for it knows of its end.
        self.on_end: Callable[[Execution], None] | None = None
        self.turn: asyncio.Future[None] | None = None  # while it waits for a place
        self.captured = Captured(most)
        self.done = asyncio.Event()
        self.cookie = secrets.token_hex(16)
        self._began = time.monotonic()
        self._milliseconds: int | None = None
        self._started: Started | None = None
        self._may_leave = True
        self._endings: dict[int, Ending] = {}
        self._open: dict[int, Stream] = {}  # descriptors that are still read
        self._unwritten = memoryview(b"")
        self._cancelled = False
        self._since = now_in_ticks()  # none of its processes is older
        self._ending: asyncio.Task[None] | None = None
        self._swept = False  # its programs have ended by themselves

    # --- what is known of it ---------------------------------------------------------------

    @property
    def started(self) -> bool:
        return self._started is not None

    @property
    def line(self) -> str:
        from shlex import join

        return join([self.tool, *self.words])

    @property
    def milliseconds(self) -> int:
        """How long it took, or takes so far."""
        if self._milliseconds is not None:
            return self._milliseconds
        return round((time.monotonic() - self._began) * 1000)

    @property
    def environment(self) -> dict[str, str]:
        """What its processes are known by, whatever session they are in."""
        return {COOKIE: self.cookie}

    # --- programs --------------------------------------------------------------------------

    def run(self, started: Started, stdin: bytes, *, may_leave: bool = True) -> None:
        """Follow programs that have just been started.

        `may_leave`: they may start others that leave their session and outlive them.
        """
        loop = asyncio.get_running_loop()
        self.state = "running"
        self._began = time.monotonic()
        self._started = started
        self._may_leave = may_leave
        self._open = {started.stdout: "stdout", started.stderr: "stderr"}
        for descriptor in self._open:
            loop.add_reader(descriptor, self._read, descriptor)
        if started.stdin is not None:
            self._unwritten = memoryview(stdin)
            self._write()
        for index, child in enumerate(started.children):
            watch_exit(loop, child, partial(self._exited, index))

    def _read(self, descriptor: int, reads: int = _READS) -> None:
        for _ in range(reads):
            try:
                data = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._close(descriptor)
                return
            self.captured.add(self._open[descriptor], data)

    def _close(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        del self._open[descriptor]
        os.close(descriptor)

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        assert self._started is not None
        descriptor = self._started.stdin
        assert descriptor is not None
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(descriptor, self._unwritten) :]
        except BlockingIOError:
            loop.add_writer(descriptor, self._write)
            return
        except OSError:  # it reads no more
            self._unwritten = memoryview(b"")
        self._close_stdin()

    def _close_stdin(self) -> None:
        if self._started is not None and self._started.stdin is not None:
            asyncio.get_running_loop().remove_writer(self._started.stdin)
            os.close(self._started.stdin)
            self._started = _without_stdin(self._started)

    def _exited(self, index: int, ending: Ending) -> None:
        """Called before the process is reaped: its number is still its own."""
        assert self._started is not None
        self._endings[index] = ending
        # What it left behind in its own group would hold our pipes, and a place, for ever.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._started.children[index].pid, signal.SIGKILL)
        if len(self._endings) < len(self._started.children):
            return
        self._milliseconds = self.milliseconds
        for descriptor in list(self._open):
            self._read(descriptor, reads=_LAST_READS)
        # A pipe that is still open is held by what has left its session.
        if self._ending is None and (self._may_leave or self._open):
            self._swept = True
            self._ending = asyncio.create_task(kill_trees(self._trees), name=f"sweep {self.id}")
        if self._ending is None:
            self._finish()
        else:
            self._ending.add_done_callback(self._finish)

    def _finish(self, _: object = None) -> None:
        """Nothing of it runs any longer."""
        for descriptor in list(self._open):
            self._read(descriptor, reads=_LAST_READS)
        for descriptor in list(self._open):  # held by what we could not end: nobody waits for it
            self._close(descriptor)
        self._close_stdin()
        self.exit_codes = [_code(self._endings[one]) for one in range(len(self._endings))]
        self.end(self.exit_codes[-1])

    # --- its end ---------------------------------------------------------------------------

    def end(self, exit_code: int | None, error: str | None = None) -> None:
        if self.done.is_set():
            return
        self._milliseconds = self.milliseconds
        self.captured.close()
        self.exit_code = exit_code
        self.error = self.error or error or _explain(exit_code)
        if self._cancelled:
            self.state = "cancelled"
        else:
            self.state = "completed" if exit_code == 0 and not self.error else "failed"
        if self.on_end is not None:
            self.on_end(self)
        self.done.set()

    def refuse(self, error: NacreError) -> None:
        """End it without having run anything."""
        self.refusal = error
        self.end(1, str(error))

    def cancel(self, grace: float, error: str | None = None) -> bool:
        """End it: SIGTERM, then SIGKILL, all that it started. Return False if it has ended.

        With an `error` it counts as failed: nobody asked for its end.
        """
        if self.done.is_set() or self._swept:
            return False
        self._cancelled = self._cancelled or error is None
        self.error = self.error or error
        if self._started is None:
            self.end(None, "it was cancelled before it ran")
        elif self._ending is None:
            self._ending = asyncio.create_task(
                end_trees(self._trees, grace, signal.SIGTERM), name=f"cancel {self.id}"
            )
        return True

    def signal(self, number: int) -> None:
        """Signal its programs' groups. One that waits for its place is cancelled by it."""
        if self._started is None:
            if number not in (signal.SIGCONT, signal.SIGSTOP):
                self.cancel(0)
            return
        for index, child in enumerate(self._started.children):
            if index not in self._endings:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, number)

    def _trees(self) -> list[Tree]:
        if self._started is None:
            return []
        leaders = [
            None if index in self._endings else child.pid
            for index, child in enumerate(self._started.children)
        ]
        return [Tree(leader, self.cookie, self._since) for leader in leaders]


def _without_stdin(started: Started) -> Started:
    return Started(started.children, None, started.stdout, started.stderr)


def _code(ending: Ending) -> int:
    if ending.exit_code is not None:
        return ending.exit_code
    number = getattr(signal, ending.signal or "", 0)
    return 128 + int(number)


def _explain(exit_code: int | None) -> str | None:
    """Say which limit ended a program, where its end tells."""
    if exit_code == 128 + signal.SIGXCPU:
        return "it used all of its processor time (command_cpu_seconds)"
    if exit_code == 128 + signal.SIGXFSZ:
        return "it wrote a larger file than it may (command_file_bytes)"
    return None
