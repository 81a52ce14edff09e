"""The policy judges what comes in at every door, and no agent's door approves."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE, Daemon

from doors.sockets import JsonSocket, open_socket, receive

FORBIDDEN = "rm witness"


@pytest.fixture
def guarded(daemon: Daemon, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A guarded shell, in a folder with a file that nothing may delete."""
    (tmp_path / "witness").touch()
    wanted = {"name": "guarded", "command": "bash", "policy": "guarded", "cwd": str(tmp_path)}
    created = daemon.rest("POST", "/sessions", wanted)
    yield created
    assert (tmp_path / "witness").exists()
    daemon.rest("POST", "/sessions/guarded/manage", {"action": "kill"})


def refused(call: Any) -> dict[str, Any]:
    """Return the error of a request that must be refused."""
    with pytest.raises(urllib.error.HTTPError) as error:
        call()
    with error.value as answer:
        assert answer.status == 403
        told: dict[str, Any] = json.load(answer)["error"]
    return told


def test_rest_refuses_what_the_policy_denies(daemon: Daemon, guarded: dict[str, Any]) -> None:
    for route, body in (
        ("run", {"command": FORBIDDEN}),
        ("command", {"input": FORBIDDEN}),
        ("input", {"input": f"{FORBIDDEN}\r"}),
        ("send", {"text": FORBIDDEN}),
    ):
        error = refused(
            lambda: daemon.rest("POST", f"/sessions/guarded/{route}", body)  # noqa: B023
        )
        assert (error["code"], error["rule"]) == ("POLICY_DENIED", "rm")


def test_a_session_port_refuses_it(daemon: Daemon, guarded: dict[str, Any]) -> None:
    for route in ("run", "in"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{guarded['port']}/{route}",
            method="POST",
            data=FORBIDDEN.encode(),
            headers={"Authorization": f"Bearer {daemon.token}"},
        )
        error = refused(lambda: urllib.request.urlopen(request, timeout=PATIENCE))  # noqa: B023
        assert error["code"] == "POLICY_DENIED"


def test_the_websockets_refuse_it(daemon: Daemon, guarded: dict[str, Any]) -> None:
    with JsonSocket(open_socket(daemon, "/ws/json")) as agent:
        answer = agent.answer(agent.send("send_input", "guarded", input=f"{FORBIDDEN}\r"))
        assert answer["error"]["code"] == "POLICY_DENIED"
    # Who types at a watched screen with a token is no person.
    with open_socket(daemon, "/ws/raw/guarded") as raw:
        raw.send(f"{FORBIDDEN}\r".encode())
        while not isinstance(told := receive(raw), dict) or told.get("event") != "error":
            pass
        assert told["error"]["code"] == "POLICY_DENIED"


def test_a_token_cannot_approve(daemon: Daemon, guarded: dict[str, Any]) -> None:
    with JsonSocket(open_socket(daemon, "/ws/json")) as agent:
        agent.send("run", "guarded", command="truncate -s 1 made")
        while not (found := daemon.rest("GET", "/approvals")["approvals"]):
            pass
        path = f"/approvals/{found[0]['id']}"
        assert refused(lambda: daemon.rest("POST", path, {"answer": "once"}))["code"] == "FORBIDDEN"
        tried = agent.answer(agent.send("answer_approval", id=found[0]["id"], answer="once"))
        assert tried["error"]["code"] == "FORBIDDEN"
