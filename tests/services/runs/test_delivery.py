"""A long command on its way to its shell, which reads it in parts and without echo."""

import asyncio
import time
from pathlib import Path

import pytest

from nacre.core.operations.runs import Run
from nacre.core.shell import wrapper
from nacre.services.observe.state import look
from nacre.services.runs import delivery
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from runs.driving import require
from services.clock import advance, with_clock
from services.living import CALLER, PATIENCE, living, start, start_marked, text_of, until

LONG = ": " + "x" * 5000 + "\necho through"


@pytest.fixture(autouse=True)
def last_part_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last part, an empty line, is left to the test: as if the terminal had not taken it."""
    whole = wrapper.wrap_long

    def all_but_the_last(*given: object, **more: object) -> tuple[str, list[str]]:
        head, parts = whole(*given, **more)  # type: ignore[arg-type]  # as it was called
        assert parts[-1] == ""
        return head, parts[:-1]

    monkeypatch.setattr(delivery, "wrap_long", all_but_the_last)


async def reads_in_secret(services: Services, session: Session) -> None:
    """Return when the shell has waited without echo for long: for the part that is late."""

    def reads() -> bool:
        run = services.ledger.innermost(session)
        return run is not None and run.state.reads_parts

    await until(session, reads)
    deadline = time.monotonic() + PATIENCE
    waited = 0
    while waited < 20:
        assert time.monotonic() < deadline, text_of(session)
        await advance(1)
        waited = waited + 1 if look(session).asks == "password" else 0


def test_shell_that_reads_a_long_command_asks_for_no_password(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services, name="dev")
            running = asyncio.create_task(
                services.runs.run(CALLER, Run(session="dev", command=LONG, timeout_ms=3_600_000))
            )
            await reads_in_secret(services, session)
            assert not running.done(), running.result()
            session.write(b"\r")
            ran = await running
            assert (ran.ended_by, ran.exit_code, ran.output) == ("mark", 0, "through")

    with_clock(test)


def test_shell_at_the_other_end_that_reads_slowly_gets_no_second_try(tmp_path: Path) -> None:
    async def test() -> None:
        (tmp_path / "ssh").symlink_to(require("bash"))
        async with living() as services:
            env = {"PS1": "$ ", "HISTFILE": ""}
            session = await start(services, str(tmp_path / "ssh"), args=["--norc"], env=env)
            await until(session, lambda: session.terminal.plain_lines()[0] == "$")
            running = asyncio.create_task(
                services.runs.run(
                    CALLER, Run(session=session.identity.id, command=LONG, timeout_ms=3_600_000)
                )
            )
            await reads_in_secret(services, session)
            assert not running.done(), running.result()
            session.write(b"\r")
            ran = await running
            assert (ran.ended_by, ran.exit_code, ran.output) == ("mark", 0, "through")

    with_clock(test)
