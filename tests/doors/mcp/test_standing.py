"""What is answered without the library is what the library answers, in each revision."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from conftest import Daemon
from nacre.doors.mcp.standing import HANDSHAKE_REVISIONS

from doors.wire import HANDSHAKE, Bridge

Bridges = Callable[..., Bridge]

# Whoever begins with anything else than the handshake is served by the library alone.
BY_LIBRARY = [False, True]

LISTS = ("tools/list", "prompts/list", "resources/templates/list")


def begun(bridge: Bridge, revision: str, *, by_library: bool) -> tuple[Bridge, Any]:
    """Return a client after its handshake, and what that was answered with."""
    if by_library:
        assert bridge.ask("ping")["result"] == {}
    opened = bridge.ask("initialize", {**HANDSHAKE, "protocolVersion": revision})["result"]
    bridge.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    return bridge, opened


def test_the_revisions_are_the_librarys() -> None:
    assert HANDSHAKE_REVISIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "options",
    [(), ("--toolsets", "all"), ("--toolsets", "extra,shell", "--prefix", "wsh_")],
    ids=["default", "all", "prefixed"],
)
def test_the_same_is_answered_with_and_without_the_library(
    bridges: Bridges, daemon: Daemon, options: tuple[str, ...]
) -> None:
    for revision in (*HANDSHAKE_REVISIONS, "2026-07-28", "1999-01-01"):
        (ours, told), (theirs, expected) = (
            begun(bridges(daemon.env, *options), revision, by_library=by_library)
            for by_library in BY_LIBRARY
        )
        assert told == expected
        assert ours.ask("ping")["result"] == theirs.ask("ping")["result"] == {}
        for method in LISTS:
            for params in (None, {}, {"_meta": {"host": 1}}):
                assert ours.ask(method, params) == {**theirs.ask(method, params), "id": ours.last}
        ours.close()
        theirs.close()


def test_calls_are_answered_as_the_library_answers_them(bridges: Bridges, daemon: Daemon) -> None:
    calls: list[dict[str, Any]] = [
        {"name": "list_sessions"},
        {"name": "list_sessions", "arguments": None},
        {"name": "list_sessions", "arguments": {}, "_meta": {"host/tool": "1"}},
        {"name": "list_sessions", "arguments": {}, "_meta": {"progressToken": 1}},
        {"name": "list_sessions", "arguments": {"nope": 1}},
        {"name": "get_screen", "arguments": {"session": "nobody"}},
        {"name": "run", "arguments": {"port": "nobody", "command": "true"}},
        {"name": "nope", "arguments": {}},
        {"name": 5},
        {"arguments": {}},
    ]
    (ours, _), (theirs, _) = (
        begun(bridges(daemon.env, "--toolsets", "all"), "2025-11-25", by_library=by_library)
        for by_library in BY_LIBRARY
    )
    for call in calls:
        expected = {**theirs.ask("tools/call", call), "id": ours.last + 1}
        assert ours.ask("tools/call", call) == expected, call


def test_the_first_answers_need_no_library() -> None:
    """It takes a second to load: who starts `nacre mcp` without a daemon would wait for it."""
    script = "import sys; import nacre.doors.mcp.late; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {module.partition(".")[0] for module in ran.stdout.split()}
    assert "nacre" in loaded
    assert loaded & {"mcp", "mcp_types", "pydantic", "anyio", "starlette", "uvicorn"} == set()


def test_a_client_that_needs_no_library_does_not_load_it(
    bridges: Bridges, own_daemon: Callable[..., Daemon]
) -> None:
    daemon = own_daemon(mcp_load_after=0)
    bridge = bridges(daemon.env, "--toolsets", "all").handshake()
    for method in LISTS:
        assert "result" in bridge.ask(method)
    created = bridge.call("create_session", command="bash --norc --noprofile")
    assert bridge.call("run", port=created["port"], command="echo x")["output"] == "x"
    mapped = Path(f"/proc/{daemon.pid}/maps")
    assert "pydantic_core" not in mapped.read_text()
    # What is the library's to answer comes all the same, and the rest goes on.
    resources = bridge.ask("resources/list")["result"]["resources"]
    assert resources[0]["uri"] == "nacre://sessions"
    assert "pydantic_core" in mapped.read_text()
    assert bridge.call("run", port=created["port"], command="echo y")["output"] == "y"


def test_what_comes_while_the_library_is_loaded_is_answered_too(
    bridges: Bridges, own_daemon: Callable[..., Daemon]
) -> None:
    daemon = own_daemon(mcp_load_after=0)
    bridge = bridges(daemon.env)
    sent: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": HANDSHAKE},
        {"id": 2, "method": "resources/list"},
        {"method": "notifications/initialized"},
        {"id": 3, "method": "prompts/get", "params": {"name": "nacre:core"}},
        {"id": 4, "method": "tools/call", "params": {"name": "list_sessions"}},
        {"id": "five", "method": "logging/setLevel", "params": {"level": "info"}},
    ]
    for message in sent:
        bridge.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    bridge.close_input()
    answers = bridge.rest_of_output()
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "2", "3", "4", "five"]
    assert all("result" in answer for answer in answers)
