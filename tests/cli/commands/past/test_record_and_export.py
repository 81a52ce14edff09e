"""record, export, restore."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Daemon, start_daemon
from restarts import crash

from cli.conftest import Nacre
from cli.person import Person

PATIENCE = 60.0  # seconds


@pytest.fixture
def talker(running: Nacre) -> Iterator[str]:
    running.call("create_session", name="talker", command="echo hello; exec cat")
    running.until("talker", "hello")
    yield "talker"
    running.call("manage_session", session="talker", action="kill")


def output_of(recording: str) -> str:
    header, *events = map(json.loads, recording.splitlines())
    assert header["version"] == 3
    return "".join(text for _, code, text in events if code == "o")


def test_export_prints_an_asciicast(nacre: Nacre, talker: str) -> None:
    assert "hello" in output_of(nacre.ok("export", talker, "--cast"))


def test_export_writes_a_new_file_and_never_an_old_one(nacre: Nacre, talker: str) -> None:
    file = nacre.home / "saved.cast"
    assert nacre.ok("export", talker, "-o", "saved.cast", "--markers", "--input") == "saved.cast\n"
    assert "hello" in output_of(file.read_text())
    assert "already exists" in nacre.fails("FAILED", 1, "export", talker, "-o", str(file))
    file.unlink()


def test_export_of_a_span_without_a_length_is_refused(nacre: Nacre, talker: str) -> None:
    nacre.fails("INVALID_INPUT", 2, "export", talker, "--since", "20", "--until", "10")


def test_record_ends_with_the_session(nacre: Nacre, running: Nacre) -> None:
    running.call("create_session", name="short", command="echo before; read x; echo after")
    running.until("short", "before")
    recording = nacre.start("record", "short", "short.cast")
    assert recording.stderr is not None
    assert "recording short" in recording.stderr.readline()
    running.call("send_input", session="short", input="go\r")
    printed, _ = recording.communicate(timeout=PATIENCE)
    assert (recording.returncode, printed) == (0, "short.cast\n")
    shown = output_of((nacre.home / "short.cast").read_text())
    assert "after" in shown
    running.call("dismiss_session", session="short")


def test_record_waits_no_longer_at_once_than_the_daemon_lets_it(own_nacre: Nacre) -> None:
    nacre = replace(own_nacre, env={**own_nacre.env, "NACRE_MAX_WAIT": "100"})
    nacre.ok("new", "short", "--", "sh", "-c", "read x; echo after")
    recording = nacre.start("record", "short", "--all")
    assert recording.stderr is not None
    assert "recording short" in recording.stderr.readline()
    nacre.call("send_input", session="short", input="go\r")
    assert recording.communicate(timeout=PATIENCE) == ("short.cast\n", "")
    assert "after" in output_of((nacre.home / "short.cast").read_text())


def test_record_ends_with_ctrl_c(nacre: Nacre, talker: str, running: Nacre) -> None:
    recording = nacre.start("record", talker, "--all")
    assert recording.stderr is not None
    recording.stderr.readline()
    running.call("send_input", session=talker, input="typed\r")
    running.until(talker, "typed")
    recording.send_signal(signal.SIGINT)
    printed, _ = recording.communicate(timeout=PATIENCE)
    assert (recording.returncode, printed) == (0, "talker.cast\n")
    shown = output_of((nacre.home / "talker.cast").read_text())
    assert "hello" in shown
    assert "typed" in shown


def test_replay_of_a_session_shows_what_it_showed(nacre: Nacre, talker: str) -> None:
    assert "hello" in nacre.ok("replay", talker)


# --- after a reboot ------------------------------------------------------------------------


def lose(daemon: Daemon) -> None:
    """End daemon and keeper as a power cut would; what ran in its sessions ends too."""
    pid = daemon.pid
    os.kill(daemon.process.pid, signal.SIGSTOP)  # or it would start the next daemon
    os.kill(pid, signal.SIGKILL)
    os.kill(daemon.process.pid, signal.SIGKILL)
    daemon.process.wait(PATIENCE)


def test_lost_sessions_are_listed_and_restored(tmp_path: Path) -> None:
    daemon = start_daemon(tmp_path)
    nacre = Nacre(tmp_path, daemon.env)
    folder = tmp_path / "work"
    folder.mkdir()
    nacre.call("create_session", name="dev", cwd=str(folder), rows=30, cols=100)
    nacre.call("run", session="dev", command="seq 200; mkdir deep; cd deep")
    nacre.call("create_session", name="other", command="echo ready; exec cat")
    nacre.until("other", "ready")
    nacre.call("create_session", name="gone", command="cat")
    nacre.call("manage_session", session="gone", action="kill")
    lose(daemon)

    # A daemon comes up for the list alone, and does not take the lost ones with it.
    listed = {session["name"]: session for session in nacre.json("list")}
    assert set(listed) == {"dev", "other"}
    assert {session["state"] for session in listed.values()} == {"lost"}
    assert "200" in nacre.ok("screen", "dev")
    assert nacre.ok("scrollback", "dev", "--limit", "3").splitlines()[1:] == ["1", "2"]
    nacre.ok("stop")

    assert nacre.ok("restore", "other") == "restored: other\n"
    assert nacre.ok("restore") == "restored: dev\n"
    assert nacre.ok("restore") == "no session is lost\n"
    dev = nacre.call("list_sessions", session="dev")
    assert (dev["rows"], dev["cols"], dev["running"]) == (30, 100, True)
    assert dev["session_id"] == listed["dev"]["session_id"]
    ran = nacre.call("run", session="dev", command="pwd")
    assert ran["output"] == str(folder / "deep")
    nacre.until("other", "ready")
    nacre.call("manage_session", session="other", action="kill")
    nacre.ok("stop")
    # Nothing is left of a killed one either, so the list needs no daemon.
    assert nacre.ok("list") == "no sessions; start one with 'nacre new'\n"
    assert nacre("status").returncode == 1


def test_a_lost_session_is_restored_in_its_own_size_whoever_was_attached(tmp_path: Path) -> None:
    daemon = start_daemon(tmp_path)
    nacre = Nacre(tmp_path, daemon.env)
    nacre.call("create_session", name="dev", command="exec cat", rows=30, cols=100)
    before = Person(nacre.env, "dev", rows=20, cols=60)
    try:
        before.sees("Ctrl+]")
        assert nacre.call("list_sessions", session="dev")["cols"] == 60
        lose(daemon)
    finally:
        before.close()
    assert [one["state"] for one in nacre.json("list")] == ["lost"]
    after = Person(nacre.env, "dev", rows=20, cols=60)
    try:
        assert after.leaves() == 1
        assert "dev was lost with its daemon" in after.text
    finally:
        after.close()
    assert nacre.ok("restore", "dev") == "restored: dev\n"
    dev = nacre.call("list_sessions", session="dev")
    assert (dev["rows"], dev["cols"]) == (30, 100)
    nacre.ok("stop")


def test_upgrade_replaces_the_daemon_under_a_running_command(tmp_path: Path) -> None:
    daemon = start_daemon(tmp_path)
    nacre = Nacre(tmp_path, daemon.env)
    try:
        nacre.call("create_session", name="dev")
        os.mkfifo(tmp_path / "gate")
        late = nacre.call(
            "run",
            session="dev",
            command=f"echo one; read x < {tmp_path}/gate; echo $x",
            timeout_ms=1,
        )
        before = nacre.call("status")
        told = nacre.json("server", "--upgrade")
        assert told["pid"] != before["pid"]
        assert (told["keeper_pid"], told["sessions"]) == (before["keeper_pid"], 1)
        with open(tmp_path / "gate", "w") as gate:
            gate.write("two\n")
        waited = nacre.call("wait_for", run_id=late["run_id"])
        assert waited["matched"]
        page = nacre.call("read_run", run_id=late["run_id"])
        assert (page["output"], page["exit_code"]) == ("one\ntwo", 0)
    finally:
        nacre.ok("stop")
        assert daemon.process.wait(PATIENCE) == 0


def test_upgrade_without_a_keeper_is_refused(tmp_path: Path) -> None:
    daemon = start_daemon(tmp_path, keeper="false")
    nacre = Nacre(tmp_path, daemon.env)
    try:
        assert daemon.pid == daemon.process.pid
        assert nacre.call("status")["keeper_pid"] is None
        assert "no keeper" in nacre.fails("FAILED", 1, "server", "--upgrade")
    finally:
        assert daemon.stop() == 0


def test_upgrade_of_nothing_says_so(tmp_path: Path, nacre: Nacre) -> None:
    alone = Nacre(tmp_path, {**nacre.env, "NACRE_HOME": str(tmp_path / "empty")})
    done: subprocess.CompletedProcess[str] = alone("server", "--upgrade")
    assert (done.returncode, "no daemon is running" in done.stderr) == (7, True)


def test_what_cannot_be_recorded_is_not_announced(running: Nacre) -> None:
    done = running("record", "nobody")
    assert done.returncode == 3
    assert "recording" not in done.stderr


def test_what_runs_is_not_to_be_started_again_by_who_restores(running: Nacre) -> None:
    running.call("create_session", name="runs-on", command="cat")
    done = running("restore", "runs-on")
    assert done.returncode == 2
    assert done.stderr == "nacre: session 'runs-on' is running: there is nothing to restore\n"
    running.call("manage_session", session="runs-on", action="kill")


# --- a recording that is written as it goes ------------------------------------------------------


def events_of(file: Path) -> list[list[Any]]:
    """Return the events of a recording, every line of which must be whole."""
    text = file.read_text()
    assert text.endswith("\n")
    header, *events = map(json.loads, text.splitlines())
    assert header["version"] == 3
    assert all(interval >= 0 and code in "oirmx" for interval, code, _ in events)
    return events


def record(nacre: Nacre, session: str, *more: str) -> "subprocess.Popen[str]":
    recording = nacre.start("record", session, *more)
    assert recording.stderr is not None
    assert "recording" in recording.stderr.readline()
    return recording


def until_written(file: Path, text: str) -> None:
    """Return when the text is in the file: its recorder writes it, and tells nobody."""
    while text not in output_of(file.read_text()):
        pass


@pytest.mark.parametrize("place", ["there.cast", "nowhere/x.cast", "."])
def test_path_of_a_recording_is_checked_first(nacre: Nacre, talker: str, place: str) -> None:
    there = nacre.home / "there.cast"
    there.write_text("mine")
    said = nacre.fails("FAILED", 1, "record", talker, place)
    assert "already exists" in said or "cannot be written: " in said
    assert "recording talker" not in said
    assert there.read_text() == "mine"
    there.unlink()


def test_recording_outlives_the_daemon_and_its_own_death(tmp_path: Path) -> None:
    daemon = start_daemon(tmp_path)
    nacre, file = Nacre(tmp_path, daemon.env), tmp_path / "a.cast"
    try:
        nacre.call("create_session", name="a", command="exec cat")
        recording = record(nacre, "a", "a.cast")
        for number in range(3):
            nacre.call("send_input", session="a", input=f"line {number}\n")
            until_written(file, f"line {number}\r\nline {number}\r\n")
            crash(daemon)
        recording.kill()
        recording.communicate(timeout=PATIENCE)
        shown = output_of(file.read_text())
        assert [shown.count(f"line {number}") for number in range(3)] == [2, 2, 2], "each once"
        events_of(file)
    finally:
        nacre.ok("stop")
        assert daemon.process.wait(PATIENCE) == 0


def test_recording_says_that_the_daemon_was_stopped(tmp_path: Path) -> None:
    daemon = start_daemon(tmp_path)
    nacre = Nacre(tmp_path, daemon.env)
    try:
        nacre.call("create_session", name="a", command="echo last words; exec cat")
        nacre.until("a", "last words")
        recording = record(nacre, "a", "a.cast", "--all")
    finally:
        nacre.ok("stop")
        assert daemon.process.wait(PATIENCE) == 0
    _, said = recording.communicate(timeout=PATIENCE)
    assert said.endswith("nacre: the recording ends here: the daemon was stopped\n")
    assert "last words" in output_of((tmp_path / "a.cast").read_text())


def test_recording_of_a_killed_session_is_whole(running: Nacre) -> None:
    running.call("create_session", name="last", command="echo last words; exec cat")
    running.until("last", "last words")
    recording = record(running, "last", "last.cast", "--all", "--idle-cap", "0.5")
    running.call("manage_session", session="last", action="kill")
    assert recording.communicate(timeout=PATIENCE)[0] == "last.cast\n"
    events = events_of(running.home / "last.cast")
    assert "last words" in "".join(text for _, code, text in events if code == "o")
    assert events[-1][1] == "x"
    assert max(interval for interval, *_ in events) <= 0.5
    (running.home / "last.cast").unlink()


def test_recording_that_is_full_keeps_whole_lines(running: Nacre) -> None:
    loud = "echo small; read go; seq 1 30000; exec cat"
    running.call("create_session", name="loud", command=loud)
    running.until("loud", "small")  # its own event: one of the others may be over the limit
    running.ok("send", "loud", "go")
    running.until("loud", "30000")
    limited = ["/bin/sh", "-c", 'trap "" XFSZ; ulimit -f 100; exec "$@"', "sh"]
    done = subprocess.run(
        [*limited, sys.executable, "-m", "nacre", "record", "loud", "loud.cast", "--all"],
        env=running.env,
        cwd=running.home,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "cannot be written any further: File too large" in done.stderr
    assert done.returncode == 1
    assert events_of(running.home / "loud.cast")
    (running.home / "loud.cast").unlink()
