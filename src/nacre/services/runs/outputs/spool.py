"""The whole output of long runs, on disk within a quota.

Rule 1: a run's file is written while it prints, and never longer than its quota; the rest is
counted.
Rule 2: the file is the beginning of the output, without a gap: after a write that failed nothing
more is written, or the positions of what follows would be wrong.
"""

import os
from contextlib import suppress

from nacre.services.runs.outputs.long_output import LongOutput
from nacre.services.runs.outputs.prompt_marks import without_prompt_mark

_LAST = 4096  # bytes at the end in which a shell's own mark is looked for


class Spool:
    def __init__(self, path: str, quota: int, cols: int) -> None:
        self._path = path
        self._quota = quota
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # closed by close()
        self._output = LongOutput(path, cols, quota)
        self.size = 0
        self._lost = 0
        self._failed = False

    @property
    def lost(self) -> int:
        return self._lost + self._output.undrawn

    def write(self, data: bytes) -> None:
        room = 0 if self._failed else self._quota - self.size
        left, before = memoryview(data)[: max(0, room)], self.size
        try:
            while left:
                written = self._file.write(left)  # only a part of it, when the disk becomes full
                self.size += written
                left = left[written:]
        except OSError:  # this output is lost, but the session goes on
            self._failed = True
        self._lost += len(data) - (self.size - before)

    def bytes_from(self, position: int, most: int) -> bytes:
        """Return bytes from a position on; blocks. Raises FileNotFoundError."""
        with open(self._path, "rb") as file:
            file.seek(position)
            return file.read(max(0, min(most, self.size - position)))

    def finish(self) -> None:
        self._file.close()

    def remove(self) -> None:
        self._file.close()
        self._output.remove()
        with suppress(FileNotFoundError):
            os.unlink(self._path)

    def look_through(self, *, finished: bool) -> tuple[LongOutput, int]:
        """Return the lines, and how many there are; blocks while new ones are counted."""
        end = self.size
        return self._output, self._output.advance(
            self._end(end) if finished else end, finished=finished
        )

    def _end(self, size: int) -> int:
        """Return where the output ends, before what the shell printed ahead of its prompt."""
        with open(self._path, "rb") as file:
            file.seek(max(0, size - _LAST))
            last = file.read(_LAST)
        return size - (len(last) - len(without_prompt_mark(last)))
