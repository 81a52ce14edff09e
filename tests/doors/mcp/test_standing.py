"""What is answered without the library is what the library answers, in each revision."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from conftest import Daemon
from nacre.doors.mcp.standing import HANDSHAKE_REVISIONS, MODERN_REVISIONS

from doors.wire import HANDSHAKE, MODERN_META, Bridge

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
    assert tuple(MODERN_PROTOCOL_VERSIONS) == MODERN_REVISIONS


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


LATER_META = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}


@pytest.mark.parametrize("options", [(), ("--toolsets", "all", "--prefix", "wsh_")])
def test_without_a_handshake_the_same_is_answered_with_and_without_the_library(
    bridges: Bridges, daemon: Daemon, options: tuple[str, ...]
) -> None:
    nameless = {name: told for name, told in MODERN_META.items() if "clientInfo" not in name}
    for meta in (MODERN_META, nameless, LATER_META):
        ours, theirs = bridges(daemon.env, *options), bridges(daemon.env, *options)
        # What no standing answer is for, the library gets, and all that follows.
        assert "result" in theirs.ask("resources/list", {"_meta": MODERN_META})
        for method in ("server/discover", *LISTS):
            expected = theirs.ask(method, {"_meta": meta})
            answer = ours.ask(method, {"_meta": meta})
            assert answer == {**expected, "id": ours.last}, (method, meta)
        ours.close()
        theirs.close()


def test_a_client_may_shake_hands_after_a_probe(
    bridges: Bridges, own_daemon: Callable[..., Daemon]
) -> None:
    """The AI SDK waits a second for server/discover, then takes the server for an old one."""
    daemon = own_daemon(mcp_load_after=0)
    for meta in (MODERN_META, LATER_META):
        bridge = bridges(daemon.env)
        bridge.ask("server/discover", {"_meta": meta})
        bridge.write(
            b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}\n'
        )
        bridge.handshake()
        assert bridge.call("list_sessions") == {"sessions": []}
        assert "pydantic_core" not in Path(f"/proc/{daemon.pid}/maps").read_text()
        bridge.close()
    bridge = bridges(daemon.env)
    bridge.ask("server/discover", {"_meta": MODERN_META})
    bridge.handshake()
    assert bridge.ask("resources/list")["result"]["resources"][0]["uri"] == "nacre://sessions"


def test_a_probe_decides_for_the_library_too(bridges: Bridges, daemon: Daemon) -> None:
    bridge = bridges(daemon.env)
    assert "result" in bridge.ask("server/discover", {"_meta": MODERN_META})
    assert "envelope" in bridge.ask("resources/list", {"_meta": {}})["error"]["message"]
    assert "result" in bridge.ask("resources/list", {"_meta": MODERN_META})


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
