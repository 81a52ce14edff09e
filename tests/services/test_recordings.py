"""Earlier screens and recordings, from the journal of a session that lives or has ended."""

import json
import os
from pathlib import Path

import pytest

from nacre.core.operations.recordings import ExportRecording, ScreenAt
from nacre.core.operations.sessions import ResizeSession
from nacre.core.operations.terminal import GetScreen
from nacre.errors import BadParameter, Failed, InvalidInput
from nacre.services.session.session import Session
from nacre.services.wiring import Services
from nacre.settings.table import Settings

from services.living import CALLER, ended, living, shows, start, start_python, start_shell

pytestmark = pytest.mark.anyio

# A hundred kilobytes and more at each turn.
PRINTER = """
for turn in range(20):
    for number in range(1500):
        print(f"line {number:05} " + "x" * 60)
    print("END", turn)
    input()
"""


async def plain(services: Services, session: Session) -> tuple[int, list[str]]:
    request = GetScreen(session=session.identity.id, format="plain")
    screen = await services.sessions.screen(CALLER, request)
    return screen.generation, [str(line) for line in screen.lines]


async def at(services: Services, session: Session, **moment: float) -> list[str]:
    request = ScreenAt(session=session.identity.id, **moment)  # type: ignore[arg-type]
    found = await services.history.screen_at(CALLER, request)
    return [str(line) for line in found.lines]


async def test_each_generation_that_was_handed_out_can_be_seen_again(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start_shell(services)
        seen = []
        for number in range(5):
            session.write(f"clear; echo number {number}\r".encode())
            await shows(session, f"number {number}")
            seen.append(await plain(services, session))
        for generation, lines in seen:
            assert await at(services, session, generation=generation) == lines


async def test_screen_before_a_resize_has_its_old_size(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "echo ready; cat")
        await shows(session, "ready")
        generation, _ = await plain(services, session)
        resize = ResizeSession(session=session.identity.id, rows=30, cols=100)
        await services.sessions.resize(CALLER, resize)
        request = ScreenAt(session=session.identity.id, generation=generation)
        before = await services.history.screen_at(CALLER, request)
        request = ScreenAt(session=session.identity.id, generation=session.generation)
        after = await services.history.screen_at(CALLER, request)
        assert ((before.rows, before.cols), (after.rows, after.cols)) == ((24, 80), (30, 100))


async def test_ended_session_can_be_seen_and_exported(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await ended(await start(services, "echo one; echo two; exit 3"))
        assert (await at(services, session, time=9e9))[:2] == ["one", "two"]
        request = ExportRecording(session=session.identity.id)
        recording = (await services.history.export(CALLER, request)).recording
        assert recording is not None
        assert json.loads(recording.splitlines()[-1])[1:] == ["x", "3"]


async def test_screens_of_segments_that_are_dropped_are_refused(tmp_path: Path) -> None:
    small = Settings().journal_segment_bytes // 64
    async with living(
        journals=tmp_path, journal_segment_bytes=small, journal_bytes=1 << 20
    ) as services:
        session = await start_python(services, PRINTER)
        for turn in range(14):
            await shows(session, f"END {turn}")
            await session.recorder.settled()
            session.write(b"\r")
        await shows(session, "END 14")
        generation, lines = await plain(services, session)
        with pytest.raises(InvalidInput, match="the journal begins with generation"):
            await at(services, session, generation=1)
        assert await at(services, session, generation=generation) == lines


async def test_moment_has_to_be_one_and_not_later_than_now(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "cat")
        for moment in ({}, {"generation": 1, "time": 1.0}, {"generation": 10**6}):
            with pytest.raises(InvalidInput):
                await at(services, session, **moment)


async def test_session_without_a_journal_says_so(tmp_path: Path) -> None:
    async with living(journals=tmp_path, journal=False) as services:
        session = await start(services, "cat")
        with pytest.raises(Failed, match="no journal"):
            await at(services, session, generation=0)
        assert os.listdir(tmp_path) == []


async def test_journal_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "cat")
        folder = session.recorder.folder
        assert folder is not None
        await session.recorder.settled()
        os.rename(folder, f"{folder}.gone")
        os.symlink(os.devnull, folder)
        request = ExportRecording(session=session.identity.id)
        with pytest.raises(Failed, match="cannot be read: Not a directory"):
            await services.history.export(CALLER, request)
        with pytest.raises(Failed, match="cannot be read: Not a directory"):
            await at(services, session, generation=0)
        os.unlink(folder)
        os.rename(f"{folder}.gone", folder)


async def test_span_begins_with_the_screen_of_that_moment(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "echo early; cat")
        await shows(session, "early")
        request = ScreenAt(session=session.identity.id, generation=session.generation)
        early = (await services.history.screen_at(CALLER, request)).time
        session.write(b"late\r")
        await shows(session, "late")
        request2 = ExportRecording(session=session.identity.id, since=early)
        recording = (await services.history.export(CALLER, request2)).recording
        assert recording is not None
        first = json.loads(recording.splitlines()[1])
        assert "early" in first[2]


async def test_whole_output_of_a_killed_session_is_gone_with_it(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "echo x; cat")
        await shows(session, "x")
        services.registry.forget(session)
        await session.end()
        session.close()
        assert os.listdir(tmp_path) == []


async def test_path_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "cat")
        request = ExportRecording(session=session.identity.id, path="a\0b")
        with pytest.raises(BadParameter, match="NUL"):
            await services.history.export(CALLER, request)
