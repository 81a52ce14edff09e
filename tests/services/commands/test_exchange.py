"""run_command where nothing is marked: what is typed into programs, and what is refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.results import CommandOutcome
from nacre.core.operations.runs import ReadRun, RunCommand
from nacre.errors import Busy, NotAtPrompt
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.living import CALLER, living, shows, start, start_marked, until

pytestmark = pytest.mark.anyio


async def command(services: Services, session: Session, text: str, **more: Any) -> CommandOutcome:
    given = {"format": "plain", "timeout_ms": 300, "max_wait_ms": 60_000, **more}
    request = RunCommand(session=session.identity.id, input=text, **given)
    return await services.commands.run(CALLER, request)


async def test_nothing_is_typed_into_a_program_that_does_not_read(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        session.write(b"sleep 1000\r")
        await until(session, lambda: session.stream.prompting.phase == "running")
        screen = session.terminal.plain_lines()
        for text in ("echo hei", "w", "echo hei\r"):
            with pytest.raises(Busy, match="sleep is running") as error:
                await command(services, session, text)
            told = error.value.details
            assert (told["state"].state, told["screen"].lines) == ("running", screen)
        assert session.terminal.plain_lines() == screen
        stopped = await command(services, session, "\x03")
        assert (stopped.ended_by, stopped.exit_code, stopped.hint) == ("mark", 130, None)
        assert (await command(services, session, "echo hei")).output == "hei"


async def test_no_command_is_typed_into_an_editor_or_a_pager(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        file = tmp_path / "text"
        for program, asks, leave in (
            (f"vim -u NONE {file}", "editor", ":wq\r"),
            ("seq 1000 | less", "pager", "q"),
        ):
            came = await command(services, session, program)
            assert came.ended_by == "needs_input"
            assert came.state is not None
            assert came.state.asks == asks
            for text in ("ls", "echo hei\r"):
                with pytest.raises(NotAtPrompt, match="nothing was typed") as error:
                    await command(services, session, text)
                assert error.value.details["state"].asks == asks
            if asks == "editor":
                typed = await command(services, session, "ihello\x1b")
                assert (typed.ended_by, typed.hint, typed.output) == ("quiet", None, "")
            left = await command(services, session, leave)
            assert (left.ended_by, left.exit_code) == ("mark", 0)
        assert (await command(services, session, f"cat {file}")).output == "hello"


async def test_enter_is_added_where_a_line_is_read_and_nowhere_else(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        asked = await command(services, session, "read -n1 -p 'key? ' k")
        assert asked.ended_by == "needs_input"
        one = await command(services, session, "y")
        assert (one.ended_by, one.hint) == ("mark", None)
        assert (await command(services, session, "echo got $k")).output == "got y"
        await command(services, session, "read -p 'line? ' l")
        line = await command(services, session, "y")
        assert (line.ended_by, line.output) == ("mark", "")
        assert line.hint is not None
        assert (await command(services, session, "echo got $l")).output == "got y"
        await command(services, session, "read -e -p 'edited? ' l")
        edited = await command(services, session, "z")
        assert (edited.ended_by, edited.hint) == ("mark", line.hint)
        assert (await command(services, session, "echo got $l")).output == "got z"


async def test_output_without_a_final_newline_is_kept_before_the_next_line() -> None:
    async with living() as services:
        session = await start(services, "sh", env={"PS1": "$ ", "ENV": ""})
        await until(session, lambda: session.terminal.plain_lines()[0] == "$")
        ran = await command(services, session, "printf a\necho b\nprintf c\n")
        assert (ran.ended_by, ran.output) == ("prompt", "a\nb\nc")


async def test_answer_has_neither_the_question_nor_its_echo() -> None:
    async with living() as services:
        line = "read -p 'name? ' x; echo hello $x; read -p 'more? ' y; echo on; exec cat"
        session = await start(services, "bash", args=["-c", line], cols=40)
        await until(session, lambda: session.terminal.plain_lines()[0] == "name?")
        name = "somebody with a name that is longer than the terminal is wide"
        first = await command(services, session, name)
        assert (first.ended_by, first.exit_code) == ("quiet", None)
        assert first.output == f"hello {name}\nmore?"
        second = await command(services, session, "a\nb\n")
        assert second.output.splitlines() == ["on", "b"]
        assert second.run_id is not None
        page = await services.runs.read(CALLER, ReadRun(run_id=second.run_id))
        assert page.finished


async def test_second_command_at_the_same_time_is_not_typed_into_the_first(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        both = await asyncio.gather(
            command(services, session, "read x; echo one"),
            command(services, session, "echo two"),
            return_exceptions=True,
        )
        assert isinstance(both[0], CommandOutcome)
        assert isinstance(both[1], Busy)
        assert "echo two" not in "\n".join(session.terminal.plain_lines())


async def test_program_that_runs_silently_after_an_answer_is_waited_for(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        await command(services, session, "read -p 'go? ' x; sleep 0.6; echo done; (exit 3)")
        went = await command(services, session, "y", timeout_ms=100)
        assert (went.ended_by, went.exit_code, went.output) == ("mark", 3, "done")


async def test_session_that_is_a_program_ends_by_silence() -> None:
    async with living() as services:
        session = await start(services, "stty -echo; echo ready; exec cat")
        await shows(session, "ready")
        ran = await command(services, session, "hello")
        assert (ran.ended_by, ran.output) == ("quiet", "hello")
        assert ran.state is not None
        assert ran.state.state == "needs_input"
        assert not session.stream.taps, "nothing follows it any more"
