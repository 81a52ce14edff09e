"""Sessions of an earlier daemon: lost ones are listed for a time, living ones answer one by one."""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.daemon import GetStatus
from nacre.core.operations.results import Status
from nacre.core.operations.sessions import ListSessions, ManageSession
from nacre.core.operations.terminal import GetScreen, SendInput
from nacre.errors import SessionExists, SessionNotFound
from nacre.services.daemon.lifecycle import DaemonAddress, Lifecycle
from nacre.services.recovery.service import Recovery
from nacre.services.wiring import Services
from nacre.system.keeper.client import Keeping
from nacre.system.storage.segments import has_checkpoint

from services.clock import advance, with_clock
from services.living import CALLER, living, shows, start, text_of, until

pytestmark = pytest.mark.anyio

DAY = 86400.0


async def lose(journals: Path, *, age: float) -> None:
    """Leave the journal of a session that a daemon took with it, so long ago."""
    async with living(journals=journals) as services:
        session = await start(services, "echo still here; exec cat", name="dev")
        await shows(session, "still here")
        await session.recorder.settled()
        folder = session.recorder.folder
        assert folder is not None
        shutil.copytree(folder, f"{folder}-copy")
    os.rename(f"{folder}-copy", folder)
    then = time.time() - age
    for name in os.listdir(folder):
        os.utime(os.path.join(folder, name), (then, then))


def spoil(journal: Path) -> None:
    """Damage all screens, and lose the first segment: there is nothing to begin with."""
    for screen in journal.glob("*.screen"):
        screen.write_bytes(screen.read_bytes()[:-1])
    (journal / "00000001.log").unlink()


async def recover(services: Services, kept: dict[str, int]) -> None:
    services.recovery.find(kept)
    await services.recovery.rebuild()


async def test_lost_session_is_listed_with_its_screen(tmp_path: Path) -> None:
    await lose(tmp_path, age=DAY)
    async with living(journals=tmp_path) as services:
        await recover(services, {})
        session = services.registry.find("dev")
        assert session.terminal.plain_lines()[0] == "still here"
        assert session.ending is not None
        assert session.ending.lost


async def test_screens_that_threads_read_ahead_are_each_session_s_own(tmp_path: Path) -> None:
    """Those with a checkpoint are; one that cannot be read is told, and keeps nobody waiting."""
    names = ("one", "two", "three", "four")
    folders: list[str] = []
    async with living(journals=tmp_path, journal_segment_bytes=65_536) as services:
        for name in names:
            session = await start(services, f"seq 40000; echo last of {name}; exec cat", name=name)
            await shows(session, f"last of {name}")
            await session.recorder.settled()
            assert session.recorder.folder is not None
            folders.append(session.recorder.folder)
            assert has_checkpoint(folders[-1])
            shutil.copytree(folders[-1], f"{folders[-1]}-copy")
    for folder in folders:
        os.rename(f"{folder}-copy", folder)
    spoil(Path(folders[1]))
    async with living(journals=tmp_path) as services:
        await recover(services, {})
        for name in names:
            text = text_of(services.registry.find(name))
            assert ("cannot be read" if name == "two" else f"last of {name}") in text


async def test_daemons_that_list_a_lost_session_do_not_make_it_younger(tmp_path: Path) -> None:
    await lose(tmp_path, age=DAY)
    async with living(journals=tmp_path) as services:
        await recover(services, {})
        await services.janitor.sweep()
        assert services.registry.find("dev")
    async with living(journals=tmp_path, lost_keep=DAY / 2) as services:
        await recover(services, {})
        assert list(services.registry) == []
    assert os.listdir(tmp_path) == []


async def test_lost_session_ages_out_under_a_daemon_that_stays(tmp_path: Path) -> None:
    await lose(tmp_path, age=DAY)
    async with living(journals=tmp_path, lost_keep=DAY + 3600) as services:
        await recover(services, {})
        session = services.registry.find("dev")
        assert session.ended_at is not None
        session.ended_at -= 2 * 3600
        await services.janitor.sweep()
        assert services.registry.all() == []
    assert os.listdir(tmp_path) == []


def test_idle_times_outlive_the_daemon() -> None:
    async def test() -> None:
        async with living() as before, living() as after:
            # Without an echo its answer is the last output.
            old = await start(before, "stty -echo; echo ready; exec cat", name="dev")
            await shows(old, "ready")
            old.write(b"typed\r")
            # The echo and cat's answer: nothing more comes that would be newer.
            await until(old, lambda: old.terminal.cursor().row == 2)
            times = (old.last_output, old.last_input)
            await advance(3600)
            kept = {
                f"sessions/{old.identity.id}/ring": os.dup(old._ring.descriptor),
                f"sessions/{old.identity.id}/master": os.dup(old.require_alive().master),
            }
            old.require_alive().stop_reading()
            await recover(after, kept)
            new = after.registry.find("dev")
            assert (new.last_output, new.last_input) == pytest.approx(times, abs=0.01)

    with_clock(test)


# --- while sessions are still to come ----------------------------------------------------------

SESSIONS = ("one", "two", "three", "four", "five", "six", "seven", "eight")


@asynccontextmanager
async def killed(journals: Path) -> AsyncIterator[tuple[Services, dict[str, int]]]:
    """Services that find the sessions of others, as after a kill; none is recovered yet."""
    async with living(journals=journals) as before, living(journals=journals) as after:
        kept = {}
        for name in SESSIONS:
            old = await start(before, f"echo {name}; exec cat", name=name)
            await shows(old, name)
            await old.recorder.settled()
            key = f"sessions/{old.identity.id}"
            kept[f"{key}/ring"] = os.dup(old._ring.descriptor)
            kept[f"{key}/master"] = os.dup(old.require_alive().master)
            old.require_alive().stop_reading()
        after.recovery.find(kept)
        yield after, kept


async def begun(call: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    """Return a call that was made before anything is recovered."""
    task = asyncio.create_task(call)
    await asyncio.sleep(0)
    assert not task.done()
    return task


async def test_call_waits_for_its_own_session_only_and_a_list_for_all(tmp_path: Path) -> None:
    async with killed(tmp_path) as (services, _):
        dispatch, left = services.dispatch(), dict[str, int]()
        calls = {
            "screen": await begun(dispatch(CALLER, GetScreen(session="seven"))),
            "keys": await begun(dispatch(CALLER, SendInput(session="eight", input="x"))),
            "list": await begun(dispatch(CALLER, ListSessions())),
            "rename": await begun(
                dispatch(CALLER, ManageSession(session="one", action="rename", new_name="five"))
            ),
            "wrong": await begun(dispatch(CALLER, GetScreen(session="nine"))),
        }

        def note(name: str, _: object) -> None:
            left[name] = services.recovery.listed

        for name, call in calls.items():
            call.add_done_callback(partial(note, name))
        await services.recovery.rebuild()
        await asyncio.wait(calls.values())
        assert "seven" in str(calls["screen"].result().lines)
        assert left["screen"] > 0
        assert left["keys"] > 0
        assert calls["keys"].exception() is None
        assert [one.name for one in calls["list"].result().sessions] == list(SESSIONS)
        assert isinstance(calls["rename"].exception(), SessionExists), "its holder was to come"
        assert all(name in str(calls["wrong"].exception()) for name in SESSIONS)
        assert left["list"] == left["rename"] == left["wrong"] == 0


async def test_status_counts_what_is_to_come_and_a_daemon_on_demand_stays_for_it(
    tmp_path: Path,
) -> None:
    async with killed(tmp_path) as (services, _):
        address = DaemonAddress(19999, "/run/nacre.sock", "/state/token")
        life = Lifecycle(
            services.registry,
            address,
            services.host.keeping,
            services.host.events,
            ephemeral=True,
            grace=0,
            to_come=lambda: services.recovery.listed,
        )
        dispatch = services.dispatch(life.handlers())
        status = await dispatch(CALLER, GetStatus())
        assert isinstance(status, Status)
        assert (status.sessions, services.recovery.is_over) == (len(SESSIONS), False)
        with life.client():
            pass
        for _ in range(3):
            await asyncio.sleep(0)
        assert not life.stopping.is_set()
        await services.recovery.rebuild()
        life.reconsider()
        await life.stopping.wait()


async def test_keeper_that_is_replaced_meanwhile_gets_what_is_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with killed(tmp_path) as (services, kept):
        given: dict[str, int] = {}

        def keep(_: Keeping, key: str, descriptor: int) -> None:
            given[key] = descriptor

        monkeypatch.setattr(Keeping, "keep", keep)
        services.keep_all()
        assert given.items() >= kept.items()
        monkeypatch.undo()
        await services.recovery.rebuild()


async def test_session_that_cannot_be_recovered_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with killed(tmp_path) as (services, _):
        join = Recovery._join

        def fail_once(self: Recovery, found: Any, rebuilt: Any) -> Any:
            if found.record.identity.name == "two":
                raise RuntimeError("of the engine")
            return join(self, found, rebuilt)

        monkeypatch.setattr(Recovery, "_join", fail_once)
        dispatch = services.dispatch()
        call = await begun(dispatch(CALLER, GetScreen(session="two")))
        await services.recovery.rebuild()
        assert [one.identity.name for one in services.registry] == ["one", *SESSIONS[2:]]
        with pytest.raises(SessionNotFound):
            await call
