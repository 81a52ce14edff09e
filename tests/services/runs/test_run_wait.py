"""The wait for a run: a slow shell is not one that asks for the rest of a command."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from nacre.core.operations.runs import Run

from services.clock import advance, with_clock
from services.living import CALLER, living, reads, start, until


@pytest.mark.parametrize(
    ("command", "status", "output"),
    [("echo late", "completed", "late"), ("echo 'open", "error", "")],
)
def test_fish_that_is_slow_to_read_its_line_is_waited_for(
    tmp_path: Path, command: str, status: str, output: str
) -> None:
    assert shutil.which("fish")

    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start(services, "fish", env={"HOME": str(tmp_path)})
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            await reads(session)
            os.kill(session.pid, signal.SIGSTOP)
            asked = Run(session=session.identity.id, command=command)
            running = asyncio.create_task(services.runs.run(CALLER, asked))
            await advance(0.6)  # longer than it usually takes
            assert not running.done(), "nobody knows yet whether it wants more"
            os.kill(session.pid, signal.SIGCONT)
            got = await running
            assert (got.status, got.output) == (status, output)

    with_clock(test)


def test_a_line_that_ctrl_c_took_away_is_not_called_incomplete(tmp_path: Path) -> None:
    assert shutil.which("fish")

    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start(services, "fish", env={"HOME": str(tmp_path)})
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            await reads(session)
            os.kill(session.pid, signal.SIGSTOP)
            typed = session.inputs
            asked = Run(session=session.identity.id, command="echo lost")
            running = asyncio.create_task(services.runs.run(CALLER, asked))
            await advance(0.1)
            assert session.inputs > typed
            session.write(b"\x03")  # the kernel empties the terminal's input
            os.kill(session.pid, signal.SIGCONT)
            got = await running
            assert (got.status, got.exit_code, got.output) == ("completed", None, "")

    with_clock(test)
