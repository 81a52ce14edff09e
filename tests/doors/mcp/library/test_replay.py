"""Streams over HTTP that break: the first event, and what a client gets that comes back."""

import http.client
import json
from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp.server.streamable_http import GET_STREAM_KEY, EventMessage

from conftest import PATIENCE, Daemon
from nacre.doors.mcp.library.replay import RETRY, RecentEvents
from restarts import crash

from doors.mcp.test_http import TERMINAL, handshake, post, request
from doors.wire import HANDSHAKE


def events_of(body: str) -> list[dict[str, str]]:
    """Return the events of a stream, field by field."""
    events = []
    for block in body.replace("\r\n", "\n").split("\n\n"):
        parts = [line.partition(":") for line in block.split("\n")]
        event = {name: value.strip() for name, _, value in parts if name}  # no name: a comment
        if event:
            events.append(event)
    return events


def came_back(daemon: Daemon, session: str, event: str) -> list[dict[str, str]]:
    """Ask for what came after an event, as a client does whose stream broke; up to an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.state["port"], timeout=PATIENCE)
    headers = {
        "Authorization": f"Bearer {daemon.token}",
        "Accept": "text/event-stream",
        "Mcp-Session-Id": session,
        "MCP-Protocol-Version": "2025-11-25",
        "Last-Event-ID": event,
    }
    try:
        connection.request("GET", TERMINAL, headers=headers)
        response = connection.getresponse()
        assert response.status == 200
        text = ""
        while (line := response.readline()) and '"id":' not in text:
            text += line.decode()
        return events_of(text + "\n")
    finally:
        connection.close()


def test_a_stream_begins_with_an_id_to_come_back_with(daemon: Daemon) -> None:
    opened = handshake(daemon)
    for answer in (opened, post(daemon, request("tools/list"), **told(opened))):
        first, second = events_of(answer.body.decode())
        assert (first["data"], first["retry"]) == ("", str(RETRY))
        assert first["id"] != second["id"]
        assert "result" in json.loads(second["data"])


def told(opened: Any, revision: str = "2025-11-25") -> dict[str, str]:
    session = opened.headers["mcp-session-id"]
    return {"Mcp_Session_Id": session, "MCP_Protocol_Version": revision}


@pytest.mark.parametrize(("agreed", "primed"), [("2025-11-25", True), ("2025-06-18", False)])
def test_what_a_client_can_read_follows_from_its_handshake(
    daemon: Daemon, agreed: str, primed: bool
) -> None:
    """An older client cannot read an event without data, whatever its header says."""
    opened = post(daemon, request("initialize", {**HANDSHAKE, "protocolVersion": agreed}))
    for revision in ("2025-11-25", "2025-03-26"):
        listed = post(daemon, request("tools/list"), **told(opened, revision))
        assert (events_of(listed.body.decode())[0]["data"] == "") is primed


def test_an_answer_that_was_missed_is_given_to_who_comes_back(daemon: Daemon) -> None:
    opened = handshake(daemon)
    session = opened.headers["mcp-session-id"]
    primed, answered = events_of(post(daemon, request("tools/list"), **told(opened)).body.decode())
    assert came_back(daemon, session, primed["id"])[0] == answered
    # Another client's stream of the same name is another stream.
    other = handshake(daemon)
    post(daemon, request("tools/list"), **told(other))
    assert came_back(daemon, other.headers["mcp-session-id"], primed["id"]) == []


def test_who_comes_back_to_the_next_daemon_is_told_that_the_answer_is_lost(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    opened = handshake(daemon)
    primed, _ = events_of(post(daemon, request("tools/list"), **told(opened)).body.decode())
    crash(daemon)
    (lost,) = came_back(daemon, opened.headers["mcp-session-id"], primed["id"])
    message = json.loads(lost["data"])
    assert (message["id"], message["error"]["data"]["retry"]) == (1, True)


# --- the store -----------------------------------------------------------------------------


def answer(number: int, size: int = 10) -> types.JSONRPCMessage:
    return types.JSONRPCResponse(jsonrpc="2.0", id=number, result={"x": "y" * size})


def note() -> types.JSONRPCMessage:
    return types.JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={})


async def replayed(store: RecentEvents, event: str) -> tuple[str | None, list[Any]]:
    sent: list[EventMessage] = []

    async def send(message: EventMessage) -> None:
        sent.append(message)

    stream = await store.replay_events_after(event, send)
    return stream, [one.message for one in sent]


@pytest.mark.anyio
async def test_only_what_came_after_on_the_same_stream_is_replayed() -> None:
    store = RecentEvents("d", 1 << 20)
    first = await store.store_event("1", None)
    await store.store_event("2", answer(2))
    second = await store.store_event("1", note())
    await store.store_event("1", answer(1))
    assert await replayed(store, first) == ("1", [note(), answer(1)])
    assert await replayed(store, second) == ("1", [answer(1)])
    for nonsense in ("", "d", "d.x.1", "1", "d.1.", "d-0.1.1"):
        assert await replayed(store, nonsense) == (None, [])


@pytest.mark.anyio
async def test_an_answer_that_is_not_kept_any_more_is_told_as_an_error() -> None:
    store = RecentEvents("d", 1500)
    first = await store.store_event("1", None)
    await store.store_event("1", answer(1, 900))
    await store.store_event("two", None)
    last = await store.store_event("two", answer(2, 900))
    stream, (told_,) = await replayed(store, first)
    assert stream is None
    assert told_.id == 1
    assert "not kept" in told_.error.message
    # The name is used again: now it is another request's.
    again = await store.store_event("1", None)
    assert await replayed(store, again) == ("1", [])
    assert await replayed(store, last) == ("two", [])
    for stream_id in ("two", GET_STREAM_KEY):
        other = RecentEvents("e", 1000)
        event = await other.store_event(stream_id, note())
        _, sent = await replayed(store, event)
        assert [one.id for one in sent] == (["two"] if stream_id == "two" else [])
