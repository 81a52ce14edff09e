"""What waits for a terminal that takes no more, and who overtakes it."""

import asyncio
import os
import pty
import tty
from collections.abc import Iterator

import pytest

from nacre.services.session.input_queue import InputQueue

from services.living import shows, start
from services.people import ANNA, house

pytestmark = pytest.mark.anyio

LIMIT = 1 << 20
MUCH = 200_000  # bytes: more than any terminal takes by itself


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A raw terminal: its master, which does not block, and the program's side."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    yield master, slave
    os.close(master)
    os.close(slave)


def queue(master: int) -> InputQueue:
    return InputQueue(asyncio.get_running_loop(), master, LIMIT)


async def read_all(waiting: InputQueue, slave: int) -> bytes:
    """Read as the program does, until nothing is left."""
    os.set_blocking(slave, False)
    found = b""
    idle = 0
    while waiting.pending or idle < 3:
        try:
            found += os.read(slave, 65536)
            idle = 0
        except BlockingIOError:
            idle += not waiting.pending
        await asyncio.sleep(0)
    return found


class Heard:
    """A receipt that notes what became of an input."""

    def __init__(self) -> None:
        self.exact = True
        self.written = 0
        self.said: list[str] = []

    def begin(self) -> None:
        raise AssertionError("nothing of it is captured")

    def write(self, terminal: int, data: memoryview) -> int:
        self._say("begin")
        return os.write(terminal, data)

    def wrote(self, count: int) -> None:
        self.written += count
        self._say("wrote")

    def settle(self) -> None:
        self._say("settle")

    def drop(self, why: str) -> None:
        self._say("drop")

    def _say(self, what: str) -> None:
        if self.said[-1:] != [what]:
            self.said.append(what)


async def test_a_receipt_hears_what_the_terminal_took(terminal: tuple[int, int]) -> None:
    waiting = queue(terminal[0])
    small, large, later = Heard(), Heard(), Heard()
    waiting.write(b"small", "anna", small)
    waiting.write(b"l" * MUCH, "anna", large)
    waiting.write(b"later", "anna", later)
    assert small.said == ["begin", "settle"]
    # The terminal takes it in some parts, until it is full.
    assert large.said == ["begin", "wrote"] * (len(large.said) // 2)
    assert len(large.said) >= 4
    assert large.written == MUCH - (waiting.pending - len(b"later")) < MUCH
    assert later.said == ["wrote"]  # nothing of it is being written
    assert await read_all(waiting, terminal[1]) == b"small" + b"l" * MUCH + b"later"
    assert (large.said[-1], later.said[-1]) == ("settle", "settle")


async def test_a_receipt_hears_that_somebody_took_over(terminal: tuple[int, int]) -> None:
    waiting = queue(terminal[0])
    begun, waits = Heard(), Heard()
    waiting.write(b"b" * MUCH, "bert", begun)
    waiting.write(b"w", "bert", waits)
    waiting.drop_others("anna")
    assert (begun.said[-1], waits.said[-1]) == ("drop", "drop")


@pytest.mark.parametrize("end", ["discard", "close"])
async def test_what_nobody_will_type_is_settled(terminal: tuple[int, int], end: str) -> None:
    waiting = queue(terminal[0])
    heard, late = Heard(), Heard()
    waiting.write(b"x" * MUCH, "anna", heard)
    getattr(waiting, end)()
    assert heard.said[-1] == "settle"
    waiting.close()
    waiting.write(b"x", "anna", late)
    assert late.said == ["settle"]


async def test_what_others_sent_is_dropped_and_ones_own_is_not(terminal: tuple[int, int]) -> None:
    waiting = queue(terminal[0])
    waiting.write(b"a" * MUCH, "agent")
    waiting.write(b"mine", "anna")
    waiting.write(b"reply")  # of the terminal itself
    left = waiting.pending - len(b"minereply")
    assert 0 < left < MUCH
    assert waiting.drop_others("anna") == left
    waiting.write(b"more", "anna")
    assert await read_all(waiting, terminal[1]) == b"a" * (MUCH - left) + b"minereplymore"
    waiting.close()


@pytest.mark.parametrize("cut", range(-8, 1))
async def test_a_paste_that_was_begun_is_ended(terminal: tuple[int, int], cut: int) -> None:
    master, slave = terminal
    waiting = queue(master)
    waiting.write(b"x" * MUCH, "agent")
    taken = MUCH - waiting.pending  # what the terminal takes before it is full
    waiting.discard()
    await read_all(waiting, slave)
    begin, end = b"\x1b[200~", b"\x1b[201~"
    # So that the terminal is full somewhere in the last bracket, or just before it.
    text = begin + b"x" * (taken + cut - len(begin)) + end
    waiting.write(text + b"y" * MUCH, "agent")
    waiting.drop_others("anna")
    waiting.write(b"key", "anna")
    found = await read_all(waiting, slave)
    assert found.endswith(b"key")
    assert found.count(begin) == found.count(end) == 1
    waiting.close()


async def test_who_takes_over_types_at_once_and_the_agent_learns_what_was_lost() -> None:
    async with house() as ask:
        session = await start(
            ask.services, "stty raw opost -echo; echo ready; read -r go; exec tr -d A", cwd="/"
        )
        await shows(session, "ready")
        reference = session.identity.id
        await ask("send_input", session=reference, input="A" * MUCH + "\nby agent\n")
        child = session.require_alive()
        left = child.input.pending
        assert left > 0
        async with ask.watch(ANNA, session) as anna:
            await ask("control", ANNA, session=reference, action="take")
            await anna.type(b"\nby anna\n")
            await shows(session, "by anna")
            await ask("control", ANNA, session=reference, action="give")
        told = (await ask("control", session=reference)).handover
        assert told.dropped == left
        assert f"{left} bytes" in told.in_words("dev")
        assert "by agent" not in "".join(session.terminal.plain_lines())
