"""Waiting for quiet: by timers and events, with the reason when it fails."""

import asyncio

import pytest

from nacre.core.operations.runs import AwaitQuiesce, RunCommand
from nacre.core.shell.quiet import Quiesce
from nacre.errors import InvalidInput, SessionExited, WaitTimedOut
from nacre.services.observe.quiet import await_quiet
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.clock import Clock, advance, with_clock
from services.living import CALLER, at_prompt, ended, lines_of, living, shows, start, start_shell


def quiesce(quiet: float = 2.0, max_wait: float = 30.0, after: int | None = None) -> Quiesce:
    now = asyncio.get_running_loop().time()
    return Quiesce(started=now, quiet=quiet, max_wait=max_wait, after_generation=after)


async def cat(services: Services) -> Session:
    """A session that prints what it is sent, and nothing else."""
    session = await start(services, "stty -echo; echo ready; exec cat", name="cat")
    await shows(session, "ready")
    return session


async def say(session: Session, text: str) -> None:
    session.write(text.encode() + b"\n")
    await shows(session, text)


async def waiting(session: Session, wait: Quiesce) -> "asyncio.Task[None]":
    """A wait that has begun."""
    task = asyncio.create_task(await_quiet(session, wait))
    await advance(0)
    return task


def test_session_that_was_quiet_long_enough_is_quiet_at_once() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            await advance(10)
            await await_quiet(session, quiesce(quiet=10.0, max_wait=0))

    with_clock(test)


def test_wait_lasts_until_the_silence_does() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            task = await waiting(session, quiesce(quiet=100.0, max_wait=1000))
            await advance(90)
            await say(session, "one")
            await advance(90)
            assert not task.done(), "the silence began anew"
            await advance(11)
            await asyncio.wait_for(task, 10)

    with_clock(test)


def test_deadline_is_an_error_that_says_how_to_go_on() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            task = await waiting(session, quiesce(quiet=100.0, max_wait=50.0))
            await advance(51)
            told = "'cat' was not quiet for 100000 ms within 50000 ms"
            with pytest.raises(WaitTimedOut, match=told) as error:
                await task
            assert error.value.details == {"generation": session.generation}

    with_clock(test)


def test_deadline_tells_that_nothing_newer_came() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            task = await waiting(session, quiesce(quiet=1.0, max_wait=50.0, after=900))
            await advance(51)
            with pytest.raises(WaitTimedOut, match="'cat' printed nothing after generation 900 "):
                await task

    with_clock(test)


def test_wait_after_a_generation_needs_newer_output_first() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            await advance(1000)
            seen = session.generation
            task = await waiting(session, quiesce(quiet=10.0, max_wait=1000, after=seen))
            await advance(500)
            assert not task.done(), "it is quiet, but nothing is new"
            await say(session, "new")
            assert not task.done()
            await advance(11)
            await asyncio.wait_for(task, 10)
            await await_quiet(session, quiesce(quiet=0, max_wait=0, after=seen))

    with_clock(test)


def test_wait_after_a_generation_that_never_comes_times_out() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            after = session.generation
            task = await waiting(session, quiesce(quiet=0, max_wait=50, after=after))
            await advance(51)
            with pytest.raises(WaitTimedOut):
                await task

    with_clock(test)


def test_end_of_the_child_during_the_wait_is_told_with_its_exit_code() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, "echo ready; read x; echo bye; exit 4", name="dev")
            await shows(session, "ready")
            task = await waiting(session, quiesce(quiet=1000.0, max_wait=10_000))
            session.write(b"\n")
            with pytest.raises(SessionExited, match="exit code 4") as error:
                await asyncio.wait_for(task, 10)
            assert error.value.details == {"exit_code": 4, "signal": None}
            assert lines_of(session)[-1] == "bye", "all it printed is there by then"

    with_clock(test)


def test_ended_session_is_quiet_and_never_has_newer_output() -> None:
    async def test() -> None:
        async with living() as services:
            session = await ended(await start(services, "echo hello", name="dev"))
            await await_quiet(session, quiesce(quiet=100.0))
            await await_quiet(session, quiesce(quiet=100.0, after=session.generation - 1))
            with pytest.raises(SessionExited):
                await await_quiet(session, quiesce(after=session.generation))

    with_clock(test)


def test_many_waits_on_one_session_end_together() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            tasks = [await waiting(session, quiesce(quiet=50.0, max_wait=100)) for _ in range(50)]
            await advance(51)
            await asyncio.wait_for(asyncio.gather(*tasks), 10)

    with_clock(test)


def test_wait_that_is_given_up_leaves_nothing_behind() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            for after in (None, session.generation):
                task = await waiting(session, quiesce(quiet=100.0, after=after))
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            await say(session, "goes on")

    with_clock(test)


def test_wait_over_the_setting_is_refused() -> None:
    async def test() -> None:
        async with living(max_wait=10) as services:
            await cat(services)
            for parameters in ({"timeout_ms": 10_001}, {"max_wait_ms": 10_001}):
                refused = (
                    r"must be at most 10000 \(setting max_wait\); "
                    "wait several times with last_generation"
                )
                with pytest.raises(InvalidInput, match=refused):
                    await services.commands.quiesce(
                        CALLER, AwaitQuiesce(session="cat", **{"max_wait_ms": 10, **parameters})
                    )

    with_clock(test)


def test_run_waits_for_silence_after_it_was_sent() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            await advance(1000)
            request = RunCommand(session="cat", input="hello", timeout_ms=5000)
            task = asyncio.create_task(services.commands.run(CALLER, request))
            await shows(session, "hello")
            assert not task.done(), "the silence before does not count"
            await advance(6)
            outcome = await asyncio.wait_for(task, 10)
            assert outcome.output == "hello"
            assert (outcome.ended_by, outcome.exit_code) == ("quiet", None)
            assert outcome.hint == "input did not end with Enter: one was added"

    with_clock(test)


def test_run_that_fails_carries_what_stood_on_the_screen() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start_shell(services, name="dev")
            request = RunCommand(
                session="dev",
                input="sh -c 'echo so far; exec sleep 1000'",  # in the foreground once it prints
                timeout_ms=20_000,
                max_wait_ms=10_000,
                format="plain",
            )
            task = asyncio.create_task(services.commands.run(CALLER, request))
            await shows(session, "so far")
            await advance(11)
            with pytest.raises(WaitTimedOut) as error:
                await task
            assert error.value.details["output"] == "so far"
            assert "so far" in error.value.details["screen"].lines
            session.write(b"\x03")
            await at_prompt(session)  # what is typed before the interrupt took effect is lost
            request = RunCommand(session="dev", input="exit 7\r", format="plain")
            with pytest.raises(SessionExited) as exited:
                await services.commands.run(CALLER, request)
            assert exited.value.details["exit_code"] == 7
            assert exited.value.details["screen"].lines

    with_clock(test)


def test_clock_of_these_tests_moves() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Clock)
        before = loop.time()
        await advance(1000)
        assert loop.time() - before >= 1000

    with_clock(test)
