"""What was read from a terminal and is not in the journal yet, and the session's record.

The memory is shared: the keeper holds its descriptor, so the next daemon gets exactly what a killed
one had. Its layout is
  a page of words · two places for the short record · the bytes that were read · the long record
In the page of words there are also places for who numbers what they type, and at its end the bytes
of theirs that are being written to the terminal.

Rule 1: a read goes straight from the kernel into this memory. If the process is killed during it,
the new bytes are there, but no word counts them. So the space for a read is filled with 0xFF first,
which occurs in no UTF-8 text, and the next daemon takes the bytes that differ. If binary output
ends in 0xFF at that moment, these last bytes are lost.
Rule 2: every change takes effect by writing one word, which no kill can tear. A copy can be torn
anywhere, because the C library does not copy in order. The end of the filled space is a word too;
behind it there may be anything.
Rule 3: places are offsets in the terminal's whole stream, which only grow; the journal knows up to
which offset it is complete.
Rule 4: what a typist types goes to the terminal straight from this file (sendfile(2)), where it
ends with the page of words. The kernel moves the file's position in the same step, and the keeper's
descriptor shares that position. So the next daemon reads from it what the terminal took.
"""

import errno
import mmap
import os
import sys
import tempfile
from typing import NamedTuple

_PAGE = 4096
_SHORT = 16 * 1024  # bytes; the longest short record
_DATA = 256 * 1024  # bytes of output; when it is full, it is emptied into the journal
_DATA_AT = _PAGE + 2 * _SHORT
_LONG_AT = _DATA_AT + _DATA
_WINDOW = 8192  # bytes of one read; the kernel mostly has 4 KiB, under load up to 17 KB
_FILL = b"\xff" * _DATA

_MAGIC = 0x6E61637265303031  # "nacre001"
_WORDS = 16
_AT_MAGIC, _AT_PLACE, _AT_ANSWERED, _AT_GENERATION, _AT_SHORT, _AT_LONG, _AT_CLEAN = range(7)
# The stream offset of the first byte is in one of two words. The place says which one, and how many
# bytes there are.
_AT_BASE = 8
_AT_SHOWN, _AT_TYPED = 10, 11  # milliseconds of the machine's clock; 0: never
_AT_STAGED = 12  # the name of the typist whose bytes stand at the end of the page; 0: nobody's
_LOW = 0xFFFFFFFF
# Who numbers what they type: a name, what the terminal took, what is being written, and a count of
# when the place was last asked for. Rings of earlier versions have zeros there.
_TYPISTS_AT = 1024
_TYPISTS = 64  # places; a page or an attached terminal needs one
_TYPIST_WORDS = 4
_OF_NAME, _OF_TAKEN, _OF_BEGUN, _OF_ASKED = range(_TYPIST_WORDS)
_TYPISTS_SIZE = 8 * _TYPISTS * _TYPIST_WORDS
_STAGED = _PAGE - _TYPISTS_AT - _TYPISTS_SIZE  # bytes that are written at once

# What sendfile(2) says where it cannot write to terminals: Linux before 5.12, gVisor.
_CANNOT_SEND = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


class Reading(NamedTuple):
    data: bytes
    closed: bool  # no process has the terminal open any more


class Ring:
    """Raises OSError when the system has no memory for it; ValueError if it is not a ring."""

    def __init__(self, descriptor: int | None = None) -> None:
        fresh = descriptor is None
        self.descriptor = _memory() if descriptor is None else descriptor
        try:
            if fresh:
                os.ftruncate(self.descriptor, _LONG_AT)
            elif os.fstat(self.descriptor).st_size < _LONG_AT:
                raise ValueError("this is no ring")
            self._map = mmap.mmap(self.descriptor, _LONG_AT)
        except OSError:
            if fresh:
                os.close(self.descriptor)
            raise
        self._view = memoryview(self._map)
        self._words = self._view[: 8 * _WORDS].cast("Q")
        self._typists = self._view[_TYPISTS_AT : _TYPISTS_AT + _TYPISTS_SIZE].cast("Q")
        if fresh:
            self._words[_AT_MAGIC] = _MAGIC
        elif self._words[_AT_MAGIC] != _MAGIC:
            raise ValueError("this is no ring")
        place = self._words[_AT_PLACE]
        self._slot, self._count = place >> 32, place & _LOW
        self._base = self._words[_AT_BASE + self._slot]
        self._clean = self._words[_AT_CLEAN]  # everything from the last byte up to here is fill
        if not fresh:
            self._count += self._unnoted()
            self._words[_AT_PLACE] = self._slot << 32 | self._count
            self._note_staged()

    def close(self) -> None:
        """Free the memory; later changes have no effect."""
        if self.descriptor < 0:
            return
        self._words.release()
        self._typists.release()
        self._view.release()
        self._map.close()
        os.close(self.descriptor)
        self.descriptor = -1
        self._words = memoryview(bytearray(8 * _WORDS)).cast("Q")
        self._typists = memoryview(bytearray(_TYPISTS_SIZE)).cast("Q")

    # --- output ----------------------------------------------------------------------------

    @property
    def begin(self) -> int:
        """The offset of the oldest byte that is still in the ring."""
        return self._base

    @property
    def end(self) -> int:
        """The offset after the last byte that was read."""
        return self._base + self._count

    @property
    def full(self) -> bool:
        return self._count + _WINDOW > _DATA

    def read(self, master: int, limit: int) -> Reading:
        """Read what is available, at most about `limit` bytes and as much as fits."""
        begin = at = self._count
        view, words, slot = self._view, self._words, self._slot << 32
        closed = doubted = False
        last = min(begin + limit, _DATA - _WINDOW + 1)
        while at < last:
            if self._clean < at + _WINDOW:
                self._fill(at)
            try:
                size = os.readv(master, (view[_DATA_AT + at : _DATA_AT + at + _WINDOW],))
            except BlockingIOError:
                break
            except OSError:  # EIO: every descriptor of the slave is closed
                # Linux may report that also between two parts of queued output (n_tty.c: a
                # worker that found no space is started again, and a read waits only for the
                # first); the next read waits for the second.
                if not doubted:
                    doubted = True
                    continue
                closed = True
                break
            doubted = False
            if not size:
                closed = True
                break
            at += size
            words[_AT_PLACE] = slot | at
        self._count = at
        return Reading(self._map[_DATA_AT + begin : _DATA_AT + at], closed)

    def since(self, offset: int) -> bytes:
        """Return what was read from this offset on, or from the oldest byte if that is later."""
        begin = max(0, offset - self._base)
        return self._map[_DATA_AT + begin : _DATA_AT + self._count]

    def release(self, offset: int) -> None:
        """Forget the bytes before this offset, which are in the journal."""
        held = self.end - offset
        if held <= 0:
            held = 0
        elif 2 * held + _WINDOW > self._count:
            return  # not worth moving the bytes
        count, stale = self._count, self._count - held
        if not stale:
            return
        data = self._map[_DATA_AT + stale : _DATA_AT + count]
        clean = max(self._clean, count)
        self._note_clean(0)  # until everything behind the new end is filled again
        self._view[_DATA_AT : _DATA_AT + stale] = data + _FILL[: stale - held]
        self._base, self._slot, self._count = self._base + stale, 1 - self._slot, held
        self._words[_AT_BASE + self._slot] = self._base
        self._words[_AT_PLACE] = self._slot << 32 | held
        self._view[_DATA_AT + stale : _DATA_AT + count] = _FILL[:held]
        self._note_clean(clean)

    def _fill(self, at: int) -> None:
        # A session that prints little uses few pages.
        end = min(_DATA, at + (4 * _WINDOW if at >= _WINDOW else _WINDOW))
        begin = max(at, self._clean)
        self._view[_DATA_AT + begin : _DATA_AT + end] = _FILL[: end - begin]
        self._note_clean(end)

    def _note_clean(self, end: int) -> None:
        self._words[_AT_CLEAN] = self._clean = end

    def _unnoted(self) -> int:
        """Count the bytes of a read during which the daemon before us was killed."""
        end = min(self._clean, self._count + _WINDOW)
        return len(self._map[_DATA_AT + self._count : _DATA_AT + end].rstrip(b"\xff"))

    # --- words -----------------------------------------------------------------------------

    @property
    def answered(self) -> int:
        """The offset up to which the program's queries were answered."""
        return self._words[_AT_ANSWERED]

    @answered.setter
    def answered(self, offset: int) -> None:
        self._words[_AT_ANSWERED] = offset

    @property
    def generation(self) -> int:
        return self._words[_AT_GENERATION]

    @generation.setter
    def generation(self, generation: int) -> None:
        self._words[_AT_GENERATION] = generation

    @property
    def shown_at(self) -> float | None:
        """When something was shown last, by the clock of the machine (monotonic); None: never."""
        return self._words[_AT_SHOWN] / 1000 or None

    @shown_at.setter
    def shown_at(self, when: float) -> None:
        self._words[_AT_SHOWN] = max(0, int(when * 1000))

    @property
    def typed_at(self) -> float | None:
        """When something was typed last, by the same clock; None: never."""
        return self._words[_AT_TYPED] / 1000 or None

    @typed_at.setter
    def typed_at(self, when: float) -> None:
        self._words[_AT_TYPED] = max(0, int(when * 1000))

    # --- who types -------------------------------------------------------------------------

    def typist(self, name: int) -> "Typist":
        """Return the place of one who numbers what they type; `name` is not 0.

        For a new one that is the place which was not asked for the longest.
        """
        words, step = self._typists, _TYPIST_WORDS
        last = max(words[_OF_ASKED::step]) + 1
        for at in range(0, len(words), step):
            if words[at] == name:
                break
        else:
            at = min(range(0, len(words), step), key=lambda place: words[place + _OF_ASKED])
            words[at] = 0  # first: a kill in between leaves a free place
            words[at + _OF_TAKEN] = words[at + _OF_BEGUN] = 0
            words[at] = name
        words[at + _OF_ASKED] = last
        return Typist(self, name, at)

    def _stage(self, data: bytes | memoryview) -> None:
        """Put these bytes where the next sendfile takes them from."""
        begin = _PAGE - len(data)
        self._view[begin:_PAGE] = data
        os.lseek(self.descriptor, begin, os.SEEK_SET)

    def _note_staged(self) -> None:
        """Note what the terminal took of what was being written when the daemon was killed."""
        words, name = self._typists, self._words[_AT_STAGED]
        left = _PAGE - os.lseek(self.descriptor, 0, os.SEEK_CUR)
        for at in range(0, len(words), _TYPIST_WORDS):
            if words[at] == name != 0:
                typist = Typist(self, name, at)
                if typist.begun > typist.taken:
                    typist.took(typist.begun - left)

    # --- records ---------------------------------------------------------------------------

    @property
    def short_limit(self) -> int:
        return _SHORT

    @property
    def short(self) -> bytes:
        """The record that changes often."""
        word = self._words[_AT_SHORT]
        at = _PAGE + (word >> 32) * _SHORT
        return self._map[at : at + (word & _LOW)]

    @short.setter
    def short(self, record: bytes) -> None:
        if len(record) > _SHORT:
            raise ValueError("the record does not fit")
        if self.descriptor < 0:
            return
        other = 1 - (self._words[_AT_SHORT] >> 32)
        at = _PAGE + other * _SHORT
        self._view[at : at + len(record)] = record
        self._words[_AT_SHORT] = other << 32 | len(record)

    @property
    def long(self) -> bytes:
        """The record that rarely changes."""
        word = self._words[_AT_LONG]
        return os.pread(self.descriptor, word & _LOW, word >> 32) if word else b""

    @long.setter
    def long(self, record: bytes) -> None:
        if self.descriptor < 0:
            return
        word = self._words[_AT_LONG]
        begin, length = word >> 32, word & _LOW
        fits_before = bool(word) and begin - _LONG_AT >= len(record)
        at = _LONG_AT if not word or fits_before else begin + length
        os.pwrite(self.descriptor, record, at)
        self._words[_AT_LONG] = at << 32 | len(record)


class Typist:
    """Up to which number the terminal took what one typed, and up to which it is being written.

    Where the second is higher than the first, and the bytes between them were not staged, a kill
    leaves nobody who knows what the terminal took of them.
    """

    def __init__(self, ring: Ring, name: int, at: int) -> None:
        self._ring = ring
        self._name = name
        self._at = at

    @property
    def taken(self) -> int:
        return self._get(_OF_TAKEN)

    @property
    def begun(self) -> int:
        return self._get(_OF_BEGUN)

    def begin(self, end: int) -> None:
        """Note, before it is written, that what comes before this number is being written."""
        self._ring._words[_AT_STAGED] = 0
        self._set(_OF_BEGUN, end)

    def write(self, terminal: int, data: bytes | memoryview, first: int) -> int:
        """Write what the terminal takes of these bytes, the first of which has this number.

        Return how many these are; they are noted by `took`. Raises what os.write raises.
        """
        ring = self._ring
        if sys.platform == "linux" and ring.descriptor >= 0:
            staged = data[:_STAGED]
            ring._stage(staged)
            # In this order: until the last of these, what the page says is what was before.
            ring._words[_AT_STAGED] = self._name
            self._set(_OF_BEGUN, first + len(staged))
            try:
                return os.sendfile(terminal, ring.descriptor, None, len(staged))
            except OSError as error:
                if error.errno not in _CANNOT_SEND:
                    raise
        self.begin(first + len(data))
        return os.write(terminal, data)

    def took(self, end: int) -> None:
        """Note that all before this number was written, and that nothing is being written."""
        self._set(_OF_TAKEN, end)
        self._set(_OF_BEGUN, end)

    def _get(self, word: int) -> int:
        words = self._ring._typists
        return words[self._at + word] if words[self._at] == self._name else 0

    def _set(self, word: int, value: int) -> None:
        words = self._ring._typists
        if words[self._at] == self._name:  # else the place is somebody else's now
            words[self._at + word] = value


def _memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("nacre-ring", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
