"""A journal on disk: its segments and checkpoints, and what is left of them after a crash."""

import errno
import os
import random
from pathlib import Path

import pytest

from nacre.core.journal import records as journal
from nacre.core.journal.records import (
    MAGIC,
    NO_OFFSET,
    Checkpoint,
    Record,
    head_of,
    pack_checkpoint,
)
from nacre.system.storage.segments import (
    JournalFile,
    Past,
    cut_torn_end,
    drop_old,
    has_checkpoint,
    outputs,
    read_all,
    read_end,
    read_from,
    segments,
    take_end,
)

DAY = 86_400.0


def record(generation: int, payload: bytes | None = None, offset: int | None = None) -> Record:
    text = b"%d " % generation if payload is None else payload
    place = 100 * generation if offset is None else offset
    return Record(journal.OUTPUT, float(generation), generation, place, text)


def buffers(*records: Record) -> list[bytes]:
    parts: list[bytes] = []
    for kind, time, generation, offset, payload in records:
        parts += [head_of(kind, time, generation, offset, payload), payload]
    return parts


def checkpoint(generation: int) -> bytes:
    about = Checkpoint(
        time=float(generation), generation=generation, offset=100 * generation, evicted=0
    )
    return pack_checkpoint(about, b"screen %d" % generation)


def written(folder: Path, count: int = 4, size: int = 10) -> JournalFile:
    """Write segments of ten generations each, with checkpoints at 10, 20 …"""
    file = JournalFile(str(folder))
    for number in range(count):
        begun = file.begin_segment()
        first = 10 * number
        if number:
            file.write_checkpoint(begun, checkpoint(first))
        for generation in range(first + 1, first + 11):
            file.append(buffers(record(generation, b"%d " % generation * size)))
    return file


def generations(past: Past) -> list[int]:
    return [one.generation for one in past.records]


def begins_at(past: Past) -> int | None:
    return past.checkpoint.generation if past.checkpoint is not None else None


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# --- writing -----------------------------------------------------------------------------------


def test_what_is_appended_is_read_back_over_all_segments(tmp_path: Path) -> None:
    written(tmp_path).close()
    assert [segment.number for segment in segments(str(tmp_path))] == [1, 2, 3, 4]
    past = read_all(str(tmp_path))
    assert begins_at(past) is None
    assert past.engine == b""
    assert generations(past) == list(range(1, 41))


def test_files_are_the_owner_s_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        written(tmp_path, 2).close()
    finally:
        os.umask(before)
    assert {entry.stat().st_mode & 0o777 for entry in tmp_path.iterdir()} == {0o600}


def test_more_buffers_than_one_call_takes_are_all_written(tmp_path: Path) -> None:
    file = JournalFile(str(tmp_path))
    file.begin_segment()
    file.append(buffers(*map(record, range(1, 3000))))
    assert file.size == os.stat(segments(str(tmp_path))[0].log).st_size
    assert generations(read_end(str(tmp_path))) == list(range(1, 3000))
    file.close()


def test_writes_that_the_system_cuts_short_are_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writev, write = os.writev, os.write
    monkeypatch.setattr(os, "writev", lambda fd, parts: writev(fd, [b"".join(parts)[:7]]))
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:5]))
    file = JournalFile(str(tmp_path))
    file.begin_segment()
    file.append(buffers(record(1), record(2)))
    monkeypatch.undo()
    assert generations(read_end(str(tmp_path))) == [1, 2]
    assert file.size == os.stat(segments(str(tmp_path))[0].log).st_size
    file.close()


def test_segment_that_cannot_be_begun_leaves_the_old_one_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, 1)

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        file.begin_segment()
    monkeypatch.undo()
    assert names(tmp_path) == ["00000001.log"]
    file.append(buffers(record(11)))
    assert generations(read_end(str(tmp_path)))[-1] == 11
    file.close()


def test_checkpoint_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, 2)

    def full(*paths: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        file.write_checkpoint(2, checkpoint(15))
    monkeypatch.undo()
    assert begins_at(read_end(str(tmp_path))) == 10
    assert names(tmp_path) == ["00000001.log", "00000002.log", "00000002.screen"]
    file.close()


def test_segment_with_a_checkpoint_is_not_begun_before_that_lies_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, 1)
    seen: list[list[str]] = []
    opened = os.open

    def note(path: str, flags: int, mode: int = 0o777) -> int:
        if path.endswith("2.log"):
            seen.append(names(tmp_path))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", note)
    assert file.begin_segment(checkpoint(12)) == 2
    monkeypatch.undo()
    assert seen == [["00000001.log", "00000002.screen"]]
    assert begins_at(read_end(str(tmp_path))) == 12
    file.close()


def test_checkpoint_of_a_segment_that_was_never_begun_is_not_the_next_one_s(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, 1)
    file.write_checkpoint(2, checkpoint(99))
    file.begin_segment()
    file.append(buffers(record(11)))
    past = read_end(str(tmp_path))
    assert begins_at(past) is None
    assert generations(past) == list(range(1, 12))
    file.close()


# --- going on after a crash --------------------------------------------------------------------


def test_next_daemon_goes_on_with_the_newest_segment(tmp_path: Path) -> None:
    written(tmp_path, 2).close()
    file = JournalFile(str(tmp_path))
    assert file.number == 2
    file.resume()
    assert file.size == os.stat(segments(str(tmp_path))[1].log).st_size
    file.append(buffers(record(21)))
    assert file.begin_segment() == 3
    file.append(buffers(record(22)))
    file.close()
    assert generations(read_end(str(tmp_path))) == list(range(11, 23))


def test_torn_end_is_cut_at_every_byte_and_what_follows_is_read(tmp_path: Path) -> None:
    written(tmp_path, 1).close()
    log = Path(segments(str(tmp_path))[0].log)
    whole = log.read_bytes()
    group = b"".join(buffers(record(11, offset=NO_OFFSET), record(12)))
    for cut in range(len(group)):
        log.write_bytes(whole + group[:cut])
        cut_torn_end(str(tmp_path))
        assert log.read_bytes() == whole
        file = JournalFile(str(tmp_path))
        file.resume()
        file.append(buffers(record(13)))
        file.close()
        assert generations(read_end(str(tmp_path))) == [*range(1, 11), 13]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_end_that_is_taken_is_the_end_that_is_read(tmp_path: Path, count: int) -> None:
    written(tmp_path, count).close()
    log = Path(segments(str(tmp_path))[-1].log)
    whole = log.read_bytes()
    log.write_bytes(whole + b"".join(buffers(record(99)))[:-1])
    assert take_end(str(tmp_path)) == read_end(str(tmp_path))
    assert log.read_bytes() == whole
    assert take_end(str(tmp_path / "never")) == Past(None, b"", [])


@pytest.mark.parametrize("hurt", ["missing", "cut"])
def test_end_with_a_hole_is_not_taken(tmp_path: Path, hurt: str) -> None:
    written(tmp_path, 3).close()
    for segment in segments(str(tmp_path)):
        Path(segment.screen).unlink(missing_ok=True)
    middle = Path(segments(str(tmp_path))[1].log)
    if hurt == "missing":
        middle.unlink()
    else:
        middle.write_bytes(middle.read_bytes()[:-1])
    with pytest.raises(ValueError, match="missing or damaged"):
        take_end(str(tmp_path))
    assert not has_checkpoint(str(tmp_path))


def test_end_without_its_first_screen_is_not_taken(tmp_path: Path) -> None:
    written(tmp_path, 3).close()
    assert has_checkpoint(str(tmp_path))
    first, *later = segments(str(tmp_path))
    Path(first.log).unlink()
    for segment in later:
        Path(segment.screen).unlink()
    with pytest.raises(ValueError, match="missing or damaged"):
        take_end(str(tmp_path))


@pytest.mark.parametrize("left", range(len(MAGIC) + 1))
def test_daemon_killed_while_it_began_a_segment_loses_nothing_of_the_next(
    tmp_path: Path, left: int
) -> None:
    """Without its first line, a segment is none: all that was appended would be lost."""
    written(tmp_path, 2).close()
    (tmp_path / "00000003.log").write_bytes(MAGIC[:left])
    cut_torn_end(str(tmp_path))
    file = JournalFile(str(tmp_path))
    file.resume()
    file.append(buffers(record(21)))
    file.close()
    past = read_end(str(tmp_path))
    assert begins_at(past) == 10
    assert generations(past) == list(range(11, 22))


def test_cutting_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    cut_torn_end(str(tmp_path))
    cut_torn_end(str(tmp_path / "never"))
    assert read_end(str(tmp_path / "never")) == Past(None, b"", [])
    assert read_all(str(tmp_path)) == Past(None, b"", [])


# --- reading -----------------------------------------------------------------------------------


def test_end_is_read_from_the_newest_checkpoint(tmp_path: Path) -> None:
    written(tmp_path).close()
    past = read_end(str(tmp_path))
    assert begins_at(past) == 30
    assert past.engine == b"screen 30"
    assert generations(past) == list(range(31, 41))


def test_checkpoint_that_is_missing_or_damaged_falls_back_to_the_one_before(
    tmp_path: Path,
) -> None:
    written(tmp_path).close()
    screens = [Path(segment.screen) for segment in segments(str(tmp_path))]
    damaged = bytearray(screens[3].read_bytes())
    damaged[-1] ^= 1
    screens[3].write_bytes(bytes(damaged))
    past = read_end(str(tmp_path))
    assert (begins_at(past), past.engine) == (20, b"screen 20")
    assert generations(past) == list(range(21, 41))
    screens[2].unlink()
    past = read_end(str(tmp_path))
    assert (begins_at(past), generations(past)) == (10, list(range(11, 41)))
    screens[1].write_bytes(b"")
    past = read_end(str(tmp_path))
    assert (begins_at(past), generations(past)) == (None, list(range(1, 41)))


@pytest.mark.parametrize(
    ("moment", "begin"), [(0, None), (9, None), (10, 10), (19, 10), (20, 20), (35, 30), (999, 30)]
)
def test_stretch_begins_with_the_last_checkpoint_before_the_moment(
    tmp_path: Path, moment: int, begin: int | None
) -> None:
    written(tmp_path).close()
    for past in (
        read_from(str(tmp_path), generation=moment),
        read_from(str(tmp_path), moment=float(moment)),
    ):
        assert begins_at(past) == begin
        assert generations(past) == list(range((begin or 0) + 1, 41))


def test_damaged_checkpoint_on_the_way_is_passed_over(tmp_path: Path) -> None:
    written(tmp_path).close()
    Path(segments(str(tmp_path))[1].screen).write_bytes(b"nothing of the kind")
    assert begins_at(read_from(str(tmp_path), generation=15)) is None
    assert begins_at(read_from(str(tmp_path), generation=25)) == 20


@pytest.mark.parametrize("after", [0, 5, 10, 29, 40])
@pytest.mark.parametrize("until", [None, 0, 10, 11, 30, 99])
def test_outputs_are_those_after_the_one_generation_and_up_to_the_other(
    tmp_path: Path, after: int, until: int | None
) -> None:
    file = written(tmp_path, size=1)
    typed = Record(journal.INPUT, 41.0, 40, 4000, b"typed")
    file.append(buffers(typed))
    file.close()
    last = 40 if until is None else min(40, until)
    assert outputs(str(tmp_path), after, until).parts == [
        b"%d " % generation for generation in range(after + 1, last + 1)
    ]


def test_foreign_files_are_no_error_and_stay(tmp_path: Path) -> None:
    written(tmp_path, 3).close()
    foreign = {
        *("notes.log", ".log", "7.log", "00000007.log.bak", "0000000x.log", "session.json"),
        *("00000002.screen.new", "٠٠٠٠٠٠٠٩.log", "replaying", "-0000001.log"),
    }
    for name in foreign:
        (tmp_path / name).write_bytes(b"foreign")
    assert [segment.number for segment in segments(str(tmp_path))] == [1, 2, 3]
    assert JournalFile(str(tmp_path)).number == 3
    assert begins_at(read_end(str(tmp_path))) == 20
    cut_torn_end(str(tmp_path))
    drop_old(str(tmp_path), 0, 0)
    assert foreign <= set(names(tmp_path))


# --- dropping what is old ----------------------------------------------------------------------


def test_oldest_segments_go_until_the_rest_fits(tmp_path: Path) -> None:
    written(tmp_path, 6, size=1000).close()
    sizes = [
        sum(Path(path).stat().st_size for path in one[1:] if os.path.exists(path))
        for one in segments(str(tmp_path))
    ]
    room = sum(sizes[2:])
    drop_old(str(tmp_path), room, 0)
    assert [one.number for one in segments(str(tmp_path))] == [3, 4, 5, 6]
    assert not (tmp_path / "00000002.screen").exists()
    drop_old(str(tmp_path), room - 1, 0)
    assert [one.number for one in segments(str(tmp_path))] == [4, 5, 6]
    past = read_all(str(tmp_path))
    assert begins_at(past) == 30, "the screen that the rest begins with"
    assert generations(past) == list(range(31, 61))
    assert not outputs(str(tmp_path), 29, None).whole, "the first of them are gone"
    assert outputs(str(tmp_path), 30, None).whole
    Path(segments(str(tmp_path))[0].screen).unlink()  # as another thread does while we read
    assert not outputs(str(tmp_path), 30, None).whole


def test_newest_checkpoint_and_all_after_it_stay_whatever_the_limit(tmp_path: Path) -> None:
    file = written(tmp_path, 4)
    file.begin_segment()  # its checkpoint is not written yet
    file.append(buffers(record(41)))
    drop_old(str(tmp_path), 0, 0.000001)
    assert [one.number for one in segments(str(tmp_path))] == [4, 5]
    past = read_end(str(tmp_path))
    assert (begins_at(past), generations(past)) == (30, list(range(31, 42)))
    file.close()


def test_damaged_newest_checkpoint_keeps_the_one_before(tmp_path: Path) -> None:
    written(tmp_path, 4).close()
    Path(segments(str(tmp_path))[3].screen).write_bytes(b"torn")
    drop_old(str(tmp_path), 0, 0)
    past = read_end(str(tmp_path))
    assert (begins_at(past), generations(past)) == (20, list(range(21, 41)))


def test_journal_without_any_checkpoint_is_kept_whole(tmp_path: Path) -> None:
    file = JournalFile(str(tmp_path))
    for generation in range(1, 4):
        file.begin_segment()
        file.append(buffers(record(generation)))
    file.close()
    drop_old(str(tmp_path), 0, 0.000001)
    assert generations(read_end(str(tmp_path))) == [1, 2, 3]


def test_segments_go_by_age_and_0_keeps_them(tmp_path: Path) -> None:
    written(tmp_path, 5).close()
    for segment, age in zip(segments(str(tmp_path)), (9, 8, 3, 2, 1), strict=True):
        modified = os.stat(segment.log).st_mtime - age * DAY
        os.utime(segment.log, (modified, modified))
    drop_old(str(tmp_path), 10**9, 0)
    assert len(segments(str(tmp_path))) == 5
    drop_old(str(tmp_path), 10**9, 7 * DAY)
    assert [one.number for one in segments(str(tmp_path))] == [3, 4, 5]
    drop_old(str(tmp_path), 10**9, 0.5 * DAY)
    assert [one.number for one in segments(str(tmp_path))] == [5], "too old, but needed"


def test_damage_anywhere_is_read_without_an_error(tmp_path: Path) -> None:
    dice = random.Random(11)
    for _ in range(150):
        for entry in tmp_path.iterdir():
            entry.unlink()
        written(tmp_path, 3, size=1).close()
        for path in dice.sample(sorted(tmp_path.iterdir()), 2):
            data = bytearray(path.read_bytes())
            if dice.random() < 0.5:
                del data[dice.randrange(len(data)) :]
            else:
                data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            path.write_bytes(bytes(data))
        cut_torn_end(str(tmp_path))
        for past in (read_end(str(tmp_path)), read_all(str(tmp_path))):
            assert generations(past) == sorted(generations(past))
            assert all(one.payload == b"%d " % one.generation for one in past.records)
        outputs(str(tmp_path), dice.randrange(30), None)
        drop_old(str(tmp_path), 0, 0)
