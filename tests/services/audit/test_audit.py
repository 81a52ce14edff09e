"""The audit in the services: what is recorded of sessions, runs and calls, and what never is."""

import asyncio
import errno
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations.all import parse_operation
from nacre.core.operations.commands import CallCommand
from nacre.core.operations.runs import Run
from nacre.core.operations.safety.approvals import AnswerApproval, ListApprovals
from nacre.core.operations.sessions import CreateSession, ManageSession
from nacre.core.operations.terminal import GetScreen, SendInput
from nacre.errors import Forbidden, NacreError, PolicyDenied
from nacre.services.audit.audit import Audit
from nacre.services.wiring import Services, build_services
from nacre.settings.table import Settings
from nacre.system.storage.audit_log import AuditLog, RotationLimits, read_lines, verify

from services import living as house
from services.living import living, shows, start, start_marked, until

pytestmark = pytest.mark.anyio

AGENT = Caller(door="mcp", client="Claude Code 2.1", cwd="/")


def open_audit(folder: Path, **settings: Any) -> Audit:
    limits = RotationLimits(1 << 20, 10, 0.0)
    loop = asyncio.get_running_loop()
    return Audit(loop, Settings(**settings), lambda: AuditLog(str(folder), limits))


@asynccontextmanager
async def audited(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> AsyncIterator[Services]:
    audit = open_audit(folder / "audit", **settings)

    def build(*given: Any, **more: Any) -> Services:
        return build_services(*given, audit=audit, **more)

    monkeypatch.setattr(house, "build_services", build)
    async with living(folder / "run", folder / "journals", **settings) as services:
        yield services
    audit.close()


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for _, line in read_lines(str(folder / "audit"))]


def of_kind(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [record for record in records(folder) if record["kind"] == kind]


async def test_a_run_leaves_its_input_and_its_end_with_who_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with audited(tmp_path, monkeypatch) as services:
        dispatch = services.dispatch()
        session = await start_marked(services, name="dev")
        await dispatch(AGENT, Run(session="dev", command="(exit 3)"))
        await services.sessions.end_all()
    [typed] = of_kind(tmp_path, "input")
    assert "(exit 3)" in typed["text"]
    assert typed["session"] == "dev"
    assert typed["caller"] == {"door": "mcp", "person": False, "client": "Claude Code 2.1"}
    [run] = of_kind(tmp_path, "run")
    assert (run["command"], run["exit_code"], run["ended_by"]) == ("(exit 3)", 3, "mark")
    assert run["caller"]["door"] == "mcp"
    [spawned], [ended] = of_kind(tmp_path, "spawn"), of_kind(tmp_path, "exit")
    assert spawned["argv"] == ["/bin/bash"]
    assert (spawned["pid"], ended["signal"]) == (session.pid, "SIGHUP")
    assert verify(str(tmp_path / "audit")).findings == []


async def test_what_is_typed_with_echo_off_is_recorded_as_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with audited(tmp_path, monkeypatch) as services:
        dispatch = services.dispatch()
        session = await start(
            services, "stty -echo; echo ready; read x; stty echo; echo shown; exec cat"
        )
        await shows(session, "ready")
        name = session.identity.name
        await dispatch(AGENT, SendInput(session=name, input="hunter2\r"))
        await shows(session, "shown")
        await dispatch(AGENT, SendInput(session=name, input="hello\r"))
        await shows(session, "hello")
    typed = [{**one, "caller": None} for one in of_kind(tmp_path, "input")]
    assert [(one.get("text"), one.get("hidden")) for one in typed] == [
        (None, True),
        ("hello\r", None),
    ]
    for path in (tmp_path / "audit").iterdir():
        assert b"hunter2" not in path.read_bytes()


async def test_what_stands_for_a_secret_is_recorded_instead_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with audited(tmp_path, monkeypatch) as services:
        session = await start_marked(services)
        session.write(b"echo s3cret\r", recorded=b"echo {{secret:API}}\r")
        await until(session, lambda: session.stream.prompting.ended > 0)
    assert [one["text"] for one in of_kind(tmp_path, "input")] == ["echo {{secret:API}}\r"]


async def test_a_record_names_what_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, tools and servers: else a record says only that something was called."""
    asked: tuple[tuple[str, dict[str, Any]], ...] = (
        ("call_command", {"tool": "ls", "args": {"path": "x"}}),
        ("call_command", {"pipeline": [["ls"], ["wc", "-l"]]}),
        ("call_upstream_tool", {"server": "up", "tool": "echo"}),
        ("enable_upstream", {"server": "up", "enabled": False}),
        ("cancel_execution", {"execution_id": "exec_1"}),
    )
    looks = Caller(door="rest", scope=Scope.OBSERVE)
    async with audited(tmp_path, monkeypatch) as services:
        dispatch = services.dispatch()
        for operation, parameters in asked:
            with pytest.raises(Forbidden):
                await dispatch(looks, parse_operation(operation, parameters))
    for (operation, parameters), record in zip(asked, of_kind(tmp_path, "call"), strict=True):
        assert record["operation"] == operation
        assert {name: record.get(name) for name in parameters} == parameters


async def test_acts_and_refusals_are_recorded_and_reading_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with audited(tmp_path, monkeypatch) as services:
        dispatch = services.dispatch()
        made = CreateSession(name="dev", command="cat", env={"API_KEY": "s3cret"})
        await dispatch(AGENT, made)
        await dispatch(AGENT, GetScreen(session="dev"))
        looks = Caller(door="rest", scope=Scope.OBSERVE)
        with pytest.raises(Forbidden):
            await dispatch(looks, SendInput(session="dev", input="hunter2"))
        await dispatch(AGENT, ManageSession(session="dev", action="kill"))
    calls = of_kind(tmp_path, "call")
    assert [(one["operation"], one["outcome"]) for one in calls] == [
        ("create_session", "ok"),
        ("send_input", "FORBIDDEN"),
        ("manage_session", "ok"),
    ]
    assert calls[0]["env"] == ["API_KEY"]
    assert calls[0]["command"] == "cat"
    assert (calls[2]["action"], calls[2]["session"]) == ("kill", "dev")
    written = b"".join(line for _, line in read_lines(str(tmp_path / "audit")))
    assert b"hunter2" not in written
    assert b"s3cret" not in written


async def test_the_log_of_executions_has_one_line_for_each_run_and_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "executions.log"
    async with audited(tmp_path, monkeypatch, audit_log=str(path)) as services:
        dispatch = services.dispatch()
        session = await start_marked(services)
        name = session.identity.name
        await dispatch(AGENT, Run(session=name, command="echo 'a b' c"))
        await dispatch(AGENT, Run(session=name, command="false"))
        looks = Caller(door="rest", scope=Scope.OBSERVE)
        with pytest.raises(Forbidden):
            await dispatch(looks, Run(session=name, command="rm x"))
        with pytest.raises(Forbidden):
            await dispatch(looks, CallCommand(tool="myrm", args={"path": "y"}))
        for tool in ("rm", ""):  # who names no command is refused none
            with pytest.raises(NacreError):
                await dispatch(AGENT, CallCommand(tool=tool))
        outcome = await dispatch(AGENT, Run(session=name, command="read x", timeout_ms=0))
        assert getattr(outcome, "status", "") == "timeout"
        assert len(path.read_text().splitlines()) == 5  # it is not over yet
        run = services.ledger.last(session)
        assert run is not None
        await until(session, lambda: run.state.started_by_mark)
        await dispatch(AGENT, SendInput(session=name, input="\r"))
        await until(session, lambda: run.done)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["command"], one["args"], one["status"], one["exit_code"]) for one in lines] == [
        ("echo", ["a b", "c"], "success", 0),
        ("false", [], "failed", 1),
        ("rm", ["x"], "denied", None),
        ("myrm", [], "denied", None),
        ("rm", [], "denied", None),
        ("read", ["x"], "success", 0),
    ]
    keys = "timestamp user command args status exit_code execution_time_ms"
    assert all(list(one) == keys.split() for one in lines)
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_full_disk_stops_nothing_is_said_and_is_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = open_audit(tmp_path / "audit", audit_pending=100)
    audit.record("daemon", None, None, {"event": "start"})
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(records(tmp_path)) == 1

    def full(log: AuditLog, bodies: list[bytes]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(AuditLog, "write", full)
        for number in range(150):
            audit.record("decision", None, None, {"n": number})
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert list(audit.warnings) == [
            "the audit log cannot be written (No space left on device): 100 records wait, "
            "50 were dropped"
        ]
    audit._write()  # as it does again after a second
    assert list(audit.warnings) == []
    audit.close()
    written = records(tmp_path)
    assert [one["n"] for one in written if one["kind"] == "decision"] == list(range(100))
    assert (written[-1]["event"], written[-1]["records"]) == ("dropped", 50)
    assert verify(str(tmp_path / "audit")).findings == []


async def test_a_decision_is_on_the_disk_before_it_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    really = AuditLog.sync

    def sync(log: AuditLog) -> int:
        synced.append(log.seq)
        return really(log)

    monkeypatch.setattr(AuditLog, "sync", sync)
    audit = open_audit(tmp_path / "audit")
    audit.record("input", None, None, {"text": "x"})
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert synced == []
    audit.record("decision", None, None, {"verdict": "deny"})
    syncing = audit._syncing  # in a later turn of the loop it may be over
    assert syncing is not None
    await syncing
    assert synced == [2]
    audit.close()


async def test_a_long_text_is_cut_and_its_length_is_said(tmp_path: Path) -> None:
    audit = open_audit(tmp_path / "audit", audit_text_chars=80)
    assert audit.text("x" * 80) == {"text": "x" * 80}
    assert audit.text("x" * 81) == {"text": "x" * 80, "chars": 81}
    audit.close()


async def test_a_record_with_bytes_that_are_no_text_holds_and_can_be_read(tmp_path: Path) -> None:
    audit = open_audit(tmp_path / "audit")
    audit.record("call", None, None, {"argv": ["ls", os.fsdecode(b"x\xff")], "text": "ä😀"})
    audit.record("call", None, None, {"text": os.fsdecode(b"\xfe")})
    audit.close()
    assert verify(str(tmp_path / "audit")).findings == []
    first, second = of_kind(tmp_path, "call")
    assert (first["argv"], first["text"]) == (["ls", r"x\xff"], "ä😀")
    assert second["text"] == r"\xfe"
    for _, line in read_lines(str(tmp_path / "audit")):
        msgspec.json.decode(line)


async def test_turned_off_nothing_is_written(tmp_path: Path) -> None:
    audit = open_audit(tmp_path / "audit", audit=False)
    audit.record("daemon", None, None, {})
    audit.close()
    assert not (tmp_path / "audit").exists()


async def test_what_the_policy_asked_or_denied_and_who_answered_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executions = tmp_path / "executions.log"
    person = Caller(door="page", person=True)
    limited = Caller(door="page", person=True, sessions=frozenset({"other"}))
    given = {"policy": "guarded", "approval_wait_alone": 0.0, "audit_log": str(executions)}
    async with audited(tmp_path, monkeypatch, **given) as services:
        session = await start_marked(services, cwd=str(tmp_path))
        dispatch, name = services.dispatch(), session.identity.name
        for command in ("rm -r .", "truncate -s 1 made"):
            with pytest.raises(PolicyDenied):
                await dispatch(AGENT, Run(session=name, command=command))
        listed: Any = await dispatch(person, ListApprovals())
        (question,) = listed.approvals
        for asked in (ListApprovals(), AnswerApproval(id=question.id, answer="once")):
            with pytest.raises(Forbidden):
                await dispatch(limited, asked)
        await dispatch(person, AnswerApproval(id=question.id, answer="once"))
        for command in ("truncate -s 1 made", "true"):
            await dispatch(AGENT, Run(session=name, command=command))
    decisions = of_kind(tmp_path, "decision")
    assert [(one["verdict"], one.get("answer"), one["text"]) for one in decisions] == [
        ("deny", None, "rm -r ."),
        ("ask", "none", "truncate -s 1 made"),
        ("ask", "once", "truncate -s 1 made"),
    ]
    (answer,) = of_kind(tmp_path, "approval")
    assert (answer["answer"], answer["caller"]["person"]) == ("once", True)
    lines = [json.loads(line) for line in executions.read_text().splitlines()]
    assert [line["status"] for line in lines] == ["denied", "denied", "success", "success"]
