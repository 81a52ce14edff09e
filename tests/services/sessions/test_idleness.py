"""Only who waits for somebody to type is idle, by what the kernel knows."""

import sys

import pytest

from nacre.services.sessions.idleness import waits_for_input

from services.clock import advance, with_clock
from services.living import living, reads, shows, start, start_python, start_shell

pytestmark = pytest.mark.anyio

# Waits for a key in raw mode, as full-screen programs do.
FULL_SCREEN = "import os, tty; tty.setraw(0); os.write(1, b'\\x1b[?1049hup\\r\\n'); os.read(0, 1)"


async def test_program_that_reads_its_terminal_is_idle() -> None:
    async with living() as services:
        for session in (
            await start(services, "cat", args=[]),
            await start_python(services, FULL_SCREEN),
            await start(services, "read x; echo $x"),
        ):
            await reads(session)
            assert await waits_for_input(session)


async def test_silent_build_is_not_idle() -> None:
    async with living() as services:
        for line in (
            "echo up; exec sleep 1000",
            "(echo up; sleep 1000) | cat",
            "echo up; sleep 1000 & cat",  # who waits for the terminal is not all that runs
            f"echo up; sleep 1000 | {sys.executable} -c 'open(\"/dev/tty\").read()'",
        ):
            session = await start(services, line)
            await shows(session, "up")
            if "cat" in line and "|" not in line:
                await reads(session)
            assert not await waits_for_input(session), line


async def test_shell_with_a_job_in_the_background_is_not_idle() -> None:
    async with living() as services:
        session = await start_shell(services)
        await reads(session)
        assert await waits_for_input(session)
        session.write(b"sleep 1000 & echo up\r")
        await shows(session, "up")
        await reads(session)
        assert not await waits_for_input(session)


def test_idle_program_is_ended_and_can_still_be_read() -> None:
    async def test() -> None:
        async with living(idle_timeout=100) as services:
            session = await start_python(services, FULL_SCREEN)
            await shows(session, "up")
            await reads(session)
            await advance(99)
            await services.janitor.sweep()
            assert session.ended_at is None
            await advance(2)
            await services.janitor.sweep()
            assert not session.alive
            assert "up" in session.terminal.plain_lines()

    with_clock(test)
