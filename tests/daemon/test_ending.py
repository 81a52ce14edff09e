"""The end of the daemon: what is stuck, or fails, holds nothing else up."""

import asyncio
import logging
import threading
from contextlib import suppress

import pytest

from nacre.daemon.ending import LastSteps


async def _drop_cancellations(until: asyncio.Event) -> None:
    while not until.is_set():
        with suppress(asyncio.CancelledError):
            await until.wait()


def test_a_step_that_is_stuck_or_fails_holds_no_other_up(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def fail() -> None:
        raise RuntimeError("the handler is closed")

    async def last() -> None:
        done.append("last")

    async def end() -> bool:
        free = asyncio.Event()
        ending = LastSteps(0.01)
        await ending.step("stuck", _drop_cancellations(free))
        await ending.step("failing", fail())
        await ending.step("last", last())
        await ending.rest()
        free.set()
        return ending.complete

    with caplog.at_level(logging.WARNING, "nacre.daemon"):
        assert not asyncio.run(end())
    assert done == ["last"]
    steps = [vars(record)["step"] for record in caplog.records]
    assert steps == ["stuck", "failing", "what was under way"]
    assert __file__ in vars(caplog.records[0])["at"]


def test_what_ends_in_time_is_complete() -> None:
    async def end() -> tuple[bool, bool]:
        ending = LastSteps(60)
        waiting = asyncio.create_task(asyncio.Event().wait())
        await asyncio.to_thread(lambda: None)
        await ending.step("quick", asyncio.sleep(0))
        await ending.rest()
        return ending.complete, waiting.cancelled()

    assert asyncio.run(end()) == (True, True)


def test_a_thread_that_is_stuck_is_left() -> None:
    held = threading.Event()

    async def end() -> bool:
        asyncio.get_running_loop().run_in_executor(None, held.wait)
        ending = LastSteps(0.01)
        await ending.rest()
        held.set()
        return ending.complete

    assert not asyncio.run(end())
