"""A shell is asked whether it is at its prompt, for as long as the setting says."""

import asyncio
from pathlib import Path

import pytest

from nacre.core.operations.runs import Run
from nacre.services.runs.ask_shell import ask_shell, state_told

from services.clock import advance, with_clock
from services.living import CALLER, PATIENCE, living, shows, start_marked


def test_shell_that_is_busy_is_waited_for_as_long_as_the_setting_says(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path, shell_answer_wait=500) as services:
            session = await start_marked(services)
            session.write(b"sh -c 'echo up; exec sleep 1000'\r")
            await shows(session, "up")
            task = asyncio.create_task(ask_shell(session))
            await advance(0)
            await advance(480)
            assert not task.done()
            await advance(30)
            await task
            assert session.stream.prompting.unanswered == 1

    with_clock(test)


def test_shell_at_its_prompt_answers_at_once(tmp_path: Path) -> None:
    async def test() -> None:
        async with living(tmp_path, shell_answer_wait=500) as services:
            session = await start_marked(services)
            prompting = session.stream.prompting
            answers = prompting.answers
            await ask_shell(session)
            assert (prompting.answers, prompting.unanswered) == (answers + 1, 0)

    with_clock(test)


@pytest.mark.anyio
async def test_the_time_of_a_run_is_a_bound_also_while_its_shell_is_busy_with_a_key(
    tmp_path: Path,
) -> None:
    async with living(tmp_path, shell_answer_wait=600) as services:
        session = await start_marked(services)
        name = session.identity.name
        bind = r"""bind -x '"\C-t": "echo busy; while :; do :; done"'"""
        await services.runs.run(CALLER, Run(session=name, command=bind))
        session.write(b"\x14")
        await shows(session, "busy")
        async with asyncio.timeout(PATIENCE):
            outcome = await services.runs.run(
                CALLER, Run(session=name, command="echo hi", timeout_ms=200)
            )
        assert outcome.status == "timeout"
        assert session.stream.prompting.unanswered == 0, "it had no time to answer"


@pytest.mark.anyio
async def test_what_it_tells_is_its_state_when_it_waits_again(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        name = session.identity.name
        asked = await services.runs.run(CALLER, Run(session=name, command="read -e -p 'say> ' x"))
        assert asked.state is not None
        async with asyncio.timeout(PATIENCE):
            told = [await state_told(session) for _ in range(20)]
        assert {(state.state, state.asks) for state in told} == {("needs_input", "line")}
