"""The ring: whatever is killed at whatever moment, the next daemon has every byte once."""

import errno
import os
import random
import resource
import subprocess
import sys
import tty
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import LimitReached
from nacre.system.processes.pty import shortage
from nacre.system.storage import ring as layout
from nacre.system.storage.ring import Ring

from system.storage import ring_kills

_TEXT = "plain text, ünï¢ödé, 漢字, \x1b[31mred\x1b[0m\r\n".encode()
_ALL = layout._DATA


class Killed(BaseException):
    """The process ends here; no handler of its own runs."""


class Writes:
    """Counts what a ring writes into its memory, and kills it at the one that it is told.

    The C library copies in no certain order: of a copy that is torn, any part may be there.
    """

    def __init__(self, dice: random.Random, kill_at: int) -> None:
        self.dice = dice
        self.left = kill_at

    def comes(self) -> bool:
        """Whether the next write is the one."""
        self.left -= 1
        return self.left == 0


class TornMemory:
    """Stands where a ring has its view."""

    def __init__(self, view: memoryview, writes: Writes) -> None:
        self._view = view
        self._writes = writes

    def __getitem__(self, part: slice) -> memoryview:
        return self._view[part]

    def __setitem__(self, part: slice, data: bytes) -> None:
        if not self._writes.comes():
            self._view[part] = data
            return
        dice, begin = self._writes.dice, part.start
        assert part.stop - begin == len(data)
        for _ in range(dice.randrange(4)):
            at, end = sorted(dice.randrange(len(data) + 1) for _ in range(2))
            self._view[begin + at : begin + end] = data[at:end]
        raise Killed

    def release(self) -> None:
        self._view.release()


class KilledWords:
    """Stands where a ring has its words; a word is written or not."""

    def __init__(self, words: memoryview, writes: Writes) -> None:
        self._words = words
        self._writes = writes

    def __getitem__(self, at: int) -> int:
        return int(self._words[at])

    def __setitem__(self, at: int, word: int) -> None:
        comes = self._writes.comes()
        if not comes or self._writes.dice.random() < 0.5:
            self._words[at] = word
        if comes:
            raise Killed

    def release(self) -> None:
        self._words.release()


class Source:
    """A pipe; and how many of its bytes the kernel has given out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self.writer, False)
        self.sent = bytearray()
        self.given = 0
        self.kill_at: int | None = None  # bytes after which a reader is killed within the read
        self._readv = os.readv
        monkeypatch.setattr(os, "readv", self.readv)

    def send(self, data: bytes) -> None:
        try:
            self.sent += data[: os.write(self.writer, data)]
        except BlockingIOError:
            return  # it is full

    def readv(self, descriptor: int, buffers: Any) -> int:
        size = self._readv(descriptor, buffers)
        self.given += size
        if self.kill_at is not None:
            raise Killed
        return size

    def close(self) -> None:
        os.close(self.reader)
        os.close(self.writer)


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    made = Source(monkeypatch)
    yield made
    made.close()


def reopened(ring: Ring) -> Ring:
    """What the next daemon finds."""
    return Ring(os.dup(ring.descriptor))


def filled(ring: Ring, source: Source, size: int) -> bytes:
    """Have this many bytes in a ring; return them."""
    data = (_TEXT * (size // len(_TEXT) + 1))[:size].replace(b"\xff", b"?")
    begin = 0
    while begin < size:
        source.send(data[begin : begin + 4096])
        begin += len(ring.read(source.reader, 1).data)
    return data


# --- reading and releasing ---------------------------------------------------------------------


def test_what_is_read_stays_until_it_is_released(source: Source) -> None:
    ring = Ring()
    source.send(b"first second")
    assert ring.read(source.reader, 65536) == (b"first second", False)
    assert (ring.begin, ring.end) == (0, 12)
    assert ring.since(0) == b"first second"
    assert ring.since(6) == b"second"
    assert ring.since(12) == b""
    ring.release(12)
    assert (ring.begin, ring.end) == (12, 12)
    assert ring.since(0) == b"", "from the oldest byte, if that is later"
    ring.close()


def test_nothing_to_read_is_no_end(source: Source) -> None:
    ring = Ring()
    assert ring.read(source.reader, 1) == (b"", False)
    ring.close()


def test_end_of_a_pipe_and_of_a_terminal_is_told_with_the_last_bytes(source: Source) -> None:
    ring = Ring()
    source.send(b"last")
    os.close(source.writer)
    source.writer = os.dup(0)
    assert ring.read(source.reader, 65536) == (b"last", True)
    master, slave = os.openpty()
    tty.setraw(slave)
    os.write(slave, b"words")
    os.close(slave)
    assert ring.read(master, 65536) == (b"words", True)
    assert ring.since(0) == b"lastwords"
    os.close(master)
    ring.close()


def test_terminal_that_is_said_to_be_closed_between_two_parts_is_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What the kernel does once in many thousands of endings.
    script: list[bytes | int] = [b"one", errno.EIO, b"two", errno.EIO, errno.EIO]

    def readv(_: int, buffers: Sequence[memoryview]) -> int:
        step = script.pop(0)
        if isinstance(step, int):
            raise OSError(step, os.strerror(step))
        buffers[0][: len(step)] = step
        return len(step)

    monkeypatch.setattr(os, "readv", readv)
    ring = Ring()
    assert ring.read(-1, 65536) == (b"onetwo", True)
    ring.close()


def test_full_ring_reads_nothing_and_loses_nothing(source: Source) -> None:
    ring = Ring()
    size = 0
    while not ring.full:
        source.send(b"x" * 4096)
        size += len(ring.read(source.reader, 1).data)
    source.send(b"more")
    assert ring.read(source.reader, 65536) == (b"", False)
    ring.release(size)
    assert ring.read(source.reader, 65536) == (b"more", False)
    ring.close()


def test_limit_bounds_what_is_read_at_once(source: Source) -> None:
    ring = Ring()
    source.send(b"x" * 60_000)
    read = ring.read(source.reader, 10_000).data
    assert 10_000 <= len(read) < 10_000 + layout._WINDOW
    ring.close()


def test_little_gain_moves_nothing(source: Source) -> None:
    ring = Ring()
    data = filled(ring, source, 30_000)
    ring.release(10_000)
    assert ring.begin == 0
    ring.release(29_000)
    assert (ring.begin, ring.end) == (29_000, 30_000)
    assert ring.since(0) == data[29_000:]
    assert ring.since(29_500) == data[29_500:]
    ring.close()


def test_release_beyond_the_end_or_before_the_beginning_is_harmless(source: Source) -> None:
    ring = Ring()
    source.send(b"abc")
    ring.read(source.reader, 1)
    ring.release(2**40)
    assert (ring.begin, ring.end) == (3, 3)
    source.send(b"def")
    ring.read(source.reader, 1)
    ring.release(0)
    assert ring.since(0) == b"def"
    ring.close()


def test_offsets_grow_past_what_a_word_had_room_for_with_the_count(source: Source) -> None:
    """17 TB of output are four days of `yes`."""
    ring = Ring()
    place = layout._AT_BASE + ring._slot
    ring._words[place] = ring._base = 2**62
    source.send(b"still here")
    ring.read(source.reader, 1)
    ring.release(2**62 + 6)
    ring = reopened(ring)
    assert ring.end == 2**62 + 10
    assert ring.since(2**62 + 6) == b"here"
    ring.release(ring.end)
    assert reopened(ring).begin == 2**62 + 10


def test_quiet_session_takes_few_pages(source: Source) -> None:
    ring = Ring()
    source.send(b"$ ")
    ring.read(source.reader, 65536)
    ring.short = b"{}"
    assert os.fstat(ring.descriptor).st_blocks * 512 <= 6 * 4096
    ring.close()


def test_what_is_no_ring_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "zeros").write_bytes(bytes(layout._LONG_AT))
    for name in ("empty", "zeros"):
        with pytest.raises(ValueError, match="no ring"):
            Ring(os.open(tmp_path / name, os.O_RDWR))


# --- what the next daemon finds ----------------------------------------------------------------


def test_next_daemon_finds_bytes_words_and_records(source: Source) -> None:
    first = Ring()
    source.send(_TEXT)
    first.read(source.reader, 65536)
    first.answered, first.generation = 11, 2**63
    first.short, first.long = b"short", b"long" * 50_000
    second = reopened(first)
    first.close()
    assert second.since(0) == _TEXT
    assert (second.answered, second.generation) == (11, 2**63)
    assert (second.short, second.long) == (b"short", b"long" * 50_000)
    second.close()


@pytest.mark.parametrize("size", [1, 4095, 4096, 8191, 8192])
@pytest.mark.parametrize("before", [0, 1, 8191, 8192, 20_000, layout._DATA - layout._WINDOW])
def test_read_that_no_word_tells_of_is_taken_up(source: Source, before: int, size: int) -> None:
    """Also one that fills the window to its last byte: under load the kernel has 17 KB at once."""
    ring = Ring()
    data = filled(ring, source, before)
    source.send(b"y" * size)
    source.kill_at = 0
    with pytest.raises(Killed):
        ring.read(source.reader, 65536)
    source.kill_at = None
    found = reopened(ring)
    assert found.end == before + size
    assert found.since(0) == data + b"y" * size
    again = reopened(found)
    assert again.end == before + size, "it is taken up once"


def test_text_is_taken_up_at_every_length(source: Source) -> None:
    for size in range(1, len(_TEXT)):
        ring = Ring()
        ring._fill(0)
        at = layout._DATA_AT
        ring._view[at : at + size] = _TEXT[:size]  # as the kernel does it
        assert reopened(ring).since(0) == _TEXT[:size]
        ring.close()


def test_binary_output_that_ends_in_0xff_loses_these_bytes_and_no_others(source: Source) -> None:
    """The documented limit, and only for a read in whose middle the daemon was killed."""
    ring = Ring()
    source.send(b"\xffa\xff\xff")
    ring.read(source.reader, 1)
    assert reopened(ring).since(0) == b"\xffa\xff\xff", "a read that was told of"
    source.send(b"\xffb\xff\xff\xff")
    source.kill_at = 0
    with pytest.raises(Killed):
        ring.read(source.reader, 1)
    source.kill_at = None
    found = reopened(ring)
    assert found.since(0) == b"\xffa\xff\xff\xffb"
    source.send(b"\xffnext")
    found.read(source.reader, 1)
    assert reopened(found).since(0) == b"\xffa\xff\xff\xffb\xffnext"


@pytest.mark.parametrize("seed", range(60))
def test_no_kill_at_any_write_loses_or_doubles_a_byte(source: Source, seed: int) -> None:
    """Every step may be the last of its daemon; `journaled` is what lies on disk by then."""
    dice = random.Random(seed)
    ring, journaled, kills = Ring(), 0, 0
    short, long = b"", b""
    for _ in range(250):
        if dice.random() < 0.7:
            source.send(_TEXT * dice.choice((1, 10, 300, 1200)))
        doomed = dice.random() < 0.5
        writes = Writes(dice, dice.randrange(1, 6) if doomed else 0)
        real = ring._view, ring._words
        ring._view = TornMemory(ring._view, writes)  # type: ignore[assignment]
        ring._words = KilledWords(ring._words, writes)  # type: ignore[assignment]
        source.kill_at = 0 if doomed and dice.random() < 0.3 else None
        new_short, new_long = short, long
        killed = False
        try:
            match dice.choice(("read", "read", "release", "release", "short", "long")):
                case "read":
                    data = ring.read(source.reader, dice.choice((1, 9000, _ALL))).data
                    assert data == source.sent[ring.end - len(data) : ring.end]
                case "release":
                    journaled = dice.choice((ring.end, dice.randint(journaled, ring.end)))
                    ring.release(journaled)
                case "short":
                    new_short = dice.randbytes(dice.randrange(layout._SHORT + 1))
                    ring.short = new_short
                case "long":
                    new_long = dice.randbytes(dice.choice((0, 10, 5000, 100_000)))
                    ring.long = new_long
        except Killed:
            killed = True
        source.kill_at = None
        ring._view, ring._words = real
        if killed or dice.random() < 0.1:
            before, ring = ring, reopened(ring)
            before.close()
            kills += killed
        assert ring.end == source.given
        assert ring.begin <= journaled
        assert ring.since(journaled) == source.sent[journaled : ring.end]
        assert ring.short in (short, new_short)
        assert ring.long in (long, new_long)
        if not killed:
            assert (ring.short, ring.long) == (new_short, new_long)
        short, long = ring.short, ring.long
    assert kills > 10
    ring.close()


# --- records -----------------------------------------------------------------------------------


def test_record_that_does_not_fit_is_refused_and_the_old_one_stays() -> None:
    ring = Ring()
    ring.short = b"old"
    with pytest.raises(ValueError, match="does not fit"):
        ring.short = b"x" * (ring.short_limit + 1)
    assert ring.short == b"old"
    ring.short = b"x" * ring.short_limit
    assert ring.short == b"x" * ring.short_limit
    ring.short = b""
    assert ring.short == b""
    ring.close()


def test_long_record_that_is_written_for_ever_does_not_grow_for_ever() -> None:
    ring = Ring()
    assert ring.long == b""
    dice = random.Random(3)
    for _ in range(2000):
        record = dice.randbytes(dice.randrange(1000))
        ring.long = record
        assert ring.long == record
    assert os.fstat(ring.descriptor).st_size < layout._LONG_AT + 8 * 1000
    ring.close()


# --- real kills --------------------------------------------------------------------------------


def test_processes_killed_in_the_middle_of_reads_lose_nothing_of_a_flooding_terminal(
    tmp_path: Path,
) -> None:
    kills = 300
    done = subprocess.run(
        [sys.executable, ring_kills.__file__, str(kills), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    lines, unnoted = map(int, done.stdout.split())
    print(f"{kills} kills, {unnoted} of them between a read and its word; {lines} lines")
    assert unnoted, "no kill came at the moment that this is about"
    written = (tmp_path / "journal").read_bytes()
    assert written == b"".join(map(ring_kills.numbered, range(lines)))


def test_a_limit_of_file_sizes_is_told_as_such_and_leaves_no_descriptor() -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    opened = len(os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as refused:
            Ring()
        told = shortage("cannot make it", refused.value)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(os.listdir("/dev/fd")) == opened
    assert isinstance(told, LimitReached)
    assert "files of 65536 bytes (RLIMIT_FSIZE)" in str(told)
    assert "ulimit -f" in str(told)
