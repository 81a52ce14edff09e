"""Sandboxes outlive the daemon like every session; what is lost is restored in the same one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from confining import needs_bubblewrap
from conftest import Daemon
from crashing import (
    PATIENCE,
    Json,
    call,
    crash,
    create,
    is_dead,
    journal_of,
    kill,
    listed,
    members,
    run,
    send,
    start,
    until,
    wait_gone,
)

pytestmark = needs_bubblewrap

Start = Callable[..., Daemon]


def make_workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "a").write_text("one\n")
    return workspace


def test_sandboxes_outlive_a_crash(begin: Start, tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    daemon = begin()
    for name, profile in (("box", "workspace"), ("dev", "review"), ("brief", "strict")):
        create(daemon, name, cwd=str(workspace), sandbox=profile)
    assert run(daemon, "dev", "echo two >a")["exit_code"] == 0
    assert run(daemon, "box", "sleep 0; X=kept")["exit_code"] == 0
    before = {name: one["pid"] for name, one in listed(daemon).items()}
    crash(daemon)
    after = listed(daemon)
    assert {name: one["pid"] for name, one in after.items()} == before
    assert {name: one["sandbox"] for name, one in after.items()} == {
        "box": "workspace",
        "dev": "review",
        "brief": "strict",
    }
    # By the marks, from the shell that has run all the time.
    again = run(daemon, "box", "echo $X; (exit 3)")
    assert (again["output"], again["exit_code"], again["ended_by"]) == ("kept", 3, "mark")
    # In the foreground is what is known to be there.
    send(daemon, "box", "read -p 'name: ' x\r")
    assert until(daemon, "box", state=["needs_input"])["state"]["asks"] == "line"
    # The keeper knows how it ended.
    send(daemon, "brief", "exit 5\r")
    assert is_dead(daemon, "brief")
    assert listed(daemon)["brief"]["exit_code"] == 5
    # Nothing was tried in this daemon yet.
    call(daemon, "restart_session", session="dev")
    assert run(daemon, "dev", "cat a")["output"] == "two"
    assert (workspace / "a").read_text() == "one\n"
    assert call(daemon, "diff_session", session="dev")["changes"][0]["path"] == "a"
    identifier = listed(daemon)["box"]["session_id"]
    call(daemon, "manage_session", session="box", action="kill")
    assert members(identifier) == []


def test_lost_session_is_restored_in_its_sandbox(begin: Start, tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    (workspace / "sub").mkdir()
    daemon = begin()
    create(daemon, "box", cwd=str(workspace), sandbox="workspace")
    made = create(daemon, "dev", cwd=str(workspace), sandbox="review")
    assert run(daemon, "box", "cd /usr")["cwd"] == "/usr"
    assert run(daemon, "dev", "cd sub; echo two >../a")["exit_code"] == 0
    # With both dead only the disk knows the folder, and that is written a moment after the mark.
    journal = journal_of(daemon, made["session_id"])
    while not any(b"project/sub" in file.read_bytes() for file in journal.iterdir()):
        listed(daemon)
    gone = [os.pidfd_open(one["pid"]) for one in listed(daemon).values()]
    # The keeper first, and the daemon before it has another one.
    os.kill(daemon.pid, signal.SIGSTOP)
    daemon.process.kill()
    daemon.process.wait()
    kill(daemon)
    wait_gone(gone)
    again = start(tmp_path)
    try:
        call(again, "restore_sessions")
        # A folder of the sandbox must not become the workspace.
        done = run(again, "box", "pwd; touch /usr/x 2>/dev/null; touch y")
        assert (done["output"], done["exit_code"]) == (str(workspace), 0)
        assert run(again, "dev", "pwd; cat ../a")["output"].split() == [f"{workspace}/sub", "two"]
        assert (workspace / "a").read_text() == "one\n"
    finally:
        again.stop()


def test_changes_that_nobody_decided_on_are_kept_when_the_daemon_stops(
    begin: Start, tmp_path: Path
) -> None:
    workspace = make_workspace(tmp_path)
    daemon = begin(review_stop_time=60)
    for name in ("dev", "idle"):
        create(daemon, name, cwd=str(workspace), sandbox="review")
    assert run(daemon, "dev", "echo two >a")["exit_code"] == 0
    assert nacre_stop(daemon) == {"success": True, "stopped": True, "kept": ["dev"]}
    assert len(os.listdir(tmp_path / "nacre/state/layers")) == 1
    again = begin(review_stop_time=0)
    assert list(listed(again)) == ["dev"]
    assert call(again, "diff_session", session="dev")["changes"][0]["path"] == "a"
    assert call(again, "apply_session", session="dev")["applied"] == ["a"]
    assert (workspace / "a").read_text() == "two\n"
    # Without time to look, what may have changes is kept.
    create(again, "idle", cwd=str(workspace), sandbox="review")
    assert set(nacre_stop(again)["kept"]) == {"dev", "idle"}


def nacre_stop(daemon: Daemon) -> Json:
    argv = [sys.executable, "-m", "nacre", "stop", "--json"]
    done = subprocess.run(argv, env=daemon.env, capture_output=True, timeout=PATIENCE, check=True)
    daemon.process.wait(PATIENCE)
    stopped: Json = json.loads(done.stdout)
    return stopped
