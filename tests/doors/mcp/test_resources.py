"""Resources over both transports and both eras: what they read as, and who hears of changes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, Subscription
from mcp_types import (
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ServerCapabilities,
    TextContent,
    TextResourceContents,
)

from conftest import Daemon
from nacre.doors.mcp.resources import scheme_of
from restarts import crash

from doors.conftest import EACH_ONCE, MODERN, TRANSPORTS, Tools, connect, text_of
from doors.mcp.test_http import TERMINAL, handshake, message_of, modern, post, request
from doors.wire import HANDSHAKE, MODERN_META, Bridge, http_call, request_line

pytestmark = pytest.mark.anyio

OVER = EACH_ONCE

SESSIONS = "nacre://sessions"
LEGACY = [one for one in TRANSPORTS if not one.endswith(MODERN)]
WITHIN = 60  # seconds for what must come; nothing here waits for what must not


async def read(client: Client, uri: str) -> Any:
    [contents] = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    assert (contents.uri, contents.mime_type) == (uri, "application/json")
    return json.loads(contents.text)


async def refused(client: Client, uri: str) -> tuple[int, str]:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    assert caught.value.error.message
    assert isinstance(caught.value.error.data, dict)
    return caught.value.error.code, caught.value.error.data["code"]


def without_clock(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # Both are reckoned from the clock, anew for each answer.
    return [{**session, "idle_seconds": 0, "last_active": 0} for session in sessions]


# --- what they read as ---------------------------------------------------------------------


async def test_the_list_reads_as_list_sessions_tells_it(tools: Tools, echo: str) -> None:
    told = json.loads(text_of(await tools.result("list_sessions")))
    found = await read(tools.client, SESSIONS)
    assert without_clock(found) == without_clock(told)
    assert [session["name"] for session in found] == [echo]
    assert {"name", "pid", "command", "rows", "cols", "running"} <= set(found[0])


async def test_a_screen_reads_as_get_screen_tells_it(tools: Tools, echo: str) -> None:
    details = await tools("list_sessions", session=echo)
    told = await tools("get_screen", session=echo)
    assert {"lines", "cursor", "rows", "cols", "mode"} <= set(told)
    for reference in (echo, details["session_id"], details["port"]):
        assert await read(tools.client, f"{SESSIONS}/{reference}/screen") == told


async def test_what_nobody_sees_is_counted_in_tools_and_resources(tools: Tools) -> None:
    hidden = "a\\u202eb"  # for printf
    command = f"printf '\\033]2;{hidden}\\007'; seq 1 60; printf '{hidden}\\nready'; exec cat"
    await tools("create_session", name="hidden", command="bash", args=["-c", command])
    await tools.until("hidden", "ready")
    told = await tools("get_screen", session="hidden")
    assert "2 bidi" in told["notice"], "one in the title"
    assert "a\ufffdb" in json.dumps(told, ensure_ascii=False)
    assert "\u202e" not in json.dumps(told, ensure_ascii=False)
    assert await read(tools.client, f"{SESSIONS}/hidden/screen") == told
    listed = await tools.result("list_sessions")
    array, notice = [one.text for one in listed.content if isinstance(one, TextContent)]
    assert "1 bidi" in notice, "beside the bare array"
    assert json.loads(array)[0]["title"] == "a\ufffdb"
    assert [session["title"] for session in await read(tools.client, SESSIONS)] == ["a\ufffdb"]
    await tools("manage_session", session="hidden", action="kill")


async def test_the_scrollback_is_its_last_hundred_lines(tools: Tools) -> None:
    await tools("create_session", name="short", command="seq 1 60; exec cat")
    await tools.until("short", "60")
    told = await tools("get_scrollback", session="short")
    assert 0 < told["total"] < 100
    assert await read(tools.client, f"{SESSIONS}/short/scrollback") == told

    await tools("create_session", name="long", command="seq 1 400; exec cat")
    await tools.until("long", "400")
    found = await read(tools.client, f"{SESSIONS}/long/scrollback")
    lines = ["".join(span["text"] for span in line) for line in found["lines"]]
    assert len(lines) == 100
    assert lines[-1] == str(found["total"])
    assert (
        found["lines"]
        == (await tools("get_scrollback", session="long", offset=found["total"] - 100))["lines"]
    )


async def test_an_ended_session_can_still_be_read(tools: Tools) -> None:
    created = await tools("create_session", command="echo last words")
    await tools.ended(created["session"])
    screen = await read(tools.client, f"{SESSIONS}/{created['session']}/screen")
    assert screen["lines"][0][0]["text"] == "last words"


async def test_names_are_percent_decoded(tools: Tools) -> None:
    await tools("create_session", name="a:b+é", command="echo ready; exec cat")
    await tools.until("a:b+é", "ready")
    listed = [resource.uri for resource in (await tools.client.list_resources()).resources]
    assert listed[1] == f"{SESSIONS}/a%3Ab%2B%C3%A9/screen"
    for uri in (listed[1], f"{SESSIONS}/a:b+é/screen", listed[1].replace("nacre", "NACRE")):
        assert (await read(tools.client, uri))["rows"] == 24


async def test_sessions_are_listed_with_screen_and_scrollback(tools: Tools, echo: str) -> None:
    resources = (await tools.client.list_resources()).resources
    mine = [f"{SESSIONS}/{echo}/screen", f"{SESSIONS}/{echo}/scrollback"]
    assert [resource.uri for resource in resources] == [SESSIONS, *mine]
    for resource in resources:
        assert resource.mime_type == "application/json"
        assert resource.name
        assert resource.title
        assert resource.description
        await read(tools.client, resource.uri)


async def test_screen_and_scrollback_are_templates(tools: Tools) -> None:
    templates = (await tools.client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        "nacre://sessions/{name}/screen",
        "nacre://sessions/{name}/scrollback",
    ]
    assert all(template.mime_type == "application/json" for template in templates)


async def test_an_unknown_session_or_resource_is_refused(tools: Tools, echo: str) -> None:
    for path in ("nobody/screen", "nobody/scrollback", "00000000/screen", "1/screen"):
        assert await refused(tools.client, f"{SESSIONS}/{path}") == (-32602, "SESSION_NOT_FOUND")
    for uri in (
        f"{SESSIONS}/",
        f"{SESSIONS}/{echo}",
        f"{SESSIONS}/{echo}/",
        f"{SESSIONS}/{echo}/screenshot",
        f"{SESSIONS}/{echo}/screen/",
        f"{SESSIONS}/{echo}/screen?x=1",
        f"{SESSIONS}//screen",
        "nacre://session",
        "wsh://sessions",
        "file:///etc/passwd",
        "",
    ):
        assert await refused(tools.client, uri) == (-32602, "INVALID_INPUT"), uri


async def test_what_is_advertised_is_what_is_done(tools: Tools) -> None:
    told = tools.client.server_capabilities
    if tools.client.protocol_version == MODERN:  # a pinned client does not ask by itself
        discovered = await tools.client.session.send_discover(MODERN)
        told = ServerCapabilities.model_validate(discovered["capabilities"])
    assert told.resources is not None
    assert (told.resources.subscribe, told.resources.list_changed) == (True, True)
    assert told.prompts is not None
    assert told.tools is not None
    assert not told.prompts.list_changed
    assert not told.tools.list_changed


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_prefix_names_the_scheme(daemon: Daemon, transport: str) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport, prefix="wsh_")
        await client.call_tool("wsh_create_session", {"name": "dev", "command": "cat"})
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        assert uris == [
            "wsh://sessions",
            "wsh://sessions/dev/screen",
            "wsh://sessions/dev/scrollback",
        ]
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "wsh://sessions/{name}/screen"
        for uri in uris:
            await read(client, uri)
        assert await refused(client, SESSIONS) == (-32602, "INVALID_INPUT")
        await client.call_tool("wsh_manage_session", {"session": "dev", "action": "kill"})


@pytest.mark.parametrize(
    ("prefix", "scheme"),
    [
        ("", "nacre"),
        ("wsh_", "wsh"),
        ("wsh-", "wsh"),
        ("_", "nacre"),
        ("My_Term__", "my-term"),
        ("9x_", "nacre-9x"),
        ("_x", "nacre--x"),
    ],
)
def test_every_prefix_makes_a_scheme(prefix: str, scheme: str) -> None:
    assert scheme_of(prefix) == scheme


# --- who hears of changes ------------------------------------------------------------------


class Ear(Protocol):
    """A subscription in either era."""

    async def next(self) -> str | None:
        """Return the URI that is told of next; None is the list."""


@dataclass
class LegacyEar:
    heard: "asyncio.Queue[str | None]" = field(default_factory=asyncio.Queue)

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.heard.put_nowait(message.params.uri)
        elif isinstance(message, ResourceListChangedNotification):
            self.heard.put_nowait(None)

    async def next(self) -> str | None:
        with anyio.fail_after(WITHIN):
            return await self.heard.get()


@dataclass
class ModernEar:
    subscription: Subscription

    async def next(self) -> str | None:
        with anyio.fail_after(WITHIN):
            event = await anext(self.subscription)
        if isinstance(event, ResourceUpdated):
            return event.uri
        assert isinstance(event, ResourcesListChanged)
        return None


@dataclass
class Listening:
    tools: Tools
    transport: str
    legacy: LegacyEar

    @asynccontextmanager
    async def to(self, *uris: str, lists: bool = False) -> AsyncIterator[Ear]:
        """Subscribe as the era does it."""
        client = self.tools.client
        if self.transport.endswith(MODERN):
            async with client.listen(
                resource_subscriptions=uris, resources_list_changed=lists
            ) as subscription:
                assert list(subscription.honored.resource_subscriptions or ()) == list(uris)
                yield ModernEar(subscription)
            return
        for uri in uris:
            await client.session.subscribe_resource(uri)
        if lists:
            await client.list_resources()
        yield self.legacy
        for uri in uris:
            await client.session.unsubscribe_resource(uri)


@pytest.fixture
async def listening(
    request: pytest.FixtureRequest, daemon: Daemon, anyio_backend: str
) -> AsyncIterator[Listening]:
    async with AsyncExitStack() as stack:
        ear = LegacyEar()
        client = await connect(stack, daemon, request.param, heard=ear)
        tools = Tools(client, (await client.list_tools()).tools)
        yield Listening(tools, request.param, ear)
        for session in (await tools("list_sessions"))["sessions"]:
            await tools("manage_session", session=session["session_id"], action="kill")


async def until(ear: Ear, wanted: str | None) -> None:
    while await ear.next() != wanted:
        pass


pytest_legacy = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


@pytest.mark.over(*TRANSPORTS)
@pytest_legacy
async def test_a_screen_that_changes_is_told(listening: Listening) -> None:
    tools = listening.tools
    created = await tools("create_session", name="dev", command="stty -echo; echo ready; exec cat")
    await tools.until("dev", "ready")
    screen = f"{SESSIONS}/{created['port']}/screen"
    scrollback = f"{SESSIONS}/dev/scrollback"
    async with listening.to(screen, scrollback) as ear:
        for text in ("one", "two"):
            await tools("send_input", session="dev", input=f"{text}\r")
            # As it was subscribed to, and only then: read again, it shows what was printed.
            assert {await ear.next(), await ear.next()} == {screen, scrollback}
            lines = (await read(tools.client, screen))["lines"]
            assert [{"text": text}] in lines


@pytest.mark.over(*TRANSPORTS)
@pytest_legacy
async def test_sessions_that_come_and_go_are_told(listening: Listening) -> None:
    tools = listening.tools
    async with listening.to(SESSIONS, lists=True) as ear:
        await tools("create_session", name="dev", command="cat")
        assert {await ear.next(), await ear.next()} == {SESSIONS, None}
        assert len((await tools.client.list_resources()).resources) == 3
        await tools("manage_session", session="dev", action="rename", new_name="other")
        assert {await ear.next(), await ear.next()} == {SESSIONS, None}
        assert [one["name"] for one in await read(tools.client, SESSIONS)] == ["other"]
        await tools("manage_session", session="other", action="kill")
        await until(ear, None)
        assert await read(tools.client, SESSIONS) == []


@pytest_legacy
async def test_a_session_that_goes_ends_its_subscriptions_quietly(listening: Listening) -> None:
    tools = listening.tools
    for name in ("first", "second"):
        await tools("create_session", name=name, command="stty -echo; echo ready; exec cat")
        await tools.until(name, "ready")
    gone, stays = f"{SESSIONS}/first/screen", f"{SESSIONS}/second/screen"
    async with listening.to(gone, stays) as ear:
        await tools("manage_session", session="first", action="kill")
        await tools("create_session", name="first", command="echo another; exec cat")
        await tools.until("first", "another")
        await tools("send_input", session="second", input="still\r")
        await until(ear, stays)
        # What another session of that name does is not told: it is not what was subscribed to.
        await tools("send_input", session="first", input="more\r")
        await tools.until("first", "more")
        await tools("send_input", session="second", input="again\r")
        assert await ear.next() == stays


@pytest_legacy
async def test_after_a_rename_the_id_is_told_and_the_old_name_is_not(listening: Listening) -> None:
    tools = listening.tools
    created = await tools("create_session", name="old", command="stty -echo; echo ready; exec cat")
    await tools.until("old", "ready")
    by_name, by_id = f"{SESSIONS}/old/screen", f"{SESSIONS}/{created['session_id']}/screen"
    async with listening.to(by_name, by_id) as ear:
        await tools("manage_session", session="old", action="rename", new_name="new")
        await tools("send_input", session="new", input="hello\r")
        await tools.until("new", "hello")
        told = await ear.next()
        if told is None:  # the list's change, which who subscribes in the handshake era hears too
            told = await ear.next()
        assert told == by_id


@pytest_legacy
async def test_many_changes_are_told_together(listening: Listening) -> None:
    tools = listening.tools
    lines = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $i; sleep 0.002; done"
    command = f"echo ready; read go; {lines}; echo over; read end"
    await tools("create_session", name="busy", command=command)
    await tools.until("busy", "ready")
    screen = f"{SESSIONS}/busy/screen"
    async with listening.to(screen) as ear:
        began = asyncio.get_running_loop().time()
        await tools("send_input", session="busy", input="\r")
        told = 0
        shown: list[Any] = []
        while [{"text": "over"}] not in shown:
            assert await ear.next() == screen
            told += 1
            shown = (await read(tools.client, screen))["lines"]
        took = asyncio.get_running_loop().time() - began
        assert told <= took / 0.1 + 2, "at most one in a tenth of a second"


@pytest.mark.parametrize("transport", LEGACY)
@pytest_legacy
async def test_unknown_resources_cannot_be_subscribed_to(daemon: Daemon, transport: str) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport)
        for uri, code in (
            (f"{SESSIONS}/nobody/screen", "SESSION_NOT_FOUND"),
            ("nacre://nothing", "INVALID_INPUT"),
        ):
            with pytest.raises(MCPError) as caught:
                await client.session.subscribe_resource(uri)
            assert caught.value.error.code == -32602
            assert isinstance(caught.value.error.data, dict)
            assert caught.value.error.data["code"] == code
        # Nothing to end is no error.
        await client.session.unsubscribe_resource(SESSIONS)


@pytest.mark.parametrize("transport", [one for one in TRANSPORTS if one.endswith(MODERN)])
async def test_what_cannot_be_told_is_not_honoured(daemon: Daemon, transport: str) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport)
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=[SESSIONS, f"{SESSIONS}/nobody/screen", "nacre://nothing"],
        ) as subscription:
            honoured = subscription.honored
            assert honoured.resource_subscriptions == [SESSIONS]
            assert honoured.resources_list_changed is True
            assert not honoured.tools_list_changed
            assert not honoured.prompts_list_changed


@pytest.mark.parametrize("transport", LEGACY)
@pytest_legacy
async def test_who_unsubscribes_or_never_read_the_list_hears_nothing(
    daemon: Daemon, transport: str
) -> None:
    async with AsyncExitStack() as stack:
        ear = LegacyEar()
        client = await connect(stack, daemon, transport, heard=ear)
        tools = Tools(client, (await client.list_tools()).tools)
        await tools("create_session", name="dev", command="stty -echo; echo ready; exec cat")
        await tools.until("dev", "ready")
        assert ear.heard.empty()
        screen, scrollback = f"{SESSIONS}/dev/screen", f"{SESSIONS}/dev/scrollback"
        for uri in (screen, scrollback):
            await client.session.subscribe_resource(uri)
        await client.session.unsubscribe_resource(screen)
        for text in ("one", "two"):
            await tools("send_input", session="dev", input=f"{text}\r")
            assert await ear.next() == scrollback
        await tools("manage_session", session="dev", action="kill")


# --- the raw wire, and who leaves ----------------------------------------------------------


def test_a_client_watches_as_many_resources_as_the_setting_says(
    bridges: Callable[..., Bridge], narrow_daemon: Daemon
) -> None:
    made = narrow_daemon.rest("POST", "/sessions", {"command": "cat"})
    screen, scrollback = (f"{SESSIONS}/{made['session_id']}/{x}" for x in ("screen", "scrollback"))
    bridge = bridges(narrow_daemon.env).handshake()
    for _ in range(2):  # the same once more takes no room
        assert bridge.ask("resources/subscribe", {"uri": screen})["result"] == {}
    refused = bridge.ask("resources/subscribe", {"uri": scrollback})["error"]
    assert (refused["code"], refused["data"]["code"]) == (-32602, "RESOURCE_LIMIT")
    assert "max_watched_resources" in refused["message"]
    assert bridge.ask("resources/unsubscribe", {"uri": screen})["result"] == {}
    assert bridge.ask("resources/subscribe", {"uri": scrollback})["result"] == {}
    assert bridge.close() == 0
    narrow_daemon.rest("POST", f"/sessions/{made['session_id']}/manage", {"action": "kill"})


def test_notifications_on_the_bridges_wire(bridges: Callable[..., Bridge], daemon: Daemon) -> None:
    bridge = bridges(daemon.env).handshake()
    bridge.call("create_session", name="dev", command="echo ready; exec cat")
    bridge.call("await_quiesce", session="dev", timeout_ms=0, last_generation=0)
    uri = f"{SESSIONS}/dev/screen"
    assert bridge.ask("resources/subscribe", {"uri": uri})["result"] == {}
    bridge.write(
        request_line(
            77,
            "tools/call",
            {"name": "send_input", "arguments": {"session": "dev", "input": "x\r"}},
        )
    )
    messages = [bridge.read(), bridge.read()]
    updated = {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": uri},
    }
    assert updated in messages
    daemon.rest("POST", "/sessions/dev/manage", {"action": "kill"})
    changed = {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}
    while (message := bridge.read()) != changed:
        assert message == updated
    assert bridge.close() == 0


def test_a_listening_bridge_ends_with_its_input(
    bridges: Callable[..., Bridge], daemon: Daemon
) -> None:
    bridge = bridges(daemon.env)
    params = {"notifications": {"resourcesListChanged": True}, "_meta": MODERN_META}
    bridge.write(request_line(5, "subscriptions/listen", params))
    told = bridge.read()
    assert told["method"] == "notifications/subscriptions/acknowledged"
    assert told["params"]["notifications"] == {"resourcesListChanged": True}
    identity = "io.modelcontextprotocol/subscriptionId"
    assert told["params"]["_meta"][identity] == 5
    daemon.rest("POST", "/sessions", {"name": "dev", "command": "cat"})
    told = bridge.read()
    assert told["method"] == "notifications/resources/list_changed"
    assert told["params"]["_meta"][identity] == 5
    daemon.rest("POST", "/sessions/dev/manage", {"action": "kill"})
    assert bridge.close() == 0


@pytest.mark.parametrize("transport", ["bridge", "http"])
def test_a_daemon_stops_while_somebody_listens(
    own_daemon: Callable[..., Daemon], bridges: Callable[..., Bridge], transport: str
) -> None:
    import http.client

    daemon = own_daemon()
    params = {"notifications": {"resourcesListChanged": True}, "_meta": MODERN_META}
    if transport == "bridge":
        bridge = bridges(daemon.env)
        bridge.write(request_line(5, "subscriptions/listen", params))
        assert bridge.read()["method"] == "notifications/subscriptions/acknowledged"
        assert daemon.stop() == 0
        return
    connection = http.client.HTTPConnection("127.0.0.1", daemon.state["port"], timeout=WITHIN)
    headers = {
        "Authorization": f"Bearer {daemon.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "subscriptions/listen",
    }
    body = json.dumps(request("subscriptions/listen", params))
    connection.request("POST", TERMINAL, body, headers)
    answer = connection.getresponse()
    while b"acknowledged" not in answer.readline():
        pass
    assert daemon.stop() == 0
    rest = answer.read()
    assert b'"result"' in rest, "the stream ends as the protocol has it"
    connection.close()


@pytest_legacy
async def test_over_the_bridge_subscriptions_outlive_the_daemon(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    async with AsyncExitStack() as stack:
        ear = LegacyEar()
        client = await connect(stack, daemon, TRANSPORTS[0], heard=ear)
        tools = Tools(client, (await client.list_tools()).tools)
        await tools("create_session", name="dev", command="stty -echo; echo ready; exec cat")
        await tools.until("dev", "ready")
        screen = f"{SESSIONS}/dev/screen"
        await client.session.subscribe_resource(screen)
        await asyncio.to_thread(crash, daemon)
        assert await ear.next() == screen  # it may have changed meanwhile
        await tools("send_input", session="dev", input="after\r")
        await tools.until("dev", "after")
        assert await ear.next() == screen


def test_resources_of_the_http_wire(daemon: Daemon) -> None:
    opened = handshake(daemon)
    told = message_of(opened)["result"]["capabilities"]
    assert told["resources"] == {"subscribe": True, "listChanged": True}
    assert told["prompts"] == {"listChanged": False}
    discovered = modern(daemon, "server/discover")["result"]["capabilities"]
    assert discovered["resources"] == {"subscribe": True, "listChanged": True}
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"]}
    post(daemon, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
    answer = message_of(post(daemon, request("resources/read", {"uri": SESSIONS}), **session))
    assert answer["result"]["contents"] == [
        {"uri": SESSIONS, "mimeType": "application/json", "text": "[]"}
    ]
    missing = request("resources/read", {"uri": f"{SESSIONS}/nobody/screen"})
    error = message_of(post(daemon, missing, **session))["error"]
    assert (error["code"], error["data"]["code"]) == (-32602, "SESSION_NOT_FOUND")
    # A session that is closed takes its subscriptions along.
    subscribed = message_of(
        post(daemon, request("resources/subscribe", {"uri": SESSIONS}), **session)
    )
    assert subscribed["result"] == {}
    closed = http_call(
        daemon, "DELETE", TERMINAL, headers={"Mcp-Session-Id": session["Mcp_Session_Id"]}
    )
    assert closed.status == 200


def test_the_handshake_is_as_before(bridges: Callable[..., Bridge], daemon: Daemon) -> None:
    bridge = bridges(daemon.env)
    told = bridge.ask("initialize", HANDSHAKE)["result"]["capabilities"]
    assert told["resources"] == {"subscribe": True, "listChanged": True}
    assert told["tools"] == {"listChanged": False}
    assert told["prompts"] == {"listChanged": False}
