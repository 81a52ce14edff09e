"""run_command: returns at the end mark, at a question, or by silence where no mark can come."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.core.operations.results import CommandOutcome, Screen
from nacre.core.operations.runs import AwaitQuiesce, RunCommand
from nacre.core.operations.terminal import SendInput
from nacre.core.shell.state import State
from nacre.errors import Busy, InvalidInput, SessionExited, WaitTimedOut
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.clock import advance, with_clock
from services.living import (
    CALLER,
    PATIENCE,
    PROMPT,
    SHELL,
    at_prompt,
    living,
    shows,
    start,
    start_marked,
    until,
)


def command(
    services: Services, session: Session, text: str, **more: Any
) -> "asyncio.Task[CommandOutcome]":
    request = RunCommand(session=session.identity.id, input=text, **{"format": "plain", **more})
    return asyncio.create_task(services.commands.run(CALLER, request))


async def outcome(task: "asyncio.Task[CommandOutcome]") -> CommandOutcome:
    return await asyncio.wait_for(task, PATIENCE)


def test_command_ends_by_its_mark_and_gives_exit_code_folder_and_output(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            ran = await outcome(command(services, session, "cd /usr; echo hei; (exit 3)"))
            assert (ran.ended_by, ran.exit_code, ran.cwd) == ("mark", 3, "/usr")
            assert ran.output.splitlines() == ["hei"]
            assert ran.screen.lines[1:3] == ["hei", PROMPT]
            assert ran.generation == ran.screen.generation == session.generation
            assert ran.hint == "input did not end with Enter: one was added"
            again = await outcome(command(services, session, "true\r"))
            assert (again.ended_by, again.exit_code, again.hint) == ("mark", 0, None)

    with_clock(test)


def test_a_folder_whose_name_is_no_text_is_told_as_text(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/a\xff")

    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            ran = await outcome(command(services, session, f"cd {tmp_path}/a?"))
            assert ran.cwd == session.cwd == f"{tmp_path}/a\ufffd"
            msgspec.json.encode(ran)  # as every door does

    with_clock(test)


def test_silence_in_the_middle_of_a_command_does_not_end_it(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            # It is silent until a signal comes, however long the clock says that is.
            script = (
                "trap 'echo sec''ond; exit 5' USR1; echo fir''st $$; while :; do sleep 0.02; done"
            )
            task = command(services, session, f"bash -c '{script.replace(chr(39), chr(34))}'")
            await until(session, lambda: "first" in "".join(session.terminal.plain_lines()[1:]))
            for _ in range(5):
                await advance(5)
            assert not task.done(), "it has not ended"
            facts = session.facts()
            assert facts is not None
            assert facts.group is not None
            os.kill(facts.group, signal.SIGUSR1)
            ran = await outcome(task)
            assert (ran.ended_by, ran.exit_code) == ("mark", 5)
            assert ran.output.splitlines()[1:] == ["second"]

    with_clock(test)


def test_command_ends_at_its_mark_without_any_silence(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            # Silence of an hour never comes, and the clock stands still.
            ran = await outcome(
                command(services, session, "echo a; sleep 0.4; echo b", timeout_ms=3_600_000)
            )
            assert (ran.ended_by, ran.exit_code) == ("mark", 0)
            assert ran.output.splitlines() == ["a", "b"]

    with_clock(test)


def test_starting_shell_is_waited_for(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start(services, env=SHELL)
            ran = await outcome(command(services, session, "echo hei"))
            assert (ran.ended_by, ran.exit_code) == ("mark", 0)
            assert ran.output == "hei"

    with_clock(test)


def test_shell_that_is_slow_to_read_its_command_is_waited_for(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            os.kill(session.pid, signal.SIGSTOP)
            task = command(services, session, "echo hei")
            for _ in range(5):
                await advance(0.5)
            assert not task.done(), "its prompt is the old one"
            os.kill(session.pid, signal.SIGCONT)
            ran = await outcome(task)
            assert (ran.ended_by, ran.exit_code) == ("mark", 0)

    with_clock(test)


def test_question_ends_the_wait_and_the_answer_is_followed_to_the_mark(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            asked = await outcome(
                command(
                    services, session, "read -p 'sure? [y/N] ' x; [ $x = y ]", timeout_ms=60_000
                )
            )
            assert (asked.ended_by, asked.exit_code) == ("needs_input", None)
            assert asked.state is not None
            assert (asked.state.state, asked.state.asks) == ("needs_input", "confirm")
            assert asked.output == "sure? [y/N]"
            # Silence of a minute never comes; the mark does.
            answered = await outcome(command(services, session, "n", timeout_ms=60_000))
            assert (answered.ended_by, answered.exit_code) == ("mark", 1)
            assert answered.output == ""

    with_clock(test)


def test_repl_that_came_up_needs_input_and_its_lines_end_at_its_prompt(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            came = await outcome(command(services, session, "python3 -q", timeout_ms=60_000))
            assert came.ended_by == "needs_input"
            assert came.state is not None
            assert came.state.asks == "repl"
            # Silence of a minute never comes; the prompt does.
            ran = await outcome(command(services, session, "6 * 7", timeout_ms=60_000))
            assert (ran.ended_by, ran.exit_code, ran.output) == ("prompt", None, "42")
            left = await outcome(command(services, session, "exit(3)", timeout_ms=60_000))
            assert (left.ended_by, left.exit_code) == ("mark", 3)

    with_clock(test)


def test_shell_without_marks_ends_at_its_prompt() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, "sh", env={"PS1": "$ ", "ENV": ""})
            await until(session, lambda: session.terminal.plain_lines()[0] == "$")
            # Silence of a minute never comes; the prompt does, and no exit code with it.
            ran = await outcome(command(services, session, "echo hei", timeout_ms=60_000))
            assert (ran.ended_by, ran.exit_code, ran.output) == ("prompt", None, "hei")
            assert ran.state is not None
            assert ran.state.state == "prompt"
            lines = "echo one\nsleep 0.2\necho two\n"
            ran = await outcome(command(services, session, lines, timeout_ms=60_000))
            assert (ran.ended_by, ran.output.splitlines()) == ("prompt", ["one", "two"])
            asked = await outcome(command(services, session, "read x; echo got $x", timeout_ms=300))
            assert asked.state is not None
            assert (asked.ended_by, asked.state.asks) == ("needs_input", "line")
            told = await outcome(command(services, session, "word", timeout_ms=300))
            assert told.output == "got word"

    with_clock(test)


@pytest.mark.parametrize(("shell", "most"), [("dash", 4095), ("busybox ash", 1000)])
def test_a_line_that_its_reader_would_cut_is_refused(shell: str, most: int) -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, shell, env={"PS1": "$ ", "ENV": ""})
            await until(session, lambda: "$" in session.terminal.plain_lines())
            line = "echo " + "x" * (most - 5)
            ran = await outcome(command(services, session, line, timeout_ms=60_000))
            assert ran.output == line.removeprefix("echo ")
            with pytest.raises(InvalidInput, match=f"takes {most} at most"):
                await outcome(command(services, session, line + "x"))
            ran = await outcome(command(services, session, "echo hei", timeout_ms=60_000))
            assert ran.output == "hei"

    with_clock(test)


def test_shell_without_marks_runs_one_command_at_a_time(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start(services, "bash --norc --noprofile", env={"PS1": "$ "})
            await outcome(command(services, session, "true"))
            asked = [command(services, session, f"echo answer {number}") for number in range(12)]
            told = await asyncio.gather(*map(outcome, asked), return_exceptions=True)
            for number, one in enumerate(told):
                answered = isinstance(one, CommandOutcome) and one.output == f"answer {number}"
                assert answered or (number and isinstance(one, Busy))
            assert (await outcome(command(services, session, "echo later"))).output == "later"

    with_clock(test)


def test_folder_and_prompt_of_a_shell_that_a_line_started(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start(services, "bash --norc --noprofile; true", env={"PS1": "$ "})
            assert (await outcome(command(services, session, "cd /usr"))).cwd == "/usr"
            assert session.cwd == "/usr"
            await outcome(command(services, session, "python3 -q"))
            left = await outcome(command(services, session, "exit()"))
            assert (left.ended_by, left.state and left.state.state) == ("prompt", "prompt")

    with_clock(test)


def test_echo_that_a_line_editor_breaks_is_no_output() -> None:
    async def test() -> None:
        async with living() as services:
            session = await start(services, "busybox ash", env={"PS1": "at $ ", "ENV": ""}, cols=40)
            await until(session, lambda: "at $" in session.terminal.plain_lines())
            words = "these are more words than a row has room for"
            lines = f"echo {words}\nfalse {words}\necho {words}\n"
            ran = await outcome(command(services, session, lines, timeout_ms=60_000))
            assert ran.output == f"{words}\n{words}"

    with_clock(test)


def test_time_out_carries_screen_output_and_state(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            line = "sh -c 'echo so far; exec sleep 1000'"  # in the foreground once it prints
            task = command(services, session, line, max_wait_ms=60_000)
            await shows(session, "so far")
            await advance(61)
            with pytest.raises(WaitTimedOut) as error:
                await outcome(task)
            told = error.value.details
            assert isinstance(told["screen"], Screen)
            assert told["screen"].lines[1] == "so far"
            assert told["output"] == "so far"
            assert told["run_id"]
            assert isinstance(told["state"], State)
            assert told["state"].state == "running"
            assert told["generation"] == session.generation
            session.write(b"\x03")
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            assert (await outcome(command(services, session, "echo on"))).exit_code == 0

    with_clock(test)


def test_end_of_the_shell_is_told_with_its_exit_code_and_screen(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            with pytest.raises(SessionExited) as error:
                await outcome(command(services, session, "echo bye; exit 7"))
            assert error.value.details["exit_code"] == 7
            assert error.value.details["screen"].lines[1] == "bye"

    with_clock(test)


def test_newer_output_than_the_last_generation_is_needed_too(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            seen = session.generation
            ran = await outcome(command(services, session, "echo hei", last_generation=seen))
            assert (ran.ended_by, ran.generation > seen) == ("mark", True)
            task = command(services, session, "echo hei", last_generation=10**9, max_wait_ms=60_000)
            await until(session, lambda: session.stream.prompting.ended == 2)
            await advance(61)
            with pytest.raises(WaitTimedOut):
                await outcome(task)

    with_clock(test)


def test_await_quiesce_knows_silence_only(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path) as services:
            session = await start_marked(services)
            ref, seen = session.identity.id, session.generation
            await services.sessions.send(CALLER, SendInput(session=ref, input="echo hei\r"))
            request = AwaitQuiesce(
                session=ref, timeout_ms=5000, max_wait_ms=60_000, last_generation=seen
            )
            task = asyncio.create_task(services.commands.quiesce(CALLER, request))
            await until(session, lambda: session.stream.prompting.ended == 1)
            await at_prompt(session)
            await advance(0)
            assert not task.done(), "the command has ended, the silence has not lasted"
            await advance(6)
            waited = await asyncio.wait_for(task, PATIENCE)
            assert waited.generation == session.generation > seen

    with_clock(test)
