"""nacre audit: the record of who did what, over kills and restarts, without a daemon."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from nacre.client.calls import Client
from nacre.client.start import connect

from cli.conftest import Nacre


def audited(nacre: Nacre, *arguments: str) -> list[dict[str, Any]]:
    printed = nacre.ok("audit", *arguments, "--json")
    return [json.loads(line) for line in printed.splitlines()]


def newest_file(nacre: Nacre) -> Path:
    return sorted(Path(nacre.paths.audit).glob("*.jsonl"))[-1]


def test_without_a_log_it_says_so(own_nacre: Nacre) -> None:
    assert "there is no audit log" in own_nacre.fails("INVALID_INPUT", 2, "audit", "verify")


def test_the_log_outlives_a_killed_daemon_and_names_who_killed_it(own_nacre: Nacre) -> None:
    own_nacre.ok("new", "dev")
    own_nacre.ok("run", "dev", "--", "echo before")
    pid = own_nacre.call("status")["pid"]
    with Client(connect(own_nacre.paths)) as client:
        own_nacre("run", "dev", "--", f"kill -9 {pid}")
        client.wait_until_gone()
    own_nacre.ok("run", "dev", "--", "echo after")
    own_nacre.ok("stop")
    assert "intact: " in own_nacre.ok("audit", "verify")
    assert audited(own_nacre, "query", "--text", f"kill -9 {pid}", "--kind", "input")
    runs = [record["command"] for record in audited(own_nacre, "query", "--kind", "run")]
    assert runs[0] == "echo before"
    assert runs[-1] == "echo after"
    assert len(runs) == len(set(runs))
    events = [record["event"] for record in audited(own_nacre, "query", "--kind", "daemon")]
    assert events == ["start", "start", "stop"]


def test_a_running_daemon_writes_what_it_collects_before_the_records_are_read(
    own_nacre: Nacre, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(own_nacre.env, "NACRE_AUDIT_PAUSE", "60")
    own_nacre.ok("new", "dev")
    own_nacre.ok("run", "dev", "--", "echo once")
    [ran] = audited(own_nacre, "tail", "--kind", "run")
    assert ran["command"] == "echo once"


def test_what_was_changed_removed_or_cut_off_is_named(own_nacre: Nacre) -> None:
    own_nacre.ok("new", "dev", "--", "cat")
    for text in ("one", "two", "three"):
        own_nacre.ok("send", "dev", text)
    own_nacre.ok("stop")
    path = newest_file(own_nacre)
    lines = path.read_bytes().splitlines(keepends=True)
    [second] = [number for number, line in enumerate(lines, 1) if b'"text":"two' in line]

    def verified(changed: list[bytes]) -> list[tuple[str, int | None]]:
        path.write_bytes(b"".join(changed))
        done = own_nacre("audit", "verify", "--json")
        found = json.loads(done.stdout)
        assert done.returncode == (0 if found["ok"] else 1)
        return [(one["kind"], one.get("seq")) for one in found["findings"]]

    assert verified(lines) == []
    forged = [line.replace(b'"two', b'"TWO') for line in lines]
    assert verified(forged) == [("changed", second)]
    assert verified([*lines[: second - 1], *lines[second:]]) == [("removed", second)]
    assert verified(lines[:-1]) == [("cut", len(lines))]
    assert verified([*lines, b'{"seq": 99}\n']) == [("inserted", None)]
    path.write_bytes(b"".join(forged))
    said = own_nacre("audit", "verify").stdout
    assert f"changed   {path}:{second}: record {second} was changed" in said
    assert "NOT intact" in said


def test_records_are_found_by_session_kind_caller_time_and_text(own_nacre: Nacre) -> None:
    for name in ("dev", "other"):
        own_nacre.ok("new", name, "--", "cat")
        own_nacre.ok("send", name, f"to {name}")
    typed = audited(own_nacre, "query", "--session", "dev", "--kind", "input")
    assert [record["text"] for record in typed] == ["to dev\r"]
    assert audited(own_nacre, "query", "--text", "TO OTHER", "--caller", "person", "--since", "1h")
    assert audited(own_nacre, "query", "--caller", "agent") == []
    assert audited(own_nacre, "query", "--until", "2020-01-01") == []
    last = audited(own_nacre, "tail", "-n", "2")
    assert [record["seq"] for record in last] == [
        record["seq"] for record in audited(own_nacre, "query")[-2:]
    ]
    shown = own_nacre.ok("audit", "tail", "-n", "1")
    assert shown.startswith(f"{last[-1]['seq']}  {last[-1]['time']}  input  other  person/cli/")
    assert "--since takes" in own_nacre.fails("INVALID_INPUT", 2, "audit", "query", "--since", "x")


def test_a_run_that_outlives_a_killed_daemon_is_one_execution(own_nacre: Nacre) -> None:
    log = own_nacre.home / "executions.log"
    own_nacre.ok("new", "dev", NACRE_AUDIT_LOG=str(log))
    fifo = own_nacre.home / "go"
    os.mkfifo(fifo)
    own_nacre("run", "dev", "--timeout-ms", "0", "--", f"read x < {fifo}")
    with Client(connect(own_nacre.paths)) as client:
        os.kill(own_nacre.call("status")["pid"], signal.SIGKILL)
        client.wait_until_gone()
    own_nacre.call("status")  # the next one is there
    with fifo.open("w") as other:
        other.write("\n")
    own_nacre.call("wait_for", session="dev", state=["prompt"])
    own_nacre.ok("stop")
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["command"], one["status"]) for one in entries] == [("read", "success")]
