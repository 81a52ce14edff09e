"""The parts of a journal that can be read by themselves, and what they showed.

A part is a checkpoint and the segments up to the next one. A part that is finished never changes:
what it showed is kept in memory, up to a bound, the longest unused leaves first. The first search
replays the journals, the next ones only look through text.

Rule: what is not done at the deadline goes on with the next search, so that each of them gets
further.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from nacre.core.journal.records import Record, peek_checkpoint, read_segment, unpack_engine
from nacre.core.journal.shown import ShownReader, ShownText
from nacre.system.storage.segments import Segment, segments

_BATCH = 64  # records between two looks at the clock


class Part(NamedTuple):
    session: str  # its id
    segments: tuple[Segment, ...]
    sizes: tuple[int, ...]  # of their files: a part that grows is another one
    oldest: bool  # nothing is before it
    ended: float  # when it was written last

    def records(self) -> Iterator[Record]:
        for segment in self.segments:
            with open(segment.log, "rb") as file:
                yield from read_segment(file.read())[0]

    def checkpoint(self) -> bytes:
        return _screen(self.segments[0])


class TooMuch(Exception):
    """A part showed more than may be held in memory."""


def parts_of(session: str, folder: str) -> list[Part]:
    """Return the parts of a session's journal, the oldest first."""
    groups: list[list[Segment]] = []
    for segment in segments(folder):
        if not groups or os.path.exists(segment.screen):
            groups.append([])
        groups[-1].append(segment)
    found = []
    for number, group in enumerate(groups):
        stats = [os.stat(segment.log) for segment in group]
        sizes = tuple(stat.st_size for stat in stats)
        found.append(Part(session, tuple(group), sizes, number == 0, stats[-1].st_mtime))
    return found


class ReadParts:
    """What parts showed, as far as it was read."""

    def __init__(self) -> None:
        self._shown: OrderedDict[Part, ShownText] = OrderedDict()
        self._size = 0
        self._begun: tuple[Part, _PartReading] | None = None  # what a deadline interrupted

    def shown(self, part: Part, deadline: float, memory: int, scrollback: int) -> ShownText | None:
        """Return what a part showed; None if the deadline came first.

        Raises OSError or ValueError for one that cannot be read, and TooMuch.
        """
        known = self._shown.get(part)
        if known is None:
            known = self._read(part, deadline, memory, scrollback)
            if known is None:
                return None
            self._keep(part, known, memory)
        self._shown.move_to_end(part)
        return known

    def _read(self, part: Part, deadline: float, memory: int, scrollback: int) -> ShownText | None:
        if self._begun is not None and self._begun[0] == part:
            reading = self._begun[1]
        else:
            self._drop_begun()
            reading = _PartReading(part, scrollback)
        self._begun = (part, reading)
        while time.monotonic() < deadline:
            if (shown := reading.go_on(memory)) is not None:
                self._begun = None
                return shown
        return None

    def _drop_begun(self) -> None:
        if self._begun is not None:
            self._begun[1].reader.close()
            self._begun = None

    def _keep(self, part: Part, shown: ShownText, memory: int) -> None:
        # An earlier state of a part that has grown is not asked for again.
        for old in [one for one in self._shown if one.segments[0] == part.segments[0]]:
            self._size -= self._shown.pop(old).size
        self._shown[part] = shown
        self._size += shown.size
        while self._size > memory and len(self._shown) > 1:
            self._size -= self._shown.popitem(last=False)[1].size


class _PartReading:
    """The reading of one part, in steps."""

    def __init__(self, part: Part, scrollback: int) -> None:
        data = part.checkpoint()
        checkpoint = peek_checkpoint(data)
        engine = unpack_engine(data) if checkpoint is not None else b""
        self.reader = ShownReader(checkpoint, engine, oldest=part.oldest, scrollback=scrollback)
        self._records = part.records()

    def go_on(self, memory: int) -> ShownText | None:
        """Read some more; return all of it at its end."""
        for _ in range(_BATCH):
            record = next(self._records, None)
            if record is None:
                return self.reader.end()
            self.reader.take(record)
        if self.reader.shown.size > memory:
            self.reader.close()
            raise TooMuch
        return None


def _screen(segment: Segment) -> bytes:
    try:
        with open(segment.screen, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
