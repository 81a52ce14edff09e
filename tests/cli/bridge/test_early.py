"""What a host is answered while the daemon starts: what an earlier one wrote down."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE, environment
from nacre.cli.bridge.early import Early
from nacre.client import written_answers
from nacre.client.lock import acquire
from nacre.client.written_answers import read_answers, write_answers
from nacre.settings.paths import Paths, find_paths

from doors.wire import HANDSHAKE, MODERN_META, Bridge, request_line, tool_line

ANSWERS = {
    "2025-11-25 initialize": b'{"hello":1}',
    "tools/list": b'{"tools":[]}',
    "ping": b"{}",
    "2026-07-28 tools/list": b'{"tools":[],"modern":1}',
}
INITIALIZED = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'


def shaken() -> Early:
    early = Early(ANSWERS)
    assert early.answer(request_line(1, "initialize", HANDSHAKE)) is not None
    return early


def test_a_host_is_answered_by_what_an_earlier_daemon_wrote_while_the_next_one_starts(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path, grace=0)
    paths = find_paths(env)
    first = Bridge(env)
    asked: list[tuple[str, Any]] = [
        ("initialize", HANDSHAKE),
        ("tools/list", None),
        ("prompts/list", {}),
        ("resources/templates/list", {"_meta": {"progressToken": 1}}),
        ("ping", None),
    ]
    expected = [first.ask(*one) for one in asked]
    assert first.close() == 0
    first.dispose()
    # Without the lock no daemon comes up: whatever is answered now is not its answer.
    lock = acquire(paths, patience=PATIENCE)
    assert lock is not None
    second = Bridge(env)
    try:
        assert [second.ask(*one) for one in asked] == expected
        second.write(INITIALIZED + b"\n" + tool_line(9, "list_sessions"))
        os.close(lock)
        answer = second.read()
        assert (answer["id"], answer["result"]["isError"]) == (9, False)
        assert second.close() == 0
        assert second.rest_of_output() == []  # the daemon's own answers are not given again
    finally:
        second.dispose()


def test_a_handshake_is_answered_as_its_revision_wants() -> None:
    answer = Early(ANSWERS).answer(request_line(7, "initialize", HANDSHAKE))
    assert answer is not None
    assert json.loads(answer) == {"jsonrpc": "2.0", "id": 7, "result": {"hello": 1}}
    for other in ("2024-11-05", "2026-07-28"):
        asked = {**HANDSHAKE, "protocolVersion": other}
        assert Early(ANSWERS).answer(request_line(7, "initialize", asked)) is None


def test_a_client_without_a_handshake_is_answered_as_its_revision_wants() -> None:
    early = Early(ANSWERS)
    answer = early.answer(request_line(7, "tools/list", {"_meta": MODERN_META}))
    assert answer is not None
    assert json.loads(answer)["result"] == {"tools": [], "modern": 1}
    assert early.answer(request_line(8, "tools/list")) is None


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":[1],"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"more":1}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run"}}',
        b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
    ],
)
def test_all_else_waits_for_the_daemon(line: bytes) -> None:
    assert shaken().answer(line) is None


def test_a_notification_that_needs_no_answer_gets_none() -> None:
    assert shaken().answer(INITIALIZED) == b""
    assert Early(ANSWERS).answer(INITIALIZED) is None


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A home whose state folder has the answers: the modules' folder is that of all tests."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    found = find_paths({"NACRE_HOME": str(tmp_path)})
    os.makedirs(found.state)
    return found


def test_answers_are_read_as_they_were_written(paths: Paths) -> None:
    assert read_answers(paths, None, None) is None
    assert write_answers(paths, "terminal,shell", "x_", ANSWERS)
    assert read_answers(paths, "terminal,shell", "x_") == ANSWERS
    assert read_answers(paths, "terminal", "x_") is None
    assert read_answers(paths, "terminal,shell", None) is None


def test_answers_of_another_program_do_not_count(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "toolsets.py"
    source.write_text("one")
    monkeypatch.setattr(written_answers, "_sources", lambda: [str(source)])
    assert write_answers(paths, None, None, ANSWERS)
    assert read_answers(paths, None, None) == ANSWERS
    source.write_text("another")
    assert read_answers(paths, None, None) is None
    assert write_answers(paths, None, None, ANSWERS)
    source.unlink()
    assert read_answers(paths, None, None) is None


def test_answers_do_not_count_where_a_cluster_may_be_set(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write_answers(paths, None, None, ANSWERS)
    os.makedirs(paths.config, exist_ok=True)
    Path(paths.config_file).write_text('cluster = "nats://127.0.0.1:4222"\n')
    assert read_answers(paths, None, None) is None
    Path(paths.config_file).write_text("port = 0\n")
    assert read_answers(paths, None, None) == ANSWERS
    monkeypatch.setenv("NACRE_CLUSTER", "nats://127.0.0.1:4222")
    assert read_answers(paths, None, None) is None


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"version": 1}', b'{"files": 3}\nx\ty'])
def test_a_file_that_is_none_does_not_count(paths: Paths, text: bytes) -> None:
    assert write_answers(paths, None, None, ANSWERS)
    (file,) = Path(paths.state).glob("answers*")
    file.write_bytes(text)
    assert read_answers(paths, None, None) is None


def test_what_is_no_name_of_a_toolset_is_no_file(paths: Paths) -> None:
    assert not write_answers(paths, "../../etc", None, ANSWERS)
    assert not write_answers(paths, "a" * 200, None, ANSWERS)


def test_answers_that_cannot_be_written_are_left_out(paths: Paths) -> None:
    os.rmdir(paths.state)
    assert not write_answers(paths, None, None, ANSWERS)


def test_compiled_modules_are_kept_in_the_state_folder_where_none_are_beside_the_sources(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path) | {"PYTHONDONTWRITEBYTECODE": "1"}
    nowhere = ("-X", f"pycache_prefix={tmp_path}/none")
    bridge = [sys.executable, *nowhere, "-m", "nacre", "mcp", "--unknown"]
    assert subprocess.run(bridge, env=env, check=False, capture_output=True).returncode == 2
    kept = Path(find_paths(env).state, "compiled")
    assert list(kept.rglob("bridge.*.pyc"))
    assert not (tmp_path / "none").exists()
