"""A session's children: all that one started ends with it, and the next begins anew."""

import asyncio
import os
import signal

import pytest

from nacre.core.operations.sessions import ManageSession, RestartSession
from nacre.services.session.record import unpack
from nacre.services.wiring import Services
from nacre.system.processes.exits import wait_gone
from nacre.system.processes.tree import started_at

from services.living import (
    CALLER,
    PATIENCE,
    at_prompt,
    ended,
    is_process,
    lines_of,
    living,
    processes_of,
    shows,
    start,
    start_shell,
    text_of,
    until,
)

pytestmark = pytest.mark.anyio

# --- kill --------------------------------------------------------------------------------------

# Each prints its process id.
BROOD = """
sh -c 'echo $$; exec sleep 1000' &
setsid sh -c 'echo $$; exec sleep 1000' &
nohup sh -c 'echo $$ > /dev/tty; exec sleep 1000' >/dev/null 2>&1 &
(setsid sh -c 'echo $$; exec sleep 1000' &)
sh -c "trap '' HUP TERM INT; echo \\$\\$; exec sleep 1000" &
sh -c "trap '' HUP; echo \\$\\$; while :; do sleep 1000; done" &
echo $$
wait
"""


async def kill(services: Services, session: str) -> None:
    await services.sessions.manage(CALLER, ManageSession(session=session, action="kill"))


async def test_a_kill_does_not_wait_for_output_that_is_slow_to_draw() -> None:
    """Ten sessions of `CSI 65535 b`: what was read last took minutes to draw after the kill."""
    async with living(kill_grace=0.1) as services:
        session = await start(services, "echo ready; exec cat", name="slow")
        await shows(session, "ready")
        child = session.supervisor.last
        assert child is not None
        child._show = lambda *_: True  # some is always left to show
        async with asyncio.timeout(PATIENCE):
            await kill(services, "slow")
        assert not session.alive
        assert session.ending is not None
        assert session.ending.signal is not None
        assert not session.stream.is_behind


async def test_killed_session_is_gone_with_everything_it_started() -> None:
    async with living() as services:
        session = await start(services, "/bin/bash", args=["-c", BROOD], name="brood")
        await until(
            session, lambda: len(lines_of(session)) == 7 and session.terminal.cursor().col == 0
        )
        brood = list(map(int, lines_of(session)))
        assert all(map(is_process, brood))
        await kill(services, "brood")
        await wait_gone(brood, PATIENCE)  # who lost its parent is reaped by init
        assert processes_of(session) == set()
        assert not session.alive


async def test_only_what_started_after_the_session_is_looked_at_to_end_it() -> None:
    async with living() as services:
        session = await start(services, "sleep 1000")
        tree = session.supervisor.tree
        assert (tree.leader, tree.since) == (session.pid, started_at(session.pid))
        kept = unpack(session._ring.long)
        assert kept.since == tree.since, "the next daemon knows it, too"


async def test_killed_session_is_gone_with_its_stopped_processes() -> None:
    async with living() as services:
        session = await start_shell(services, name="stopped")
        session.write(b"sh -c 'echo up; exec sleep 1000'\r")
        await shows(session, "up")
        session.write(b"\x1a")
        await until(session, lambda: "Stopped" in text_of(session))
        session.write(b"sh -c 'trap \"\" HUP; kill -STOP $$'\r")
        await until(session, lambda: text_of(session).count("Stopped") == 2)
        await kill(services, "stopped")
        assert processes_of(session) == set()


async def test_killed_session_frees_its_name_and_stays_readable_by_id() -> None:
    async with living() as services:
        session = await start(services, "echo hello; sleep 1000", name="dev")
        await shows(session, "hello")
        await kill(services, "dev")
        assert [known.identity.name for known in services.registry] == []
        # Its shell may have had time to say that it was hung up.
        assert lines_of(services.registry.find(session.identity.id))[0] == "hello"
        assert (await start(services, "true", name="dev")).identity.id != session.identity.id


async def test_kill_goes_on_when_its_caller_gives_up() -> None:
    async with living() as services:
        line = "trap '' HUP; echo ready; while :; do read x; done"
        session = await start(services, line, name="deaf")
        await shows(session, "ready")
        pids = processes_of(session)
        killing = asyncio.create_task(kill(services, "deaf"))
        await asyncio.sleep(0)  # it has begun
        killing.cancel()
        await wait_gone(pids, PATIENCE)
        assert processes_of(session) == set()


async def test_hundred_sessions_end_together() -> None:
    async with living(kill_grace=1.0) as services:
        sessions = [
            await start(services, "sleep", args=["1000"], name=f"s-{number}")
            for number in range(100)
        ]
        await services.sessions.end_all()
        assert [str(session.ending) for session in sessions] == ["killed by SIGHUP"] * 100


# --- restart -----------------------------------------------------------------------------------


async def test_restart_keeps_name_id_port_and_size_and_begins_anew() -> None:
    async with living() as services:
        session = await start_shell(services, name="dev", rows=10, cols=40)
        session.write(b"echo before; sleep 1000\r")
        await shows(session, "before")
        identity = session.identity.name, session.identity.id, session.identity.port
        pid, generation = session.pid, session.generation

        restarted = await services.sessions.restart(CALLER, RestartSession(session="dev"))
        assert not is_process(pid)
        assert "before" not in text_of(session)
        await at_prompt(session)

        assert (restarted.session, restarted.session_id, restarted.port) == identity
        assert restarted.pid == session.pid != pid
        assert (session.terminal.rows, session.terminal.cols) == (10, 40)
        assert session.terminal.scrollback_total == 0
        assert session.generation > generation
        assert session.alive


async def test_ended_session_can_be_restarted() -> None:
    async with living() as services:
        session = await ended(await start(services, "echo once; exit 5", name="dev"))
        first = session.pid
        await services.sessions.restart(CALLER, RestartSession(session="dev"))
        await ended(session)
        assert session.pid != first
        assert lines_of(session) == ["once"]


async def test_two_restarts_at_once_leave_one_child() -> None:
    async with living() as services:
        session = await start(services, "echo up; read x", name="dev")
        request = RestartSession(session="dev")
        restarts = (services.sessions.restart(CALLER, request) for _ in range(2))
        await asyncio.gather(*restarts, return_exceptions=True)
        await shows(session, "up")
        left = processes_of(session)
        for pid in left - {session.pid}:
            os.kill(pid, signal.SIGKILL)  # a test that fails leaves nobody behind either
        assert left == {session.pid}


async def test_kill_during_a_restart_leaves_nothing() -> None:
    async with living() as services:
        session = await start(services, "sleep", args=["1000"], name="dev")
        await asyncio.gather(
            services.sessions.restart(CALLER, RestartSession(session="dev")),
            kill(services, "dev"),
            return_exceptions=True,
        )
        left = processes_of(session)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert left == set()
