"""What ran in a session, who ran it, and what it printed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.operations.recordings import (
    ActivityEntry,
    ActivityList,
    ActivityOutput,
    ListActivity,
    ReadActivityOutput,
)
from nacre.core.operations.runs import Run
from nacre.core.operations.terminal import SendInput
from nacre.errors import Failed, InvalidInput
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.living import living, start_marked, until

pytestmark = pytest.mark.anyio

CLAUDE = Caller(door="mcp", client="claude-code 2.1", key="a")
CURSOR = Caller(door="mcp", client="cursor 3", key="b")
PERSON = Caller(door="web", person=True, label="web page", key="web:1")


async def listed(dispatch: Dispatch, session: Session, limit: int = 200) -> ActivityList:
    found = await dispatch(CLAUDE, ListActivity(session=session.identity.id, limit=limit))
    assert isinstance(found, ActivityList)
    return found


async def entries(dispatch: Dispatch, session: Session) -> tuple[ActivityEntry, ...]:
    return (await listed(dispatch, session)).entries


async def output(dispatch: Dispatch, session: Session, entry: str) -> ActivityOutput:
    answer = await dispatch(CLAUDE, ReadActivityOutput(session=session.identity.id, id=entry))
    assert isinstance(answer, ActivityOutput)
    return answer


async def typed(dispatch: Dispatch, caller: Caller, session: Session, line: str) -> None:
    """Type a line; return when its command has ended and the prompt is back."""
    ended = session.stream.prompting.ended
    await dispatch(caller, SendInput(session=session.identity.id, input=line))
    await until(
        session,
        lambda: (
            session.stream.prompting.ended > ended and session.stream.prompting.phase == "prompt"
        ),
    )


def ran(
    services: Services, session: Session, caller: Caller, command: str
) -> "asyncio.Task[object]":
    run = services.dispatch()(caller, Run(session=session.identity.id, command=command))
    return asyncio.ensure_future(run)


async def test_each_command_has_who_ran_it_how_it_ended_and_what_it_printed(tmp_path: Path) -> None:
    async with living(tmp_path / "run", tmp_path / "journals") as services:
        dispatch = services.dispatch()
        session = await start_marked(services)
        await ran(services, session, CLAUDE, "echo from a run; false")
        await typed(dispatch, PERSON, session, "echo typed; (exit 3)\r")
        await typed(dispatch, CURSOR, session, "echo agent\r")
        run, by_hand, by_agent = await entries(dispatch, session)
        assert (run.command, run.by, run.person) == ("echo from a run; false", CLAUDE.client, False)
        assert (run.exit_code, run.running, run.run_id) == (1, False, run.id)
        assert (by_hand.command, by_hand.by, by_hand.person) == (
            "echo typed; (exit 3)",
            "web page",
            True,
        )
        assert (by_hand.exit_code, by_hand.run_id) == (3, None)
        assert (by_agent.by, by_agent.person, by_agent.exit_code) == ("cursor 3", False, 0)
        for entry, printed in ((run, "from a run"), (by_hand, "typed"), (by_agent, "agent")):
            assert entry.started <= (entry.ended or 0)
            assert entry.duration_ms is not None
            answer = await output(dispatch, session, entry.id)
            assert (answer.output, answer.lines, answer.incomplete) == (printed, 1, False)
            line = session.terminal.scrollback_total + session.terminal.evicted
            assert entry.line is not None
            assert entry.command in session.terminal.plain_lines()[entry.line - line]
        with pytest.raises(InvalidInput, match="no command 'nope'"):
            await output(dispatch, session, "nope")


async def test_nobody_is_named_where_it_is_not_clear_who_typed(tmp_path: Path) -> None:
    async with living(tmp_path / "run", tmp_path / "journals") as services:
        dispatch = services.dispatch()
        session = await start_marked(services)
        waits = SendInput(session=session.identity.id, input="read -r line; echo got $line\r")
        await dispatch(CLAUDE, waits)
        await until(session, lambda: session.stream.prompting.phase == "running")
        (running,) = await entries(dispatch, session)
        assert (running.running, running.by, running.ended) == (True, CLAUDE.client, None)
        # Both type ahead: one line is for the program, the other for the shell.
        for caller, line in ((PERSON, "an answer\r"), (CURSOR, "echo who\r")):
            await dispatch(caller, SendInput(session=session.identity.id, input=line))
        await until(session, lambda: session.stream.prompting.ended >= 2)
        first, second = await entries(dispatch, session)
        assert (first.exit_code, first.running) == (0, False)
        assert (second.command, second.by, second.person) == ("echo who", None, None)


async def test_list_is_bounded_and_says_that_there_was_more(tmp_path: Path) -> None:
    bounds: dict[str, Any] = {"max_activity": 3, "max_activity_chars": 6}
    async with living(tmp_path / "run", tmp_path / "journals", **bounds) as services:
        dispatch = services.dispatch()
        session = await start_marked(services)
        for number in range(5):
            await typed(dispatch, PERSON, session, f": {number} and more\r")
        found = await listed(dispatch, session, limit=2)
        assert (found.total, found.earlier) == (3, True)
        assert [entry.command for entry in found.entries] == [": 3 an", ": 4 an"]


async def test_restart_ends_what_ran_and_forgets_the_lines(tmp_path: Path) -> None:
    async with living(tmp_path / "run", tmp_path / "journals") as services:
        dispatch = services.dispatch()
        session = await start_marked(services)
        await dispatch(PERSON, SendInput(session=session.identity.id, input="sleep 1000\r"))
        await until(session, lambda: session.stream.prompting.phase == "running")
        await session.restart()
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        (entry,) = await entries(dispatch, session)
        assert (entry.command, entry.running, entry.line) == ("sleep 1000", False, None)


async def test_without_a_journal_commands_are_listed_and_runs_have_their_output(
    tmp_path: Path,
) -> None:
    async with living(tmp_path) as services:
        dispatch = services.dispatch()
        session = await start_marked(services)
        await typed(dispatch, PERSON, session, "echo typed\r")
        await ran(services, session, CLAUDE, "echo run")
        by_hand, run = await entries(dispatch, session)
        assert (await output(dispatch, session, run.id)).output == "run"
        with pytest.raises(Failed, match="no journal"):
            await output(dispatch, session, by_hand.id)
