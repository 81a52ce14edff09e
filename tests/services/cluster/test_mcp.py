"""An MCP client at one host's door, and sessions of another."""

import asyncio
import hashlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from conftest import PATIENCE
from nacre.doors.mcp.standing import Standing
from nacre.doors.mcp.tools.selection import parse_selection

from doors.conftest import MODERN, TRANSPORTS, Tools, connect
from doors.wire import Bridge
from services.cluster.several_hosts import HostUnderTest, metrics

pytestmark = pytest.mark.anyio

Hosts = dict[str, HostUnderTest]


@dataclass
class AtDoor:
    """A client at the door of host a, and a session on host b."""

    tools: Tools
    transport: str
    session: str
    heard: "asyncio.Queue[str]"


@pytest.fixture(params=TRANSPORTS[:2])
async def door(
    request: pytest.FixtureRequest, hosts: Hosts, anyio_backend: str
) -> AsyncIterator[AtDoor]:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.put_nowait(message.params.uri)

    async with AsyncExitStack() as stack:
        client = await connect(stack, hosts["a"].daemon, request.param, "all", heard=hear)
        tools = Tools(client, (await client.list_tools()).tools)
        made = await tools("create_session", command="bash --norc", host="b")
        assert made["host"] == "b"
        await tools("wait_for", session=made["session"], state=["prompt"])
        yield AtDoor(tools, request.param, made["session"], heard)
        await tools("manage_session", session=made["session"], action="kill")


async def test_a_long_run_is_told_of_by_time_and_last_line(door: AtDoor, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    told: list[str] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")
        if "halfway" in told[-1] and "opened" not in told:
            told.append("opened")
            await anyio.to_thread.run_sync(gate.write_bytes, b"")

    given = {"session": door.session, "command": f"echo half''way; cat {gate}; echo over"}
    with anyio.fail_after(PATIENCE):
        ran = await door.tools.client.call_tool("run", given, progress_callback=tell)
    assert ran.structured_content is not None
    assert ran.structured_content["exit_code"] == 0
    assert any(line.endswith(" s: halfway") for line in told)


async def test_a_call_that_is_cancelled_is_given_up_there(door: AtDoor, hosts: Hosts) -> None:
    waiting = asyncio.create_task(
        door.tools("wait_for", session=door.session, text="never", timeout_ms=500_000)
    )

    def serving() -> int:
        return int(metrics(hosts["b"]).split("\nnacre_cluster_serving ")[1].split()[0])

    with anyio.fail_after(PATIENCE):
        while not await anyio.to_thread.run_sync(serving):
            pass
        waiting.cancel()
        while await anyio.to_thread.run_sync(serving):
            pass


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_subscription_tells_of_a_screen_on_another_host(door: AtDoor) -> None:
    client, uri = door.tools.client, f"nacre://sessions/{door.session}/screen"
    with anyio.fail_after(PATIENCE):
        if door.transport.endswith(MODERN):
            async with client.listen(resource_subscriptions=[uri]) as subscription:
                await door.tools("send_input", session=door.session, input="echo changed\n")
                event: Any = await anext(subscription)
                assert event.uri == uri
        else:
            await client.session.subscribe_resource(uri)
            await door.tools("send_input", session=door.session, input="echo changed\n")
            assert await door.heard.get() == uri
            await client.session.unsubscribe_resource(uri)
        read = await client.read_resource(uri)
    assert "changed" in str(read.contents[0])


async def test_a_search_finds_what_sessions_on_all_hosts_showed(door: AtDoor, hosts: Hosts) -> None:
    needle = f"needle-{door.transport}"
    hosts["c"].call("create_session", name=f"too-{door.transport}", host="c")
    for name in (door.session, f"too-{door.transport}", door.session):
        hosts["d"].call("run", session=name, command=f"printf '%s\\n' {needle}")
        hosts["d"].call("wait_for", session=name, state=["prompt"])  # a hit shows what is below it
    found = await door.tools("search", text=rf"^{needle}$", regex=True)
    assert sorted(hit["host"] for hit in found["hits"]) == ["b", "b", "c"]
    times = [hit["time"] for hit in found["hits"]]  # by each host's clock
    assert times == sorted(times, reverse=True)
    assert (found["total"], found["complete"]) == (3, True)
    pages = []
    for offset in range(3):
        page = await door.tools("search", text=rf"^{needle}$", regex=True, limit=1, offset=offset)
        pages += page["hits"]
        assert page.get("next_offset") == (offset + 1 if offset < 2 else None)
    assert pages == found["hits"]


def test_an_agent_types_into_a_session_of_another_host(hosts: Hosts) -> None:
    hosts["a"].call("create_session", name="typed-at", host="b", command="bash --norc")
    bridge = Bridge(hosts["a"].daemon.env, "--toolsets=agent")
    try:
        bridge.handshake()
        given = {"session": "typed-at", "text": "echo ty''ped"}
        answer = bridge.ask("tools/call", {"name": "type", "arguments": given})["result"]
    finally:
        bridge.dispose()
    assert "\ntyped\n" in answer["content"][0]["text"], answer


async def test_a_picture_and_a_recording_of_another_host(door: AtDoor) -> None:
    await door.tools("run", session=door.session, command="echo pictured")
    picture = await door.tools.result("screenshot", session=door.session)
    assert any(isinstance(one, types.ImageContent) for one in picture.content)
    recorded = await door.tools("export_recording", session=door.session)
    assert "pictured" in recorded["recording"]


async def test_hosts_and_labels_are_listed_in_a_cluster_alone(door: AtDoor) -> None:
    listed = {one.name: one for one in (await door.tools.client.list_tools()).tools}
    alone = {one["name"]: one for one in Standing(parse_selection("all", None)).tools()["tools"]}
    for name in ("create_session", "start_session", "launch_app"):
        properties = listed[name].input_schema["properties"]
        assert {"host", "labels"} <= properties.keys()
        assert not {"host", "labels"} & alone[name]["inputSchema"]["properties"].keys()
        told = listed[name].output_schema
        assert told is not None
        assert "host" in told["properties"]
        assert "host" not in alone[name]["outputSchema"]["properties"]


def _pipes(host: HostUnderTest) -> int:
    folder = Path(f"/proc/{host.daemon.pid}/fd")
    return sum(os.readlink(one).startswith("pipe:") for one in folder.iterdir() if one.is_symlink())


def test_standard_input_goes_to_a_run_on_another_host(hosts: Hosts) -> None:
    """A short one, one that is longer than a pipe holds, and one that is not read to its end."""
    hosts["a"].call("create_session", name="piped", host="b")

    def run(command: str, data: bytes) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [sys.executable, "-m", "nacre", "run", "b/piped", "--", command],
            env=hosts["a"].daemon.env,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            input=data,
        )

    before = {name: _pipes(one) for name, one in hosts.items()}
    assert run("cat", b"hi\n").stdout == b"hi\n"
    long = os.urandom(1_000_000)
    assert run("sha256sum", long).stdout.split()[0].decode() == hashlib.sha256(long).hexdigest()
    ran = run("head -c 3; (exit 7)", b"x" * 300_000)
    assert (ran.stdout.strip(), ran.returncode) == (b"xxx", 7)
    hosts["a"].until(
        lambda: before == {name: _pipes(one) for name, one in hosts.items()},
        what="a pipe is left open",
    )
