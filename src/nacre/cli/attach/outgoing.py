"""Lines on their way to the daemon.

Rule: a line is kept until its last byte is sent, so an incomplete line can be sent again.
"""

from collections import deque


class Outgoing:
    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._begun = 0  # bytes of the first line that are sent

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
        """Send the first line from its beginning again."""
        self._begun = 0
