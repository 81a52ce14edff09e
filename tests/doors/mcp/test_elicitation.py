"""The person at an agent's host is asked by it, where the host offers that."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import msgspec
import pytest
from mcp.shared.exceptions import MCPError

from conftest import Daemon
from nacre.core.operations.safety.approvals import Approval
from nacre.doors.mcp.elicitation import answer_of, form_of, offers
from nacre.doors.mcp.lines.messages import HostResponse

from doors.conftest import TRANSPORTS, Tools, connect

pytestmark = pytest.mark.anyio

LINE = "truncate -s 1 made"


@pytest.mark.parametrize("transport", TRANSPORTS[:2])
async def test_the_hosts_person_is_asked(daemon: Daemon, tmp_path: Path, transport: str) -> None:
    asked: list[str] = []
    answers: list[types.ElicitResult] = [
        types.ElicitResult(action="accept", content={"answer": "once"}),
        types.ElicitResult(action="decline"),
    ]

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        assert params.requested_schema["properties"]["answer"]["enum"] == [
            *("once", "session", "save", "deny")
        ]
        return answers.pop(0)

    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport, "terminal,shell", elicit=elicit)
        tools = Tools(client, (await client.list_tools()).tools)
        made = await tools("create_session", command="bash", policy="guarded", cwd=str(tmp_path))
        name = made["session"]
        try:
            ran = await tools("run_command", session=name, input=LINE)
            assert ran["exit_code"] == 0
            assert (tmp_path / "made").exists()
            assert (LINE in asked[0], str(tmp_path) in asked[0], name in asked[0]) == (True,) * 3
            told = await tools.failure("run_command", session=name, input=LINE)
            assert told["code"] == "POLICY_DENIED"
            assert "a person said no" in told["message"]
            assert len(asked) == 2
        finally:
            await tools("manage_session", session=name, action="kill")


@pytest.mark.parametrize("transport", TRANSPORTS[:2])
async def test_the_hosts_person_answers_a_program_and_the_call_is_made_once(
    daemon: Daemon, tmp_path: Path, transport: str
) -> None:
    """In 2026-07-28 a call is repeated with the answer: what it has typed is not typed again."""
    asked: list[str] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        answer = params.requested_schema["properties"]["answer"]["enum"]
        assert answer == ["yes", "no"]
        return types.ElicitResult(action="accept", content={"answer": "yes"})

    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport, "terminal,shell", elicit=elicit)
        tools = Tools(client, (await client.list_tools()).tools)
        made = await tools("create_session", command="bash", cwd=str(tmp_path))
        try:
            line = "echo x >>typed; read -p 'Continue? [y/N] ' it; echo it was $it"
            ran = await tools("run_command", session=made["session"], input=line)
            assert "answered yes" in str(ran)
            assert len(asked) == 1
            assert "Continue?" in asked[0]
            await tools("await_quiesce", session=made["session"], timeout_ms=100)
            shown = str(await tools("get_screen", session=made["session"]))
            assert "it was y" in shown
            assert (tmp_path / "typed").read_text() == "x\n"
        finally:
            await tools("manage_session", session=made["session"], action="kill")


async def test_call_that_was_held_and_is_gone_is_not_made_again(
    daemon: Daemon, tmp_path: Path
) -> None:
    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        raise AssertionError("nothing asks")

    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, "stdio-2026-07-28", "terminal", elicit=elicit)
        params = types.CallToolRequestParams(
            name="create_session",
            arguments={"name": "twice", "cwd": str(tmp_path)},
            request_state="held-of-another-time",
        )
        request = types.CallToolRequest(params=params)
        with pytest.raises(MCPError, match="is gone"):
            await client.session.send_request(request, types.CallToolResult)
        tools = Tools(client, (await client.list_tools()).tools)
        assert "twice" not in str(await tools("list_sessions"))


@pytest.mark.parametrize("transport", TRANSPORTS[2:])
async def test_who_comes_over_http_is_not_believed(
    daemon: Daemon, tmp_path: Path, transport: str
) -> None:
    """An agent that has the token could answer by itself."""

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"answer": "once"})

    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport, "terminal,shell", elicit=elicit)
        tools = Tools(client, (await client.list_tools()).tools)
        made = await tools("create_session", command="bash", policy="guarded", cwd=str(tmp_path))
        try:
            told = await tools.failure("run_command", session=made["session"], input=LINE)
            assert told["code"] == "POLICY_DENIED"
            assert "nobody is there" in told["message"]
            assert not (tmp_path / "made").exists()
        finally:
            await tools("manage_session", session=made["session"], action="kill")


def approval(command: str = LINE) -> Approval:
    return Approval(
        id="1",
        command=command,
        session="dev",
        session_id="2",
        cwd="/",
        policy="guarded",
        asked_by="mcp",
        reasons=["why"],
        rule=None,
        answers=["once", "deny"],
        asked=0.0,
        expires=0.0,
        waiting=True,
    )


def test_a_form_hides_nothing() -> None:
    shown = form_of(approval("echo a\u202e\x1b[2K\nb\U000e0072\u3164"))["message"]
    assert "\n| echo a\\u202e\\x1b[2K\n| b\\U000e0072\\u3164\n" in shown
    beside = msgspec.structs.replace(approval(), cwd="/a\nb\u202e", reasons=["x\u200b", "y\nz"])
    shown = form_of(beside)["message"]
    assert "in /a\\nb\\u202e?" in shown
    assert shown.endswith("x\\u200b; y\\nz")


def test_no_line_of_a_command_looks_like_what_the_form_says() -> None:
    forged = (
        "ls\n\nThe policy (open) asks because: it is new\n\nMay this run in session b, in /?\nx"
    )
    lines = form_of(approval(forged))["message"].split("\n")
    assert [line for line in lines if line.startswith("| ")] == [
        f"| {line}" for line in forged.split("\n")
    ]
    assert sum(line.startswith(("The policy", "May this run")) for line in lines) == 2


def test_what_a_form_does_not_show_to_its_end_can_only_be_refused_there() -> None:
    long = approval("echo " + "a" * 5000)
    form = form_of(long)
    assert "1005 characters left out" in form["message"]
    assert form["requestedSchema"]["properties"]["answer"]["enum"] == ["deny"]
    assert answer_of({"action": "accept", "content": {"answer": "once"}}, long) is None
    assert answer_of({"action": "accept", "content": {"answer": "deny"}}, long) == "deny"


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ({"action": "accept", "content": {"answer": "once"}}, "once"),
        ({"action": "accept", "content": {"answer": "save"}}, None),  # it was not offered
        ({"action": "accept", "content": {}}, None),
        ({"action": "accept"}, None),
        ({"action": "decline"}, "deny"),
        ({"action": "cancel"}, None),
        ({}, None),
    ],
)
def test_only_an_answer_that_was_offered_counts(result: dict[str, Any], answer: str | None) -> None:
    assert answer_of(result, approval()) == answer


def test_a_host_says_whether_it_shows_forms() -> None:
    assert offers({"elicitation": {}})
    assert offers({"elicitation": {"form": {}, "url": {}}})
    assert not offers({"elicitation": {"url": {}}})
    assert not offers({})
    assert not offers(None)


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ('"result": {"action": "accept"}', {"action": "accept"}),
        ('"result": {"action": "accept"}, "error": {"code": 1, "message": "no"}', {}),
        ('"error": {"code": 1, "message": "no"}', {}),
        ('"result": ["accept"]', {}),
        ('"result": null', {}),
    ],
)
def test_an_error_and_what_is_no_object_is_no_answer(members: str, told: dict[str, Any]) -> None:
    line = f'{{"jsonrpc": "2.0", "id": "nacre-approval-1", {members}}}'
    assert msgspec.json.decode(line, type=HostResponse).told == told
