"""Prompts: which of them takes a command, by which way, and which only looks like one."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any, cast

import pytest

from nacre.core.operations.runs import Run
from nacre.core.shell.marks import Mark
from nacre.core.shell.repl_prompts import is_same_prompt, prompt_pattern, without_shell_prompt
from nacre.core.shell.state import State
from nacre.services.observe.state import line_before_cursor
from nacre.services.runs.outputs.run_output import RunOutput
from nacre.services.runs.prompt import await_prompt, context_at, tell_read
from nacre.services.runs.request import RunRequest
from nacre.services.runs.run import TrackedRun

from services.living import CALLER, PATIENCE, living, shows, start, start_marked, start_shell, until


def state(name: str, **more: Any) -> State:
    return State(state=cast(Any, name), evidence=[], **more)


@pytest.mark.parametrize(
    ("one", "other"),
    [("In [3]: ", "In [4]:"), ("sqlite> ", " sqlite>"), ("~/a 12:30 $ ", "~/a 12:31 $")],
)
def test_prompt_that_counts_is_the_same_prompt(one: str, other: str) -> None:
    assert prompt_pattern(one) == prompt_pattern(other)


def test_other_prompts_are_others() -> None:
    assert len({prompt_pattern(prompt) for prompt in (">>> ", "... ", "(Pdb) ", "$ ", "")}) == 5


@pytest.mark.parametrize(
    ("known", "line", "same", "before"),
    [
        ("$ ", "$ ", True, ""),
        ("$ ", "abc$ ", True, "abc"),  # output without a line's end
        ("abc$ ", "$ ", True, ""),
        ("me@box:~# ", "me@box:/tmp# ", True, ""),  # another folder
        ("me@box ~# ", "me@box ~ [1]# ", False, ""),  # with an exit code: only the kernel knows
        ("x$ ", "y$ ", False, "y"),  # in doubt it is output
    ],
)
def test_prompt_is_known_in_another_folder_and_behind_output(
    known: str, line: str, before: str, *, same: bool
) -> None:
    assert is_same_prompt(known, line) is same
    assert is_same_prompt(known, line, sure=True)
    assert without_shell_prompt(known, line) == before


@pytest.mark.anyio
async def test_marked_prompt_of_the_session_s_own_shell_takes_what_is_typed(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        assert context_at(session, state("prompt", program="bash")) == "native"
        nested = state("prompt", program="dash")
        assert context_at(session, nested) == "wrapped", "its marks are the outer shell's"
        assert context_at(session, state("needs_input", asks="repl")) == "repl"
        assert context_at(session, state("needs_input", asks="password")) is None
        assert context_at(session, state("running")) is None


@pytest.mark.anyio
async def test_shell_without_marks_takes_wrapped_commands() -> None:
    async with living() as services:
        session = await start_shell(services)
        assert context_at(session, state("prompt", program="bash")) == "wrapped"


@pytest.mark.anyio
async def test_prompt_of_a_shell_that_starts_is_waited_for(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start(services)
        assert session.generation == 0
        deadline = services.host.loop.time() + 10
        assert (await await_prompt(session, None, deadline)).state == "prompt"


@pytest.mark.anyio
async def test_program_that_starts_and_reads_is_no_prompt_to_wait_for(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with living() as services:
        session = await start(services, "sh", args=["-c", f"read _ < {gate}; exec cat"])
        deadline = services.host.loop.time() + 1000
        waiting = asyncio.create_task(await_prompt(session, None, deadline))
        await asyncio.sleep(0)  # it has looked: the program is not there yet
        gate.write_text("\n")
        found = await waiting
        assert (found.state, found.asks) == ("needs_input", "line")
        assert session.generation == 0


@pytest.mark.anyio
async def test_program_that_runs_is_not_waited_for(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        session.write(b"sh -c 'echo up; exec sleep 1000'\r")
        await shows(session, "up")
        session.input.last_input -= 10  # what was typed has had its effect
        deadline = services.host.loop.time() + 1000
        assert (await await_prompt(session, None, deadline)).state == "running"


@pytest.mark.anyio
async def test_read_of_a_wrapped_command_is_no_prompt() -> None:
    reads = "printf 'name: '; read answer"  # which dash reads as it reads its commands
    async with living() as services:
        session = await start(services, "dash", args=["-c", reads])
        await until(session, lambda: line_before_cursor(session).strip() == "name:")
        facts = session.facts()
        assert facts is not None
        request = RunRequest("wrapped", 0.0, pid=facts.pid, prompt="$ ")
        run = TrackedRun(session, request, RunOutput(80, memory=1024))

        asked = tell_read(session, run, state("prompt"))
        assert (asked.state, asked.asks) == ("needs_input", "line")
        assert tell_read(session, None, state("prompt")).state == "prompt"
        request.prompt = "other: "
        assert tell_read(session, run, state("prompt")).state == "prompt", "it ends like the prompt"
        request.prompt, request.pid = "$ ", session.pid + 1
        assert tell_read(session, run, state("prompt")).state == "prompt", "another shell reads"
        request.pid = facts.pid
        run.prompt_is_back()
        assert tell_read(session, run, state("prompt")).state == "prompt", "it is over"


@pytest.mark.anyio
async def test_a_line_that_was_refused_is_no_success_unless_it_runs_nothing() -> None:
    async with living() as services:
        session = await start(services, "cat")
        for command, told, code in (("x", 2, 2), ("x", 0, None), ("# x", 0, 0)):
            request = RunRequest("native", 0.0, tells_start=True, command=command)
            run = TrackedRun(session, request, RunOutput(80, memory=1024))
            run.tap(Mark("D", f"{told};/"))
            assert not run.done
            run.was_refused()
            assert (run.ended_by, run.exit_code) == ("mark", code)


@pytest.mark.anyio
async def test_line_of_an_earlier_daemon_is_not_taken_for_the_next_command(tmp_path: Path) -> None:
    """It was typed, the daemon was replaced, and the shell reads it only now."""
    async with living(runtime=tmp_path) as services:
        session = await start_marked(services, name="dev")
        child = session.supervisor.last
        assert child is not None
        services.ledger.begin(session, "native", "echo one")
        os.kill(child.pid, signal.SIGSTOP)
        os.write(child.master, b"echo one\r")  # not by this daemon: it counts no input
        running = asyncio.create_task(
            services.runs.run(CALLER, Run(session="dev", command="echo two"))
        )
        for _ in range(100):
            await asyncio.sleep(0)  # it would have typed by now
        os.kill(child.pid, signal.SIGCONT)
        outcome = await asyncio.wait_for(running, PATIENCE)
        assert (outcome.output, outcome.exit_code) == ("two", 0)
