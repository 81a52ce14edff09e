"""The janitor ends what is idle, forgets what is old, and touches nothing else."""

import asyncio
from contextlib import suppress

import pytest

from nacre.core.operations.sessions import ManageSession
from nacre.errors import SessionNotFound
from nacre.services.session.session import Session
from nacre.services.sessions.janitor import Janitor
from nacre.services.wiring import Services

from services.clock import advance, with_clock
from services.living import (
    CALLER,
    PATIENCE,
    ended,
    living,
    reads,
    shows,
    start,
    start_shell,
    text_of,
)


def names(services: Services) -> list[str]:
    return [session.identity.name for session in services.registry]


def is_known(services: Services, session: Session) -> bool:
    with suppress(SessionNotFound):
        return services.registry.find(session.identity.id) is session
    return False


def test_unnamed_idle_shell_is_ended_and_stays_readable() -> None:
    async def test() -> None:
        async with living(idle_timeout=100) as services:
            session = await start_shell(services)
            await reads(session)
            await advance(99)
            due = await services.janitor.sweep()
            assert session.ended_at is None
            assert due <= asyncio.get_running_loop().time() + 1
            await advance(2)
            await services.janitor.sweep()
            assert not session.alive
            assert is_known(services, session)

    with_clock(test)


def test_input_and_output_begin_the_idle_time_anew() -> None:
    async def test() -> None:
        async with living(idle_timeout=100) as services:
            session = await start_shell(services)
            await advance(99)
            session.write(b"echo hello\r")
            await shows(session, "hello")
            await advance(99)
            await services.janitor.sweep()
            assert session.alive

    with_clock(test)


def test_named_kept_and_busy_sessions_are_never_idle() -> None:
    async def test() -> None:
        async with living(idle_timeout=100) as services:
            named = await start_shell(services, name="dev")
            kept = await start_shell(services, keep=True)
            building = await start_shell(services)
            building.write(b"sh -c 'echo up; exec sleep 1000'\r")
            await shows(building, "up")
            direct = await start(services, "sleep", args=["1000"])
            line = await start(services, "sleep 1000; echo over")
            await advance(100_000)
            await services.janitor.sweep()
            assert all(session.alive for session in (named, kept, building, direct, line))

    with_clock(test)


def test_session_that_was_renamed_is_not_idle() -> None:
    async def test() -> None:
        async with living(idle_timeout=100) as services:
            session = await start_shell(services)
            request = ManageSession(session=session.identity.id, action="rename", new_name="dev")
            await services.sessions.manage(CALLER, request)
            await advance(1000)
            await services.janitor.sweep()
            assert session.alive

    with_clock(test)


def test_idle_time_of_zero_is_none() -> None:
    async def test() -> None:
        async with living(idle_timeout=0) as services:
            session = await start_shell(services)
            await advance(1_000_000)
            await services.janitor.sweep()
            assert session.alive

    with_clock(test)


def test_ended_session_is_forgotten_when_it_has_aged_out() -> None:
    async def test() -> None:
        async with living(ended_keep=100) as services:
            session = await ended(await start(services, "echo hello", name="dev"))
            await advance(90)
            await services.janitor.sweep()
            assert is_known(services, session)
            assert text_of(session) == "hello"
            await advance(20)
            await services.janitor.sweep()
            assert not is_known(services, session)
            assert names(services) == []
            await start(services, "true", name="dev")

    with_clock(test)


def test_killed_session_ages_out_too() -> None:
    async def test() -> None:
        async with living(ended_keep=100) as services:
            session = await start(services, "sleep", args=["1000"], name="dev")
            await services.sessions.manage(CALLER, ManageSession(session="dev", action="kill"))
            assert is_known(services, session)
            forgotten: list[str] = []
            await advance(101)
            await Janitor(services.registry, services.host, forgotten.append).sweep()
            assert not is_known(services, session)
            assert forgotten == [session.identity.id]

    with_clock(test)


def test_of_more_ended_sessions_than_may_be_kept_the_oldest_go() -> None:
    async def test() -> None:
        async with living(max_ended=2) as services:
            running = await start(services, "sleep", args=["1000"], name="running")
            for name in ("one", "two", "three", "four"):
                await ended(await start(services, "true", name=name))
                await advance(1)
            await services.janitor.sweep()
            assert names(services) == ["running", "three", "four"]
            assert running.alive

    with_clock(test)


def test_no_ended_session_is_kept_when_none_may_be() -> None:
    async def test() -> None:
        async with living(max_ended=0) as services:
            await ended(await start(services, "true"))
            await services.janitor.sweep()
            assert services.registry.all() == []

    with_clock(test)


def test_janitor_wakes_by_itself_when_something_is_due() -> None:
    async def test() -> None:
        async with living(max_ended=0, ended_keep=0) as services:
            forgotten = asyncio.Event()
            janitor = Janitor(services.registry, services.host, lambda _id: forgotten.set())
            running = asyncio.create_task(janitor.run())
            session = await start(services, "true")
            await ended(session)
            await advance(120)  # longer than it ever sleeps
            async with asyncio.timeout(PATIENCE):
                await forgotten.wait()  # it may be giving memory back first, in a thread
            assert not is_known(services, session)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    with_clock(test)


@pytest.mark.parametrize("turns", range(6))
def test_janitor_can_be_stopped_while_a_session_ends(turns: int) -> None:
    """Until Python 3.12 wait_for swallows a cancellation that comes with the event."""

    async def test() -> None:
        async with living() as services:
            running = asyncio.create_task(services.janitor.run())
            await advance(0)  # it waits
            services.host.events.tell_end()
            for _ in range(turns):
                await asyncio.sleep(0)
            running.cancel()
            done, _ = await asyncio.wait([running], timeout=1.0)
            running.cancel()
            assert done == {running}

    with_clock(test)


def test_packed_scrollback_reads_as_before() -> None:
    async def test() -> None:
        async with living(compress_after=10) as services:
            session = await start(services, "seq 1 5000; echo done; sleep 1000", name="dev")
            await shows(session, "done")
            before = text_of(session)
            await advance(11)
            await services.janitor.sweep()
            assert text_of(session) == before
            session.write(b"more\n")
            await shows(session, "more")

    with_clock(test)
