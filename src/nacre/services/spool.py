"""The whole output of long runs, on disk within a quota.

Rule: a run's file is written as it prints and never longer than its quota; what is more is counted.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from nacre.core.transcript import render_stream

_CHUNK = 1 << 20
_STRIDE = 1000  # lines between two known offsets in the rendered text


class Spool:
    def __init__(self, path: str, quota: int) -> None:
        self._path = path
        self._quota = quota
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # closed by close()
        self.size = 0
        self.lost = 0
        self._offsets: list[int] | None = None
        self._lines = 0

    def write(self, data: bytes) -> None:
        room = self._quota - self.size
        kept = data[:room] if room > 0 else b""
        try:
            self._file.write(kept)
        except OSError:  # a full disk costs this output, not the session
            self.lost += len(data)
            return
        self.size += len(kept)
        self.lost += len(data) - len(kept)

    def finish(self) -> None:
        self._file.close()

    def remove(self) -> None:
        self._file.close()
        for path in (self._path, self._text):
            with suppress(FileNotFoundError):
                os.unlink(path)

    @property
    def _text(self) -> str:
        return f"{self._path}.txt"

    def page(self, offset: int, limit: int, cols: int, *, finished: bool) -> tuple[list[str], int]:
        """Return lines and their total; blocks while a long output is rendered the first time."""
        if self._offsets is None or not finished:
            self._render(cols)
        assert self._offsets is not None
        lines: list[str] = []
        if offset < self._lines:
            with open(self._text, "rb") as file:
                file.seek(self._offsets[offset // _STRIDE])
                for _ in range(offset % _STRIDE):
                    file.readline()
                while len(lines) < limit and (line := file.readline()):
                    lines.append(line[:-1].decode())
        return lines, self._lines

    def _render(self, cols: int) -> None:
        self._offsets = []
        self._lines = 0
        with open(self._text, "wb") as file:
            for part in render_stream(self._chunks(), cols):
                for line in part:
                    if self._lines % _STRIDE == 0:
                        self._offsets.append(file.tell())
                    file.write(line.encode() + b"\n")
                    self._lines += 1

    def _chunks(self) -> Iterator[bytes]:
        with Path(self._path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
