"""A terminal that is slow to hand on what was typed: its shell still waits, and has read nothing.

A worker of the kernel hands it on, which a busy machine may leave waiting.
"""

import asyncio
from pathlib import Path

import pytest

from nacre.core.operations.runs import Run
from nacre.core.operations.watch import Receipt
from nacre.services.session.input_queue import TERMINAL, InputQueue
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.living import CALLER, living, reads, start, text_of, until

pytestmark = pytest.mark.anyio

# Seconds: the shell is looked at several times until then, and found waiting.
LATE = 0.5
PLAIN = {"PS1": "$ ", "HISTFILE": "", "ENV": ""}


class Late:
    """What is to come to the program late: input with this text in it."""

    def __init__(self) -> None:
        self.text: bytes | None = None
        self.handed_on: list[asyncio.Future[None]] = []

    async def read(self, session: Session) -> None:
        """Return when all of it has come, and its shell has done with it."""
        while left := [one for one in self.handed_on if not one.done()]:
            await asyncio.gather(*left)
        session.write(b"echo all\r")
        await until(session, lambda: text_of(session).count("all") == 2)  # its echo is one


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Late:
    at_once, late = InputQueue.write, Late()

    def write(
        queue: InputQueue,
        data: bytes,
        owner: str | None = TERMINAL,
        receipt: Receipt | None = None,
    ) -> None:
        if late.text is None or late.text not in data:
            at_once(queue, data, owner, receipt)
            return
        loop = asyncio.get_running_loop()
        handed_on = loop.create_future()
        late.handed_on.append(handed_on)

        def hand_on() -> None:
            at_once(queue, data, owner, receipt)
            handed_on.set_result(None)

        loop.call_later(LATE, hand_on)

    monkeypatch.setattr(InputQueue, "write", write)
    return late


async def dash(services: Services) -> Session:
    session = await start(services, "dash", env=PLAIN)
    await until(session, lambda: session.terminal.plain_lines()[0] == "$")
    await reads(session)
    return session


async def test_line_that_comes_late_is_typed_once_and_never_seen(
    tmp_path: Path, late: Late
) -> None:
    async with living() as services:
        session = await dash(services)
        late.text = b"_nacre_"
        command = f"echo ran >> '{tmp_path}/ran'; echo on; sh -c 'exit 3'"
        ran = await services.runs.run(
            CALLER, Run(session=session.identity.id, command=command, timeout_ms=20_000)
        )
        assert (ran.ended_by, ran.exit_code, ran.output) == ("mark", 3, "on")
        assert (tmp_path / "ran").read_text() == "ran\n"
        assert "_nacre_" not in text_of(session)


async def test_shell_that_is_asked_for_an_end_and_hears_it_late_shows_nothing(
    late: Late,
) -> None:
    async with living() as services:
        session = await dash(services)
        run = Run(session=session.identity.id, command="cat", timeout_ms=100)
        started = await services.runs.run(CALLER, run)
        assert started.status == "timeout"
        late.text = b"_nacre_"
        session.write(b"\x03")
        await reads(session)
        assert started.run_id is not None
        tracked = services.ledger.find(started.run_id)
        while not tracked.done:
            await services.runs.revisit(tracked)
            await asyncio.sleep(0)
        assert tracked.exit_code == 130
        await late.read(session)
        assert "_nacre_" not in text_of(session)
