"""The official SDK's client while the daemon under it is killed: it goes on, in each transport."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from mcp import MCPError

from conftest import Daemon
from restarts import crash

from doors.conftest import MODERN, TRANSPORTS, Tools, connect
from doors.mcp.test_http import TERMINAL, handshake, message_of, post, request
from doors.wire import http_call

pytestmark = pytest.mark.anyio


# A request of the 2026 revision over HTTP has no answer begun before its end: the SDK's client ends
# with the connection, whoever the server is.
WAITS_UNDER_WAY = [one for one in TRANSPORTS if one != f"http-{MODERN}"]


@pytest.fixture
async def clients(
    own_daemon: Callable[..., Daemon], anyio_backend: str
) -> AsyncIterator[tuple[Daemon, dict[str, Tools]]]:
    """A client over each transport of one daemon: each of its deaths is felt by all of them."""
    daemon = own_daemon()
    async with AsyncExitStack() as stack:
        connected: dict[str, Tools] = {}
        for transport in TRANSPORTS:
            client = await connect(stack, daemon, transport)
            connected[transport] = Tools(client, (await client.list_tools()).tools)
        yield daemon, connected


async def test_the_sdks_client_goes_on_after_kill_9(
    clients: tuple[Daemon, dict[str, Tools]],
) -> None:
    daemon, connected = clients
    pids = {}
    for transport, tools in connected.items():
        created = await tools("create_session", name=transport, command="echo ready; exec cat")
        await tools.until(transport, "ready")
        pids[transport] = created["pid"]
    for _ in range(2):
        await asyncio.to_thread(crash, daemon)
        for transport, tools in connected.items():
            details = await tools("list_sessions", session=transport)
            assert details["pid"] == pids[transport], transport
            screen = await tools("get_screen", session=transport, format="plain")
            assert "ready" in screen["lines"], transport
    for transport, tools in connected.items():
        listed = (await tools.client.list_tools()).tools
        assert len(listed) == len(tools.listed), transport


async def test_a_call_under_way_fails_and_the_next_one_succeeds(
    clients: tuple[Daemon, dict[str, Tools]],
) -> None:
    daemon, connected = clients
    await connected[TRANSPORTS[0]]("create_session", name="dev", command="cat")
    waiting = {}
    for transport in WAITS_UNDER_WAY:
        tools = connected[transport]
        waiting[transport] = asyncio.create_task(
            tools.result("await_quiesce", session="dev", timeout_ms=600_000, max_wait_ms=600_000)
        )
        await tools("list_sessions")
    await asyncio.to_thread(crash, daemon)
    for transport, wait in waiting.items():
        with pytest.raises(MCPError):
            await wait
        assert (await connected[transport]("list_sessions", session="dev"))["running"], transport


def test_a_session_is_resumed_only_by_daemons_after_the_one_that_opened_it(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    left, closed = (handshake(daemon).headers["mcp-session-id"] for _ in range(2))
    http_call(daemon, "DELETE", TERMINAL, headers={"Mcp-Session-Id": closed})
    assert post(daemon, request("tools/list"), Mcp_Session_Id=closed).status == 404
    crash(daemon)
    for _ in range(2):
        version = {"MCP_Protocol_Version": "2025-06-18"}
        listed = post(daemon, request("tools/list"), Mcp_Session_Id=left, **version)
        assert listed.headers["mcp-session-id"] == left
        assert len(message_of(listed)["result"]["tools"]) == 15
    over = http_call(daemon, "DELETE", TERMINAL, headers={"Mcp-Session-Id": left})
    assert over.status == 200
    assert post(daemon, request("tools/list"), Mcp_Session_Id=left).status == 404
    for never in ("0" * 32, "0" * 8 + "-" + "0" * 31, "x" * 5000):
        assert post(daemon, request("tools/list"), Mcp_Session_Id=never).status == 404
