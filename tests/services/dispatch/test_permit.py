"""Who may type is asked at the moment of typing, however long a call has waited by then."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations.terminal import GetScreen
from nacre.errors import ControlHeld, NotAtPrompt
from nacre.services.commands import typed_lines
from nacre.services.dispatch.permit import Permit, holding
from nacre.services.observe.settle import settle
from nacre.services.session.session import Session

from services.living import (
    NO_HOME,
    PATIENCE,
    SHELL,
    lines_of,
    reads,
    shows,
    start,
    start_marked,
    text_of,
    until,
)
from services.people import AGENT, ANNA, House, house

pytestmark = pytest.mark.anyio

TYPING: list[tuple[str, dict[str, Any]]] = [
    ("send", {"text": "echo by agent"}),
    ("run_command", {"input": "echo by agent"}),
    ("run", {"command": "echo by agent"}),
]
LOOKS_ONLY = Caller(door="test", scope=Scope.OBSERVE)


async def slow_shell(ask: House, folder: Path) -> tuple[Session, Callable[[], None]]:
    """Make a marked shell whose first prompt comes when what is returned is called."""
    fifo = folder / "go"
    os.mkfifo(fifo)
    (folder / ".bashrc").write_text(f"cat {fifo}\n")
    session = await start(ask.services, env={**SHELL, "HOME": str(folder)})

    def go_on() -> None:
        fifo.write_text("")

    return session, go_on


async def begun(session: Session, call: Any) -> "asyncio.Task[Any]":
    """Start a call; return when it is admitted and its handler has begun."""
    reached = asyncio.Event()
    alive = session.require_alive

    def noted() -> Any:
        reached.set()
        return alive()

    session.require_alive = noted  # type: ignore[method-assign]
    task = asyncio.create_task(call)
    await reached.wait()
    session.require_alive = alive  # type: ignore[method-assign]
    return task


def take_when(session: Session, holds: Callable[[], bool]) -> None:
    """Let Anna take the session over as soon as something holds: before any call wakes by it."""

    def look() -> None:
        if holds():
            session.watchers.remove(look)
            session.display.control.take(ANNA, session)

    session.watchers.append(look)


@pytest.mark.parametrize(("operation", "parameters"), TYPING)
async def test_what_waited_for_the_prompt_is_not_typed_into_a_persons_hands(
    operation: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    async with house(tmp_path, control_wait=0.0) as ask:
        session, go_on = await slow_shell(ask, tmp_path)
        async with ask.watch(ANNA, session):
            call = await begun(session, ask(operation, session=session.identity.id, **parameters))
            await ask("control", ANNA, session=session.identity.id, action="take")
            go_on()
            with pytest.raises(ControlHeld):
                await call
            assert "by agent" not in text_of(session)


@pytest.mark.parametrize(("operation", "parameters"), TYPING)
async def test_it_is_typed_when_the_person_has_given_the_session_back(
    operation: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    async with house(tmp_path, control_wait=PATIENCE) as ask:
        session, go_on = await slow_shell(ask, tmp_path)
        reference = session.identity.id
        async with ask.watch(ANNA, session) as anna:
            call = await begun(session, ask(operation, session=reference, **parameters))
            await ask("control", ANNA, session=reference, action="take")
            go_on()
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            await anna.type(b"echo by anna\r")
            await shows(session, "by anna")
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            await ask("control", ANNA, session=reference, action="give")
            outcome = await call
            assert "by agent" in outcome.output
            shown = [line for line in lines_of(session) if line.startswith("by ")]
            assert shown == ["by anna", "by agent"]


async def test_a_time_out_counts_also_while_a_person_drives(tmp_path: Path) -> None:
    async with house(tmp_path, control_wait=10 * PATIENCE) as ask:
        session, go_on = await slow_shell(ask, tmp_path)
        reference = session.identity.id
        async with ask.watch(ANNA, session):
            # Before it is admitted, and in the middle of a call that was.
            begins = await begun(
                session, ask("run", session=reference, command="echo by agent", timeout_ms=300)
            )
            await ask("control", ANNA, session=reference, action="take")
            go_on()
            for call in (begins, ask("run", session=reference, command="true", timeout_ms=50)):
                with pytest.raises(ControlHeld):
                    await asyncio.wait_for(call, PATIENCE)
            assert "by agent" not in text_of(session)


async def test_a_shell_that_a_person_took_over_is_not_interrupted(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        prompting = session.stream.prompting
        async with ask.watch(ANNA, session):
            take_when(session, lambda: prompting.phase == "continuation")
            inputs = session.inputs
            outcome = await ask("run", session=session.identity.id, command='echo "open')
            assert outcome.status == "error"
            assert prompting.phase == "continuation"
            assert session.inputs == inputs + 1  # the command itself, and no Ctrl+C


async def test_the_rest_of_a_long_command_waits_for_its_turn(tmp_path: Path) -> None:
    async with house(tmp_path, control_wait=0.0) as ask:
        session = await start(ask.services, "PS1='$ ' exec sh", env={"HOME": NO_HOME})
        await until(session, lambda: text_of(session).endswith("$"))
        ledger = ask.services.ledger

        def reads_parts() -> bool:
            run = ledger.last(session)
            return run is not None and run.state.reads_parts

        async with ask.watch(ANNA, session):
            take_when(session, reads_parts)
            command = f"echo {'long ' * 4000}end"
            with pytest.raises(ControlHeld):
                await ask("run", session=session.identity.id, command=command)
            assert session.display.control.driver == "Anna"
            run = ledger.last(session)
            assert run is not None
            assert not run.state.started_by_mark
            assert text_of(session).count("end") == 1  # the line that she sees, and no output of it


async def test_the_rest_of_a_block_is_not_typed_where_a_person_was(tmp_path: Path) -> None:
    async with house(tmp_path, control_wait=PATIENCE) as ask:
        session = await start(ask.services, f"{sys.executable} -q", env={"PYTHON_BASIC_REPL": "1"})
        await until(session, lambda: text_of(session).endswith(">>>"))
        reference = session.identity.id
        async with ask.watch(ANNA, session) as anna:
            take_when(session, lambda: lines_of(session)[-1] == "...")
            block = "for i in range(3):\n    print('by agent')"
            call = asyncio.create_task(ask("run", session=reference, command=block))
            await until(session, lambda: session.display.control.driver == "Anna")
            await anna.type(b"\x03")
            await until(session, lambda: text_of(session).endswith(">>>"))
            await ask("control", ANNA, session=reference, action="give")
            outcome = await call
            assert (outcome.status, outcome.state.asks) == ("timeout", "repl")
            assert outcome.hint.startswith("2 more lines were not typed")
            assert "by agent" not in text_of(session)


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
async def test_a_line_that_belongs_to_another_is_not_typed_where_a_person_was(
    late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back = asyncio.Event()

    async def settle_late(*arguments: Any, **more: Any) -> Any:
        """Look only when all is over, as a call does that a busy machine wakes late."""
        await given_back.wait()
        return await settle(*arguments, **more)

    if late:
        monkeypatch.setattr(typed_lines, "settle", settle_late)
    async with house(tmp_path, control_wait=PATIENCE) as ask:
        session = await start_marked(ask.services)
        reference, prompting = session.identity.id, session.stream.prompting
        async with ask.watch(ANNA, session) as anna:
            take_when(session, lambda: prompting.phase == "continuation")
            lines = "for i in 1 2; do\necho by agent; done"
            call = asyncio.create_task(ask("run_command", session=reference, input=lines))
            await until(session, lambda: session.display.control.driver == "Anna")
            await reads(session)
            await anna.type(b"\x03")
            await until(session, lambda: prompting.phase == "prompt")
            await ask("control", ANNA, session=reference, action="give")
            given_back.set()
            with pytest.raises(NotAtPrompt, match="1 line of the input was not typed"):
                await call
            assert "by agent" not in text_of(session)
            ran = await ask("run", session=reference, command="echo on")
            assert (ran.status, ran.output) == ("completed", "on")


@pytest.mark.parametrize("caller", [AGENT, LOOKS_ONLY], ids=["driven", "looks only"])
async def test_wait_for_asks_the_shell_only_where_its_caller_may_type(
    caller: Caller, tmp_path: Path
) -> None:
    async with house(tmp_path) as ask:
        session = await start(ask.services, "PS1='$ ' exec sh", env={"HOME": NO_HOME})
        await until(session, lambda: text_of(session).endswith("$"))
        reference = session.identity.id
        sleeps = "sh -c 'echo begun; exec sleep 600'"  # a key that came before would be lost
        ran = await ask("run", session=reference, command=sleeps, timeout_ms=1)
        await shows(session, "begun")
        await ask("send_key", session=reference, key="ctrl+c")
        await until(session, lambda: text_of(session).endswith("$"))
        async with ask.watch(ANNA, session):
            if caller is AGENT:
                await ask("control", ANNA, session=reference, action="take")
            inputs = session.inputs
            waited = await ask("wait_for", caller, run_id=ran.run_id, timeout_ms=1500)
            assert (waited.matched, session.inputs) == (False, inputs)
        waited = await ask("wait_for", AGENT, run_id=ran.run_id)
        assert waited.matched


async def test_what_the_catalog_does_not_know_to_type_does_not() -> None:
    async with house() as ask:
        session = await start(ask.services, "cat")
        spec = ask.dispatch._call(AGENT, GetScreen(session=session.identity.id)).spec
        gate = ask.services.dispatch  # never asked
        permit = Permit(gate, AGENT, types=spec.types_into(GetScreen(session=1)))  # type: ignore[arg-type]
        with holding(permit), pytest.raises(AssertionError):
            session.write(b"x")
