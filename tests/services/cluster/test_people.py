"""What people are asked on one host can be answered at every door, and only by people."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from websockets.sync.client import connect as connect_socket

from conftest import Daemon
from nacre.client.calls import AnsweredError

from cli.person import DETACH, Person
from doors.conftest import TRANSPORTS, Tools, connect
from services.cluster.several_hosts import HostUnderTest

Hosts = dict[str, HostUnderTest]


def rest(daemon: Daemon, path: str, token: str, **body: Any) -> Any:
    request = urllib.request.Request(
        f"{daemon.url}/api{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def nacre(host: HostUnderTest, *words: str, given: str = "") -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "nacre", *words],
        env=host.daemon.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        input=given,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def next_question(socket: Any, status: str = "asked") -> dict[str, Any]:
    """Return the next question that the page of a host is told of."""
    for told in socket:
        event = json.loads(told)
        if event.get("event") == "approval" and event["status"] == status:
            found: dict[str, Any] = event["approval"]
            return found
    raise AssertionError("the stream has ended")


@contextmanager
def page(host: HostUnderTest) -> Iterator[Any]:
    """Follow what a person's page follows."""
    headers = {"Authorization": f"Bearer {host.daemon.person_token()}"}
    address = f"ws{host.daemon.url[4:]}/ws/json"
    with connect_socket(address, additional_headers=headers) as socket:
        wanted = {"events": ["sessions", "states", "approvals"]}
        socket.send(json.dumps({"id": 1, "method": "subscribe", "params": wanted}))
        for told in socket:
            if json.loads(told).get("event") == "sync":
                yield socket
                return


def test_an_approval_is_given_at_any_door_for_the_bytes_that_were_asked(
    hosts: Hosts, tmp_path: Path
) -> None:
    line = f"truncate -s 1 {tmp_path}/made"
    made = hosts["b"].call("create_session", name="asks", host="b", policy="guarded")
    agent = hosts["a"].daemon.as_person("create_token", scope="admin")["token"]
    with page(hosts["c"]) as told, ThreadPoolExecutor(1) as pool:
        ran = pool.submit(rest, hosts["a"].daemon, "/sessions/asks/run", agent, command=line)
        asked = next_question(told)
        assert (asked["command"], asked["host"], asked["session_id"]) == (
            *(line, "b"),
            made["session_id"],
        )
        for door in "abcd":
            [listed] = hosts[door].call("list_approvals")["approvals"]
            assert (listed["id"], listed["host"], listed["waiting"]) == (asked["id"], "b", True)
        with pytest.raises(urllib.error.HTTPError) as refused:
            rest(hosts["d"].daemon, f"/approvals/{asked['id']}", _agent(hosts["d"]), answer="once")
        assert refused.value.code == 403
        refused.value.close()
        assert not ran.done()
        assert "on b" in nacre(hosts["d"], "approvals")
        assert "it runs now" in nacre(hosts["d"], "approvals", "approve", asked["id"])
        assert next_question(told, "answered")["id"] == asked["id"]
        assert ran.result()["exit_code"] == 0
    assert (tmp_path / "made").exists()
    with pytest.raises(AnsweredError, match="is open"):
        hosts["a"].call("answer_approval", id=asked["id"], answer="once")


def _agent(host: HostUnderTest) -> str:
    return str(host.daemon.as_person("create_token", scope="admin")["token"])


def test_who_is_inside_of_a_session_cannot_approve_at_another_host(
    hosts: Hosts, tmp_path: Path
) -> None:
    """Its own host knows that it is inside, and signs that."""
    hosts["b"].call("create_session", name="guarded-b", host="b", policy="guarded")
    hosts["a"].call("create_session", name="inside-a", host="a", command="bash --norc")
    with page(hosts["a"]) as told, ThreadPoolExecutor(1) as pool:
        line = f"truncate -s 1 {tmp_path}/never"
        agent = _agent(hosts["a"])
        ran = pool.submit(rest, hosts["a"].daemon, "/sessions/guarded-b/run", agent, command=line)
        asked = next_question(told)
        words = f"{sys.executable} -m nacre approvals approve {asked['id']}"
        tried = hosts["a"].call("run", session="inside-a", command=words)
        assert "from inside of a session" in tried["output"]
        assert tried["exit_code"] != 0
        hosts["c"].call("answer_approval", id=asked["id"], answer="deny")
        with pytest.raises(urllib.error.HTTPError) as denied:
            ran.result()
        denied.value.close()
    assert not (tmp_path / "never").exists()


def test_who_is_attached_at_one_host_approves_on_another(hosts: Hosts, tmp_path: Path) -> None:
    line = "truncate -s 1 made"
    hosts["a"].call(
        "create_session", name="attached", host="b", policy="guarded", cwd=str(tmp_path)
    )
    person = Person(hosts["a"].daemon.env, "attached", cols=220)
    try:
        person.sees("attached")
        agent = _agent(hosts["c"])
        with ThreadPoolExecutor(1) as pool:
            ran = pool.submit(
                rest, hosts["c"].daemon, "/sessions/attached/run", agent, command=line
            )
            person.sees(f"approve? {line}")
            person.type(b"\x19")  # Ctrl+Y
            person.sees("[y]es [s]ession [a]lways [n]o")
            person.type(b"y")
            assert ran.result()["exit_code"] == 0
        assert (tmp_path / "made").exists()
        person.type(DETACH)
        assert person.leaves() == 0
    finally:
        person.close()


def test_the_question_of_a_program_is_answered_from_another_host(hosts: Hosts) -> None:
    hosts["a"].call("create_session", name="prompts", host="d", command="bash --norc")
    agent = _agent(hosts["a"])
    command = "read -s -p 'Password: ' it; echo; echo got ${#it}"
    with page(hosts["b"]) as told:
        ran = rest(hosts["a"].daemon, "/sessions/prompts/run", agent, command=command)
        assert "state" in ran, ran
        assert ran["state"]["asks"] == "password"
        asked = next_question(told)
        assert (asked["kind"], asked["host"]) == ("password", "d")
        nacre(hosts["c"], "approvals", "answer", asked["id"], given="hunter22\n")
        done = hosts["a"].call("wait_for", run_id=ran["run_id"], timeout_ms=30_000)
    assert done["matched"]
    assert "got 8" in hosts["a"].call("read_run", run_id=ran["run_id"])["output"]


def _question(socket: Any, session: str) -> str:
    """Return what a session asks, as soon as the page of a host is told."""
    for told in socket:
        event = json.loads(told)
        if event.get("event") == "state" and event["session"] == session and event["question"]:
            return str(event["question"])
    raise AssertionError("the stream has ended")


def test_what_no_agent_has_met_is_answered_from_another_host(hosts: Hosts) -> None:
    hosts["a"].call("create_session", name="needs-you", host="c")
    with page(hosts["b"]) as told:
        hosts["a"].call("send_input", session="needs-you", input="read -p 'Go on? [y/N] ' it\n")
        look = _question(told, "needs-you")
    with pytest.raises(urllib.error.HTTPError) as refused:
        rest(
            hosts["b"].daemon,
            "/sessions/needs-you/answer",
            _agent(hosts["b"]),
            question=look,
            answer="yes",
        )
    assert refused.value.code == 403
    refused.value.close()
    hosts["b"].call("answer_question", session="needs-you", question=look, answer="yes")
    assert hosts["d"].call("run", session="needs-you", command="echo $it")["output"] == "y"


@pytest.mark.anyio
@pytest.mark.parametrize("transport", TRANSPORTS[:2])
async def test_the_client_that_called_at_the_door_is_asked(
    hosts: Hosts, tmp_path: Path, transport: str
) -> None:
    asked: list[str] = []
    answers = [
        types.ElicitResult(action="accept", content={"answer": "once"}),
        types.ElicitResult(action="decline"),
        types.ElicitResult(action="accept", content={"answer": "yes"}),
    ]

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return answers.pop(0)

    line = f"truncate -s 1 {tmp_path}/made"
    async with AsyncExitStack() as stack:
        daemon = hosts["a"].daemon
        client = await connect(stack, daemon, transport, "terminal,shell", elicit=elicit)
        tools = Tools(client, (await client.list_tools()).tools)
        made = await tools("create_session", policy="guarded", host="b")
        name = made["session"]
        try:
            ran = await tools("run_command", session=name, input=line)
            assert (ran["exit_code"], (tmp_path / "made").exists()) == (0, True)
            assert line in asked[0]
            told = await tools.failure("run_command", session=name, input=line)
            assert (told["code"], len(asked)) == ("POLICY_DENIED", 2)
            question = "echo x >>typed; read -p 'Continue? [y/N] ' it; echo it was $it"
            ran = await tools("run_command", session=name, input=f"cd {tmp_path}; {question}")
            assert "answered yes" in str(ran)
            assert (tmp_path / "typed").read_text() == "x\n"
            assert len(asked) == 3
        finally:
            await tools("manage_session", session=name, action="kill")
