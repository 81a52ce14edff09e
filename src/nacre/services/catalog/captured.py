"""What a program printed: standard output and standard error, apart and in the order they came.

Rule 1: so much is shown: the first half of it and the last. What is left out between is counted,
and the program is never held up.
Rule 2: a little more is kept on both sides of what is left out: half of a secret is known by the
other half.
"""

import codecs
from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal

Stream = Literal["stdout", "stderr"]

_BESIDE = 4096  # characters beside what is left out: longer than any secret but a private key


class Captured:
    def __init__(self, most: int) -> None:
        """`most` characters are shown."""
        self._half = max(1, most // 2)
        self._decoders = {
            name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")
        }
        self._head: list[tuple[str, str]] = []
        self._head_chars = 0
        self._tail: deque[tuple[str, str]] = deque()
        self._tail_chars = 0
        self._gone = 0  # characters that are kept no longer
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
        if room := self._half + _BESIDE - self._head_chars:
            first, text = text[:room], text[room:]
            if first:
                self._head.append((stream, first))
                self._head_chars += len(first)
        if not text:
            return
        self._tail.append((stream, text))
        self._tail_chars += len(text)
        while (over := self._tail_chars - self._half - _BESIDE) > 0:
            oldest, first = self._tail.popleft()
            if len(first) > over:
                self._tail.appendleft((oldest, first[over:]))
            gone = min(len(first), over)
            self._tail_chars -= gone
            self._gone += gone

    @property
    def left_out(self) -> int:
        """How many characters are not shown."""
        return max(0, self.chars + self._gone - 2 * self._half)

    @property
    def has_errors(self) -> bool:
        return any(stream == "stderr" for stream, _ in (*self._head, *self._tail))

    @property
    def chars(self) -> int:
        """How much is kept."""
        return self._head_chars + self._tail_chars

    def text(self, stream: Stream | None = None, hide: "Callable[[str], str] | None" = None) -> str:
        """Return what is shown, of one stream or of both.

        `hide` takes secrets out of a text, which stays as long as it was.
        """
        hide = hide or str
        parts = [*self._head, *self._tail]
        if not self.left_out:
            return hide(_joined(parts, stream))
        first, last = self._head, list(self._tail)
        if not self._gone:
            first = last = parts
        head = hide(_joined(first, stream))[: _length(first, self._half, stream)]
        tail = hide(_joined(last, stream))
        tail = tail[len(tail) - _length(reversed(last), self._half, stream) :]
        return f"{head}\n[… {self.left_out} characters left out …]\n{tail}"


def _length(parts: Iterable[tuple[str, str]], most: int, stream: Stream | None) -> int:
    """Return how many of the first `most` characters are of a stream."""
    found = 0
    for one, text in parts:
        part = min(len(text), most)
        most -= part
        found += part if stream in (None, one) else 0
    return found


def _joined(parts: Iterable[tuple[str, str]], stream: Stream | None) -> str:
    return "".join(text for one, text in parts if stream in (None, one))
