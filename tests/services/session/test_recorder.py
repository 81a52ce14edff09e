"""The recorder: what stands in the journal, when it is written, and what happens when it cannot."""

import asyncio
import errno
import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.journal import records as journal
from nacre.core.journal.records import NO_OFFSET, Checkpoint, Record
from nacre.core.journal.replay import Replay
from nacre.core.operations.runs import Run
from nacre.core.shell.marks import Mark
from nacre.core.terminal.packed import WithinSequence
from nacre.services.session.recorder import ABOUT, Recorder
from nacre.services.session.session import Session
from nacre.services.wiring import Services
from nacre.settings.table import Settings
from nacre.system.storage.ring import Ring
from nacre.system.storage.segments import JournalFile, read_all, read_end, segments

from services.clock import advance, with_clock, with_still_clock
from services.living import (
    PATIENCE,
    ended,
    lines_of,
    living,
    shows,
    start,
    start_marked,
    start_python,
    until,
)

CALLER = Caller(door="test", cwd="/")
_write = os.write  # also where a test has patched it
RETRY = 10.0  # seconds after which a disk that was full is tried again


class Desk:
    """A recorder alone: its ring, and a screen that is a number."""

    def __init__(self, folder: Path | None, *, offset: int | None = None, **settings: Any) -> None:
        self.folder = folder
        self.ring = Ring()
        self.warned: list[str | None] = []
        self.looks = 0
        self.within_sequence = False
        self.generation = 0
        self.recorder = Recorder(
            asyncio.get_running_loop(),
            Settings(**settings),
            None if folder is None else str(folder),
            self.ring,
            self._look,
            self.warned.append,
            offset,
        )
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)

    def _look(self, at_once: bool) -> tuple[Checkpoint, Callable[[], bytes]] | None:
        self.looks += 1
        if self.within_sequence and at_once:
            return None
        seen = Checkpoint(
            time=0.0, generation=self.generation, offset=self.recorder.offset, evicted=0
        )
        packed, within = b"screen %d" % self.generation, self.within_sequence

        def pack() -> bytes:
            if within:
                raise WithinSequence
            return packed

        return seen, pack

    def reads(self, data: bytes) -> None:
        """Do what a session does with what its child prints."""
        for at in range(0, len(data), 4096):
            _write(self._writer, data[at : at + 4096])
            self.ring.read(self._reader, 1)
        self.generation += 1
        self.recorder.output(data, self.generation, 0.0)
        self.recorder.commit(self.ring.end)

    async def settled(self) -> None:
        await self.recorder.settled()
        await asyncio.sleep(0)  # what its thread has to tell

    def records(self) -> list[Record]:
        assert self.folder is not None
        return read_all(str(self.folder)).records

    def text(self) -> bytes:
        return b"".join(record.payload for record in self.records())

    def close(self) -> None:
        self.recorder.close()
        self.ring.close()
        os.close(self._reader)
        os.close(self._writer)


# --- groups ------------------------------------------------------------------------------------


def test_only_the_last_record_of_a_group_has_an_offset(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path)
        recorder = desk.recorder
        recorder.output(b"one", 1, 0.0)
        recorder.mark(Mark("C", "", "n0nce"), "tagged", 1)
        recorder.output(b"two", 2, 0.0)
        recorder.flush()
        assert desk.records() == [], "a group is written when it is whole"
        recorder.commit(40)
        recorder.output(b"three", 3, 0.0)
        recorder.commit(45)
        recorder.flush()
        assert [(one.kind, one.generation, one.offset, one.payload) for one in desk.records()] == [
            (journal.OUTPUT, 1, NO_OFFSET, b"one"),
            (journal.MARK, 1, NO_OFFSET, b"C;tagged;"),
            (journal.OUTPUT, 2, 40, b"two"),
            (journal.OUTPUT, 3, 45, b"three"),
        ]
        assert recorder.offset == 45
        desk.close()

    with_still_clock(test)


def test_what_nothing_was_shown_of_does_not_move_the_offset(tmp_path: Path) -> None:
    """It is still to be shown, by the next daemon if need be: held back, or under a veil."""

    async def test() -> None:
        desk = Desk(tmp_path)
        desk.reads(b"seen")
        desk.recorder.commit(100)
        assert desk.recorder.offset == 4
        desk.recorder.flush()
        assert desk.records()[-1].offset == 4
        desk.close()

    with_still_clock(test)


def test_input_and_sizes_stand_at_the_place_of_the_last_output(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path)
        desk.reads(b"$ ")
        desk.recorder.note(journal.INPUT, b"ls\r", 1)
        desk.recorder.note(journal.RESIZE, journal.size_payload(50, 132), 2)
        desk.recorder.flush()
        _, typed, sized = desk.records()
        assert (typed.kind, typed.offset, typed.payload) == (journal.INPUT, 2, b"ls\r")
        assert (sized.kind, sized.offset, sized.size) == (journal.RESIZE, 2, (50, 132))
        desk.close()

    with_still_clock(test)


def test_note_within_a_group_does_not_close_it(tmp_path: Path) -> None:
    """Else the group's output would be there and be told to come again."""

    async def test() -> None:
        desk = Desk(tmp_path)
        desk.recorder.output(b"shown", 1, 0.0)
        desk.recorder.note(journal.INPUT, b"answer", 1)
        desk.recorder.flush()
        assert desk.records() == []
        desk.recorder.commit(5)
        desk.recorder.flush()
        assert [one.offset for one in desk.records()] == [NO_OFFSET, 5]
        desk.close()

    with_still_clock(test)


# --- when it is written ------------------------------------------------------------------------


def test_burst_is_written_once_and_a_fifth_of_a_second_after_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []
    writev = os.writev

    def counted(descriptor: int, parts: Any) -> int:
        writes.append(len(parts))
        return writev(descriptor, parts)

    monkeypatch.setattr(os, "writev", counted)

    async def test() -> None:
        desk = Desk(tmp_path)
        for _ in range(10):
            desk.reads(b"line\n")
            await advance(0.015)
        assert writes == []
        assert (desk.ring.begin, desk.ring.end) == (0, 50), "the ring has it till then"
        await advance(0.06)
        assert writes == [20]
        assert desk.text() == b"line\n" * 10
        assert (desk.ring.begin, desk.ring.end) == (50, 50)
        desk.reads(b"again")
        await advance(0.15)
        assert writes == [20], "the next burst has its own time"
        await advance(0.06)
        assert writes == [20, 2]
        await advance(10)
        assert writes == [20, 2]
        desk.close()

    with_still_clock(test)


def test_output_waits_as_long_as_the_setting_says(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path, journal_pause=5.0)
        desk.reads(b"first")
        await advance(4)
        desk.reads(b"second")
        assert desk.text() == b""
        await advance(1.1)
        assert desk.text() == b"firstsecond"
        desk.close()

    with_still_clock(test)


def test_much_is_written_at_once_and_leaves_the_ring(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path)
        for _ in range(3):
            desk.reads(b"x" * 40_000)
        assert desk.text() == b"x" * 120_000
        assert desk.ring.begin == desk.ring.end == 120_000
        await advance(0.1)
        desk.reads(b"little")
        await advance(0.15)
        assert desk.text() == b"x" * 120_000, "the burst's time is over with it"
        await advance(0.06)
        assert desk.text() == b"x" * 120_000 + b"little"
        desk.close()

    with_still_clock(test)


def test_without_a_folder_nothing_is_written_and_the_ring_is_emptied(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(None)
        desk.reads(b"x" * 10_000)
        desk.recorder.flush()
        assert desk.ring.begin == 10_000
        desk.recorder.write_about(ABOUT_IT)
        desk.recorder.remove_about()
        desk.recorder.remove()
        desk.ring.close()

    with_still_clock(test)


def test_closed_recorder_has_written_everything_and_takes_no_more(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path)
        desk.reads(b"last words")
        desk.recorder.close()
        desk.reads(b"too late")
        desk.recorder.flush()
        desk.recorder.remove_unless_closed()
        assert desk.text() == b"last words"
        await advance(1)
        desk.recorder.remove()
        assert desk.records() == []
        desk.close()

    with_still_clock(test)


# --- segments ----------------------------------------------------------------------------------


def test_segment_that_is_full_is_followed_by_one_with_a_checkpoint(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path, journal_segment_bytes=65_536)
        desk.reads(b"a" * 100_000)
        await desk.recorder.settled()
        assert [one.number for one in segments(str(tmp_path))] == [1, 2]
        desk.reads(b"after")
        await desk.recorder.settled()
        past = read_end(str(tmp_path))
        assert past.checkpoint is not None
        assert (past.checkpoint.generation, past.checkpoint.offset) == (1, 100_000)
        assert past.engine == b"screen 1"
        assert [one.payload for one in past.records] == [b"after"]
        assert desk.text() == b"a" * 100_000 + b"after"
        desk.close()

    with_still_clock(test)


def test_old_segments_go(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path, journal_segment_bytes=65_536, journal_bytes=300_000)
        for _ in range(8):
            desk.reads(os.urandom(100_000))
            await desk.recorder.settled()
        assert [one.number for one in segments(str(tmp_path))] == [7, 8, 9]
        desk.close()

    with_still_clock(test)


def test_disk_that_is_slower_than_the_output_has_longer_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    replace = os.replace

    def slow(*paths: Any) -> None:
        assert go_on.wait(PATIENCE)
        replace(*paths)

    monkeypatch.setattr(os, "replace", slow)

    async def test() -> None:
        desk = Desk(tmp_path, journal_segment_bytes=65_536)
        for _ in range(4):
            desk.reads(b"x" * 100_000)
        assert [one.number for one in segments(str(tmp_path))] == [1, 2]
        assert read_end(str(tmp_path)).checkpoint is None, "till then a reader begins before"
        assert desk.text() == b"x" * 400_000
        go_on.set()
        await desk.recorder.settled()
        desk.reads(b"x" * 100_000)
        await desk.recorder.settled()
        assert len(segments(str(tmp_path))) == 3
        desk.close()

    with_still_clock(test)


def test_in_the_middle_of_a_sequence_the_segment_goes_on(tmp_path: Path) -> None:
    async def test() -> None:
        desk = Desk(tmp_path, journal_segment_bytes=65_536)
        held: list[bool] = []
        desk.recorder.hold_back = held.append
        desk.within_sequence = True
        for _ in range(3):
            desk.reads(b"x" * 100_000)
            await desk.settled()
            assert len(segments(str(tmp_path))) == 2, "only the first did not know of it"
            assert held == [True, False]
            assert read_end(str(tmp_path)).checkpoint is None
        desk.within_sequence = False
        desk.reads(b"y" * 100_000)
        assert len(segments(str(tmp_path))) == 3
        await desk.settled()
        assert read_end(str(tmp_path)).checkpoint is not None
        desk.close()

    with_still_clock(test)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_sequence_without_end_stops_the_journal_before_it_fills_the_disk(tmp_path: Path) -> None:
    """No checkpoint can be taken within it, and without one no old segment can go."""
    most = 1024 * 1024

    async def test() -> None:
        desk = Desk(tmp_path, journal_segment_bytes=65_536, journal_bytes=most)
        desk.reads(b"before")
        desk.within_sequence = True
        for _ in range(30):
            desk.reads(b"x" * 100_000)
            await desk.settled()
        assert size_of(tmp_path) < 2 * most
        assert len(desk.warned) == 1
        assert "has no end" in str(desk.warned[0])
        assert desk.ring.begin == desk.ring.end, "the session goes on"
        desk.within_sequence = False
        await advance(RETRY)
        desk.reads(b"after its end")
        desk.recorder.flush()
        assert desk.warned[1:] == [None]
        assert read_end(str(tmp_path)).checkpoint is not None
        desk.close()

    with_still_clock(test)


def test_recorder_goes_on_with_the_journal_that_is_there(tmp_path: Path) -> None:
    async def test() -> None:
        first = Desk(tmp_path)
        first.reads(b"before ")
        first.close()
        second = Desk(tmp_path, offset=7)
        second.recorder.note(journal.INPUT, b"typed ", 1)
        second.recorder.output(b"after", 2, 0.0)
        second.recorder.commit(12)
        second.recorder.flush()
        assert [one.offset for one in second.records()] == [7, 7, 12]
        assert second.text() == b"before typed after"
        assert len(segments(str(tmp_path))) == 1
        second.close()

    with_still_clock(test)


# --- a full disk -------------------------------------------------------------------------------

ABOUT_IT = b'{"name": "dev"}'


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[None]:
    """Every write to a file ends as on a full disk, in its middle if it is long."""
    with monkeypatch.context() as patch:
        real = os.writev

        def writev(descriptor: int, parts: Any) -> int:
            whole = b"".join(parts)
            real(descriptor, [whole[: len(whole) // 2]])
            return len(whole) // 2

        def fail(*_: Any, **__: Any) -> Any:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(os, "writev", writev)
        for name in names or ("write", "replace"):
            patch.setattr(os, name, fail)
        yield


def test_a_planted_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "journal"
    folder.mkdir()
    for name in (f"{ABOUT}.new", "00000001.screen.new"):
        (folder / name).symlink_to(victim)

    async def test() -> None:
        desk = Desk(folder)
        desk.recorder.write_about(b"about")
        JournalFile(str(folder)).write_checkpoint(1, b"screen")

    asyncio.run(test())
    assert victim.read_text() == "precious"
    assert (folder / ABOUT).read_bytes() == b"about"
    assert (folder / "00000001.screen").read_bytes() == b"screen"


STOPPED = "the journal has stopped: No space left on device"


def test_full_disk_stops_the_journal_is_said_once_and_bridged_by_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        desk = Desk(tmp_path)
        desk.reads(b"before")
        desk.recorder.flush()
        with full_disk(monkeypatch):
            for _ in range(5):
                desk.reads(b"lost " * 1000)
                desk.recorder.flush()
                await advance(RETRY / 2)
            assert desk.warned == [STOPPED]
            assert desk.recorder.stopped == STOPPED
            assert desk.ring.begin == desk.ring.end, "the session goes on"
        await advance(RETRY)
        desk.reads(b"on the checkpoint's screen")
        desk.recorder.flush()
        assert desk.warned == [STOPPED, None]
        past = read_end(str(tmp_path))
        assert past.checkpoint is not None, "without waiting for a thread"
        assert past.checkpoint.offset == desk.ring.end
        assert past.engine == b"screen 7"
        assert past.records == [], "what is on the screen is not there twice"
        desk.reads(b"after")
        desk.recorder.flush()
        assert [one.payload for one in read_end(str(tmp_path)).records] == [b"after"]
        assert desk.text() == b"after", "what came before does not lead there"
        desk.close()

    with_still_clock(test)


def test_full_disk_is_left_alone_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        desk = Desk(tmp_path)
        with full_disk(monkeypatch):
            desk.reads(b"lost")
            desk.recorder.flush()
        looks = desk.looks
        desk.reads(b"there is room again, but nobody looks")
        await advance(RETRY - 0.5)
        desk.reads(b"not yet")
        assert (desk.looks, desk.recorder.stopped) == (looks, STOPPED)
        await advance(1)
        desk.reads(b"now")
        await advance(0.3)
        assert desk.recorder.stopped is None
        desk.close()

    with_still_clock(test)


def test_journal_that_goes_on_too_early_stops_again_without_a_second_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room for the checkpoint, but not for the segment behind it."""

    async def test() -> None:
        desk = Desk(tmp_path)
        desk.reads(b"before")
        desk.recorder.flush()
        with full_disk(monkeypatch, "write"):
            desk.reads(b"lost" * 1000)
            desk.recorder.flush()
            await advance(RETRY + 1)
            desk.reads(b"lost" * 1000)
            desk.recorder.flush()
            assert desk.warned == [STOPPED]
        assert desk.text() == b"before"
        await advance(RETRY + 1)
        desk.reads(b"seen")
        desk.recorder.flush()
        assert desk.warned == [STOPPED, None]
        past = read_end(str(tmp_path))
        assert past.engine == b"screen 4"
        desk.close()

    with_still_clock(test)


def test_journal_that_could_not_even_begin_begins_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "journal"

    async def test() -> None:
        desk = Desk(folder)
        with full_disk(monkeypatch, "makedirs"):
            desk.recorder.write_about(ABOUT_IT)
            desk.reads(b"lost")
            desk.recorder.flush()
        assert desk.warned == [STOPPED]
        assert not folder.exists()
        await advance(RETRY + 1)
        desk.reads(b"on the screen")
        desk.recorder.flush()
        assert desk.warned == [STOPPED, None]
        assert read_end(str(folder)).engine == b"screen 2"
        assert (folder / ABOUT).exists(), "what the session is, is made up for"
        desk.recorder.remove()
        assert not folder.exists()
        desk.close()

    with_still_clock(test)


def test_journal_of_a_former_daemon_is_removed_although_it_could_not_be_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a session that was closed would come back as a lost one."""
    folder = tmp_path / "journal"

    async def test() -> None:
        first = Desk(folder)
        first.recorder.write_about(ABOUT_IT)
        first.reads(b"before")
        first.close()
        second = Desk(folder, offset=6)
        with full_disk(monkeypatch, "open"):
            second.reads(b"lost")
            second.recorder.flush()
        assert second.warned == [STOPPED]
        second.recorder.remove_about()
        assert not (folder / ABOUT).exists()
        second.recorder.remove()
        assert not folder.exists()
        second.close()

    with_still_clock(test)


def test_about_that_cannot_be_written_is_written_later_and_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        desk = Desk(tmp_path)
        desk.reads(b"x")
        desk.recorder.write_about(ABOUT_IT)
        before = (tmp_path / ABOUT).read_bytes()
        other = b'{"name": "other"}'
        with full_disk(monkeypatch):
            desk.recorder.write_about(other)
        assert desk.warned == [STOPPED]
        assert (tmp_path / ABOUT).read_bytes() == before
        await advance(RETRY + 1)
        desk.reads(b"y")
        desk.recorder.flush()
        assert b'"other"' in (tmp_path / ABOUT).read_bytes()
        desk.close()

    with_still_clock(test)


def test_about_that_is_on_disk_already_is_not_written_again(tmp_path: Path) -> None:
    """A recovery writes the same of each session: to replace a file is slow."""

    async def test() -> None:
        desk = Desk(tmp_path)
        desk.recorder.write_about(ABOUT_IT)

        def written() -> tuple[int, int]:
            found = (tmp_path / ABOUT).stat()
            return found.st_ino, found.st_mtime_ns  # it is read, at whatever time

        before = written()
        desk.recorder.write_about(ABOUT_IT)
        assert written() == before
        desk.recorder.write_about(b'{"name": "other"}')
        assert b'"other"' in (tmp_path / ABOUT).read_bytes()
        desk.close()

    with_still_clock(test)


def test_checkpoint_that_finds_no_room_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        desk = Desk(tmp_path, journal_segment_bytes=65_536)
        with monkeypatch.context() as patch:

            def fail(*_: Any) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            patch.setattr(os, "replace", fail)
            desk.reads(b"x" * 100_000)
            await desk.recorder.settled()
        assert desk.warned == []
        past = read_end(str(tmp_path))
        assert past.checkpoint is None
        assert len(past.records) == 1
        desk.close()

    with_still_clock(test)


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """The kernel itself takes no more: the write that crosses the limit is cut short."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_session_outlives_a_disk_that_takes_no_more(tmp_path: Path) -> None:
    async def test() -> None:
        # One segment, however slow the machine is: a busy one would begin others before the limit.
        async with living(journals=tmp_path, journal_replay=PATIENCE) as services:
            # Without echo: cat's own lines would mix with it, and push it off the screen.
            session = await start(
                services, "sh", args=["-c", "stty -echo; echo ready; exec cat"], rows=10
            )
            await shows(session, "ready")
            folder = services.host.journal_of(session.identity.id)
            assert folder is not None
            # More than the ring takes, which is a file to the kernel as well.
            with file_size_limit(600_000):
                for number in range(18):
                    session.write(b"\r".join([b"x" * 70] * 1000) + b"\r" + b"%d\r" % number)
                    await shows(session, str(number))
            assert notice_of(session) == "the journal has stopped: File too large"
            assert session.alive
            await advance(RETRY + 1)
            session.write(b"on the checkpoint\r")
            await shows(session, "on the checkpoint")
            session.recorder.flush()
            assert notice_of(session) is None
            session.write(b"after it\r")
            await shows(session, "after it")
            await session.recorder.settled()
            past = read_end(folder)
            assert past.checkpoint is not None
            replay = Replay(past.checkpoint, past.engine).run(past.records)
            assert replay.terminal.plain_lines() == session.terminal.plain_lines()
            assert replay.offset == session._ring.end
            replay.terminal.close()

    with_clock(test)


def notice_of(session: Session) -> str | None:
    return session.notice


async def until_twice(session: Session, line: str) -> None:
    """The terminal's echo and cat's own."""
    await until(session, lambda: session.terminal.plain_lines().count(line) == 2)


# --- what is not to be seen --------------------------------------------------------------------


def raw_bytes(services: Services, session: Session) -> bytes:
    """Everything that lies on disk of a session, checkpoints unpacked too."""
    session.recorder.flush()
    folder = services.host.journal_of(session.identity.id)
    assert folder is not None
    found = b"".join(path.read_bytes() for path in sorted(Path(folder).iterdir()))
    return found + read_end(folder).engine


def around(found: bytes, wanted: bytes) -> bytes:
    """Return the bytes where something stands, for a test that wants it nowhere."""
    at = found.find(wanted)
    return b"" if at < 0 else found[max(0, at - 200) : at + 200]


def typed(services: Services, session: Session) -> list[bytes]:
    session.recorder.flush()
    folder = services.host.journal_of(session.identity.id)
    assert folder is not None
    return [one.payload for one in read_all(folder).records if one.kind == journal.INPUT]


async def hides_input(session: Session) -> None:
    """Return when the terminal echoes no more: the kernel tells nobody of that."""
    life = session.supervisor.last
    assert life is not None
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE
    while life.shows_input or session.stream.prompting.phase != "running":
        assert loop.time() < deadline
        await asyncio.sleep(0)


def test_input_at_the_prompt_is_recorded_and_what_read_s_takes_is_not(tmp_path: Path) -> None:
    async def test() -> None:
        journals, runtime = tmp_path / "journals", tmp_path / "runtime"
        runtime.mkdir()
        async with living(runtime, journals) as services:
            session = await start_marked(services)
            session.write(b"read -s word; echo took ${#word}\r")
            await hides_input(session)
            session.write(b"hunter2-and-more\r")
            await shows(session, "took 16")
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            session.write(b"echo typed at the prompt\r")
            await shows(session, "typed at the prompt")
            assert b"hunter2" not in raw_bytes(services, session)
            assert typed(services, session) == [
                b"read -s word; echo took ${#word}\r",
                b"",
                b"echo typed at the prompt\r",
            ]

    with_clock(test)


def test_password_for_getpass_is_not_recorded_and_a_line_for_cat_is(tmp_path: Path) -> None:
    program = (
        "import getpass, os; word = getpass.getpass('Secret: '); print('took', len(word));"
        "os.execvp('cat', ['cat'])"
    )

    async def test() -> None:
        async with living(journals=tmp_path) as services:
            session = await start_python(services, program)
            await until(session, lambda: "Secret:" in session.terminal.plain_lines()[0])
            for part in (b"hun", b"ter2\r"):
                session.write(part)
            await shows(session, "took 7")
            await until(session, lambda: session.terminal.cursor().col == 0)  # its end has come too
            session.write(b"a line for cat\r")
            await until_twice(session, "a line for cat")
            found = raw_bytes(services, session)
            assert b"hun" not in found.replace(b"hundred", b"")
            assert b"ter2" not in found
            assert typed(services, session) == [b"", b"", b"a line for cat\r"]

    with_clock(test)


def test_neither_nonces_nor_the_wrapper_of_a_run_are_recorded(tmp_path: Path) -> None:
    async def test() -> None:
        journals, runtime = tmp_path / "journals", tmp_path / "runtime"
        runtime.mkdir()
        async with living(runtime, journals, journal_segment_bytes=65_536) as services:
            session = await start_marked(services)
            name = session.identity.name
            commands = [
                "echo native",
                "echo 'two\nlines!'",  # which no line editor takes as it stands: wrapped
                "sh",
                "echo in the nested shell",
                f"printf '%s' {'long' * 600} | wc -c",  # in parts
                "exit",
                "seq 20000",  # so that there is a checkpoint
                "echo last",
            ]
            for command in commands:
                request = Run(session=name, command=command, timeout_ms=10_000)
                outcome = await services.runs.run(CALLER, request)
                assert outcome.status in ("completed", "timeout"), outcome
            await session.recorder.settled()
            found = raw_bytes(services, session)
            folder = services.host.journal_of(session.identity.id)
            assert folder is not None
            assert len(segments(folder)) > 1
            assert b"echo in the nested shell" in found
            runs = {run.request.nonce for run in services.ledger.all()}
            nonces = {session.record.nonce, *runs}
            assert len(nonces) == len(commands) + 1
            for secret in (*nonces, session.record.cookie):
                assert len(secret) >= 16
                assert secret.encode() not in found
            assert b"_nacre_" not in found
            assert around(found, b"133;") == b""
            marks = [one.mark for one in read_all(folder).records if one.kind == journal.MARK]
            assert {"A", "B", "C", "D", "S", "E"} <= {letter for letter, _, _ in marks}
            assert len({tag for _, tag, _ in marks}) > 2, "but they can be told apart"

    with_clock(test)


def test_end_of_a_session_is_recorded_behind_its_last_output(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(journals=tmp_path) as services:
            session = await ended(await start(services, "printf 'last words'; exit 3"))
            folder = services.host.journal_of(session.identity.id)
            assert folder is not None
            await session.recorder.settled()
            records = read_all(folder).records
            assert records[0].kind == journal.START
            assert records[-1].kind == journal.EXIT
            assert records[-1].ending == (3, None)
            assert records[-1].offset == len("last words")
            replay = Replay().run(records)
            assert replay.terminal.plain_lines()[0] == lines_of(session)[0] == "last words"
            replay.terminal.close()

    with_clock(test)
