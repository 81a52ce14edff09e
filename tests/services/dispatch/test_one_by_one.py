"""Large reads are answered one by one, and callers take turns."""

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, spec_of
from nacre.core.operations.terminal import GetScreen, GetScrollback
from nacre.services.dispatch.answers.delivery import Deliver, delivered, undelivered
from nacre.services.dispatch.answers.one_by_one import OneByOne
from nacre.services.dispatch.call import Call

pytestmark = pytest.mark.anyio

LARGE, SMALL = GetScrollback(session="dev"), GetScreen(session="dev")


class Desk:
    """Calls that are answered when the test says so."""

    def __init__(self) -> None:
        self.step = OneByOne()
        self.begun: list[str] = []
        self._answers: dict[str, asyncio.Event] = {}

    def ask(self, name: str, caller: Caller, operation: Operation = LARGE) -> asyncio.Task[Any]:
        self._answers[name] = asyncio.Event()

        async def handle(_: Call) -> Any:
            self.begun.append(name)
            await self._answers[name].wait()
            return name

        call = Call(caller, operation, spec_of(operation), handle)
        return asyncio.create_task(self.step(call, handle))

    async def answer(self, name: str) -> None:
        self._answers[name].set()
        await turns()


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_one_is_answered_at_a_time_and_callers_take_turns() -> None:
    desk, busy, other = Desk(), Caller(door="test", key="busy"), Caller(door="test", key="other")
    calls = [desk.ask(name, busy) for name in ("a", "b", "c")]
    calls.append(desk.ask("x", other))
    await turns()
    assert desk.begun == ["a"]
    for name in ("a", "b", "x", "c"):
        await desk.answer(name)
    assert desk.begun == ["a", "b", "x", "c"]
    assert await asyncio.gather(*calls) == ["a", "b", "c", "x"]


async def test_what_is_small_does_not_wait() -> None:
    desk, caller = Desk(), Caller(door="test")
    large, small = desk.ask("large", caller), desk.ask("small", caller, SMALL)
    await desk.answer("small")
    assert await small == "small"
    await desk.answer("large")
    assert await large == "large"


async def test_who_gives_up_keeps_nobody_waiting() -> None:
    desk, caller = Desk(), Caller(door="test")
    first, waiting, last = (desk.ask(name, caller) for name in ("first", "waiting", "last"))
    await turns()
    waiting.cancel()
    await turns()
    first.cancel()
    await turns()
    assert desk.begun == ["first", "last"]
    await desk.answer("last")
    assert await last == "last"
    again = desk.ask("again", caller)
    await desk.answer("again")
    assert await again == "again"


async def test_a_turn_that_is_given_to_who_gives_up_is_given_on() -> None:
    desk, caller = Desk(), Caller(door="test")
    first, second, third = (desk.ask(name, caller) for name in ("first", "second", "third"))
    await turns()
    desk.step._leave()  # the turn is the second's now, and it is cancelled before it has run
    second.cancel()
    await turns()
    assert desk.begun == ["first", "third"]
    for task in (first, third):
        task.cancel()


async def test_a_client_has_one_large_answer_at_a_time_until_it_has_taken_it() -> None:
    large, caller, begun, taken = asyncio.Lock(), Caller(door="test"), [], asyncio.Event()

    async def serve(name: str, operation: Operation, *, composed: bool = False) -> None:
        async def handle(_: Call) -> None:
            begun.append(name)

        with delivered(large):
            call = Call(caller, operation, spec_of(operation), handle)
            with undelivered() if composed else nullcontext():
                await Deliver()(call, handle)
            await taken.wait()  # as a door does until the client has read its answer

    asked = (("first", LARGE), ("second", LARGE), ("small", SMALL))
    serving = [asyncio.create_task(serve(name, operation)) for name, operation in asked]
    serving.append(asyncio.create_task(serve("composed", LARGE, composed=True)))
    await turns()
    assert begun == ["first", "small", "composed"]
    taken.set()
    await asyncio.gather(*serving)
    assert begun[3:] == ["second"]


async def test_what_a_request_started_and_outlives_it_keeps_nobody_waiting() -> None:
    """A session's port is opened in a request, and answers its own callers later."""
    turn, over = asyncio.Lock(), asyncio.Event()

    async def answer(_: Call) -> str:
        return "answer"

    async def ask_later() -> Any:
        await over.wait()
        return await Deliver()(Call(Caller(door="test"), LARGE, spec_of(LARGE), answer), answer)

    with delivered(turn):
        later = asyncio.create_task(ask_later())
        await turns()
    over.set()
    assert await later == "answer"
    assert not turn.locked()
