"""A terminal as bytes, and back: all of the engine's state, including the scrollback.

The engine packs itself. Before that come a CRC-32 of everything that follows, and the two numbers
that count lines (scrollback.py).

Rule 1: it also works within a sequence or a character: the part so far is kept (UNFINISHED_BYTES).
Rule 2: damaged bytes raise ValueError. We add a CRC because the engine's decoder crashes on some
damaged bytes; so only what nacre wrote itself is read.
"""

import struct
import zlib
from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple

from nacre.core.terminal.ghostty import NULL, check, ffi, lib, new

# A longer sequence is an image or a clipboard; a snapshot has to wait for its end. Packing the part
# so far takes up to 35 ns a byte: this is 2 ms in which nobody else is answered.
UNFINISHED_BYTES = 1 << 16

_HEAD = struct.Struct("<IQQ")
_CRC = 4  # bytes


class WithinSequence(RuntimeError):
    def __init__(self) -> None:
        super().__init__(
            "the output ends within a sequence too long to be kept; take the snapshot later"
        )


class Unpacked(NamedTuple):
    handle: Any
    evicted: int
    dropped: int
    kept: int  # rows above the primary screen


def pack(handle: Any, evicted: int, dropped: int) -> bytes:
    """Raises WithinSequence if the output so far ends in the middle of a very long sequence."""
    place, size = new("uint8_t * *"), new("size_t *")
    result = lib.ghostty_snapshot_encode_alloc(handle, NULL, place, size)
    if result == lib.GHOSTTY_INVALID_VALUE:
        raise WithinSequence
    check(result, "pack itself")
    try:
        engine = ffi.buffer(place[0], size[0])
        head = _HEAD.pack(0, evicted, dropped)[_CRC:]
        crc = zlib.crc32(engine, zlib.crc32(head))
        return b"".join([crc.to_bytes(_CRC, "little"), head, engine])
    finally:
        lib.ghostty_free(NULL, place[0], size[0])


class Packing:
    """A terminal that is lent to a thread to be packed there; `owner` stays until it is.

    Whoever asks first packs it, and everybody else waits for that, by the `lock`: so a thread that
    begins late finds it done, and never works on a terminal that is in use again.
    """

    def __init__(
        self,
        owner: object,
        lock: AbstractContextManager[Any],
        handle: Any,
        evicted: int,
        dropped: int,
    ) -> None:
        self._owner: object | None = owner  # else it could be freed meanwhile
        self._arguments = (handle, evicted, dropped)
        self._lock = lock
        self._packed: bytes | WithinSequence | None = None

    def result(self) -> bytes:
        """Return the packed terminal. Raises WithinSequence, as `pack` does."""
        with self._lock:
            if self._packed is None:
                try:
                    self._packed = pack(*self._arguments)
                except WithinSequence as error:
                    self._packed = error
                self._owner = None
            packed = self._packed
        if isinstance(packed, WithinSequence):
            raise packed
        return packed

    @property
    def done(self) -> bool:
        return self._packed is not None

    def take_back(self) -> Any:
        """Return the engine, once it is packed."""
        with suppress(WithinSequence):
            self.result()
        return self._arguments[0]


def unpack(data: bytes) -> Unpacked:
    """Return a new engine in the state that was packed. Raises ValueError for damaged bytes."""
    if len(data) < _HEAD.size:
        raise _damaged()
    crc, evicted, dropped = _HEAD.unpack_from(data)
    if zlib.crc32(memoryview(data)[_CRC:]) != crc:
        raise _damaged()
    handle, kept = _decode(data[_HEAD.size :])
    return Unpacked(handle, evicted, dropped, kept)


def _decode(engine: bytes) -> tuple[Any, int]:
    decoder = new("GhosttySnapshotDecoder *")
    source = new("uint8_t[]", engine)  # the decoder reads from it: it must live as long
    check(lib.ghostty_snapshot_decoder_new_buf(NULL, decoder, source, len(engine)), "unpack")
    try:
        _prepare(decoder[0])
        handle, kept = new("GhosttyTerminal *"), new("size_t *")
        if lib.ghostty_snapshot_decoder_decode(decoder[0], handle):
            raise _damaged()
        key = lib.GHOSTTY_SNAPSHOT_DECODER_DATA_HISTORY_ROWS_PRIMARY
        check(lib.ghostty_snapshot_decoder_get(decoder[0], key, kept), "answer")
        return handle[0], kept[0]
    finally:
        lib.ghostty_snapshot_decoder_free(decoder[0])


def _prepare(decoder: Any) -> None:
    """Keep unfinished sequences, or the next snapshot within the same sequence would fail."""
    for option, value in (
        (
            lib.GHOSTTY_SNAPSHOT_DECODER_OPT_MAX_CONTINUATION_BYTES,
            new("size_t *", UNFINISHED_BYTES),
        ),
        (lib.GHOSTTY_SNAPSHOT_DECODER_OPT_RETAIN_CONTINUATION, new("bool *", True)),
    ):
        check(lib.ghostty_snapshot_decoder_set(decoder, option, value), "unpack")


def _damaged() -> ValueError:
    return ValueError("the snapshot of the terminal is damaged, or another version's")
