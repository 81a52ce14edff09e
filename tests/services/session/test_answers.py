"""What the terminal answers to a program that does not read it."""

import asyncio
import os
import pty
import tty
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.runs import Run
from nacre.services.session.input_queue import InputQueue, TerminalAnswers

from services.living import CALLER, PATIENCE, living, start, start_marked

pytestmark = pytest.mark.anyio

LIMIT = 1024
ATTRIBUTES = b"\x1b[?62;22c"
COLOUR = b"\x1b]4;1;rgb:cccc/6666/6666\x1b\\"  # as long as any, and with an Escape within


class Terminal:
    """A raw terminal, and what is said of it."""

    def __init__(self, master: int, slave: int) -> None:
        self.unread: int | None = 0
        self.now = 0.0
        self.slave = slave
        queue = InputQueue(asyncio.get_running_loop(), master, 1 << 20)
        self.answers = TerminalAnswers(queue, LIMIT, lambda: self.now, lambda: self.unread)

    def read(self, count: int) -> bytes:
        """Wait for so many bytes, as a program does."""
        found = b""
        while len(found) < count:
            found += os.read(self.slave, count - len(found))
        return found


@pytest.fixture
async def terminal() -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    yield Terminal(master, slave)
    os.close(master)
    os.close(slave)


async def test_answers_that_nobody_reads_stay_within_the_limit(terminal: Terminal) -> None:
    terminal.unread = 500
    dropped = 0
    for _ in range(1000):
        terminal.now += 1.0
        dropped += terminal.answers.give(ATTRIBUTES)
    kept = LIMIT // len(ATTRIBUTES) * len(ATTRIBUTES)
    assert dropped == 1000 * len(ATTRIBUTES) - kept
    assert terminal.read(kept) == ATTRIBUTES * (LIMIT // len(ATTRIBUTES))


@pytest.mark.parametrize("one", [ATTRIBUTES, COLOUR])
async def test_no_answer_is_cut(terminal: Terminal, one: bytes) -> None:
    fit = LIMIT // len(one)
    assert terminal.answers.give(one * 1000) == (1000 - fit) * len(one)
    assert terminal.read(fit * len(one)) == one * fit
    terminal.unread = 1
    assert terminal.answers.give(one) == len(one)


async def test_who_reads_gets_all_answers(terminal: Terminal) -> None:
    for _ in range(5):
        assert terminal.answers.give(COLOUR * 30) == 0
        assert terminal.read(len(COLOUR) * 30) == COLOUR * 30
        terminal.now += 0.1


async def test_what_is_on_its_way_is_not_taken_for_read(terminal: Terminal) -> None:
    """The kernel counts what was written only a moment later."""
    terminal.answers.give(COLOUR * 30)
    assert terminal.answers.give(COLOUR * 30) > 0
    terminal.now += 0.1
    assert terminal.answers.give(COLOUR * 30) == 0


@pytest.mark.parametrize("marked", [True, False])
async def test_run_works_behind_a_program_that_asked_and_did_not_read(
    tmp_path: Path, *, marked: bool
) -> None:
    bomb = r"printf '\e]4;1;?\a%.0s' {1..3000}"
    async with living(tmp_path, max_unread_answer_bytes=LIMIT) as services:
        if marked:
            session = await start_marked(services)
        else:
            session = await start(services, "bash", args=["--norc", "--noprofile"])
        name = session.identity.id

        async def run(command: str) -> Any:
            until = asyncio.get_running_loop().time() + PATIENCE
            while True:
                ran = await services.runs.run(CALLER, Run(session=name, command=command))
                # While its line editor still reads, it is no prompt.
                if ran.status != "busy" or asyncio.get_running_loop().time() > until:
                    return ran

        assert (await run(bomb)).exit_code == 0
        ran = await run("echo behind")
        assert (ran.status, ran.exit_code, ran.output) == ("completed", 0, "behind")
