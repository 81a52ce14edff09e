"""A session's journal on disk: append-only segments, and checkpoints between them.

`00000007.log` is a segment; `00000007.screen` is the screen at its beginning. The first segment
needs none. A thread writes the checkpoint while the segment grows; until it exists, a reader begins
one segment earlier.

Rule 1: if the disk is full, only `append` and `begin_segment` raise OSError; the recorder decides
what to do.
Rule 2: the newest checkpoint and everything after it always stay; older segments are removed when
they are too large together or too old.
"""

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from nacre.core.journal.records import (
    MAGIC,
    MARK,
    OUTPUT,
    START,
    Checkpoint,
    Record,
    payloads_of,
    peek_checkpoint,
    read_segment,
    unpack_engine,
)

_MAX_BUFFERS = 1024  # in one writev (limits.h: IOV_MAX)
_SEGMENT = re.compile(r"[0-9]{8,}\.log")


class Segment(NamedTuple):
    number: int
    log: str
    screen: str


class Past(NamedTuple):
    """A part of a journal: where it begins, and what happened then."""

    checkpoint: Checkpoint | None  # None: it begins with an empty screen
    engine: bytes
    records: list[Record]


class JournalFile:
    """The segment that is being written. Raises OSError when the disk is full."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.number = max((segment.number for segment in segments(folder)), default=0)
        self.size = 0
        self._descriptor = -1

    def begin_segment(self, packed: bytes | None = None) -> int:
        """Close the segment and begin the next; return its number.

        With a packed checkpoint, that is written first.
        """
        number = self.number + 1
        path = _path(self.folder, number, "log")
        if packed is not None:
            self.write_checkpoint(number, packed)
        else:
            with suppress(FileNotFoundError):  # left from a segment that could not be begun
                os.unlink(_path(self.folder, number, "screen"))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            _write_all(descriptor, MAGIC)
        except OSError:
            os.close(descriptor)
            os.unlink(path)
            raise
        self.close()
        self._descriptor, self.number, self.size = descriptor, number, len(MAGIC)
        return number

    def resume(self) -> None:
        """Continue the newest segment, after its torn end was cut off."""
        path = _path(self.folder, self.number, "log")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            if not os.fstat(descriptor).st_size:  # killed before its first line was written
                _write_all(descriptor, MAGIC)
            self.size = os.fstat(descriptor).st_size
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def append(self, buffers: Sequence[bytes]) -> None:
        """Write everything, or nothing that a reader would accept."""
        for at in range(0, len(buffers), _MAX_BUFFERS):
            part = buffers[at : at + _MAX_BUFFERS]
            length = sum(map(len, part))
            written = os.writev(self._descriptor, part)
            if written < length:
                _write_all(self._descriptor, b"".join(part)[written:])
            self.size += length

    def write_checkpoint(self, number: int, packed: bytes) -> None:
        """Write the checkpoint of a segment, completely or not at all."""
        path = _path(self.folder, number, "screen")
        try:
            with open(f"{path}.new", "wb", opener=private_and_new) as file:
                file.write(packed)
            os.replace(f"{path}.new", path)
        except OSError:
            with suppress(OSError):
                os.unlink(f"{path}.new")
            raise

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def segments(folder: str) -> list[Segment]:
    """Return the existing segments, the oldest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    numbers = sorted(int(name[:-4]) for name in names if _SEGMENT.fullmatch(name))
    return [
        Segment(number, _path(folder, number, "log"), _path(folder, number, "screen"))
        for number in numbers
    ]


def has_checkpoint(folder: str) -> bool:
    """Return whether there may be a whole screen in it, besides what was printed."""
    return any(os.path.exists(segment.screen) for segment in segments(folder))


def drop_old(folder: str, max_bytes: int, max_age: float) -> None:
    """Remove segments that are too large together or too old, but none that recovery needs."""
    known = segments(folder)
    needed = _newest_checkpoint(known)
    sizes = [_size(segment.log) + _size(segment.screen) for segment in known]
    total, now = sum(sizes), time.time()
    for segment, size in list(zip(known, sizes, strict=True))[:needed]:
        old = max_age and now - _modified(segment.log) > max_age
        if total <= max_bytes and not old:
            break
        for path in (segment.log, segment.screen):
            with suppress(FileNotFoundError):
                os.unlink(path)
        total -= size


def read_end(folder: str) -> Past:
    """Return the newest checkpoint and everything after it."""
    known = segments(folder)
    begin = _newest_checkpoint(known)
    return _read_from(known[begin:])


def take_end(folder: str) -> Past:
    """Return what `read_end` does, and cut off what a crash left incomplete.

    Each file is read once: there may be a thousand journals.

    Raises ValueError if a part of it is missing or damaged.
    """
    known = segments(folder)
    begin, screen, found = len(known), b"", None
    while begin and found is None:
        begin -= 1
        screen = _bytes(known[begin].screen)
        found = peek_checkpoint(screen)
    read, records = known[begin:], []
    whole = not read or read[0].number == 1 or found is not None
    for before, after in pairwise(read):
        whole = whole and after.number == before.number + 1
    for segment in read:
        data = _bytes(segment.log)
        some, counted = read_segment(data)
        records += some
        if counted < len(data) and segment is read[-1]:
            _cut(segment, counted)
        elif counted < len(data):
            whole = False
    if not whole:
        raise ValueError("a part of the journal is missing or damaged")
    return Past(found, unpack_engine(screen) if found else b"", records)


def read_from(folder: str, *, generation: int | None = None, moment: float | None = None) -> Past:
    """Return the part that begins with the last checkpoint before a generation or time."""
    known = segments(folder)
    begin = 0
    for index, segment in enumerate(known):
        found = _checkpoint(segment)
        if found is None:
            continue
        if generation is not None and found.generation > generation:
            break
        if moment is not None and found.time > moment:
            break
        begin = index
    return _read_from(known[begin:])


def read_all(folder: str) -> Past:
    """Return everything that is kept, with the screen at its start if older segments are gone."""
    return _read_from(segments(folder))


def cut_torn_end(folder: str) -> None:
    """Cut off what a crash left incomplete at the end of the newest segment."""
    known = segments(folder)
    if not known:
        return
    data = _bytes(known[-1].log)
    _, whole = read_segment(data)
    if whole < len(data):
        _cut(known[-1], whole)


def _cut(segment: Segment, whole: int) -> None:
    # Only if there is something to cut: else its time would change although nothing is written.
    with suppress(OSError):
        os.truncate(segment.log, whole)


def _read_from(known: Sequence[Segment]) -> Past:
    records: list[Record] = []
    begin = known[0] if known else None
    for segment in known:
        found = _checkpoint(segment) if records else None
        if found is not None and found.generation > records[-1].generation:
            # A full disk left a gap: what comes after it does not continue what came before.
            begin, records = segment, []
        records += read_segment(_bytes(segment.log))[0]
    data = _bytes(begin.screen) if begin else b""
    found = peek_checkpoint(data)
    return Past(found, unpack_engine(data) if found else b"", records)


def _newest_checkpoint(known: Sequence[Segment]) -> int:
    for index in range(len(known) - 1, 0, -1):
        if _checkpoint(known[index]) is not None:
            return index
    return 0


def _checkpoint(segment: Segment) -> Checkpoint | None:
    return peek_checkpoint(_bytes(segment.screen))


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _path(folder: str, number: int, kind: str) -> str:
    return os.path.join(folder, f"{number:08d}.{kind}")


def private_and_new(path: str, flags: int) -> int:
    """Open a new file in place of whatever has this name: what a link leads to stays as it is."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    return os.open(path, flags | os.O_EXCL | os.O_NOFOLLOW, 0o600)


class Outputs(NamedTuple):
    parts: list[bytes]
    whole: bool  # nothing of it was removed, or could not be written
    begin: int | None = None  # where the terminal's stream stood at the first that is left


def outputs(folder: str, after: int, until: int | None) -> Outputs:
    """Return the output of the generations after `after`, up to and including `until`."""
    first = next((segment.number for segment in segments(folder)), 1)
    past = read_from(folder, generation=after)
    parts = [
        record.payload
        for record in past.records
        if record.kind == OUTPUT
        and record.generation > after
        and (until is None or record.generation <= until)
    ]
    # Without a checkpoint it begins with the first segment, unless its own was removed meanwhile.
    began = first == 1 if past.checkpoint is None else past.checkpoint.generation <= after
    return Outputs(parts, began, None if past.checkpoint is None else past.checkpoint.offset)


def command_output(folder: str, after: int, until: int | None) -> Outputs:
    """Return what a command printed that began after a generation: from its start mark on."""
    first = next((segment.number for segment in segments(folder)), 1)
    past = read_from(folder, generation=after)
    parts: list[bytes] = []
    for record in past.records:
        if record.generation < after or (until is not None and record.generation > until):
            continue
        if record.kind == MARK and record.mark[0] == "C":
            parts.clear()  # what came before is the echo of its line
        elif record.kind == OUTPUT and record.generation > after:
            parts.append(record.payload)
    began = first == 1 if past.checkpoint is None else past.checkpoint.generation <= after
    return Outputs(parts, began, None if past.checkpoint is None else past.checkpoint.offset)


def last_of_kind(folder: str, kind: int, most: int) -> tuple[list[bytes], bool]:
    """Return the last payloads of one kind of record, and whether nothing came before them."""
    parts: list[list[bytes]] = []  # the last segment's first
    known, count = segments(folder), 0
    for segment in reversed(known):
        if count >= most:
            break
        parts.append(payloads_of(_bytes(segment.log), kind))
        count += len(parts[-1])
    whole = len(parts) == len(known) and (not known or known[0].number == 1)
    return [payload for part in reversed(parts) for payload in part], whole


def last_output(folder: str, size: int) -> bytes:
    """Return the last output since the program was started: at least `size` bytes, or all."""
    parts: list[bytes] = []  # the last one first
    for segment in reversed(segments(folder)):
        for record in reversed(read_segment(_bytes(segment.log))[0]):
            if record.kind == START or size <= 0:
                return b"".join(reversed(parts))
            if record.kind == OUTPUT:
                parts.append(record.payload)
                size -= len(record.payload)
    return b"".join(reversed(parts))
