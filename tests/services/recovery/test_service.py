"""Sessions that were lost with their daemon are listed as long as they are to be, no longer."""

import os
import shutil
import time
from pathlib import Path

import pytest

from services.clock import advance, with_clock
from services.living import living, shows, start

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


async def test_lost_session_is_listed_with_its_screen(tmp_path: Path) -> None:
    await lose(tmp_path, age=DAY)
    async with living(journals=tmp_path) as services:
        services.recovery.run({})
        session = services.registry.find("dev")
        assert session.terminal.plain_lines()[0] == "still here"
        assert session.ending is not None
        assert session.ending.lost


async def test_daemons_that_list_a_lost_session_do_not_make_it_younger(tmp_path: Path) -> None:
    await lose(tmp_path, age=DAY)
    async with living(journals=tmp_path) as services:
        services.recovery.run({})
        await services.janitor.sweep()
        assert services.registry.find("dev")
    async with living(journals=tmp_path, lost_keep=DAY / 2) as services:
        services.recovery.run({})
        assert list(services.registry) == []
    assert os.listdir(tmp_path) == []


async def test_lost_session_ages_out_under_a_daemon_that_stays(tmp_path: Path) -> None:
    await lose(tmp_path, age=DAY)
    async with living(journals=tmp_path, lost_keep=DAY + 3600) as services:
        services.recovery.run({})
        session = services.registry.find("dev")
        assert session.ended_at is not None
        session.ended_at -= 2 * 3600
        await services.janitor.sweep()
        assert services.registry.all() == []
    assert os.listdir(tmp_path) == []


def test_idle_times_outlive_the_daemon() -> None:
    async def test() -> None:
        async with living() as before, living() as after:
            old = await start(before, "exec cat", name="dev")
            old.write(b"typed\r")
            await shows(old, "typed")
            times = (old.last_output, old.last_input)
            await advance(3600)
            kept = {
                f"sessions/{old.identity.id}/ring": os.dup(old._ring.descriptor),
                f"sessions/{old.identity.id}/master": os.dup(old.require_alive().master),
            }
            old.require_alive().stop_reading()
            after.recovery.run(kept)
            new = after.registry.find("dev")
            assert (new.last_output, new.last_input) == pytest.approx(times, abs=0.01)

    with_clock(test)
