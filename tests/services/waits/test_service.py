"""wait_for: which condition came true, in which session; what is old does not count."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.apps.programs import ViewScreen
from nacre.core.operations.results import RunOutcome, WaitOutcome
from nacre.core.operations.runs import ReadRun, Run, WaitFor
from nacre.core.operations.terminal import GetScreen
from nacre.core.shell.state import State
from nacre.errors import InvalidInput, SessionNotFound
from nacre.services.session.session import Session
from nacre.services.waits.new_text import NewText
from nacre.services.waits.service import _Watch
from nacre.services.wiring import Services

from services.clock import advance, with_clock
from services.living import (
    CALLER,
    PATIENCE,
    ended,
    lines_of,
    living,
    shows,
    start,
    start_marked,
    start_python,
    until,
)

FOREVER = 3_000_000  # ms: only the clock of a test gets there


async def cat(services: Services, name: str = "cat") -> Session:
    """A session that prints what it is sent, and nothing else."""
    session = await start(services, "stty -echo; echo ready; exec cat", name=name)
    await shows(session, "ready")
    return session


async def say(session: Session, text: str) -> None:
    session.write(text.encode() + b"\n")
    await shows(session, text)


def waits(services: Services, **request: Any) -> "asyncio.Task[WaitOutcome]":
    request = {"timeout_ms": FOREVER, **request}
    return asyncio.create_task(services.waiting.wait(CALLER, WaitFor(**request)))


async def waiting(services: Services, **request: Any) -> "asyncio.Task[WaitOutcome]":
    """A wait that has begun, and did not end at once."""
    task = waits(services, **request)
    await advance(0)
    assert not task.done(), task.result()
    return task


async def outcome(task: "asyncio.Task[WaitOutcome]") -> WaitOutcome:
    return await asyncio.wait_for(task, PATIENCE)


async def run(services: Services, session: Session, command: str, **more: Any) -> RunOutcome:
    request = Run(session=session.identity.id, command=command, **more)
    return await services.runs.run(CALLER, request)


# --- text ----------------------------------------------------------------------------------


def test_text_that_stands_there_matches_at_once() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            found = await outcome(waits(services, session="cat", text="ready"))
            assert found == WaitOutcome(
                matched=True,
                session="cat",
                condition="text",
                generation=session.generation,
                match="ready",
            )

    with_clock(test)


def test_text_is_no_pattern_and_a_regex_tells_what_it_found() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            text = await waiting(services, session="cat", text="a.c")
            regex = await waiting(services, session="cat", regex=r"^listening on \d+$")
            await say(session, "abc")
            await say(session, "not listening on 80")
            await advance(0)
            assert not text.done()
            assert not regex.done()
            await say(session, "listening on 8080")
            await say(session, "a.c")
            assert (await outcome(text)).match == "a.c"
            found = await outcome(regex)
            assert (found.condition, found.match) == ("regex", "listening on 8080")

    with_clock(test)


def test_match_that_stood_there_before_a_generation_is_old() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            task = await waiting(
                services, session="cat", text="ready", after_generation=session.generation
            )
            await say(session, "something else")
            await advance(0)
            assert not task.done(), "the screen still shows the old one"
            await say(session, "now ready")
            assert (await outcome(task)).match == "ready"

    with_clock(test)


def test_line_that_grows_counts_by_what_was_added_to_it() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, "stty raw -echo; printf 'ready '; exec cat", name="cat")
            await until(session, lambda: "ready" in session.terminal.plain_lines()[0])
            after = session.generation
            one = await waiting(services, session="cat", text="ready", after_generation=after)
            two = await waiting(services, session="cat", regex=r"ready \d", after_generation=after)
            session.write(b"5")
            assert (await outcome(two)).match == "ready 5", "a part of it is new"
            assert not one.done()
            session.write(b" ready")
            await outcome(one)

    with_clock(test)


def test_text_that_is_written_anew_in_the_same_place_counts() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, "stty raw -echo; printf 'ready'; exec cat", name="cat")
            await until(session, lambda: session.terminal.plain_lines()[0] == "ready")
            task = await waiting(
                services, session="cat", text="ready", after_generation=session.generation
            )
            session.write(b"\r\x1b[Kbusy")
            await until(session, lambda: session.terminal.plain_lines()[0] == "busy")
            await advance(0)
            assert not task.done()
            session.write(b"\r\x1b[Kready")
            assert (await outcome(task)).matched

    with_clock(test)


def test_newer_generation_than_the_last_is_waited_for_even_when_the_child_has_ended() -> None:
    async def test() -> None:
        async with living() as services:
            session = await ended(await start(services, "echo ready", name="dev"))
            found = await outcome(
                waits(services, session="dev", text="ready", after_generation=session.generation)
            )
            assert not found.matched, "nothing newer can come"
            assert found.state is not None
            assert found.state.state == "exited"
            before = session.generation - 1
            assert (
                await outcome(waits(services, session="dev", text="ready", after_generation=before))
            ).matched

    with_clock(test)


def test_text_that_scrolled_off_meanwhile_is_found() -> None:
    async def test() -> None:
        async with living() as services:
            line = "stty -echo; echo ready; read x; echo gone by; seq 1 500; exec cat"
            session = await start(services, line, name="dev")
            await shows(session, "ready")
            task = await waiting(services, session="dev", text="gone by")
            session.write(b"\n")
            found = await outcome(task)
            assert (found.matched, found.match) == (True, "gone by")
            await shows(session, "500")
            assert "gone by" not in session.terminal.plain_lines()
            # What had scrolled off before a wait began does not count.
            assert not (
                await outcome(waits(services, session="dev", text="gone by", timeout_ms=0))
            ).matched

    with_clock(test)


def test_text_in_a_full_screen_program_is_found_and_what_comes_after_it_too() -> None:
    async def test() -> None:
        async with living() as services:
            line = "stty raw -echo; printf '\\033[?1049h\\033[Hfull'; exec cat"
            session = await start(services, line, name="app")
            await until(session, lambda: session.terminal.plain_lines()[0] == "full")
            assert (await outcome(waits(services, session="app", text="full"))).matched
            task = await waiting(services, session="app", text="left")
            session.write(b"\x1b[?1049lleft\r\n")
            assert (await outcome(task)).matched

    with_clock(test)


# --- other conditions ----------------------------------------------------------------------


def test_quiet_is_silence_for_so_long() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            task = await waiting(services, session="cat", quiet_ms=60_000)
            await advance(50)
            await say(session, "one")
            await advance(50)
            assert not task.done(), "the silence began anew"
            await advance(11)
            assert (await outcome(task)).condition == "quiet"
            # It is quiet already; after a generation there must be something new first.
            await outcome(waits(services, session="cat", quiet_ms=60_000, timeout_ms=0))
            later = await waiting(
                services, session="cat", quiet_ms=0, after_generation=session.generation
            )
            await say(session, "two")
            assert (await outcome(later)).condition == "quiet"

    with_clock(test)


def test_old_silence_is_no_reason_to_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            looks, next_change = [], session.next_change

            def counted(until: float, **how: Any) -> Coroutine[None, None, None]:
                looks.append(until)
                return next_change(until, **how)

            monkeypatch.setattr(session, "next_change", counted)
            await advance(10)
            seen = session.generation
            task = await waiting(services, session="cat", quiet_ms=1000, after_generation=seen)
            for _ in range(10):
                await advance(1)
            assert len(looks) == 1
            session.write(b"hello\n")
            await until(session, lambda: session.generation > seen)
            await advance(1)
            assert (await outcome(task)).condition == "quiet"

    with_clock(test)


def test_what_has_ended_is_quiet() -> None:
    async def test() -> None:
        async with living() as services:
            await ended(await start(services, "echo bye", name="dev"))
            assert (await outcome(waits(services, session="dev", quiet_ms=FOREVER))).matched

    with_clock(test)


def test_exit_is_told_with_all_that_was_printed() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, "echo ready; read x; echo bye; exit 4", name="dev")
            await shows(session, "ready")
            task = await waiting(services, session="dev", exit=True)
            session.write(b"\n")
            assert (await outcome(task)).condition == "exit"
            assert lines_of(session)[-1] == "bye"
            assert (await outcome(waits(services, session="dev", exit=True))).matched
            exited = await outcome(waits(services, session="dev", state=["exited"]))
            assert exited.state is not None
            assert exited.state.evidence == ["exit code 4"]

    with_clock(test)


def test_state_is_any_of_those_asked_for() -> None:
    async def test() -> None:
        async with living() as services:
            program = "import time; input('name? '); time.sleep(1000)"
            session = await start_python(services, program)
            name = session.identity.name
            asks = await outcome(waits(services, session=name, state=["prompt", "needs_input"]))
            assert asks.condition == "state"
            assert asks.state is not None
            assert (asks.state.state, asks.state.asks) == ("needs_input", "line")
            session.write(b"y\n")
            runs = await outcome(waits(services, session=name, state=["running"]))
            assert runs.state is not None
            assert runs.state.state == "running"

    with_clock(test)


def test_cursor_at_a_position() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            assert (await outcome(waits(services, session="cat", cursor=[1, 0]))).matched
            task = await waiting(services, session="cat", cursor=[3, 0])
            await say(session, "one")
            await advance(0)
            assert not task.done()
            await say(session, "two")
            found = await outcome(task)
            assert (found.condition, found.generation) == ("cursor", session.generation)

    with_clock(test)


# --- several sessions ----------------------------------------------------------------------


def test_any_names_the_session_in_which_it_came_true() -> None:
    async def test() -> None:
        async with living() as services:
            one, two = await cat(services, "one"), await cat(services, "two")
            task = await waiting(services, sessions=["one", two.identity.port], text="hello")
            await say(one, "nothing")
            await say(two, "hello")
            assert (await outcome(task)).session == "two"

    with_clock(test)


def test_any_goes_on_when_one_of_them_ends() -> None:
    async def test() -> None:
        async with living() as services:
            one = await start(services, "echo ready; read x", name="one")
            await shows(one, "ready")
            two = await cat(services, "two")
            task = await waiting(services, sessions=["one", "two"], text="hello")
            one.write(b"\n")
            await ended(one)
            await advance(0)
            assert not task.done()
            await say(two, "hello")
            assert (await outcome(task)).session == "two"

    with_clock(test)


def test_all_is_true_when_it_came_true_in_each() -> None:
    async def test() -> None:
        async with living() as services:
            one, two = await cat(services, "one"), await cat(services, "two")
            task = await waiting(services, sessions=["one", "two"], match="all", text="hello")
            await say(two, "hello")
            await advance(0)
            assert not task.done()
            await say(one, "hello")
            found = await outcome(task)
            assert (found.matched, found.matches) == (True, ["one", "two"])

    with_clock(test)


def test_all_at_the_deadline_says_where_it_was_true_and_where_not() -> None:
    async def test() -> None:
        async with living() as services:
            one = await cat(services, "one")
            await cat(services, "two")
            task = await waiting(
                services, sessions=["one", "two"], match="all", text="hello", timeout_ms=60_000
            )
            await say(one, "hello")
            await advance(61)
            found = await outcome(task)
            assert (found.matched, found.matches, found.session) == (False, ["one"], "two")
            assert found.state is not None

    with_clock(test)


def test_session_that_is_named_twice_is_one() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            names: list[str | int] = ["cat", session.identity.id, session.identity.port]
            found = await outcome(
                waits(services, session="cat", sessions=names, match="all", text="ready")
            )
            assert found.matches == ["cat"]

    with_clock(test)


# --- runs ----------------------------------------------------------------------------------


def test_run_whose_time_was_over_is_waited_for_by_its_id(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            late = await run(services, session, "read x; echo got $x; (exit 3)", timeout_ms=5000)
            assert (late.status, late.ended_by) == ("timeout", "needs_input")
            assert late.run_id is not None
            task = await waiting(services, run_id=late.run_id)
            session.write(b"it\r")
            found = await outcome(task)
            assert (found.condition, found.session) == ("run", session.identity.name)
            assert found.run is not None
            assert (found.run.status, found.run.exit_code) == ("completed", 3)
            assert found.run.output.splitlines()[-1] == "got it"
            again = await outcome(waits(services, run_id=late.run_id, session=session.identity.id))
            assert again.run == found.run

    with_clock(test)


def test_run_ends_with_the_session_that_it_ran_in(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            late = await run(services, session, "read x; exit 7", timeout_ms=5000)
            task = await waiting(services, run_id=late.run_id)
            session.write(b"\r")
            found = await outcome(task)
            assert found.run is not None
            assert (found.run.ended_by, found.run.exit_code) == ("exit", 7)

    with_clock(test)


def test_run_is_read_page_by_page(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path, max_runs=2) as services:
            session = await start_marked(services)
            first = await run(services, session, "seq 1 100; (exit 2)")
            assert first.run_id is not None

            async def page(**more: Any) -> tuple[list[str], int]:
                read = await services.runs.read(CALLER, ReadRun(run_id=first.run_id or "", **more))
                assert (read.run_id, read.finished, read.exit_code) == (first.run_id, True, 2)
                assert (read.total_lines, read.lost_bytes) == (100, 0)
                assert read.lines == len(read.output.splitlines())
                return read.output.splitlines(), read.offset

            numbers = [str(number) for number in range(1, 101)]
            assert await page() == (numbers, 0)
            assert await page(offset=90) == (numbers[90:], 90)
            assert await page(offset=10, limit=5) == (numbers[10:15], 10)
            assert await page(offset=100) == ([], 100)
            fitting = len('{"run_id":"12345678","offset":0,"lines":100,"total_lines":100,')
            fitting += len('"finished":true,"exit_code":2,"output":""}') + len(r"1\n2\n3\n")
            assert await page(max_chars=fitting + len(first.run_id) - 8) == (["1", "2", "3"], 0)
            assert await page(max_chars=1, offset=99) == (["100"], 99), (
                "never none: reading goes on"
            )
            # The oldest are forgotten.
            for _ in range(2):
                await run(services, session, "true")
            with pytest.raises(InvalidInput, match="it is unknown, or too old"):
                await page()
            with pytest.raises(InvalidInput, match="too old"):
                await services.waiting.wait(CALLER, WaitFor(run_id=first.run_id))

    with_clock(test)


# --- refusals and the deadline -------------------------------------------------------------


def test_deadline_is_an_answer_that_tells_the_state() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            await outcome(waits(services, session="cat", state=["needs_input"]))
            task = await waiting(services, session="cat", text="never", timeout_ms=60_000)
            await advance(61)
            found = await outcome(task)
            assert (found.matched, found.session) == (False, "cat")
            assert (found.condition, found.generation) == (None, session.generation)
            assert found.state is not None
            assert (found.state.state, found.state.program) == ("needs_input", "cat")

    with_clock(test)


def test_wait_that_is_given_up_leaves_nothing_behind() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            before = asyncio.all_tasks()
            task = await waiting(services, sessions=["cat"], text="never", quiet_ms=FOREVER)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await advance(0)
            assert asyncio.all_tasks() == before
            await say(session, "goes on")

    with_clock(test)


def test_bad_input_is_refused_with_the_way_out(tmp_path: Path) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"session": "dev"}, "name a condition: text, regex, quiet_ms, run_id, state, exit or"),
        ({"text": "x"}, "name the session"),
        ({"sessions": [], "text": "x"}, "name the session"),
        ({"session": "dev", "text": "x", "regex": "x"}, "give one of them"),
        ({"session": "dev", "regex": "("}, "regex is not valid"),
        ({"session": "dev", "regex": "a(?=b)"}, "RE2, which has no look-around"),
        ({"session": "dev", "cursor": [1]}, "a row and a column"),
        ({"session": "dev", "cursor": []}, "a row and a column"),
        ({"session": "dev", "run_id": "nope"}, "no run 'nope'"),
        ({"session": "dev", "text": "x", "timeout_ms": 10_001}, "max_wait"),
    ]

    async def test() -> None:
        async with living(tmp_path, max_wait=10) as services:
            session = await start_marked(services, name="dev")
            for parameters, message in refused:
                with pytest.raises(InvalidInput, match=message):
                    await services.waiting.wait(CALLER, WaitFor(**parameters))
            with pytest.raises(SessionNotFound):
                await services.waiting.wait(CALLER, WaitFor(sessions=["dev", "no"], text="x"))
            # A run is one session's.
            done = await run(services, session, "true", timeout_ms=9000)
            await cat(services, "other")
            with pytest.raises(InvalidInput, match="belongs to session 'dev'; name that session"):
                await services.waiting.wait(CALLER, WaitFor(run_id=done.run_id, session="other"))

    with_clock(test)


@pytest.mark.anyio
async def test_text_of_a_known_generation_stays_old_whatever_came_before_the_wait() -> None:
    async with living() as services:
        session = await start(services, "stty -echo; echo ready; exec cat", name="cat")
        await shows(session, "ready")
        known = (await services.sessions.screen(CALLER, GetScreen(session="cat"))).generation
        session.write(b"other\n")
        await shows(session, "other")
        old = WaitFor(session="cat", text="ready", after_generation=known, timeout_ms=0)
        assert not (await services.waiting.wait(CALLER, old)).matched
        new = WaitFor(session="cat", text="other", after_generation=known, timeout_ms=0)
        assert (await services.waiting.wait(CALLER, new)).matched


@pytest.mark.anyio
async def test_a_state_that_no_mark_tells_must_be_seen_twice() -> None:
    async with living() as services:
        session = await start(services, "cat")
        watch = _Watch(session, NewText(session, None, None))
        asks = State(state="needs_input", evidence=[], asks="line")
        assert not watch.confirms(asks), "a shell looks so just before its prompt"
        assert watch.confirms(asks)
        session.screen.feed(b"more")
        assert not watch.confirms(asks), "something was printed since"
        assert watch.confirms(State(state="running", evidence=[]))


# --- after a generation --------------------------------------------------------------------


async def scrolled(services: Services, lines: int = 500, **parameters: Any) -> tuple[Session, int]:
    """A session that printed `gone by` and many lines after a generation that its caller knows."""
    line = f"stty -echo; echo ready; read x; echo gone by; seq 1 {lines}; echo end; exec cat"
    session = await start(services, line, name="dev", **parameters)
    await shows(session, "ready")
    known = session.hand_out()
    session.write(b"\n")
    await shows(session, "end")
    return session, known


def test_text_that_scrolled_off_before_the_call_is_found_after_its_generation() -> None:
    async def test() -> None:
        async with living() as services:
            session, known = await scrolled(services, 5000)  # more than is searched in one turn
            assert "gone by" not in session.terminal.plain_lines()
            for condition in ({"text": "gone by"}, {"regex": "^gone by$"}, {"text": "\n2500\n"}):
                found = await outcome(
                    waits(services, session="dev", after_generation=known, **condition)
                )
                assert (found.matched, found.missed_lines, found.hint) == (True, 0, None)
            # What stood there at the generation is old, in the scrollback too.
            request = {"text": "ready", "after_generation": known, "timeout_ms": 0}
            assert not (await outcome(waits(services, session="dev", **request))).matched

    with_clock(test)


@asynccontextmanager
async def flooding(session: Session) -> AsyncIterator[None]:
    """Let a session print more in each turn of the loop than a wait searches in one."""

    async def flood() -> None:
        while True:
            session.screen.feed(b"line\r\n" * 2000)
            session.note_change()
            await asyncio.sleep(0)

    task = asyncio.create_task(flood())
    try:
        yield
    finally:
        task.cancel()


@pytest.mark.anyio
async def test_a_wait_ends_in_time_while_more_is_printed_than_it_can_search() -> None:
    async with living(scrollback=5000) as services:
        session, known = await scrolled(services, 5000)
        late = WaitFor(session="dev", text="never", after_generation=known, timeout_ms=1)
        view = ViewScreen(session="dev", wait_text="never", since_generation=known, timeout_ms=1)
        async with flooding(session), asyncio.timeout(PATIENCE):
            told = await services.waiting.wait(CALLER, late)
            assert not told.matched
            assert told.missed_lines > 0, "the flood has taken them away"
            assert not (await services.apps.view(CALLER, view)).matched
        session.screen.feed(b"now\r\n")
        found = WaitFor(session="dev", text="now", after_generation=known, timeout_ms=FOREVER)
        assert (await services.waiting.wait(CALLER, found)).matched


def test_a_generation_is_remembered_long_after_its_screen() -> None:
    async def test() -> None:
        async with living() as services:
            session, known = await scrolled(services)
            for number in range(30):
                session.hand_out()
                await say(session, f"more {number}")
            assert session.seen_screens.screen(known) is None
            found = await outcome(
                waits(services, session="dev", text="gone by", after_generation=known)
            )
            assert (found.matched, found.hint) == (True, None)
            request = {"text": "ready", "after_generation": known, "timeout_ms": 0}
            assert not (await outcome(waits(services, session="dev", **request))).matched

    with_clock(test)


def test_lines_that_are_no_longer_kept_are_counted() -> None:
    async def test() -> None:
        async with living(scrollback=100) as services:
            _, known = await scrolled(services, 3000)
            request = {"text": "gone by", "after_generation": known, "timeout_ms": 0}
            found = await outcome(waits(services, session="dev", **request))
            assert not found.matched
            assert found.missed_lines > 2000
            assert found.hint is not None
            assert "no longer kept" in found.hint

    with_clock(test)


def test_a_generation_that_nobody_was_told_is_said_to_be_unknown() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            await say(session, "one")
            unknown = session.generation
            await say(session, "two")
            found = await outcome(
                waits(services, session="cat", text="one", after_generation=unknown)
            )
            assert found.matched
            assert found.hint is not None
            assert "not remembered" in found.hint
            # At the very beginning nothing stood there.
            found = await outcome(waits(services, session="cat", text="one", after_generation=0))
            assert (found.matched, found.hint) == (True, None)

    with_clock(test)


# --- echo ----------------------------------------------------------------------------------


def test_echo_of_a_command_is_no_match_where_marks_tell_it(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services, name="dev", cols=30)
            known = session.hand_out()
            # The echo is longer than a row, and stands there for as long as the command runs.
            session.write(b"read x; echo one two three four five done\r")
            await until(session, lambda: session.stream.prompting.phase == "running")
            for after in (known, None):
                early = {"text": "done", "after_generation": after, "timeout_ms": 0}
                assert not (await outcome(waits(services, session="dev", **early))).matched
            task = await waiting(services, session="dev", text="done", after_generation=known)
            session.write(b"\r")
            assert (await outcome(task)).match == "done"
            # Nor is what stands behind a prompt and was not run.
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            session.write(b"echo other")
            await until(session, lambda: "other" in session.terminal.plain_lines()[4])
            typed = {"text": "other", "timeout_ms": 0}
            assert not (await outcome(waits(services, session="dev", **typed))).matched

    with_clock(test)


def test_what_a_background_job_prints_behind_the_prompt_is_a_match(tmp_path: Path) -> None:
    async def test() -> None:
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        server = os.open(fifo, os.O_RDWR)  # nobody has to read it for that
        async with living(tmp_path) as services:
            session = await start_marked(services, name="dev")
            session.write(f"cat {fifo} &\r".encode())
            await until(session, lambda: session.stream.prompting.ended == 1)
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            task = await waiting(services, session="dev", text="listening")
            os.write(server, b"listening\n")
            assert (await outcome(task)).match == "listening"
            # Nor is it taken for the echo of the command that is typed below it.
            session.write(b"echo on\r")
            await until(session, lambda: session.stream.prompting.ended == 2)
            later = waits(services, session="dev", text="listening", timeout_ms=0)
            assert (await outcome(later)).matched
        os.close(server)

    with_clock(test)


def test_line_that_takes_the_number_of_an_echo_counts(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services, name="dev")
            session.write(b"echo one\r")
            await until(session, lambda: session.stream.prompting.ended == 1)
            session.write(b"clear; echo; echo; echo here it is\r")
            await shows(session, "here it is")
            assert (await outcome(waits(services, session="dev", text="here it is"))).matched

    with_clock(test)


def test_echo_that_no_mark_tells_is_left_out_by_what_was_typed() -> None:
    async def test() -> None:
        async with living() as services:
            line = "printf '$ '; read x; read y; echo done; exec cat"
            session = await start(services, line, name="dev", cols=20)
            await until(session, lambda: session.terminal.plain_lines()[0] == "$")
            known = session.hand_out()
            typed = "make everything && echo done"  # parted by the width
            session.write(typed.encode() + b"\r")
            await until(session, lambda: session.terminal.cursor().row == 2)
            plain = {"session": "dev", "text": "done", "after_generation": known}
            assert (await outcome(waits(services, **plain))).matched
            task = await waiting(services, **plain, typed=typed)
            session.write(b"\r")
            assert (await outcome(task)).matched
            assert (await outcome(waits(services, **plain, typed=typed))).matched

    with_clock(test)


# --- silence after input -------------------------------------------------------------------


def test_quiet_counts_from_the_last_input_too() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, "stty -echo; echo ready; read x; exec sleep 1000")
            await shows(session, "ready")
            await advance(100)
            session.write(b"\r")  # it answers nothing yet
            name = session.identity.name
            task = await waiting(services, session=name, quiet_ms=60_000)
            await advance(50)
            assert not task.done(), "its time to answer is not over"
            await advance(11)
            assert (await outcome(task)).condition == "quiet"

    with_clock(test)


# --- the terminal's width ------------------------------------------------------------------


def test_a_line_that_the_width_breaks_is_one_line() -> None:
    wanted = ("needle in a haystack", "needle " + " " * 24 + "haystack", "漢字" * 8 + "終")

    async def test() -> None:
        async with living() as services:
            session = await start(services, "stty -echo; echo ready; exec cat", name="cat", cols=20)
            await shows(session, "ready")
            for text in wanted:
                known = session.hand_out()
                session.write(f"0123456789 {text}\n".encode())
                found = await outcome(
                    waits(services, session="cat", text=text, after_generation=known)
                )
                assert found.match == text
                session.write(b"\n" * 60 + b"below\n")
                await shows(session, "below")
                found = await outcome(
                    waits(services, session="cat", regex=f"^0.* {text}$", after_generation=known)
                )
                assert found.match == f"0123456789 {text}"
                session.write(b"\x1b[2J\n")

    with_clock(test)


def test_a_line_that_the_width_breaks_is_one_line_in_a_full_screen_program_too() -> None:
    async def test() -> None:
        async with living() as services:
            program = "seq 99; printf '\\033[?1049h\\033[H0123456789 a needle'; exec cat"
            await start(services, program, name="cat", cols=20)
            found = await outcome(waits(services, session="cat", text="9 a needle"))
            assert found.matched

    with_clock(test)


def test_another_width_makes_nothing_new() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            await say(session, "a line of more than forty characters, which will be broken")
            known = session.hand_out()
            running = await waiting(services, session="cat", text="line", after_generation=known)
            session.display.resize(24, 40)
            later = await waiting(services, session="cat", text="line", after_generation=known)
            await advance(0)
            assert not running.done()
            session.write(b"another line\n")
            assert (await outcome(running)).match == "line"
            assert (await outcome(later)).hint is None

    with_clock(test)


def test_a_generation_before_another_width_is_said_to_be_unknown() -> None:
    async def test() -> None:
        async with living() as services:
            session = await cat(services)
            known = session.hand_out()
            await say(session, "a line")
            session.display.resize(24, 40)
            found = await outcome(waits(services, session="cat", text="ready"))
            assert found.hint is None
            found = await outcome(
                waits(services, session="cat", text="ready", after_generation=known)
            )
            assert "not remembered" in (found.hint or "")

    with_clock(test)


# --- what callers may ask for ------------------------------------------------------------------


def test_a_pattern_that_takes_for_ever_elsewhere_lets_others_go_on() -> None:
    async def case() -> None:
        async with living() as services:
            hostile = "print(('a' * 79 + 'b\\n') * 5000 + 'END')"
            session = await start_python(services, hostile)
            await ended(session)
            name = session.identity.name
            task = waits(services, session=name, regex="(a+)+$", after_generation=0)
            turns = 0
            while not task.done():
                await asyncio.sleep(0)
                turns += 1
            assert not (await task).matched
            assert turns > 10, "a part of the scrollback is searched in each"

    asyncio.run(case())


def test_a_screen_with_as_many_rows_as_there_can_be_is_searched_to_its_end() -> None:
    async def case() -> None:
        async with living() as services:
            session = await start_python(services, "print('line\\n' * 4000)", rows=1000)
            await ended(session)
            name = session.identity.name
            task = waits(services, session=name, text="no such text", after_generation=0)
            assert not (await asyncio.wait_for(task, PATIENCE)).matched

    asyncio.run(case())


@pytest.mark.parametrize("wish", ["text", "regex"])
def test_a_pattern_that_is_too_long_is_refused(wish: str) -> None:
    async def case() -> None:
        async with living(max_pattern_chars=100) as services:
            session = await cat(services)
            task = waits(services, session=session.identity.name, **{wish: "x" * 101})
            with pytest.raises(InvalidInput, match="max_pattern_chars"):
                await task

    asyncio.run(case())
