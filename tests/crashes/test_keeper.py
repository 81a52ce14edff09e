"""The keeper: what it holds for the next daemon, what is lost with it, and what ends both."""

import json
import os
import signal
import socket
from pathlib import Path

import pytest

from conftest import Daemon, environment
from crashing import (
    NO_KEEPER,
    PATIENCE,
    answering,
    call,
    crash,
    create,
    is_dead,
    kill,
    listed,
    members,
    run,
    sight,
    text_of,
    until,
    wait_gone,
)
from nacre.settings.paths import find_paths
from ranges import own_ports

from crashes.conftest import Start
from doors.wire import Bridge, daemon_pid


def test_child_that_ends_while_no_daemon_is_there_has_its_exit_code(
    begin: Start, tmp_path: Path
) -> None:
    daemon = begin()
    fifos = [tmp_path / name for name in ("ends", "shot")]
    for fifo in fifos:
        os.mkfifo(fifo)
    ends = create(daemon, "ends", f"cat {fifos[0]}; exit 6")
    shot = create(daemon, "shot", f"cat {fifos[1]}; kill -TERM $$")
    daemon.process.send_signal(signal.SIGSTOP)
    children = [os.pidfd_open(one["pid"]) for one in (ends, shot)]
    os.kill(daemon.pid, signal.SIGKILL)
    for fifo in fifos:
        fifo.write_text("last words\n")
    wait_gone(children)
    daemon.process.send_signal(signal.SIGCONT)
    assert is_dead(daemon, "ends")
    assert is_dead(daemon, "shot")
    details = listed(daemon)
    assert (details["ends"]["exit_code"], details["ends"]["signal"]) == (6, None)
    assert (details["shot"]["exit_code"], details["shot"]["signal"]) == (None, "SIGTERM")
    assert text_of(daemon, "ends") == "last words"


def test_port_of_a_killed_session_is_free_while_its_keeper_lags_and_after_a_crash(
    begin: Start,
) -> None:
    daemon = begin()
    port = create(daemon, "work", "exec cat")["port"]
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        call(daemon, "manage_session", session="work", action="kill")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        os.kill(daemon.pid, signal.SIGKILL)
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    assert listed(daemon) == {}
    assert create(daemon, "work", "exec cat")["port"] == port
    socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()


def with_next_keeper(daemon: Daemon, before: int) -> int:
    """Return the keeper that the daemon has started after this one, once it holds everything."""
    while (found := call(daemon, "status")["keeper_pid"]) in (None, before):
        pass
    return int(found)


def test_keeper_that_was_killed_is_replaced_and_no_session_is_lost(begin: Start) -> None:
    daemon = begin()
    create(daemon, "shell")
    create(daemon, "ended", "echo gone; exit 3")
    run(daemon, "shell", "x=17")
    assert is_dead(daemon, "ended")
    ids = {name: one["session_id"] for name, one in listed(daemon).items()}
    status = call(daemon, "status")
    assert status["warnings"] == []
    keeper = status["keeper_pid"]
    for number in range(2):
        doomed = os.pidfd_open(keeper)
        os.kill(keeper, signal.SIGKILL)
        wait_gone([doomed])
        keeper = with_next_keeper(daemon, keeper)
        late = create(daemon, f"late{number}", "exec cat")
        kill(daemon, answering(daemon))
        details = listed(daemon)
        assert {name: details[name]["session_id"] for name in ids} == ids
        assert details[f"late{number}"]["pid"] == late["pid"]
        assert run(daemon, "shell", "echo $x")["output"] == "17"
        assert call(daemon, "status")["keeper_pid"] == keeper
    assert details["ended"]["exit_code"] == 3
    socket.create_connection(("127.0.0.1", details["shell"]["port"]), timeout=PATIENCE).close()
    assert run(daemon, "shell", "exit 4")["status"]
    assert is_dead(daemon, "shell")
    gone = [os.pidfd_open(pid) for pid in (keeper, answering(daemon))]
    call(daemon, "stop")
    wait_gone(gone)


def test_adopted_daemon_can_be_upgraded_and_stopped(begin: Start) -> None:
    daemon = begin()
    create(daemon, "shell")
    before = call(daemon, "status")
    daemon.process.kill()
    daemon.process.wait(PATIENCE)
    keeper = with_next_keeper(daemon, before["keeper_pid"])
    own = call(daemon, "status")["pid"]
    ending = [os.pidfd_open(own)]
    call(daemon, "upgrade")
    wait_gone(ending)
    after = call(daemon, "status")
    assert (after["keeper_pid"], after["sessions"]) == (keeper, 1)
    gone = [os.pidfd_open(pid) for pid in (keeper, after["pid"])]
    call(daemon, "stop")
    wait_gone(gone)


@pytest.mark.parametrize("whom", ["daemon", "keeper"])
def test_signal_to_an_adopted_daemon_or_its_keeper_ends_both(begin: Start, whom: str) -> None:
    daemon = begin()
    before = call(daemon, "status")
    daemon.process.kill()
    daemon.process.wait(PATIENCE)
    keeper = with_next_keeper(daemon, before["keeper_pid"])
    gone = [os.pidfd_open(pid) for pid in (keeper, before["pid"])]
    os.kill(before["pid"] if whom == "daemon" else keeper, signal.SIGTERM)
    wait_gone(gone)


def test_sessions_survive_their_keeper_and_are_lost_with_both(begin: Start, tmp_path: Path) -> None:
    daemon = begin(doctored=NO_KEEPER)
    work = tmp_path / "work"
    work.mkdir()
    create(daemon, "shell", "bash", args=["--norc"], cwd=str(work), rows=20, cols=70)
    create(daemon, "lines", "seq 1 100; exec cat", tags=["kept"])
    create(daemon, "taken", "exec cat")
    create(daemon, "ended", "echo gone; exit 3")
    run(daemon, "shell", "echo before the keeper died")
    until(daemon, "lines", text="100")
    assert is_dead(daemon, "ended")
    daemon.process.kill()
    daemon.process.wait(PATIENCE)
    create(daemon, "later", "echo made without a keeper; exec cat")
    until(daemon, "later", text="made without a keeper")
    assert run(daemon, "shell", "echo still here")["output"] == "still here"
    status = call(daemon, "status")
    assert status["keeper_pid"] is None
    assert "if the daemon crashes now, all sessions are lost" in status["warnings"][0]
    until(daemon, "shell", state=["prompt"])  # a run is over before the next prompt is drawn
    for name in ("lines", "shell", "later"):
        until(daemon, name, quiet_ms=400)  # the journal waits 200 ms; there is no ring any more
    before = {name: sight(daemon, name) for name in ("lines", "shell", "later")}
    ids = {name: one["session_id"] for name, one in listed(daemon).items()}
    kill(daemon)

    daemon = begin()
    lost = listed(daemon)
    assert {name: one["session_id"] for name, one in lost.items()} == ids
    assert not any(one["alive"] for one in lost.values())
    assert (lost["ended"]["exit_code"], lost["lines"]["exit_code"]) == (3, None)
    assert lost["lines"]["tags"] == ["kept"]
    assert {name: sight(daemon, name) for name in before} == before
    crash(daemon)
    assert {name: sight(daemon, name) for name in before} == before
    create(daemon, "taken", "exec cat")
    assert listed(daemon)["taken"]["session_id"] != ids["taken"]

    restored = call(daemon, "restore_sessions")["sessions"]
    assert sorted(one["session"] for one in restored) == ["later", "lines", "shell"]
    details = listed(daemon)
    assert details["lines"]["session_id"] == ids["lines"]
    assert [details["shell"][key] for key in ("alive", "rows", "cols", "cwd")] == [
        *(True, 20, 70),
        str(work),
    ]
    assert run(daemon, "shell", "pwd")["output"] == str(work)
    until(daemon, "lines", text="100")


@pytest.mark.parametrize("whom", ["daemon", "keeper"])
def test_sigterm_ends_all_and_the_sessions_are_lost_not_forgotten(begin: Start, whom: str) -> None:
    daemon = begin()
    made = create(daemon, "work", "echo on the screen; exec cat")
    until(daemon, "work", text="on the screen")
    paths = find_paths(daemon.env)
    pid = daemon.pid
    ending = [os.pidfd_open(one) for one in (pid, made["pid"])]
    os.kill(pid if whom == "daemon" else daemon.process.pid, signal.SIGTERM)
    assert daemon.process.wait(PATIENCE) == 0
    wait_gone(ending)
    assert members(made["session_id"]) == []
    assert not os.path.exists(paths.socket)
    assert not os.path.exists(paths.state_file)
    daemon = begin()
    lost = listed(daemon)["work"]
    assert (lost["alive"], lost["session_id"]) == (False, made["session_id"])
    assert text_of(daemon, "work") == "on the screen"
    if whom == "daemon":
        call(daemon, "restore_sessions", session="work")
        until(daemon, "work", text="on the screen")
        call(daemon, "stop")
        assert daemon.process.wait(PATIENCE) == 0
        assert listed(begin()) == {}


def test_daemon_on_demand_survives_a_crash_and_ends_with_its_last_client(tmp_path: Path) -> None:
    env = environment(tmp_path, grace=0, first_session_port=own_ports())
    bridge = Bridge(env, cwd=tmp_path)
    try:
        bridge.handshake()
        bridge.call("create_session", name="work", command="echo on the screen; exec cat")
        bridge.call("await_quiesce", session="work", last_generation=0, timeout_ms=1)
        pid = daemon_pid(env)
        keeper = os.pidfd_open(int(Path(f"/proc/{pid}/stat").read_text().split()[3]))
        os.kill(pid, signal.SIGKILL)
        answer = bridge.ask("tools/call", {"name": "list_sessions", "arguments": {}})
        assert "work" in json.dumps(answer) or "again" in json.dumps(answer), "or it says to retry"
        seen = bridge.call("get_screen", session="work", format="plain")
        assert seen["lines"][0] == "on the screen"
        following = daemon_pid(env)
        assert following != pid
        descriptors = [os.pidfd_open(following), keeper]
        assert bridge.close() == 0
        wait_gone(descriptors)
        assert not os.path.exists(find_paths(env).socket)
    finally:
        bridge.dispose()
