"""The official SDK's client while the daemon under it is killed: it goes on, in each transport."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from mcp import MCPError

from conftest import Daemon
from restarts import crash

from doors.conftest import MODERN, TRANSPORTS, Tools, connect
from doors.test_mcp_http import handshake, message_of, post, request
from doors.wire import http_call

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def connected(daemon: Daemon, transport: str) -> AsyncIterator[Tools]:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport)
        yield Tools(client, (await client.list_tools()).tools)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_sdks_client_goes_on_after_kill_9(
    own_daemon: Callable[..., Daemon], transport: str
) -> None:
    daemon = own_daemon()
    async with connected(daemon, transport) as tools:
        created = await tools("create_session", name="dev", command="echo ready; exec cat")
        await tools.until("dev", "ready")
        for _ in range(2):
            await asyncio.to_thread(crash, daemon)
            assert (await tools("list_sessions", session="dev"))["pid"] == created["pid"]
            assert "ready" in (await tools("get_screen", session="dev", format="plain"))["lines"]
        assert len((await tools.client.list_tools()).tools) == len(tools.listed)


# A request of the 2026 revision over HTTP has no answer begun before its end: the SDK's client ends
# with the connection, whoever the server is.
@pytest.mark.parametrize("transport", [one for one in TRANSPORTS if one != f"http-{MODERN}"])
async def test_a_call_under_way_fails_and_the_next_one_succeeds(
    own_daemon: Callable[..., Daemon], transport: str
) -> None:
    daemon = own_daemon()
    async with connected(daemon, transport) as tools:
        await tools("create_session", name="dev", command="cat")
        waiting = asyncio.create_task(
            tools.result("await_quiesce", session="dev", timeout_ms=600_000, max_wait_ms=600_000)
        )
        await tools("list_sessions")
        await asyncio.to_thread(crash, daemon)
        with pytest.raises(MCPError):
            await waiting
        assert (await tools("list_sessions", session="dev"))["running"] is True


def test_a_session_is_resumed_only_by_daemons_after_the_one_that_opened_it(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    left, closed = (handshake(daemon).headers["mcp-session-id"] for _ in range(2))
    http_call(daemon, "DELETE", "/mcp", headers={"Mcp-Session-Id": closed})
    assert post(daemon, request("tools/list"), Mcp_Session_Id=closed).status == 404
    crash(daemon)
    for _ in range(2):
        version = {"MCP_Protocol_Version": "2025-06-18"}
        listed = post(daemon, request("tools/list"), Mcp_Session_Id=left, **version)
        assert listed.headers["mcp-session-id"] == left
        assert len(message_of(listed)["result"]["tools"]) == 14
    over = http_call(daemon, "DELETE", "/mcp", headers={"Mcp-Session-Id": left})
    assert over.status == 200
    assert post(daemon, request("tools/list"), Mcp_Session_Id=left).status == 404
    for never in ("0" * 32, "0" * 8 + "-" + "0" * 31, "x" * 5000):
        assert post(daemon, request("tools/list"), Mcp_Session_Id=never).status == 404
