"""Search over all sessions: what is found, for whom, and what is said of the rest."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.recordings import SearchResult, SearchSessions, SessionHit
from nacre.core.operations.runs import Run
from nacre.core.text.budget import json_size
from nacre.errors import BadParameter, Failed
from nacre.services.search import process
from nacre.services.search.parts import ReadParts, parts_of
from nacre.services.search.worker import search as search_in
from nacre.services.wiring import Services

from services.living import (
    CALLER,
    PATIENCE,
    ended,
    is_process,
    living,
    shows,
    start,
    start_marked,
    until,
)

pytestmark = pytest.mark.anyio


async def search(
    services: Services, text: str, caller: Caller = CALLER, **more: Any
) -> SearchResult:
    request = SearchSessions(text=text, **more)
    answer = await services.dispatch().ask(caller, request)
    assert isinstance(answer.result, SearchResult)
    return answer.result


def told(result: SearchResult) -> list[tuple[str, str]]:
    return [(hit.session, hit.text) for hit in result.hits]


async def test_running_and_ended_sessions_are_searched_the_newest_first(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        gone = await ended(await start(services, "echo an apple; exit 3", name="gone"))
        services.registry.unlist(gone)
        alive = await start(services, "echo an Apple tart; exec cat", name="alive")
        await shows(alive, "an Apple tart")
        result = await search(services, "apple")
        assert told(result) == [("alive", "an Apple tart"), ("gone", "an apple")]
        assert (result.total, result.searched_sessions, result.complete) == (2, 2, True)
        assert result.hits[1].session_id == gone.identity.id
        first = await search(services, "apple", limit=1)
        assert (told(first), first.total, first.next_offset) == (told(result)[:1], 2, 1)
        assert told(await search(services, "apple", limit=1, offset=1)) == told(result)[1:]
        assert told(await search(services, "Apple$|tar", regex=True)) == told(result)[:1]
        assert told(await search(services, "apple", session="alive")) == told(result)[:1]
        until = result.hits[0].time
        assert told(await search(services, "apple", since=until)) == told(result)[:1]
        assert told(await search(services, "apple", until=until - 0.001)) == told(result)[1:]


async def test_hit_says_its_moment_its_run_and_what_stood_around_it(tmp_path: Path) -> None:
    async with living(runtime=tmp_path, journals=tmp_path / "journals") as services:
        session = await start_marked(services)
        command = "echo one; echo the needle; echo two; clear"
        run = await services.runs.run(CALLER, Run(session=session.identity.id, command=command))
        shown = r"printf '\033[?1049h\033[2J\033[2;1Habove\033[3;1Hin full screen'; read -sn1 x"
        session.write(f"{shown}; printf '\\033[?1049l'\r".encode())
        await until(session, lambda: "in full screen" in session.terminal.plain_lines())
        session.write(b"x")
        result = await search(services, "^the needle", regex=True)
        (hit,) = result.hits
        assert (hit.run_id, hit.before, hit.after) == (run.run_id, ("one",), ("two",))
        assert hit.line is not None
        (hit,) = (await search(services, "^in full screen", regex=True)).hits
        assert (hit.line, hit.row, hit.before, hit.run_id) == (None, 2, ("above",), None)


async def test_a_hit_without_room_comes_without_the_lines_around_it(tmp_path: Path) -> None:
    async with living(runtime=tmp_path, journals=tmp_path / "journals") as services:
        session = await start_marked(services, rows=50, cols=200)
        command = "for i in $(seq 30); do printf '%03d%0180d\\n' $i 0; done"
        await services.runs.run(CALLER, Run(session=session.identity.id, command=command))
        whole = await search(services, "^015", regex=True, context=10)
        assert (len(whole.hits[0].before), whole.hint) == (10, None)
        for most in (1, 700, 900):
            result = await search(services, "^015", regex=True, context=10, max_chars=most)
            (hit,) = result.hits
            assert (hit.before, hit.after) == ((), ())
            assert hit.text[hit.start : hit.end] == "015"
            assert "the lines around the hit are left out" in str(result.hint)
            assert json_size(result) <= max(most, 700)


async def test_limited_token_finds_only_its_own_sessions(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        for name in ("mine", "other"):
            await ended(await start(services, "echo the same", name=name))
        caller = replace(CALLER, sessions=frozenset({"mine"}))
        assert told(await search(services, "the same", caller)) == [("mine", "the same")]
        with pytest.raises(Exception, match="no session 'other'"):
            await search(services, "the same", caller, session="other")
        nobody = replace(CALLER, sessions=frozenset[str]())
        assert (await search(services, "the same", nobody)).searched_sessions == 0


async def test_what_cannot_be_searched_is_said(tmp_path: Path) -> None:
    async with living() as services:
        session = await ended(await start(services, "echo here"))
        result = await search(services, "here")
        assert (result.complete, result.searched_sessions, result.hits) == (False, 0, ())
        (missing,) = result.not_searched
        assert missing.session == session.identity.name
        assert "journal" in missing.reason
        wrongs: list[dict[str, Any]] = [
            {"text": "(", "regex": True},
            {"text": "a\nb"},
            {"text": "a" * 5000},
        ]
        for wrong in wrongs:
            with pytest.raises(BadParameter):
                await search(services, **wrong)
        with pytest.raises(BadParameter):
            await search(services, "x", since=2.0, until=1.0)


async def test_search_that_runs_out_of_time_goes_on_with_the_next(tmp_path: Path) -> None:
    """The time is up after each step: every search gets a step further, and says how far."""
    async with living(journals=tmp_path) as services:
        session = await ended(await start(services, "seq 20000; echo the end"))
        await session.recorder.settled()
        request = SearchSessions(text="the end")
        identifier = session.identity.id
        folder = session.recorder.folder
        assert folder is not None
        task = services.searching._task(request, {identifier: folder})
        task = type(task)(**{**{f: getattr(task, f) for f in task.__struct_fields__}, "seconds": 0})
        read = ReadParts()
        answer = search_in(read, task)
        assert (answer.hits, answer.searched_since is not None) == ([], True)
        parts = parts_of(identifier, folder)
        assert answer.searched_since == parts[-1].ended
        for part in parts:
            assert read.shown(part, float("inf"), 1 << 30, 100) is not None
        assert [hit.text for hit in search_in(read, task).hits] == ["the end"]


async def test_process_that_searches_ends_when_idle_and_is_replaced_when_it_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with living(journals=tmp_path, search_idle=3600) as services:
        await ended(await start(services, "echo found"))
        assert (await search(services, "found")).total == 1
        worker = services.searching._process
        child = worker._process
        assert child is not None
        child.kill()
        await child.wait()
        assert (await search(services, "found")).total == 1
        child = worker._process
        assert child is not None
        worker._end()
        async with asyncio.timeout(PATIENCE):
            assert await child.wait() == 0
        assert not is_process(child.pid)
        monkeypatch.setattr(process, "COMMAND", ("/bin/false",))
        with pytest.raises(Failed, match="has ended"):
            await search(services, "found")


async def test_left_search_does_not_answer_the_next_one(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        await ended(await start(services, "echo found; echo other"))
        left = asyncio.ensure_future(search(services, "found"))
        while services.searching._process._process is None:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0)
        left.cancel()
        hits: tuple[SessionHit, ...] = (await search(services, "other")).hits
        assert [hit.text for hit in hits] == ["other"]
