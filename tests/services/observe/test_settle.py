"""Waits until something is done or a program asks: when they look, and what comes before what."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from nacre.core.shell.state import State
from nacre.services.observe.settle import LOOKS, settle
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.clock import advance, with_clock
from services.living import PATIENCE, living, shows, start, text_of


async def cat(services: Services) -> Session:
    """A session that prints what it is sent, and nothing else."""
    session = await start(services, "stty -echo; echo ready; exec cat", name="cat")
    await shows(session, "ready")
    return session


async def say(session: Session, text: str) -> None:
    session.write(text.encode() + b"\n")
    await shows(session, text)


def test_output_wakes_a_wait_only_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            waits, next_change = 0, session.next_change

            def counted(until: float, **how: Any) -> Coroutine[None, None, None]:
                nonlocal waits
                waits += 1
                return next_change(until, **how)

            deadline, words = session.now + 1000, ("one", "two", "three")
            monkeypatch.setattr(session, "next_change", counted)
            wait = settle(session, lambda: words[-1] in text_of(session), deadline)
            task = asyncio.create_task(wait)
            await asyncio.sleep(0)
            monkeypatch.setattr(session, "next_change", next_change)
            for word in words:
                await say(session, word)
            assert await task == ("done", None)
            assert waits == 1

    with_clock(test)


def test_output_after_a_silence_brings_the_next_check_nearer() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            asks = False

            def asking(state: State) -> bool:
                return asks

            deadline = session.now + 1000
            wait = settle(session, lambda: False, deadline, asks=asking)
            task = asyncio.create_task(wait)
            for _ in range(10):
                await advance(1)
            assert not task.done()
            asks = True
            await say(session, "password?")
            for pause in LOOKS[:2]:
                await advance(pause)
                await asyncio.sleep(0)
            async with asyncio.timeout(PATIENCE):
                assert (await task)[0] == "needs_input"
            assert session.now < deadline - 980, "no pause of a second in between"

    with_clock(test)


@pytest.mark.anyio
async def test_the_end_of_a_run_is_told_before_the_prompt_behind_it_is_shown() -> None:
    async with living() as services:
        session = await cat(services)
        run = services.ledger.begin(session, "native", "true")
        nonce = session.record.nonce
        started, over = (f"\x1b]133;{kind};n={nonce}\x07" for kind in ("C", "D"))
        over = over.replace("\x07", ";0;/\x07")
        session.write(f"{started}out\n{over}the prompt\n".encode())
        told = await settle(session, lambda: run.done, session.now + PATIENCE)
        assert told == ("done", None)
        assert "out" in text_of(session)
        assert "the prompt" not in text_of(session)
        await session.catch_up()
        assert "the prompt" in text_of(session)
