"""A real tmux pane to compare with.

Rule: nothing polls. A client in control mode is told of the pane's output; the pane is captured
anew only then.
"""

import os
import re
import select
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from programs.machine import PATIENCE, program

_STYLE = re.compile(r"\x1b\[[0-9;:]*m")
_DRAWN = re.compile(r"\x0e([^\x0f]*)(?:\x0f|\Z)")
_DRAWING = str.maketrans("lqkxmj", "┌─┐│└┘")  # DEC special graphics (VT100 user guide, table 3-9)


class Pane:
    def __init__(self, socket: str, env: Mapping[str, str]) -> None:
        self._tmux = [program("tmux"), "-S", socket, "-f", "/dev/null"]
        self._env = dict(env)
        self._control: subprocess.Popen[bytes] | None = None

    def open(self, argv: Sequence[str], *, rows: int, cols: int, cwd: str) -> None:
        size = ["-x", str(cols), "-y", str(rows)]
        self._call("new-session", "-d", *size, "-c", cwd, shlex.join(argv))
        self._control = subprocess.Popen(
            [*self._tmux, "-C", "attach"],
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        os.set_blocking(self.fileno(), False)

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)
        if self._control is not None:
            self._control.communicate(timeout=PATIENCE)

    def fileno(self) -> int:
        """Readable when the pane has printed something."""
        assert self._control is not None
        assert self._control.stdout is not None
        return self._control.stdout.fileno()

    def drain(self) -> bool:
        """Take in what was told; return False when the client is gone."""
        while True:
            try:
                if not os.read(self.fileno(), 65536):
                    return False
            except BlockingIOError:
                return True

    def type(self, data: bytes) -> None:
        self._call("send-keys", "-H", *(f"{byte:02x}" for byte in data))

    def press(self, *names: str) -> None:
        """Press keys by tmux's names for them."""
        self._call("send-keys", *names)

    def lines(self) -> list[str]:
        captured = self._call("capture-pane", "-p", "-e")
        # tmux prints line drawing as letters between SO and SI, and says so only with styles.
        plain = _DRAWN.sub(lambda match: match[1].translate(_DRAWING), _STYLE.sub("", captured))
        return [line.rstrip() for line in plain.split("\n")[:-1]]

    def wait_for(self, expected: Sequence[str]) -> list[str]:
        """Return what the pane shows, once that is as expected, or at the end of the patience."""
        deadline = time.monotonic() + PATIENCE
        while (shown := self.lines()) != list(expected):
            ready, _, _ = select.select([self], [], [], max(0.0, deadline - time.monotonic()))
            if not ready or not self.drain():
                return shown
        return shown

    def _call(self, *words: str) -> str:
        return subprocess.run(
            [*self._tmux, *words],
            env=self._env,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        ).stdout


@contextmanager
def pane(
    argv: Sequence[str], folder: Path, env: Mapping[str, str], *, rows: int = 24, cols: int = 80
) -> Iterator[Pane]:
    """A pane of that size in which argv runs, in a tmux server of its own."""
    # A socket's path is short: the test's folder may not be.
    socket = f"/tmp/nacre-tmux-{os.getpid()}-{time.monotonic_ns()}"
    without_term = {name: value for name, value in env.items() if name != "TERM"}
    opened = Pane(socket, {**without_term, "TERM": "xterm-256color"})
    try:
        opened.open(argv, rows=rows, cols=cols, cwd=str(folder))
        yield opened
    finally:
        opened.close()
        Path(socket).unlink(missing_ok=True)
