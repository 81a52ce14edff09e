"""Lines on their way to the daemon.

Rule: a line is kept until its last byte is sent, so an incomplete line can be sent again. One with
keys is not: typed.py knows what became of them.
"""

from collections import deque


class Outgoing:
    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._typed: deque[bool] = deque()  # which of them have keys
        self._begun = 0  # bytes of the first line that are sent

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, line: bytes, *, typed: bool = False) -> None:
        self._lines.append(line)
        self._typed.append(typed)

    def rest(self) -> bytes:
        return b"".join(self._lines)[self._begun :]

    def sent(self, count: int) -> None:
        self._begun += count
        while self._lines and self._begun >= len(self._lines[0]):
            self._begun -= len(self._lines.popleft())
            self._typed.popleft()

    def rewind(self) -> None:
        """Send the first line from its beginning again, but none that has keys."""
        self._begun = 0
        self._lines = deque(
            line for line, typed in zip(self._lines, self._typed, strict=True) if not typed
        )
        self._typed = deque([False] * len(self._lines))
