"""What a session leaves for the next daemon: in the ring all of it, on disk what may lie there."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from nacre.core.operations.sessions import ManageSession
from nacre.services.session.persistence import take_checkpoint
from nacre.services.session.record import Secrets, SessionRecord, unpack, unpack_from_disk
from nacre.services.session.recorder import ABOUT
from nacre.services.session.session import Session
from nacre.system.processes.exits import Ending

from services.living import CALLER, ended, living, shows, start

pytestmark = pytest.mark.anyio


def in_ring(session: Session) -> SessionRecord:
    return unpack(session._ring.long)


def on_disk(session: Session) -> SessionRecord:
    assert session.recorder.folder is not None
    return unpack_from_disk((Path(session.recorder.folder) / ABOUT).read_bytes())


async def test_running_session_is_known_by_its_process_and_its_secrets(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat", name="dev", tags=["t1"], env={"GIVEN": "x"})
        kept = in_ring(session)
        assert kept == session.record
        assert (kept.pid, kept.alive, kept.listed) == (session.pid, True, True)
        lies = on_disk(session)
        assert (lies.identity, lies.created) == (session.identity, session.created)
        assert lies.launch == replace(session.launch, env={})
        assert (lies.pid, lies.alive, lies.secrets) == (None, True, Secrets("", ""))


async def test_secrets_and_environment_are_not_on_disk(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat", env={"GIVEN": "hush-hush"})
        assert session.recorder.folder is not None
        written = (Path(session.recorder.folder) / ABOUT).read_text()
        record = session.record
        assert not any(word in written for word in (record.cookie, record.nonce, "hush-hush"))


async def test_process_is_not_put_down_before_it_is_there(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat")
        session.put_down(started=False)
        assert in_ring(session).pid is None


async def test_end_is_put_down_with_its_time_and_exit_code(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await ended(await start(services, "exit 7"))
        for kept in (in_ring(session), on_disk(session)):
            assert (kept.ended, kept.exit_code) == (session.record.ended, 7)
            assert kept.ended is not None
            assert kept.ended >= session.created


async def test_lost_session_stays_lost_and_has_no_end(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await ended(await start(services, "exit 7"))
        session.end_with(Ending(None, None, lost=True), 1.0)
        kept = in_ring(session)
        assert (kept.lost, kept.ended, on_disk(session).ended) == (True, None, None)


async def test_session_that_is_not_listed_leaves_nothing_to_restore(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat", name="dev")
        services.registry.unlist(session)
        assert session.recorder.folder is not None
        assert ABOUT not in os.listdir(session.recorder.folder)
        assert not in_ring(session).listed
        await session.end()


async def test_new_name_is_put_down(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat", name="dev")
        rename = ManageSession(session="dev", action="rename", new_name="other")
        await services.sessions.manage(CALLER, rename)
        assert in_ring(session).identity.name == on_disk(session).identity.name == "other"


async def test_checkpoint_is_the_screen_of_its_generation(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "echo shown; exec cat")
        await shows(session, "shown")
        looked = take_checkpoint(
            session.screen, session.stream, session.recorder.offset, at_once=False
        )
        assert looked is not None
        checkpoint, screen = looked
        assert checkpoint.generation == session.generation
        assert checkpoint.offset == session.recorder.offset
        assert screen() == session.terminal.snapshot()
