"""The journal's records: what happened in a session, in order and with times.

A segment is a magic line and records. A record is a head (CRC-32 of all that follows, length of the
payload, kind, time, generation, offset; little endian) and its payload. A checkpoint is a screen
as the engine packs it, with what the engine does not know.

Rule 1: a reader accepts records up to the first that is torn or damaged; a crash during a write
costs only that write.
Rule 2: what was read from the terminal at once is written as one group. Only its last record has an
offset: the place in the terminal's stream up to which the journal is complete. Records after the
last offset do not count, so nothing is shown twice when the rest comes from the ring.
Rule 3: our marks are separate records, without their nonce; hidden input is not here at all.
"""

import struct
import zlib
from typing import NamedTuple

import msgspec

MAGIC = b"nacre journal 1\n"

OUTPUT = 1  # payload: bytes for the engine
INPUT = 2  # payload: bytes for the child; empty: hidden input
RESIZE = 3  # payload: rows and columns
MARK = 4  # payload: letter, tag of the nonce, value, with semicolons between
START = 5  # a child starts on an empty screen; payload: rows and columns
EXIT = 6  # payload: exit code or nothing, signal or nothing, with a semicolon between
NOTICE = 7  # payload: text that nacre itself put on the screen
ACTIVITY = 8  # payload: a note of what runs, and who ran it (core/journal/activity.py)

NO_OFFSET = (1 << 64) - 1

_HEAD = struct.Struct("<IIBdQQ")
_SIZE = struct.Struct("<HH")
_CHECKPOINT = struct.Struct("<II")
_CHECKPOINT_MAGIC = b"nacre screen 1\n"

_LEVEL = 1  # zlib's: ten thousand rows take 8 ms, and shrink to a fiftieth


class Record(NamedTuple):
    kind: int
    time: float  # seconds since the epoch
    generation: int  # of the screen that includes this
    offset: int
    payload: bytes

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of a RESIZE or START."""
        rows, cols = _SIZE.unpack(self.payload)
        return rows, cols

    @property
    def mark(self) -> tuple[str, str, str]:
        """Letter, tag and value of a MARK."""
        letter, tag, value = self.payload.decode(errors="surrogateescape").split(";", 2)
        return letter, tag, value

    @property
    def ending(self) -> tuple[int | None, str | None]:
        """Exit code and signal of an EXIT."""
        code, _, signal = self.payload.decode().partition(";")
        return int(code) if code else None, signal or None


def head_of(kind: int, time: float, generation: int, offset: int, payload: bytes) -> bytes:
    """Return the head of a record with this payload."""
    head = _HEAD.pack(0, len(payload), kind, time, generation, offset)
    return zlib.crc32(payload, zlib.crc32(head[4:])).to_bytes(4, "little") + head[4:]


def size_payload(rows: int, cols: int) -> bytes:
    return _SIZE.pack(rows, cols)


def mark_payload(letter: str, tag: str, value: str) -> bytes:
    return f"{letter};{tag};{value}".encode(errors="surrogateescape")


def ending_payload(exit_code: int | None, signal: str | None) -> bytes:
    return f"{'' if exit_code is None else exit_code};{signal or ''}".encode()


def read_segment(data: bytes) -> tuple[list[Record], int]:
    """Return the records that count, and how many bytes of the segment they take."""
    if not data.startswith(MAGIC):
        return [], 0
    records: list[Record] = []
    counted, whole = 0, len(MAGIC)
    at, end = len(MAGIC), len(data)
    while at + _HEAD.size <= end:
        crc, length, kind, time, generation, offset = _HEAD.unpack_from(data, at)
        begin = at + _HEAD.size
        if begin + length > end or zlib.crc32(data[at + 4 : begin + length]) != crc:
            break
        at = begin + length
        records.append(Record(kind, time, generation, offset, data[begin:at]))
        if offset != NO_OFFSET:
            counted, whole = len(records), at
    return records[:counted], whole


def payloads_of(data: bytes, kind: int) -> list[bytes]:
    """Return the payloads of one kind of record in a segment; the others are stepped over."""
    found: list[bytes] = []
    at, end = len(MAGIC), len(data)
    while data.startswith(MAGIC) and at + _HEAD.size <= end:
        crc, length, own, *_ = _HEAD.unpack_from(data, at)
        begin = at + _HEAD.size
        if begin + length > end:
            break
        if own == kind:
            if zlib.crc32(data[at + 4 : begin + length]) != crc:
                break
            found.append(data[begin : begin + length])
        at = begin + length
    return found


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A screen at one moment, and where the journal continues from there."""

    time: float
    generation: int
    offset: int
    evicted: int  # lines that have left the scrollback, see Terminal.evicted
    phase: str | None = None  # of the prompt, see marks.Prompting
    ended: int = 0
    exit_code: int | None = None
    folder: str | None = None
    prompt_end: tuple[int, int] | None = None  # row and column


def pack_checkpoint(checkpoint: Checkpoint, engine: bytes) -> bytes:
    """Return the bytes of a checkpoint's file. Takes 8 ms for a full scrollback."""
    about = msgspec.json.encode(checkpoint)
    body = len(about).to_bytes(4, "little") + about + zlib.compress(engine, _LEVEL)
    return _CHECKPOINT_MAGIC + zlib.crc32(body).to_bytes(4, "little") + body


def peek_checkpoint(data: bytes) -> Checkpoint | None:
    """Return a checkpoint's description; None if the file is torn or damaged."""
    begin = len(_CHECKPOINT_MAGIC) + _CHECKPOINT.size
    if not data.startswith(_CHECKPOINT_MAGIC) or len(data) < begin:
        return None
    crc, length = _CHECKPOINT.unpack_from(data, len(_CHECKPOINT_MAGIC))
    if zlib.crc32(memoryview(data)[begin - 4 :]) != crc:  # the length counts too
        return None
    try:
        return msgspec.json.decode(data[begin : begin + length], type=Checkpoint)
    except msgspec.DecodeError:
        return None  # from another version


def unpack_engine(data: bytes) -> bytes:
    """Return the engine's part of a checkpoint that was found undamaged."""
    _, length = _CHECKPOINT.unpack_from(data, len(_CHECKPOINT_MAGIC))
    return zlib.decompress(data[len(_CHECKPOINT_MAGIC) + _CHECKPOINT.size + length :])
