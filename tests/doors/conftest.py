"""The transports of the contract suite, and bridges that are cleaned up after."""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import mcp.client.session
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.session import ElicitationFnT, MessageHandlerFnT, SamplingFnT
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, Tool

from conftest import Daemon, environment, start_daemon

from doors.wire import Bridge, daemon_pid

MODERN = "2026-07-28"

# Both transports in both eras; the handshake's two revisions are shared out among them.
TRANSPORTS = ("stdio-2025-06-18", f"stdio-{MODERN}", "http-2025-11-25", f"http-{MODERN}")
# Both transports and both eras, for what does not depend on how the two go together.
EACH_ONCE = (TRANSPORTS[0], TRANSPORTS[3])
# For what the wire only carries: long tables of what is refused, by the same code for all.
ONE = (TRANSPORTS[3],)


class Tools:
    """A connected client. A call checks what every result must be, whatever the tool."""

    def __init__(self, client: Client, listed: list[Tool]) -> None:
        self.client = client
        self.listed = {tool.name: tool for tool in listed}

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool that must succeed; return its structured content.

        The SDK's client raises for content that does not fit the schema that was listed.
        """
        result = await self.result(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert self.listed[tool].output_schema is not None
        assert result.structured_content is not None
        told = json.loads(text_of(result))
        assert told == result.structured_content.get("sessions", result.structured_content)
        return result.structured_content

    async def failure(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool that must run and fail; return what its text says."""
        result = await self.result(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        told = json.loads(text_of(result))
        assert result.meta is not None
        assert result.meta["nacre/error"] == {"code": told["code"], "message": told["message"]}
        return told

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must be refused by a result; return the stable code."""
        return str((await self.failure(tool, **arguments))["code"])

    async def error(self, tool: str, /, **arguments: Any) -> tuple[int, str]:
        """Call a tool that must be refused; return the JSON-RPC code and the stable one."""
        with pytest.raises(MCPError) as caught:
            await self.result(tool, **arguments)
        assert caught.value.error.message
        assert isinstance(caught.value.error.data, dict)
        return caught.value.error.code, caught.value.error.data["code"]

    async def result(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def until(self, session: str, *texts: str) -> list[str]:
        """Return the plain screen once it shows all the texts, woken by output alone."""
        while True:
            screen = await self("get_screen", session=session, format="plain")
            lines: list[str] = screen["lines"]
            if all(text in "\n".join(lines) for text in texts):
                return lines
            await self(
                "await_quiesce",
                session=session,
                timeout_ms=0,
                last_generation=screen["generation"],
            )

    async def until_line(self, session: str, line: str) -> list[str]:
        """Return the plain screen once it shows a whole line, and the cursor stands below it.

        The kernel may hand over a line's end apart from the line: the screen changes once more.
        """
        while True:
            screen = await self("get_screen", session=session, format="plain")
            lines: list[str] = screen["lines"]
            if line in lines[: screen["cursor"]["row"]]:
                return lines
            await self(
                "await_quiesce",
                session=session,
                timeout_ms=0,
                last_generation=screen["generation"],
            )

    async def ended(self, session: str) -> Any:
        """Return what is told when the session's process has ended."""
        return await self.failure(
            "await_quiesce", session=session, timeout_ms=0, last_generation=10**9
        )


def text_of(result: CallToolResult) -> str:
    assert len(result.content) == 1
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text


async def connect(
    stack: AsyncExitStack,
    daemon: Daemon,
    transport: str,
    toolsets: str | None = None,
    cwd: Path | None = None,
    prefix: str | None = None,
    heard: MessageHandlerFnT | None = None,
    elicit: ElicitationFnT | None = None,
    sample: SamplingFnT | None = None,
) -> Client:
    """Open the official SDK's client over a transport, pinned to a protocol revision.

    `heard` gets the notifications of the handshake era, `elicit` answers for the host's person,
    `sample` for its model.
    """
    kind, _, version = transport.partition("-")
    chosen = {"toolsets": toolsets or "terminal", "prefix": prefix}
    chosen = {name: value for name, value in chosen.items() if value}
    if kind == "stdio":
        options = [f"--{name}={value}" for name, value in chosen.items()]
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "nacre", "mcp", *options],
            env=daemon.env,
            cwd=cwd or daemon.home,
        )
        wire = stdio_client(command)
    else:
        http = await stack.enter_async_context(
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {daemon.token}"}, timeout=60)
        )
        query = f"?{urlencode(chosen)}" if chosen else ""
        wire = streamable_http_client(f"{daemon.url}/mcp{query}", http_client=http)
    if version == MODERN:
        return await stack.enter_async_context(
            Client(wire, mode=MODERN, elicitation_callback=elicit, sampling_callback=sample)
        )
    with pytest.MonkeyPatch.context() as patch:
        # The client always offers its newest handshake; there is no option for an older one.
        patch.setattr(mcp.client.session, "LATEST_HANDSHAKE_VERSION", version)
        client = await stack.enter_async_context(
            Client(
                wire,
                mode="legacy",
                message_handler=heard,
                elicitation_callback=elicit,
                sampling_callback=sample,
            )
        )
    assert client.protocol_version == version
    return client


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "over(*transports): run a test over these transports")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test over the transports that it names by `over`, else its suite's OVER, else all."""
    marker = metafunc.definition.get_closest_marker("over")
    over = marker.args if marker else getattr(metafunc.module, "OVER", TRANSPORTS)
    if "connected" in metafunc.fixturenames:
        metafunc.parametrize("connected", over, indirect=True, scope="module")
    elif "listening" in metafunc.fixturenames:
        metafunc.parametrize("listening", over, indirect=True)


@pytest.fixture(scope="module")
async def connected(
    request: pytest.FixtureRequest, daemon: Daemon, anyio_backend: str
) -> AsyncIterator[Tools]:
    """A client of the toolsets that a suite names by TOOLSETS, else of terminal."""
    async with AsyncExitStack() as stack:
        toolsets = getattr(request.module, "TOOLSETS", None)
        client = await connect(stack, daemon, request.param, toolsets)
        yield Tools(client, (await client.list_tools()).tools)


@pytest.fixture
async def tools(connected: Tools) -> AsyncIterator[Tools]:
    """The tools over each transport, on a daemon without sessions."""
    yield connected
    for session in json.loads(text_of(await connected.result("list_sessions"))):
        if "manage_session" in connected.listed:
            await connected("manage_session", session=session["session_id"], action="kill")
        else:
            await connected("close_session", port=session["session_id"])


@pytest.fixture
async def shell(tools: Tools) -> str:
    """The name of a session with a bare bash at its prompt."""
    created = await tools(
        "create_session",
        command="bash",
        args=["--norc", "--noprofile"],
        env={"PS1": "$ "},
    )
    await tools.until(created["session"], "$")
    return str(created["session"])


@pytest.fixture
async def echo(tools: Tools) -> str:
    """The name of a session that prints each line it gets, and nothing else."""
    created = await tools("create_session", command="stty -echo; echo ready; exec cat")
    await tools.until_line(created["session"], "ready")
    return str(created["session"])


@pytest.fixture(scope="session")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all of these files: loading the MCP library takes longer than most of them."""
    # Nobody comes to answer: a test would only wait.
    started = start_daemon(tmp_path_factory.mktemp("home"), approval_wait_alone=0)
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def daemon(shared_daemon: Daemon) -> Iterator[Daemon]:
    """That daemon without sessions; whatever a file leaves behind is gone after it."""
    yield shared_daemon
    for session in shared_daemon.rest("GET", "/sessions")["sessions"]:
        path = f"/sessions/{session['session_id']}/manage"
        shared_daemon.rest("POST", path, {"action": "kill"})


@pytest.fixture(scope="session")
def small_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that takes messages of up to 64 KiB."""
    started = start_daemon(tmp_path_factory.mktemp("small"), max_message_bytes=65536)
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="session")
def narrow_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon whose limits for one client are soon reached."""
    started = start_daemon(
        tmp_path_factory.mktemp("narrow"),
        max_requests=1,
        max_waiting_requests=3,
        max_subscriptions=2,
        max_watched_resources=1,
        ticket_lifetime=7,
        code_lifetime=9,
    )
    yield started
    assert started.stop() == 0


@pytest.fixture
def home_env(tmp_path: Path) -> Iterator[Callable[..., dict[str, str]]]:
    """Environments of a home without a daemon; one that comes up there is ended afterwards."""
    used: list[dict[str, str]] = []

    def make(**settings: object) -> dict[str, str]:
        used.append(environment(tmp_path, **settings))
        return used[-1]

    yield make
    for env in used[:1]:
        # Not found: none came up, or it is gone as it should.
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(daemon_pid(env), signal.SIGTERM)


@pytest.fixture
def bridges() -> Iterator[Callable[..., Bridge]]:
    """Start bridges; those that still run at the end are killed."""
    started: list[Bridge] = []

    def start(env: dict[str, str], *options: str, cwd: Path | None = None) -> Bridge:
        started.append(Bridge(env, *options, cwd=cwd))
        return started[-1]

    yield start
    for bridge in started:
        bridge.dispose()
