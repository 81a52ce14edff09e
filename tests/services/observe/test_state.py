"""What a session is doing: the shell's own marks count, also before they are read."""

import os
import time
from pathlib import Path

import pytest

from nacre.services.observe.state import look

from services.living import PATIENCE, PROMPT, living, start_marked, until

pytestmark = pytest.mark.anyio


async def test_a_mark_that_is_printed_and_not_read_yet_counts(tmp_path: Path) -> None:
    """A daemon that was held up, or has just begun, has not read what the shell said last."""
    async with living(tmp_path) as services:
        session = await start_marked(services)
        child = session.require_alive()
        os.write(child.master, f"printf '\\n{PROMPT} '; read x\r".encode())
        await until(session, lambda: session.stream.prompting.phase == "running")
        await until(session, lambda: session.terminal.cursor().col == len(PROMPT) + 1)
        os.write(child.master, b"x\r")
        deadline = time.monotonic() + PATIENCE
        # The loop does not run meanwhile: nothing of what the shell prints is read.
        while (facts := session.facts()) is None or facts.canonical or not facts.waits:
            assert time.monotonic() < deadline
        assert session.stream.prompting.phase == "running"
        state = look(session)
        assert (state.state, state.unmarked, state.evidence[0]) == ("prompt", False, "mark: prompt")
