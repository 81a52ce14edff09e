"""A worker makes the terminal that the daemon would have made; a crash is told from other ends."""

import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from nacre.core.terminal.terminal import Terminal
from nacre.services.recovery import workers
from nacre.services.recovery.journal import replay_journal
from nacre.services.recovery.worker import Task
from nacre.services.recovery.workers import EngineCrashed, Worker
from nacre.services.session.session import Session

from services.living import (
    PATIENCE,
    at_prompt,
    is_process,
    living,
    shows,
    start,
    start_marked,
)
from vt_streams import snapshot

pytestmark = pytest.mark.anyio

SCROLLBACK = 2000


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    one = Worker(longest=PATIENCE)
    yield one
    await one.end()


def task_of(session: Session, unwritten: bytes = b"", begin: int = 0) -> Task:
    assert session.recorder.folder is not None
    return Task(session.recorder.folder, (24, 80), SCROLLBACK, begin, unwritten)


async def test_worker_makes_what_the_daemon_would_make(tmp_path: Path, worker: Worker) -> None:
    journals = tmp_path / "journals"
    async with living(runtime=tmp_path, journals=journals, journal_segment_bytes=65536) as services:
        marked = await start_marked(services)
        marked.write(b"(exit 3); cd /usr\r")
        await at_prompt(marked)
        coloured = "for i in $(seq 4000); do printf '\\033[3%dm%d\\033[m\\r\\n' $((i%8)) $i; done"
        loud = await start(services, f"{coloured}; printf 'done\\r\\n\\033[3'; exec cat")
        await shows(loud, "done")
        for session in (marked, loud):
            await session.recorder.settled()
            task = task_of(session)
            replayed = await worker.replay(task)
            assert replayed is not None
            expected = replay_journal(task.folder, task.size, SCROLLBACK)
            made = Terminal.from_snapshot(replayed.engine, scrollback=SCROLLBACK)
            for terminal in (made, expected.terminal):
                terminal.feed(b"1mred\x1b[m")  # the sequence that had begun goes on
            assert snapshot(made) == snapshot(expected.terminal)
            assert replayed.prompting == vars(expected.prompting)
            end = expected.prompt_end
            assert replayed.prompt_end == (end and (end.row, end.col))
            assert (replayed.generation, replayed.offset) == (expected.generation, expected.offset)


async def test_unreadable_journal_is_left_to_the_daemon(tmp_path: Path, worker: Worker) -> None:
    (tmp_path / "00000001.log").mkdir()
    assert await worker.replay(Task(str(tmp_path), (24, 80), SCROLLBACK, 0, b"")) is None
    assert await worker.end() == 0, "it goes on after that"


def dying(command: str) -> tuple[str, ...]:
    """Return a worker that dies when its first task comes."""
    return "/bin/sh", "-c", f"head -c 8 >/dev/null; {command}"


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV])
async def test_crash_is_the_sessions_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, worker: Worker, number: int
) -> None:
    monkeypatch.setattr(workers, "COMMAND", dying(f"kill -{int(number)} $$"))
    with pytest.raises(EngineCrashed):
        await worker.replay(Task(str(tmp_path), (24, 80), SCROLLBACK, 0, b""))


@pytest.mark.parametrize("command", ["kill -9 $$", "exit 1"])
async def test_other_ends_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, worker: Worker, command: str
) -> None:
    monkeypatch.setattr(workers, "COMMAND", dying(command))
    assert await worker.replay(Task(str(tmp_path), (24, 80), SCROLLBACK, 0, b"")) is None


async def test_engine_that_comes_to_no_end_is_the_sessions_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the daemon it would hold everybody, for ever."""
    monkeypatch.setattr(workers, "COMMAND", dying("echo $$ > $OUT; while :; do :; done"))
    monkeypatch.setenv("OUT", str(tmp_path / "pid"))
    worker = Worker(longest=1.0)
    with pytest.raises(EngineCrashed, match="no end after 1 s"):
        await worker.replay(Task(str(tmp_path), (24, 80), SCROLLBACK, 0, b""))
    assert not is_process(int((tmp_path / "pid").read_text())), "it does not go on computing"


async def test_worker_that_cannot_be_started_leaves_all_to_the_daemon(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, worker: Worker
) -> None:
    monkeypatch.setattr(workers, "COMMAND", (str(tmp_path / "none"),))
    assert await worker.replay(Task(str(tmp_path), (24, 80), SCROLLBACK, 0, b"")) is None


async def test_next_task_after_a_crash_gets_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, worker: Worker
) -> None:
    usual = workers.COMMAND
    task = Task(str(tmp_path), (24, 80), SCROLLBACK, 0, b"")
    monkeypatch.setattr(workers, "COMMAND", dying("kill -6 $$"))
    with pytest.raises(EngineCrashed):
        await worker.replay(task)
    monkeypatch.setattr(workers, "COMMAND", usual)
    replayed = await worker.replay(task)
    assert replayed is not None
    assert replayed.generation == 0


async def test_bytes_in_the_ring_are_tried_but_not_answered(tmp_path: Path, worker: Worker) -> None:
    """What is in the journal too is not fed twice."""
    trying = (
        "from nacre.core.terminal.terminal import Terminal\n"
        "feed = Terminal.feed\n"
        "def noted(self, data):\n"
        f"    open({str(tmp_path / 'fed')!r}, 'ab').write(data)\n"
        "    feed(self, data)\n"
        "Terminal.feed = noted\n"
        "from nacre.services.recovery.worker import main\n"
        "main()\n"
    )
    async with living(journals=tmp_path / "journals") as services:
        session = await start(services, "printf 'written\\n'; exec cat")
        await shows(session, "written")
        await session.recorder.settled()
        offset = session.recorder.offset
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "COMMAND", (sys.executable, "-c", trying))
            replayed = await worker.replay(task_of(session, b"\r\nin the ring", begin=offset - 2))
        assert replayed is not None
        assert replayed.offset == offset
        assert (tmp_path / "fed").read_bytes() == b"written\r\nin the ring"
        made = Terminal.from_snapshot(replayed.engine)
        assert made.plain_lines()[:2] == ["written", ""]
