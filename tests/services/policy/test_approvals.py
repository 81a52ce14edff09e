"""What asks waits for a person, whose answer counts for exactly what was asked."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.follow import ApprovalEvent, Follow
from nacre.core.operations.safety.approvals import Answer, Approval, ListApprovals
from nacre.errors import BadParameter, Forbidden, InvalidInput, LimitReached, PolicyDenied
from nacre.services.dispatch.asking import asked_by
from nacre.services.session.session import Session

from services.living import PATIENCE, living, reads, start, start_marked, text_of, until
from services.people import AGENT, ANNA, House

pytestmark = pytest.mark.anyio

LINE = "truncate -s 1 b"  # nothing forbids it, and nothing allows it
CLI = Caller(door="cli", person=True)


@asynccontextmanager
async def guarded(folder: Path, **settings: Any) -> AsyncIterator[House]:
    config, runtime = folder / "config", folder / "run"  # an agent has no business there
    config.mkdir(exist_ok=True)
    runtime.mkdir(exist_ok=True)
    waits = {"approval_wait": PATIENCE, "approval_wait_alone": PATIENCE}
    given = {"policy": "guarded", "policy_check": 0.0, **waits, **settings}
    async with living(runtime, config=config, **given) as services:
        yield House(services)


async def shell(ask: House, folder: Path) -> Session:
    session = await start_marked(ask.services, cwd=str(folder))
    await reads(session)
    return session


async def asked(ask: House) -> Approval:
    """Return the one question, as soon as it is asked."""
    async with (
        asyncio.timeout(PATIENCE / 2),
        ask.dispatch.follow(ANNA, Follow(events=["approvals"])) as stream,
    ):
        if found := await questions(ask):
            return found[0]
        async for event in stream:
            if isinstance(event, ApprovalEvent) and event.status == "asked":
                return event.approval
    raise AssertionError


async def questions(ask: House) -> list[Approval]:
    found: list[Approval] = (await ask.dispatch(ANNA, ListApprovals())).approvals  # type: ignore[attr-defined]
    return found


def begin(ask: House, session: Session, command: str = LINE) -> asyncio.Task[Any]:
    return asyncio.create_task(ask("run", session=session.identity.id, command=command))


async def answer(ask: House, caller: Caller, given: Answer) -> Any:
    question = await asked(ask)
    return await ask("answer_approval", caller, id=question.id, answer=given)


async def test_a_person_is_told_what_is_asked_and_lets_it_run_once(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        call = begin(ask, session)
        question = await asked(ask)
        assert (question.command, question.cwd, question.policy) == (LINE, str(tmp_path), "guarded")
        assert question.session == session.identity.name
        assert question.asked_by.startswith("test")
        assert "truncate" in " ".join(question.reasons)
        assert question.answers == ["once", "session", "save", "deny"]
        assert question.waiting
        assert not (tmp_path / "b").exists()
        done = await ask("answer_approval", ANNA, id=question.id, answer="once")
        assert done.waiting
        assert (await call).exit_code == 0
        assert (tmp_path / "b").exists()
        assert await questions(ask) == []
        again = begin(ask, session)
        await answer(ask, CLI, "deny")
        with pytest.raises(PolicyDenied, match="a person said no"):
            await again


async def test_an_answer_for_the_session_counts_there_and_in_that_folder(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0, approval_wait=PATIENCE) as ask:
        session, other = await shell(ask, tmp_path), await shell(ask, tmp_path)
        async with ask.dispatch.follow(ANNA, Follow(events=["approvals"])):
            call = begin(ask, session)
            await answer(ask, ANNA, "session")
            assert (await call).exit_code == 0
        assert (await begin(ask, session)).exit_code == 0
        (tmp_path / "folder").mkdir()
        await begin(ask, session, "cd folder")
        for elsewhere in (session, other):
            with pytest.raises(PolicyDenied, match="nobody is there"):
                await begin(ask, elsewhere)


async def test_what_is_asked_about_bytes_that_are_no_text_can_be_told(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        typed = base64.b64encode(b"truncate -s 1 x\xfe\r").decode()
        call = asyncio.create_task(
            ask("send_input", session=session.identity.id, input=typed, encoding="base64")
        )
        question = await asked(ask)
        assert question.command == r"truncate -s 1 x\xfe"
        assert "save" not in question.answers  # no file of rules could hold it
        msgspec.json.encode(question)
        msgspec.json.encode(await ask("answer_approval", ANNA, id=question.id, answer="deny"))
        with pytest.raises(PolicyDenied, match="a person said no") as refused:
            await call
        assert refused.value.details["command"] == question.command
        msgspec.json.encode(refused.value.details)


async def test_a_folder_whose_name_is_no_text_can_be_told(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/b\xff"
    os.mkdir(folder)
    async with guarded(tmp_path) as ask:
        session = await start(ask.services, "sh", cwd=str(tmp_path))
        await ask("run", session=session.identity.id, command="cd b*")
        call = begin(ask, session)
        question = await asked(ask)
        assert question.cwd == rf"{tmp_path}/b\xff"
        msgspec.json.encode(question)
        await ask("answer_approval", ANNA, id=question.id, answer="deny")
        with pytest.raises(PolicyDenied):
            await call
        of_it = {"session": session.identity.id, "path": "../../outside"}
        writing = asyncio.create_task(ask("put_file", **of_it, content=""))
        question = await asked(ask)
        assert r"b\xff/../../outside" in question.command
        await ask("answer_approval", ANNA, id=question.id, answer="deny")
        with pytest.raises(PolicyDenied) as refused:
            await writing
        msgspec.json.encode(refused.value.details)


async def test_a_saved_answer_is_a_rule_in_the_users_file(tmp_path: Path) -> None:
    file = tmp_path / "config/policy.toml"
    async with guarded(tmp_path) as ask:
        file.write_text("# mine\n[[rule]]  # keep this\npattern = ['ls']\nverdict = 'allow'")
        session = await shell(ask, tmp_path)
        call = begin(ask, session, "truncate -s 1 'x \\ y' \"z\" 日😀")
        done = await answer(ask, ANNA, "save")
        assert done.file == str(file)
        await call
        assert "# mine\n[[rule]]  # keep this" in file.read_text()
        assert (await begin(ask, session, "truncate -s 1 'x \\ y' \"z\" 日😀")).exit_code == 0
        assert file.stat().st_mode & 0o777 == 0o600


async def test_a_late_answer_counts_once_at_the_next_try(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0) as ask:
        session = await shell(ask, tmp_path)
        with pytest.raises(PolicyDenied, match="nobody is there to answer") as refused:
            await begin(ask, session)
        (question,) = await questions(ask)
        assert refused.value.details["approval"] == question.id
        assert question.id in str(refused.value)
        assert not question.waiting
        done = await ask("answer_approval", CLI, id=question.id, answer="once")
        assert not done.waiting
        assert (await begin(ask, session)).exit_code == 0
        with pytest.raises(PolicyDenied):
            await begin(ask, session)


async def test_a_question_expires(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0, approval_lifetime=1.0) as ask:
        session = await shell(ask, tmp_path)
        with pytest.raises(PolicyDenied):
            await begin(ask, session)
        (question,) = await questions(ask)
        while await questions(ask):  # noqa: ASYNC110  # nothing is told until somebody looks
            await asyncio.sleep(0)
        with pytest.raises(InvalidInput, match="too old"):
            await ask("answer_approval", ANNA, id=question.id, answer="once")


async def test_no_agent_answers(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        call = begin(ask, session)
        question = await asked(ask)
        for agent in (AGENT, replace_pid(CLI, session.pid)):
            with pytest.raises(Forbidden):
                await ask("answer_approval", agent, id=question.id, answer="once")
        # A process outside of all sessions may.
        await ask("answer_approval", replace_pid(CLI, os.getppid()), id=question.id, answer="deny")
        with pytest.raises(PolicyDenied):
            await call


def replace_pid(caller: Caller, pid: int) -> Caller:
    return Caller(door=caller.door, person=caller.person, pid=pid)


async def test_who_attaches_from_inside_of_a_session_is_judged(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0, approval_wait=0.0) as ask:
        session = await shell(ask, tmp_path)
        inside = Caller(door="cli", person=True, key="x", label="attach", pid=session.pid)
        async with ask.watch(inside, session):
            with pytest.raises(PolicyDenied):
                await ask.type_as(inside, session, b"rm a\r")


async def test_keys_whose_line_nobody_knows_are_allowed_only_once(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        name = session.identity.id
        call = asyncio.create_task(ask("send_input", session=name, input="echo a; !!\r"))
        question = await asked(ask)
        assert question.answers == ["once", "deny"]
        with pytest.raises(BadParameter, match="not possible"):
            await ask("answer_approval", ANNA, id=question.id, answer="session")
        await ask("answer_approval", ANNA, id=question.id, answer="once")
        await call
        await until(session, lambda: "event not found" in text_of(session))


async def test_what_changed_while_a_person_thought_is_judged_again(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        name = session.identity.id
        call = asyncio.create_task(ask("send_input", session=name, input=f"{LINE}\r"))
        question = await asked(ask)
        await ask("send_input", session=name, input="rm -r x; ")
        await ask("answer_approval", ANNA, id=question.id, answer="once")
        with pytest.raises(PolicyDenied) as refused:
            await call
        assert refused.value.details["verdict"] == "deny"


async def test_a_call_waits_longer_when_somebody_comes(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait=0.0) as ask:
        session = await shell(ask, tmp_path)
        call = begin(ask, session)
        await asyncio.sleep(0)
        async with ask.watch(ANNA, session):
            with pytest.raises(PolicyDenied, match="nobody answered"):
                await call


async def test_one_answer_lets_one_of_two_equal_calls_run(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        calls = [begin(ask, session), begin(ask, session)]
        async with asyncio.timeout(PATIENCE):
            while len(await questions(ask)) < 2:  # noqa: ASYNC110  # the second is told as the first
                await asyncio.sleep(0)
        first, second = await questions(ask)
        await ask("answer_approval", ANNA, id=first.id, answer="once")
        await ask("answer_approval", ANNA, id=second.id, answer="deny")
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert sorted(type(one).__name__ for one in results) == ["PolicyDenied", "RunOutcome"]


async def test_questions_are_bounded_and_who_left_gives_way_to_who_waits(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0, max_approvals=1) as ask:
        session = await shell(ask, tmp_path)
        with pytest.raises(PolicyDenied):
            await begin(ask, session)
        with pytest.raises(PolicyDenied):  # the same question
            await begin(ask, session)
        with pytest.raises(PolicyDenied):  # nobody waits for the first any more
            await begin(ask, session, "truncate -s 1 c")
        (left,) = await questions(ask)
        assert left.command == "truncate -s 1 c"
        await ask("answer_approval", ANNA, id=left.id, answer="deny")
        async with ask.dispatch.follow(ANNA, Follow(events=["approvals"])):
            waiting = begin(ask, session)
            question = await asked(ask)
            with pytest.raises(LimitReached):
                await begin(ask, session, "truncate -s 1 d")
            await ask("answer_approval", ANNA, id=question.id, answer="deny")
        with pytest.raises(PolicyDenied):
            await waiting


async def test_what_a_session_asked_is_forgotten_with_it(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0) as ask:
        session = await shell(ask, tmp_path)
        with pytest.raises(PolicyDenied):
            await begin(ask, session)
        assert len(await questions(ask)) == 1
        await ask("manage_session", session=session.identity.id, action="kill")
        assert await questions(ask) == []


async def test_the_agents_own_host_can_be_asked(tmp_path: Path) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0) as ask:
        session = await shell(ask, tmp_path)
        seen: list[Approval] = []

        async def host(approval: Approval) -> Answer | None:
            seen.append(approval)
            return "once" if len(seen) == 1 else "deny"

        with asked_by(host):
            assert (await begin(ask, session)).exit_code == 0
            with pytest.raises(PolicyDenied, match="a person said no"):
                await begin(ask, session)
        assert [replace(one, id="", asked=0, expires=0).command for one in seen] == [LINE, LINE]
