"""A daemon on demand ends with its last client and not before; another one never by itself."""

import asyncio

from nacre.core.operations.daemon import GetStatus, StopDaemon
from nacre.core.operations.sessions import ManageSession
from nacre.services.daemon.lifecycle import DaemonAddress, Lifecycle
from nacre.services.wiring import Services
from nacre.system.keeper.client import Keeping

from services.clock import advance, with_clock
from services.living import CALLER, ended, living, start

GRACE = 60.0
FIRST_CLIENT = 20.0  # seconds in which whoever started it must come


def lifecycle(services: Services, *, ephemeral: bool = True, grace: float = GRACE) -> Lifecycle:
    address = DaemonAddress(19999, "/run/nacre.sock", "/state/token")
    events = services.host.events
    return Lifecycle(
        services.registry, address, Keeping(None), events, ephemeral=ephemeral, grace=grace
    )


def test_it_stops_when_the_grace_after_the_last_client_is_over() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services)
            with life.client():
                with life.client():
                    await advance(1000)
                await advance(1000)
                assert not life.stopping.is_set()
            await advance(GRACE - 1)
            assert not life.stopping.is_set()
            await advance(2)
            assert life.stopping.is_set()

    with_clock(test)


def test_client_that_comes_within_the_grace_keeps_it() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services)
            for _ in range(3):
                with life.client():
                    await advance(1)
                await advance(GRACE - 1)
            with life.client():
                await advance(1000)
            assert not life.stopping.is_set()

    with_clock(test)


def test_grace_of_zero_ends_it_with_its_last_client_and_not_before_the_first() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services, grace=0)
            await advance(FIRST_CLIENT - 1)
            assert not life.stopping.is_set()
            with life.client():
                await advance(1000)
                assert not life.stopping.is_set()
            await asyncio.wait_for(life.stopping.wait(), 10)

    with_clock(test)


def test_it_stops_when_the_first_client_never_comes() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services, grace=0)
            await advance(FIRST_CLIENT + 1)
            assert life.stopping.is_set()

    with_clock(test)


def test_session_that_nobody_kept_does_not_keep_it() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services)
            with life.client():
                await start(services, "sleep", args=["1000"], name="dev")
            await advance(GRACE + 1)
            assert life.stopping.is_set()

    with_clock(test)


def test_kept_session_keeps_it_until_that_has_ended() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services)
            with life.client():
                session = await start(services, "read x", keep=True)
            await advance(100 * GRACE)
            assert not life.stopping.is_set()
            session.write(b"\n")
            await ended(session)
            await advance(GRACE - 1)
            assert not life.stopping.is_set()
            await advance(2)
            assert life.stopping.is_set()

    with_clock(test)


def test_killed_kept_session_keeps_it_no_longer() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services)
            with life.client():
                await start(services, "sleep", args=["1000"], keep=True, name="dev")
                await services.sessions.manage(CALLER, ManageSession(session="dev", action="kill"))
            await advance(GRACE + 1)
            assert life.stopping.is_set()

    with_clock(test)


def test_daemon_that_was_not_started_on_demand_stays() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services, ephemeral=False, grace=0)
            with life.client():
                await advance(1)
            await advance(1_000_000)
            assert not life.stopping.is_set()

    with_clock(test)


def test_stop_is_answered_before_it_happens() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services, ephemeral=False)
            assert (await life.stop(CALLER, StopDaemon())).success
            assert not life.stopping.is_set()
            await asyncio.wait_for(life.stopping.wait(), 10)

    with_clock(test)


def test_status_counts_the_listed_sessions_and_tells_the_address() -> None:
    async def test() -> None:
        async with living() as services:
            life = lifecycle(services)
            await start(services, "sleep", args=["1000"], name="one")
            await start(services, "sleep", args=["1000"], name="two")
            await services.sessions.manage(CALLER, ManageSession(session="two", action="kill"))
            await advance(50)
            status = await life.status(CALLER, GetStatus())
            assert (status.sessions, status.port, status.ephemeral) == (1, 19999, True)
            assert status.url == "http://127.0.0.1:19999"
            assert status.uptime >= 50

    with_clock(test)
