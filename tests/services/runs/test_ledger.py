"""The ledger of runs: who is inside of whom, what is told of them, and what makes room."""

import asyncio
import gc
import os
import weakref
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.follow import Event, RunEvent
from nacre.core.shell.marks import Mark
from nacre.errors import InvalidInput
from nacre.services.runs.run import TrackedRun
from nacre.services.session.record import KeptRun, unpack_short
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.living import ended, living, shows, start

pytestmark = pytest.mark.anyio


class Heard:
    """Who follows runs."""

    kinds = frozenset({"runs"})

    def __init__(self) -> None:
        self.events: list[RunEvent] = []

    def happened(self, kind: str, session: Session | None, event: Event) -> None:
        assert isinstance(event, RunEvent)
        self.events.append(event)


async def idle(services: Services) -> Session:
    """A session in which nothing happens by itself."""
    return await start(services, "exec cat")


def end(run: TrackedRun, code: int = 0) -> None:
    """The session's own shell marks the end of its command."""
    run.tap(Mark("D", str(code)))


def for_the_next_daemon(session: Session) -> list[KeptRun]:
    return unpack_short(session._ring.short)[1]


async def test_run_is_told_of_when_it_begins_and_when_it_ends() -> None:
    async with living() as services:
        session, heard = await idle(services), Heard()
        services.host.events.add(heard)
        run = services.ledger.begin(session, "native", "make all")
        assert session.stream.tracked == 1
        end(run, 3)
        assert session.stream.tracked == 0
        told = [(one.status, one.run_id, one.command, one.exit_code) for one in heard.events]
        assert told == [
            ("started", run.id, "make all", None),
            ("ended", run.id, "make all", 3),
        ]


async def test_run_inside_of_another_knows_the_outer_one_and_goes_first() -> None:
    async with living() as services:
        ledger, session = services.ledger, await idle(services)
        outer = ledger.begin(session, "native", "ssh host")
        inner = ledger.begin(session, "wrapped", "ls")
        assert inner.request.outer == {outer.request.nonce}
        assert ledger.innermost(session) is ledger.last(session) is inner
        end(inner, 0)
        ledger.drop_ended(session)
        assert ledger.innermost(session) is outer
        assert ledger.last(session) is inner
        assert session.stream.taps == [outer.tap]


async def test_run_that_is_over_under_one_that_is_not_stays_in_the_stack() -> None:
    async with living() as services:
        ledger, session = services.ledger, await idle(services)
        outer = ledger.begin(session, "native", "ssh host")
        inner = ledger.begin(session, "wrapped", "ls")
        end(outer, 0)
        ledger.drop_ended(session)
        assert ledger.innermost(session) is inner
        inner.shell_is_gone(0)
        ledger.drop_ended(session)
        assert ledger.innermost(session) is None
        assert session.stream.taps == []


async def test_runs_of_one_session_are_not_another_s() -> None:
    async with living() as services:
        ledger, one, other = services.ledger, await idle(services), await idle(services)
        run = ledger.begin(one, "native", "ls")
        assert (ledger.innermost(other), ledger.last(other)) == (None, None)
        assert ledger.find(run.id) is run


async def test_run_that_is_forgotten_is_gone_at_once_and_waits_for_no_collection() -> None:
    async with living(max_runs=1, audit=False) as services:
        ledger, session = services.ledger, await idle(services)
        run = ledger.begin(session, "native", "ls")
        end(run)
        ledger.drop_ended(session)
        gone = weakref.ref(run)
        gc.disable()
        try:
            del run
            end(ledger.begin(session, "native", "ls"))
            await asyncio.sleep(0)  # what was to be kept of it is written
            assert gone() is None
        finally:
            gc.enable()


async def test_run_knows_that_keys_were_sent_since_the_one_before() -> None:
    async with living() as services:
        ledger, session = services.ledger, await idle(services)
        first = ledger.begin(session, "native", "ls")
        session.write(b"x")
        during = ledger.begin(session, "native", "ls")
        end(during)
        after = ledger.begin(session, "native", "ls")
        end(after)
        session.write(b"x")
        later = ledger.begin(session, "native", "ls")
        typed = [run.request.typed_ahead for run in (first, during, after, later)]
        assert typed == [False, False, False, True]


async def test_runs_end_with_the_child_of_their_session() -> None:
    async with living() as services:
        ledger, heard = services.ledger, Heard()
        session, other = await start(services, "read x; exit 4"), await idle(services)
        outer, inner = (ledger.begin(session, "native", word) for word in ("bash", "ls"))
        going_on = ledger.begin(other, "native", "ls")
        services.host.events.add(heard)
        session.write(b"\n")
        await ended(session)
        for run in (outer, inner):
            assert (run.ended_by, run.exit_code) == ("exit", 4)
            assert run.state.ended == session.ended_at
        assert not going_on.done
        assert [one.run_id for one in heard.events] == [inner.id, outer.id]
        assert ledger.innermost(session) is None


async def test_oldest_run_makes_room_and_takes_its_file_along(tmp_path: Path) -> None:
    async with living(tmp_path, max_runs=2, run_memory_bytes=8192) as services:
        ledger, session = services.ledger, await idle(services)
        first = ledger.begin(session, "native", "ls")
        first.output.record(b"x" * 10_000)
        end(first, 0)
        assert os.listdir(tmp_path / "runs") == [first.id]
        others = [ledger.begin(session, "native", "ls") for _ in range(2)]
        assert ledger.all() == others
        await asyncio.gather(*ledger.removing)
        assert os.listdir(tmp_path / "runs") == []
        with pytest.raises(InvalidInput, match="it is unknown, or too old"):
            ledger.find(first.id)


async def test_files_over_the_quota_make_room_but_not_those_of_runs_under_way(
    tmp_path: Path,
) -> None:
    bounds: dict[str, Any] = {"max_run_bytes": 20_000, "max_runs_bytes": 40_000}
    async with living(tmp_path, run_memory_bytes=8192, **bounds) as services:
        ledger, session = services.ledger, await idle(services)
        runs = [ledger.begin(session, "native", "seq") for _ in range(4)]
        for run in runs[:3]:
            run.output.record(b"x" * 15_000)
            if run is not runs[0]:
                end(run, 0)
        runs[3].output.record(b"x" * 15_000)
        assert ledger.all() == [runs[0], runs[3]]
        await asyncio.gather(*ledger.removing)
        assert set(os.listdir(tmp_path / "runs")) == {runs[0].id, runs[3].id}
        for run in ledger.all():
            end(run, 0)


async def test_session_s_last_runs_are_left_for_the_next_daemon() -> None:
    async with living() as services:
        session, ids = await idle(services), []
        for number in range(30):
            run = services.ledger.begin(session, "native", "ls")
            end(run, number)
            services.ledger.drop_ended(session)
            ids.append(run.id)
        under_way = services.ledger.begin(session, "native", "ls")
        kept = for_the_next_daemon(session)
        assert [one.id for one in kept] == [*ids[-23:], under_way.id]
        assert [one.exit_code for one in kept] == [*range(7, 30), None]
        assert [one.ended_by for one in kept] == [*["mark"] * 23, None]


async def test_next_daemon_has_the_runs_of_the_one_before(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "echo output; exec cat")
        over = services.ledger.begin(session, "native", "ls")
        over.state.started_by_mark = True
        await shows(session, "output")
        end(over, 5)
        services.ledger.begin(session, "native", "cat")
        session.recorder.flush()
        kept = for_the_next_daemon(session)
        session.stream.taps.clear()
        session.stream.tracked = 0

        async with living(journals=tmp_path) as following:
            ledger, heard = following.ledger, Heard()
            following.host.events.add(heard)
            ledger.restore(session, kept, session.generation)
            assert [run.id for run in ledger.all()] == [one.id for one in kept]
            read = await ledger.with_output(over.id)
            assert (read.output.text(1000), read.exit_code) == (("output", 0), 5)
            under_way = ledger.innermost(session)
            assert under_way is not None
            assert under_way.id == kept[-1].id
            assert session.stream.taps == [under_way.tap]
            end(under_way, 1)
            assert [(one.status, one.exit_code) for one in heard.events] == [("ended", 1)]


async def test_earlier_output_is_read_off_the_loop_and_comes_before_what_follows(
    tmp_path: Path,
) -> None:
    async with living(journals=tmp_path) as services:
        session = await start(services, "echo earlier; exec cat")
        run = services.ledger.begin(session, "native", "make")
        run.state.started_by_mark = run.output.recording = True
        await shows(session, "earlier")
        run.when_changed()
        session.recorder.flush()
        kept = for_the_next_daemon(session)
        session.stream.taps.clear()
        session.stream.tracked = 0

        async with living(journals=tmp_path) as following:
            ledger = following.ledger
            ledger.restore(session, kept, session.generation)
            going_on = ledger.find(run.id)
            assert going_on.output.is_behind, "nothing was read yet"
            going_on.tap(b"later")
            end(going_on)
            read = await ledger.with_output(run.id)
            assert read.output.text(1000) == ("earlier\nlater", 0)


async def test_run_whose_session_ended_without_a_daemon_is_over() -> None:
    async with living() as services:
        session = await start(services, "read x; exit 4")
        run = services.ledger.begin(session, "native", "make")
        kept = for_the_next_daemon(session)
        session.write(b"\n")
        await ended(session)

        async with living() as following:
            following.ledger.restore(session, kept, session.generation)
            assert not following.ledger.find(run.id).done
            following.ledger.settle_restored(session)
            restored = following.ledger.find(run.id)
            assert (restored.ended_by, restored.exit_code) == ("exit", 4)
            assert restored.state.ended == session.ended_at


async def test_forgotten_session_leaves_no_stack() -> None:
    async with living() as services:
        ledger, session = services.ledger, await idle(services)
        run = ledger.begin(session, "native", "ls")
        ledger.forget_session(session.identity.id)
        assert (ledger.innermost(session), ledger.last(session)) == (None, None)
        assert ledger.find(run.id) is run, "it stays readable by its id"
