"""The ledger of runs: who is inside of whom, what is told of them, and what makes room."""

import os
from pathlib import Path
from typing import Any

import pytest

from nacre.core.events import Event, RunEvent
from nacre.errors import InvalidInput
from nacre.services.build import Services
from nacre.services.kept import KeptRun, unpack_short
from nacre.services.session import Session

from services.living import living, shows, start

pytestmark = pytest.mark.anyio


class Heard:
    """Who follows runs."""

    kinds = frozenset({"runs"})

    def __init__(self) -> None:
        self.events: list[RunEvent] = []

    def happened(self, kind: str, session: Session, event: Event) -> None:
        assert isinstance(event, RunEvent)
        self.events.append(event)


async def idle(services: Services) -> Session:
    """A session in which nothing happens by itself."""
    return await start(services, "exec cat")


def for_the_next_daemon(session: Session) -> list[KeptRun]:
    return unpack_short(session._ring.short)[1]


async def test_run_is_told_of_when_it_begins_and_when_it_ends() -> None:
    async with living() as services:
        session, heard = await idle(services), Heard()
        services.host.events.add(heard)
        run = services.ledger.begin(session, "native", "make all")
        assert session.stream.tracked == 1
        run.finish("mark", 3)
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
        assert inner.outer == {outer.nonce}
        assert ledger.innermost(session) is ledger.last(session) is inner
        inner.finish("mark", 0)
        ledger.drop_ended(session)
        assert ledger.innermost(session) is outer
        assert ledger.last(session) is inner
        assert session.stream.taps == [outer.tap]


async def test_run_that_is_over_under_one_that_is_not_stays_in_the_stack() -> None:
    async with living() as services:
        ledger, session = services.ledger, await idle(services)
        outer = ledger.begin(session, "native", "ssh host")
        inner = ledger.begin(session, "wrapped", "ls")
        outer.finish("mark", 0)
        ledger.drop_ended(session)
        assert ledger.innermost(session) is inner
        inner.finish("exit", 0)
        ledger.drop_ended(session)
        assert ledger.innermost(session) is None
        assert session.stream.taps == []


async def test_runs_of_one_session_are_not_another_s() -> None:
    async with living() as services:
        ledger, one, other = services.ledger, await idle(services), await idle(services)
        run = ledger.begin(one, "native", "ls")
        assert (ledger.innermost(other), ledger.last(other)) == (None, None)
        assert ledger.find(run.id) is run


async def test_no_run_holds_all_that_ever_ran() -> None:
    async with living() as services:
        session = await idle(services)
        first, second, third = (services.ledger.begin(session, "native", "ls") for _ in range(3))
        assert (first.before, second.before, third.before) == (None, None, second)


async def test_oldest_run_makes_room_and_takes_its_file_along(tmp_path: Path) -> None:
    async with living(tmp_path, max_runs=2, run_memory_bytes=8192) as services:
        ledger, session = services.ledger, await idle(services)
        first = ledger.begin(session, "native", "ls")
        first.record(b"x" * 10_000)
        first.finish("mark", 0)
        assert os.listdir(tmp_path / "runs") == [first.id]
        others = [ledger.begin(session, "native", "ls") for _ in range(2)]
        assert ledger.all() == others
        assert os.listdir(tmp_path / "runs") == []
        with pytest.raises(InvalidInput, match="it is unknown, or it has aged out"):
            ledger.find(first.id)


async def test_files_over_the_quota_make_room_but_not_those_of_runs_under_way(
    tmp_path: Path,
) -> None:
    bounds: dict[str, Any] = {"max_run_bytes": 20_000, "max_runs_bytes": 40_000}
    async with living(tmp_path, run_memory_bytes=8192, **bounds) as services:
        ledger, session = services.ledger, await idle(services)
        runs = [ledger.begin(session, "native", "seq") for _ in range(4)]
        for run in runs[:3]:
            run.record(b"x" * 15_000)
            if run is not runs[0]:
                run.finish("mark", 0)
        runs[3].record(b"x" * 15_000)
        assert ledger.all() == [runs[0], runs[3]]
        assert set(os.listdir(tmp_path / "runs")) == {runs[0].id, runs[3].id}
        for run in ledger.all():
            run.finish("mark", 0)


async def test_session_s_last_runs_are_left_for_the_next_daemon() -> None:
    async with living() as services:
        session, ids = await idle(services), []
        for number in range(30):
            run = services.ledger.begin(session, "native", "ls")
            run.finish("mark", number)
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
        over.started_by_mark = True
        await shows(session, "output")
        over.finish("mark", 5)
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
            read = ledger.find(over.id)
            assert (read.text(1000), read.exit_code) == (("output", 0), 5)
            under_way = ledger.innermost(session)
            assert under_way is not None
            assert under_way.id == kept[-1].id
            assert session.stream.taps == [under_way.tap]
            under_way.finish("mark", 1)
            assert [(one.status, one.exit_code) for one in heard.events] == [("ended", 1)]


async def test_forgotten_session_leaves_no_stack() -> None:
    async with living() as services:
        ledger, session = services.ledger, await idle(services)
        run = ledger.begin(session, "native", "ls")
        ledger.forget_session(session.identity.id)
        assert (ledger.innermost(session), ledger.last(session)) == (None, None)
        assert ledger.find(run.id) is run, "it stays readable by its id"
