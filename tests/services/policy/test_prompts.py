"""What a program asks reaches a person; what they type reaches the program, and nobody else."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.operations.all import parse_operation
from nacre.core.operations.follow import ApprovalEvent, Follow
from nacre.core.operations.safety.approvals import Answer, Approval, AskPassword, ListApprovals
from nacre.errors import ControlHeld, Forbidden, InvalidInput, PolicyDenied
from nacre.services.dispatch.asking import asked_by
from nacre.services.observe.state import look, question_of
from nacre.services.session.session import Session

from services.living import PATIENCE, start_marked, text_of, until
from services.people import AGENT, ANNA, BERT, House, house

pytestmark = pytest.mark.anyio

PASSWORD = "correct-horse-battery"
ASKS = "read -sp 'Password: ' x; echo got ${#x}"
CONFIRMS = "read -p 'Overwrite? [y/N] ' x; echo said $x"
CLI = Caller(door="cli", person=True)


async def asked(ask: House) -> list[Approval]:
    found: list[Approval] = (await ask.dispatch(ANNA, ListApprovals())).approvals  # type: ignore[attr-defined]
    return found


async def meets(ask: House, session: Session, command: str) -> tuple[Any, Approval]:
    """Let an agent run what asks; return its answer and the question that people have."""
    operation = parse_operation("run", {"session": session.identity.id, "command": command})
    answer = await ask.dispatch.ask(AGENT, operation)
    [question] = await asked(ask)
    return answer, question


async def gone(ask: House) -> None:
    """Return when nothing is asked any more."""
    async with (
        asyncio.timeout(PATIENCE),
        ask.dispatch.follow(ANNA, Follow(events=["approvals"])) as stream,
    ):
        if not await asked(ask):
            return
        async for event in stream:
            if isinstance(event, ApprovalEvent) and event.status == "expired":
                return


async def test_a_person_types_a_password_that_the_agent_met(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        answer, question = await meets(ask, session, ASKS)
        assert answer.result.state.asks == "password"
        assert "never type a password" in "".join(answer.notices)
        assert question.id in "".join(answer.notices)  # nobody is there: how to answer is said
        assert (question.kind, question.command) == ("password", "Password:")
        assert question.session == session.identity.name
        for nobody in (AGENT, Caller(door="mcp", key="agent")):
            with pytest.raises(Forbidden):
                await ask("answer_approval", nobody, id=question.id, answer="text", text="x")
        await ask("answer_approval", CLI, id=question.id, answer="text", text=PASSWORD)
        await until(session, lambda: f"got {len(PASSWORD)}" in text_of(session))
        assert await asked(ask) == []
        with pytest.raises(InvalidInput, match="is open"):
            await ask("answer_approval", CLI, id=question.id, answer="text", text=PASSWORD)


async def test_one_question_is_asked_once_however_often_the_agent_comes(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        _, question = await meets(ask, session, ASKS)
        outcome = await ask("wait_for", session=session.identity.id, state=["needs_input"])
        assert outcome.matched
        assert [one.id for one in await asked(ask)] == [question.id]


async def test_a_run_that_asks_when_too_much_is_asked_already_is_told_as_it_is(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, max_approvals=1) as ask:
        await meets(ask, await start_marked(ask.services), ASKS)
        other = await start_marked(ask.services)
        operation = parse_operation("run", {"session": other.identity.id, "command": ASKS})
        answer: Any = await ask.dispatch.ask(AGENT, operation)
        assert answer.result.state.asks == "password"
        assert "no person was called" in "".join(answer.notices)


async def test_a_question_that_is_no_longer_asked_leaves_and_gets_no_answer(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        _, question = await meets(ask, session, ASKS)
        session.write(b"typed by somebody\r")  # the program may not have read it yet
        inputs = session.inputs
        with pytest.raises(InvalidInput, match=r"no longer asks|is open"):
            await ask("answer_approval", CLI, id=question.id, answer="text", text=PASSWORD)
        assert session.inputs == inputs
        await until(session, lambda: "got 17" in text_of(session))
        assert PASSWORD not in text_of(session)
        await gone(ask)
        _, question = await meets(ask, session, ASKS)
        session.write(b"\x03")
        await gone(ask)


async def test_an_answer_passes_the_gate_of_input(tmp_path: Path) -> None:
    """While another person drives nothing is typed, and the question stays."""
    async with house(tmp_path, control_wait=0.0) as ask:
        session = await start_marked(ask.services)
        async with ask.watch(ANNA, session):
            _, question = await meets(ask, session, ASKS)
            await ask("control", ANNA, session=session.identity.id, action="take")
            with pytest.raises(ControlHeld):
                await ask("answer_approval", CLI, id=question.id, answer="text", text=PASSWORD)
            await ask("answer_approval", ANNA, id=question.id, answer="text", text=PASSWORD)
            await until(session, lambda: f"got {len(PASSWORD)}" in text_of(session))


async def test_a_person_says_yes(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        async with ask.watch(ANNA, session):
            answer, question = await meets(ask, session, CONFIRMS)
            assert any("a person was called" in notice for notice in answer.notices)
        assert (question.kind, question.answers) == ("confirm", ["yes", "no"])
        await ask("answer_approval", ANNA, id=question.id, answer="yes")
        await until(session, lambda: "said y" in text_of(session))


async def asks(ask: House, session: Session, command: str, kind: str) -> str:
    """Type a command, and return what the list of sessions says that it asks."""
    await ask.type_as(ANNA, session, command.encode() + b"\r")
    async with asyncio.timeout(PATIENCE), ask.dispatch.follow(ANNA, ALL) as stream:
        async for event in stream:
            for one in getattr(event, "sessions", [event]):
                if getattr(one, "asks", None) == kind and one.question:
                    return str(one.question)
    raise AssertionError("not asked")


ALL = Follow(events=["states"])


@pytest.mark.parametrize(
    ("command", "kind", "answer", "shown"),
    [
        (ASKS, "password", {"answer": "text", "text": PASSWORD}, f"got {len(PASSWORD)}"),
        (CONFIRMS, "confirm", {"answer": "yes"}, "said y"),
        ("read -p 'Name: ' x; echo is $x", "line", {"answer": "text", "text": "Eve"}, "is Eve"),
    ],
)
async def test_a_person_answers_from_the_list_what_no_agent_has_met(
    tmp_path: Path, command: str, kind: str, answer: dict[str, str], shown: str
) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        ref = session.identity.id
        question = await asks(ask, session, command, kind)
        assert question in command
        with pytest.raises(Forbidden):
            await ask("answer_question", AGENT, session=ref, question=question, **answer)
        with pytest.raises(InvalidInput, match="no longer asks"):
            await ask("answer_question", ANNA, session=ref, question="Other?", **answer)
        done = await ask("answer_question", ANNA, session=ref, question=question, **answer)
        assert done.arrived
        await until(session, lambda: shown in text_of(session))
        with pytest.raises(InvalidInput, match="nothing was typed"):
            await ask("answer_question", ANNA, session=ref, question=question, **answer)


async def test_an_answer_waits_for_no_agent_and_yields_to_another_driver(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        ref = session.identity.id
        question = await asks(ask, session, CONFIRMS, "confirm")
        async with ask.watch(BERT, session):
            await ask("control", BERT, session=ref, action="take")
            with pytest.raises(ControlHeld):
                await ask("answer_question", ANNA, session=ref, question=question, answer="no")
        await ask("answer_question", ANNA, session=ref, question=question, answer="no")
        await until(session, lambda: "said n" in text_of(session))


async def test_the_rest_of_a_command_is_no_question(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        await ask.type_as(ANNA, session, b"echo 'open\r")
        await until(session, lambda: session.stream.prompting.phase == "continuation")
        assert look(session).asks == "line"
        assert question_of(session, look(session)) is None


async def test_a_host_asks_its_user_for_a_yes_but_never_for_a_password(tmp_path: Path) -> None:
    kinds: list[str] = []

    async def asking(approval: Approval) -> Answer | None:
        kinds.append(approval.kind)
        return "no"

    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        with asked_by(asking):
            operation = parse_operation(
                "run", {"session": session.identity.id, "command": CONFIRMS}
            )
            answer = await ask.dispatch.ask(AGENT, operation)
            assert "answered no" in "".join(answer.notices)
            await until(session, lambda: "said n" in text_of(session))
            await until(session, lambda: session.stream.prompting.phase == "prompt")
            await meets(ask, session, ASKS)
        assert kinds == ["confirm"]


async def test_people_are_not_called_for_a_person_or_with_the_setting_off(tmp_path: Path) -> None:
    async with house(tmp_path, call_people=False) as ask:
        session = await start_marked(ask.services)
        await ask("run", session=session.identity.id, command=ASKS)
        assert await asked(ask) == []
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        await ask("run", CLI, session=session.identity.id, command=ASKS)
        assert await asked(ask) == []


# --- askpass -----------------------------------------------------------------------------------


def password_of(session: Session, **more: Any) -> AskPassword:
    given = {"cookie": session.record.secrets.cookie, "prompt": "[sudo] password: ", **more}
    return AskPassword(session=session.identity.id, **given)


async def test_askpass_gets_what_a_person_types(tmp_path: Path) -> None:
    async with house(tmp_path, approval_wait_alone=PATIENCE) as ask:
        session = await start_marked(ask.services)
        program = Caller(door="askpass")
        call = asyncio.create_task(ask.dispatch(program, password_of(session)))
        while not (found := await asked(ask)):  # noqa: ASYNC110  # it is asked in the next turns
            await asyncio.sleep(0)
        assert (found[0].kind, found[0].command) == ("password", "[sudo] password:")
        await ask("answer_approval", CLI, id=found[0].id, answer="text", text=PASSWORD)
        given: Any = await call
        assert given.data == PASSWORD.encode()
        call = asyncio.create_task(ask.dispatch(program, password_of(session)))
        while not (found := await asked(ask)):  # noqa: ASYNC110  # the same
            await asyncio.sleep(0)
        await ask("answer_approval", CLI, id=found[0].id, answer="deny")
        with pytest.raises(PolicyDenied, match="said no"):
            await call
        # Who gives up is no longer asked for.
        call = asyncio.create_task(ask.dispatch(program, password_of(session)))
        while not await asked(ask):  # noqa: ASYNC110  # the same
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        assert await asked(ask) == []


async def test_askpass_is_for_programs_of_the_session_alone_and_nobody_means_no(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, approval_wait_alone=0.0) as ask:
        session = await start_marked(ask.services)
        program = Caller(door="askpass")
        with pytest.raises(Forbidden):
            await ask.dispatch(program, password_of(session, cookie="0" * 32))
        with pytest.raises(PolicyDenied, match="nobody answered"):
            await ask.dispatch(program, password_of(session))
        assert await asked(ask) == []
        assert os.environ.get("NACRE_ASKPASS_SOCKET") is None
