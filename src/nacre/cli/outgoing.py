"""What is on its way to the daemon.

Rule: a line is there until the last byte of it has gone; one that did not go wholly can go again.
"""

from collections import deque


class Outgoing:
    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._begun = 0  # bytes of the first one that have gone

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, line: bytes) -> None:
        self._lines.append(line)

    def rest(self) -> bytes:
        return b"".join(self._lines)[self._begun :]

    def sent(self, count: int) -> None:
        self._begun += count
        while self._lines and self._begun >= len(self._lines[0]):
            self._begun -= len(self._lines.popleft())

    def rewind(self) -> None:
        """Begin the first line anew."""
        self._begun = 0
