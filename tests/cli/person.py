"""Somebody at a terminal in which `nacre attach` runs."""

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

from nacre.core.terminal.terminal import Terminal

PATIENCE = 60.0  # seconds
DETACH = b"\x1d"  # Ctrl+]


class Person:
    """Somebody at a terminal in which `nacre attach` runs."""

    def __init__(
        self,
        env: dict[str, str],
        *arguments: str,
        rows: int = 24,
        cols: int = 80,
        program: tuple[str, ...] = ("-m", "nacre"),
        command: tuple[str, ...] = ("attach",),
        cwd: Path | None = None,
    ) -> None:
        self.master, self.slave = os.openpty()
        self.screen = Terminal(rows, cols)
        self._bells = 0
        self.resize(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [sys.executable, *program, *command, *arguments],
            env={**env, "TERM": "xterm-256color"},
            cwd=cwd,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )

    def resize(self, rows: int, cols: int) -> None:
        self.screen.resize(rows, cols)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def see(self, holds: Callable[[], bool]) -> None:
        """Read the terminal until something holds."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            ready, _, _ = select.select([self.master], [], [], deadline - time.monotonic())
            assert ready, "it did not come to that:\n" + self.text
            data = os.read(self.master, 65536)
            self._bells += data.count(b"\x07")
            self.screen.feed(data)

    def hears_bell(self) -> bool:
        """Return at the next bell."""
        self.see(lambda: self._bells > 0)
        return True

    def sees(self, text: str) -> None:
        self.see(lambda: text in self.text)

    def sees_line(self, line: str) -> None:
        """Return when a row is exactly this, and the cursor stands at the start of the next one.

        The kernel may hand over a line's end apart from the line: the screen changes once more.
        """

        def is_shown() -> bool:
            cursor = self.screen.cursor()
            rows = self.screen.plain_lines()[: cursor.row]
            return cursor.col == 0 and rows[-1:] == [line]

        self.see(is_shown)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.plain_lines())

    @property
    def is_raw(self) -> bool:
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def leaves(self) -> int:
        """Return the exit code, with everything read that was printed until then."""
        try:
            code = self.process.wait(PATIENCE)
        finally:
            os.set_blocking(self.master, False)
            while True:
                try:
                    self.screen.feed(os.read(self.master, 65536))
                except OSError:
                    break
        assert termios.tcgetattr(self.slave) == self.before, "the terminal's modes are not restored"
        modes = self.screen.modes()
        assert not modes.alternate_screen
        assert not modes.bracketed_paste
        assert not modes.mouse_tracking
        assert self.screen.cursor().visible
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
