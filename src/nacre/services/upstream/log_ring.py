"""The last of what a server printed on its standard error, and what happened to its connections.

Rule: values of variables are not in it, whoever printed them: their names stand there instead.
"""

import time
from collections import deque
from collections.abc import Mapping

_LINE = 2000  # characters of one line
_SECRET = 4  # characters from which on a value is hidden: shorter ones are in every word


class LogRing:
    """Lines within a budget of bytes: the oldest are dropped first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lines: deque[str] = deque()
        self._size = 0
        self._rest = b""
        self._secrets: dict[str, str] = {}  # the value → the variable's name

    def hide(self, values: Mapping[str, str]) -> None:
        """Keep these values out from now on."""
        self._secrets |= {value: name for name, value in values.items() if len(value) >= _SECRET}

    def hidden(self, text: str) -> str:
        for value, name in self._secrets.items():
            text = text.replace(value, f"${name}")
        return text

    def feed(self, data: bytes) -> None:
        """Take what the server printed; a line that is not complete waits for its end."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self.add(line.decode(errors="replace").rstrip("\r"))
        if len(self._rest) > _LINE:
            self.flush()

    def flush(self) -> None:
        if self._rest:
            self.add(self._rest.decode(errors="replace"))
            self._rest = b""

    def note(self, text: str) -> None:
        """Add a line of our own, with the time."""
        self.add(f"[nacre {time.strftime('%H:%M:%S')}] {text}")

    def add(self, line: str) -> None:
        line = self.hidden(line)[:_LINE]
        self._lines.append(line)
        self._size += len(line) + 1
        while self._size > self._most and len(self._lines) > 1:
            self._size -= len(self._lines.popleft()) + 1

    def lines(self) -> list[str]:
        return [
            *self._lines,
            *([self.hidden(self._rest.decode(errors="replace"))] if self._rest else []),
        ]

    def last(self) -> str:
        """Return the last line that the server itself printed; "" if there is none."""
        own = (line for line in reversed(self.lines()) if line and not line.startswith("[nacre "))
        return next(own, "")[:300]
