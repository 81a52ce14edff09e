"""What a program printed: standard output and standard error, apart and in the order they came.

Rule: so much is kept: the first half of it and the last. What is left out between is counted, and
the program is never held up.
"""

import codecs
from collections import deque
from collections.abc import Iterable
from typing import Literal

Stream = Literal["stdout", "stderr"]


class Captured:
    def __init__(self, most: int) -> None:
        """`most` characters are kept."""
        self._half = max(1, most // 2)
        self._decoders = {
            name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")
        }
        self._head: list[tuple[str, str]] = []
        self._head_chars = 0
        self._tail: deque[tuple[str, str]] = deque()
        self._tail_chars = 0
        self.left_out = 0  # characters
        self.bytes = 0

    def add(self, stream: Stream, data: bytes) -> None:
        self.bytes += len(data)
        self._keep(stream, self._decoders[stream].decode(data))

    def add_text(self, text: str) -> None:
        """Add what a command of the context itself printed."""
        self.add("stdout", text.encode("utf-8", "replace"))

    def close(self) -> None:
        """Take the end of half a character for what it is."""
        for name in ("stdout", "stderr"):
            self._keep(name, self._decoders[name].decode(b"", final=True))

    def _keep(self, stream: str, text: str) -> None:
        if room := self._half - self._head_chars:
            first, text = text[:room], text[room:]
            if first:
                self._head.append((stream, first))
                self._head_chars += len(first)
        if not text:
            return
        self._tail.append((stream, text))
        self._tail_chars += len(text)
        while (over := self._tail_chars - self._half) > 0:
            oldest, first = self._tail.popleft()
            if len(first) > over:
                self._tail.appendleft((oldest, first[over:]))
            gone = min(len(first), over)
            self._tail_chars -= gone
            self.left_out += gone

    @property
    def has_errors(self) -> bool:
        return any(stream == "stderr" for stream, _ in (*self._head, *self._tail))

    @property
    def chars(self) -> int:
        """How much is kept."""
        return self._head_chars + self._tail_chars

    def text(self, stream: Stream | None = None) -> str:
        """Return what is kept, of one stream or of both."""
        gap = f"\n[… {self.left_out} characters left out …]\n" if self.left_out else ""
        return _joined(self._head, stream) + gap + _joined(self._tail, stream)


def _joined(parts: Iterable[tuple[str, str]], stream: Stream | None) -> str:
    return "".join(text for one, text in parts if stream in (None, one))
