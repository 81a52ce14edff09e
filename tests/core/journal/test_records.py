"""The journal's records and checkpoints: what is torn or damaged is left out, never misread."""

import random
from itertools import pairwise

import msgspec
import pytest

from nacre.core.journal import records as journal
from nacre.core.journal.records import (
    MAGIC,
    NO_OFFSET,
    Checkpoint,
    Record,
    ending_payload,
    head_of,
    mark_payload,
    pack_checkpoint,
    peek_checkpoint,
    read_segment,
    size_payload,
    unpack_engine,
)


def packed(record: Record) -> bytes:
    kind, time, generation, offset, payload = record
    return head_of(kind, time, generation, offset, payload) + payload


def output(payload: bytes, generation: int, offset: int = NO_OFFSET) -> Record:
    return Record(journal.OUTPUT, 1.5 + generation, generation, offset, payload)


# Groups as a recorder writes them: only the last record of each has an offset.
GROUPS = [
    [Record(journal.START, 1.0, 0, 0, size_payload(24, 80))],
    [output(b"one ", 1), output(b"two", 2, 7)],
    [output("drei ünï\x1b[31m".encode(), 3, 22)],
    [Record(journal.INPUT, 9.0, 3, 22, b"ls\r")],
    [
        Record(journal.MARK, 9.5, 3, NO_OFFSET, mark_payload("D", "a1b2c3d4", "0;/tmp")),
        output(b"", 4),
        output(bytes(range(256)), 5, 2**63),
    ],
    [Record(journal.EXIT, 10.0, 5, 2**63, ending_payload(0, None))],
]
SEGMENT = MAGIC + b"".join(packed(record) for group in GROUPS for record in group)


def boundaries() -> list[int]:
    """Where each group ends, beginning with none."""
    ends = [len(MAGIC)]
    for group in GROUPS:
        ends.append(ends[-1] + sum(len(packed(record)) for record in group))
    return ends


def flat(groups: list[list[Record]]) -> list[Record]:
    return [record for group in groups for record in group]


# --- records -----------------------------------------------------------------------------------


def test_records_come_back_as_they_were_written() -> None:
    assert read_segment(SEGMENT) == (flat(GROUPS), len(SEGMENT))


def test_format_is_what_it_was() -> None:
    """A journal outlives the version that wrote it: another layout needs another magic line."""
    record = packed(Record(journal.OUTPUT, 0.5, 2, 3, b"hi"))
    assert record.hex() == "61e54f5f0200000001000000000000e03f020000000000000003000000000000006869"


@pytest.mark.parametrize("size", [(1, 1), (24, 80), (65535, 65535)])
def test_sizes_come_back(size: tuple[int, int]) -> None:
    assert Record(journal.RESIZE, 0.0, 0, 0, size_payload(*size)).size == size


@pytest.mark.parametrize(
    "mark",
    [("A", "12345678", ""), ("D", "12345678", "0;/a;b;c"), ("D", "", "1;/b\udcffd/ünï")],
)
def test_marks_come_back_also_with_folders_that_are_no_text(mark: tuple[str, str, str]) -> None:
    assert Record(journal.MARK, 0.0, 0, 0, mark_payload(*mark)).mark == mark


@pytest.mark.parametrize("ending", [(0, None), (255, None), (None, "SIGKILL"), (None, None)])
def test_endings_come_back(ending: tuple[int | None, str | None]) -> None:
    assert Record(journal.EXIT, 0.0, 0, 0, ending_payload(*ending)).ending == ending


# --- torn and damaged --------------------------------------------------------------------------


def test_every_prefix_gives_the_groups_that_are_whole() -> None:
    ends = boundaries()
    for cut in range(len(SEGMENT) + 1):
        records, whole = read_segment(SEGMENT[:cut])
        if cut < len(MAGIC):
            assert (records, whole) == ([], 0)
            continue
        count = sum(end <= cut for end in ends) - 1
        assert records == flat(GROUPS[:count])
        assert whole == ends[count]


def test_every_damaged_byte_ends_the_reading_before_its_group() -> None:
    ends = boundaries()
    for at in range(len(SEGMENT)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(SEGMENT)
            damaged[at] ^= flip
            records, whole = read_segment(bytes(damaged))
            count = sum(end <= at for end in ends) - 1
            assert records == flat(GROUPS[: max(0, count)]), at
            assert whole == (ends[count] if count >= 0 else 0)


def test_records_after_the_last_offset_do_not_count() -> None:
    more = packed(output(b"not told of", 6)) + packed(output(b"nor this", 7))
    assert read_segment(SEGMENT + more) == (flat(GROUPS), len(SEGMENT))
    closed = more + packed(output(b"now all three", 8, 2**63 + 1))
    assert [record.generation for record in read_segment(SEGMENT + closed)[0][-3:]] == [6, 7, 8]


def test_group_whose_end_is_torn_does_not_count_with_the_next_that_is_whole() -> None:
    """What was appended behind a torn write would otherwise continue the wrong group."""
    torn = packed(output(b"first", 6)) + packed(output(b"second", 7, 99))[:-3]
    behind = packed(output(b"third", 8, 120))
    assert read_segment(SEGMENT + torn + behind) == (flat(GROUPS), len(SEGMENT))


def test_noise_is_no_journal() -> None:
    dice = random.Random(1)
    assert read_segment(b"") == ([], 0)
    for _ in range(200):
        noise = dice.randbytes(dice.randrange(300))
        assert read_segment(noise) == ([], 0)
        assert read_segment(MAGIC + noise) == ([], len(MAGIC))
    # A length beyond the end must not be believed, however the head looks.
    assert read_segment(MAGIC + b"\xff" * 200) == ([], len(MAGIC))
    assert read_segment(MAGIC + bytes(200))[0] == []


# --- checkpoints -------------------------------------------------------------------------------

CHECKPOINT = Checkpoint(
    time=1_700_000_000.25,
    generation=2**40,
    offset=2**63,
    evicted=17,
    phase="prompt",
    ended=3,
    exit_code=130,
    folder="/home/ünï",
    prompt_end=(23, 7),
)
ENGINE = random.Random(2).randbytes(200) + bytes(5000)


def test_checkpoint_and_engine_come_back() -> None:
    data = pack_checkpoint(CHECKPOINT, ENGINE)
    assert peek_checkpoint(data) == CHECKPOINT
    assert unpack_engine(data) == ENGINE
    assert len(data) < 1000, "a screen is mostly blank"
    bare = Checkpoint(time=0.0, generation=0, offset=0, evicted=0)
    empty = pack_checkpoint(bare, b"")
    assert peek_checkpoint(empty) == bare
    assert unpack_engine(empty) == b""


def test_checkpoint_that_is_cut_or_longer_than_it_was_is_none() -> None:
    data = pack_checkpoint(CHECKPOINT, ENGINE)
    for cut in range(len(data)):
        assert peek_checkpoint(data[:cut]) is None, cut
    assert peek_checkpoint(data + b"\0") is None


def test_checkpoint_with_any_damaged_byte_is_none() -> None:
    data = pack_checkpoint(CHECKPOINT, ENGINE)
    for at in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[at] ^= flip
            assert peek_checkpoint(bytes(damaged)) is None, at


def test_checkpoint_of_another_version_is_none() -> None:
    class Other(msgspec.Struct):
        when: str = "later"

    other = pack_checkpoint(Other(), ENGINE)  # type: ignore[arg-type]  # that is the point
    assert peek_checkpoint(other) is None


def test_boundaries_are_those_of_whole_groups() -> None:
    """The tests above count by them."""
    ends = boundaries()
    assert ends[-1] == len(SEGMENT)
    assert all(before < after for before, after in pairwise(ends))
