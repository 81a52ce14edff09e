"""Drive a program on a PTY by what it shows, and keep every byte that it printed."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from nacre.core.terminal.terminal import Terminal
from nacre.system.processes.pty import Child, SessionLimits, spawn
from reading import read_available

from programs.machine import PATIENCE


class Recording:
    """A program, what it printed so far, and a terminal that was fed with it as it came."""

    def __init__(self, child: Child, rows: int, cols: int) -> None:
        self._child = child
        self.terminal = Terminal(rows, cols)
        self.raw = b""
        self.at_end = False

    def until(self, holds: Callable[[list[str]], bool]) -> bytes:
        """Read on until the screen is so; return all that was printed."""
        deadline = time.monotonic() + PATIENCE
        while not holds(self.terminal.plain_lines()):
            screen = "\n".join(self.terminal.plain_lines())
            assert not self.at_end, f"it ended before, and shows:\n{screen}"
            self._read(deadline, screen)
        return self.raw

    def until_end(self) -> bytes:
        deadline = time.monotonic() + PATIENCE
        while not self.at_end:
            self._read(deadline, "it does not end")
        return self.raw

    def type(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._child.master, data) :]

    def until_quiet(self, seconds: float) -> bytes:
        """Read on until nothing comes for a while: for a recording by hand, not for a test."""
        while not self.at_end and select.select([self._child.master], [], [], seconds)[0]:
            self._read(time.monotonic() + seconds, "it was there")
        return self.raw

    def _read(self, deadline: float, complaint: str) -> None:
        patience = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([self._child.master], [], [], patience)
        assert ready, complaint
        data, self.at_end = read_available(self._child.master, 65536)
        self.raw += data
        self.terminal.feed(data)
        self.type(self.terminal.take_replies())


@contextmanager
def recorded(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], *, rows: int = 24, cols: int = 80
) -> Iterator[Recording]:
    child = spawn(argv, cwd=cwd, env=env, rows=rows, cols=cols, limits=SessionLimits(1024))
    recording = Recording(child, rows, cols)
    try:
        yield recording
    finally:
        os.close(child.master)
        if child.process.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.process.wait(PATIENCE)
        recording.terminal.close()
