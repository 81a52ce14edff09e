"""What a session leaves for the next daemon: in the ring all of it, on disk what may lie there."""

import os
from pathlib import Path

import pytest

from nacre.core.operations import ManageSession
from nacre.services.kept import About, Long, unpack
from nacre.services.recorder import ABOUT
from nacre.services.session import Session
from nacre.system.exits import Ending

from services.living import CALLER, ended, living, shows, start

pytestmark = pytest.mark.anyio


def in_ring(session: Session) -> Long:
    return unpack(session._ring.long, Long)


def on_disk(session: Session) -> About:
    assert session.recorder.folder is not None
    return unpack((Path(session.recorder.folder) / ABOUT).read_bytes(), About)


async def test_running_session_is_known_by_its_process_and_its_secrets(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat", name="dev", tags=["t1"], env={"GIVEN": "x"})
        long, keys = in_ring(session), session.lives.keys
        assert (long.identity, long.launch) == (session.identity, session.launch)
        assert (long.pid, long.cookie, long.nonce) == (session.pid, keys.cookie, keys.nonce)
        assert (long.ended, long.listed, long.lost) == (None, True, False)
        about = on_disk(session)
        assert (about.name, about.id, about.tags) == ("dev", session.identity.id, ["t1"])
        assert (about.created, about.ended) == (session.created, None)


async def test_secrets_and_environment_are_not_on_disk(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat", env={"GIVEN": "hush-hush"})
        assert session.recorder.folder is not None
        written = (Path(session.recorder.folder) / ABOUT).read_text()
        keys = session.lives.keys
        assert not any(word in written for word in (keys.cookie, keys.nonce, "hush-hush"))


async def test_process_is_not_put_down_before_it_is_there(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "exec cat")
        session.put_down(started=False)
        assert in_ring(session).pid is None


async def test_end_is_put_down_with_its_time_and_exit_code(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await ended(await start(services, "exit 7"))
        long, about = in_ring(session), on_disk(session)
        assert (long.ended, long.exit_code) == (about.ended, about.exit_code)
        assert (long.ended, long.exit_code) == (session.ended, 7)
        assert session.ended >= session.created


async def test_lost_session_stays_lost_and_has_no_end(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await ended(await start(services, "exit 7"))
        session.end_with(Ending(None, None, lost=True), 1.0)
        long = in_ring(session)
        assert (long.lost, long.ended, on_disk(session).ended) == (True, None, None)


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
        assert in_ring(session).identity.name == on_disk(session).name == "other"


async def test_checkpoint_is_the_screen_of_its_generation(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "echo shown; exec cat")
        await shows(session, "shown")
        looked = session._legacy.look()
        assert looked is not None
        checkpoint, screen = looked
        assert checkpoint.generation == session.generation
        assert checkpoint.offset == session.recorder.offset
        assert screen == session.terminal.snapshot()
