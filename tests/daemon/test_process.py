"""The daemon as a process: one at a time, private, and gone without a trace."""

import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from conftest import Daemon, environment, start_daemon
from nacre.settings.paths import find_paths

PATIENCE = 60.0  # seconds until an event that does not come fails the test
Start = Callable[..., Daemon]
AS_ROOT = "running as root"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def serve(home: Path, *flags: str, **settings: object) -> "subprocess.CompletedProcess[str]":
    """Run `nacre server` where it is expected to end by itself."""
    return subprocess.run(
        [sys.executable, "-m", "nacre", "server", *flags],
        env=environment(home, **settings),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def members(session_id: str) -> Iterator[int]:
    mark = f"NACRE_SESSION={session_id}".encode()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = Path(f"/proc/{entry}/environ").read_bytes()
        except OSError:
            continue
        if mark in environ.split(b"\0"):
            yield int(entry)


def log_of(daemon: Daemon) -> list[dict[str, Any]]:
    """Return what it logged, whoever runs the tests: to root it says one line more."""
    lines = (daemon.home / "daemon.log").read_text().splitlines()
    return [json.loads(line) for line in lines if AS_ROOT not in line]


# --- one daemon --------------------------------------------------------------------------------


def test_second_start_says_who_is_running_and_fails(own_daemon: Start) -> None:
    daemon = own_daemon()
    second = serve(daemon.home)
    assert second.returncode == 9
    said = f"pid {daemon.pid}, port {daemon.state['port']}"
    assert said in second.stderr
    assert "Traceback" not in second.stderr
    assert daemon.rest("GET", "/status")["pid"] == daemon.pid, "the first one goes on"


def test_daemon_can_be_started_again_after_it_was_killed_with_its_keeper(
    own_daemon: Start,
) -> None:
    first = own_daemon()
    first.process.send_signal(signal.SIGSTOP)  # or it would start the next one
    os.kill(first.pid, signal.SIGKILL)
    first.process.kill()
    first.process.wait(PATIENCE)
    second = own_daemon()
    assert second.rest("GET", "/status")["pid"] == second.pid


def test_taken_port_falls_back_to_the_next_below(own_daemon: Start) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        daemon = own_daemon(port=port)
        assert port - 100 < daemon.state["port"] < port
        assert daemon.rest("GET", "/status")["port"] == daemon.state["port"]


# --- the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_cleanly(number: signal.Signals, own_daemon: Start) -> None:
    daemon = own_daemon()
    daemon.rest("GET", "/status")
    paths = find_paths(daemon.env)
    assert os.path.exists(paths.socket)
    daemon.process.send_signal(number)
    assert daemon.process.wait(PATIENCE) == 0
    assert not os.path.exists(paths.state_file)
    assert not os.path.exists(paths.socket)
    assert [line["message"] for line in log_of(daemon)] == ["ready", "stopping"]


def test_signal_while_it_is_still_loading_ends_it_cleanly_too(own_daemon: Start) -> None:
    daemon = own_daemon()  # it listens, but the libraries are not loaded yet
    daemon.process.terminate()
    assert daemon.process.wait(PATIENCE) == 0
    paths = find_paths(daemon.env)
    assert not os.path.exists(paths.state_file)
    assert not os.path.exists(paths.socket)


def test_stop_does_not_wait_for_a_library_that_is_being_loaded(
    own_daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text(f"open({str(held)!r}).read()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    daemon = own_daemon(mcp_load_after=0.01)
    with held.open("w"):  # it has begun to load, and does not come to an end
        daemon.as_person("stop")
        assert daemon.process.wait(PATIENCE) == 0
    assert not os.path.exists(find_paths(daemon.env).state_file)
    assert [line["message"] for line in log_of(daemon)] == ["ready", "stopping"]


def test_no_process_of_any_session_is_left(own_daemon: Start) -> None:
    daemon = own_daemon(kill_grace=0.2)
    lines = [
        "sleep 1000",
        "setsid sleep 1000 & sleep 1000",
        "trap '' HUP TERM; echo ready; while :; do sleep 1000; done",
        "nohup sleep 1000 > /dev/null 2>&1 & exit 0",
        "yes",
    ]
    made = [daemon.rest("POST", "/sessions", {"command": line}) for line in lines]
    made.append(daemon.rest("POST", "/sessions", {}))
    assert daemon.stop() == 0
    assert [list(members(one["session_id"])) for one in made] == [[]] * len(made)


def test_stop_over_the_wire_is_answered_and_done(own_daemon: Start) -> None:
    daemon = own_daemon()
    assert daemon.rest("POST", "/stop") == {"success": True}
    assert daemon.process.wait(PATIENCE) == 0


def test_waiting_call_does_not_keep_it_from_ending(own_daemon: Start) -> None:
    daemon = own_daemon()
    session = daemon.rest("POST", "/sessions", {"command": "yes", "args": []})["session"]
    body = json.dumps({"timeout_ms": 1000, "max_wait_ms": 3_000_000})
    with socket.create_connection(("127.0.0.1", daemon.state["port"]), PATIENCE) as client:
        client.sendall(
            f"POST /api/sessions/{session}/quiesce HTTP/1.1\r\nHost: 127.0.0.1:"
            f"{daemon.state['port']}\r\nAuthorization: Bearer {daemon.token}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        daemon.rest("GET", "/status")  # the wait was read before this
        assert daemon.stop() == 0


# --- privacy -----------------------------------------------------------------------------------


@pytest.fixture
def core_dumps() -> Iterator[None]:
    """What we start may leave core dumps, if the system lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@pytest.mark.usefixtures("core_dumps")
def test_token_socket_and_folders_are_the_owner_s_alone(own_daemon: Start) -> None:
    daemon = own_daemon()
    paths = find_paths(daemon.env)

    def mode(path: str) -> int:
        return stat.S_IMODE(os.stat(path).st_mode)

    assert [mode(path) for path in (paths.token_file, paths.socket)] == [0o600] * 2
    assert [mode(path) for path in (paths.state, paths.runtime, paths.config)] == [0o700] * 3
    assert len(daemon.token) >= 32
    for process in (daemon.pid, daemon.process.pid):  # a crash writes no secret to the disk
        assert resource.prlimit(process, resource.RLIMIT_CORE)[0] == 0
    assert daemon.token not in (daemon.home / "daemon.log").read_text()


def test_it_does_not_start_with_a_token_that_others_can_read(home: Path) -> None:
    paths = find_paths(environment(home))
    os.makedirs(paths.state)
    token = Path(paths.token_file)
    token.write_text("a-token-that-is-no-secret\n")
    token.chmod(0o644)
    ended = serve(home)
    assert ended.returncode == 2
    assert "; delete it, and a new token is created" in ended.stderr
    assert "a-token-that-is-no-secret" not in ended.stderr
    assert not os.path.exists(paths.state_file)


def test_sessions_do_not_see_the_daemon_s_token_or_settings(own_daemon: Start) -> None:
    token = "a-secret-of-the-daemon"
    daemon = own_daemon(token=token)
    Path(find_paths(daemon.env).token_file).write_text(token)  # where this test's client looks
    request = {"command": "env; echo END", "rows": 200, "cols": 500}
    session = daemon.rest("POST", "/sessions", request)["session_id"]
    with suppress(HTTPError):  # it has ended by then
        daemon.rest("POST", f"/sessions/{session}/quiesce", {"timeout_ms": 20_000})
    shown = daemon.rest("GET", f"/sessions/{session}/output?lines=1000")["output"]
    assert shown.endswith("END")
    assert "NACRE_SESSION=" in shown
    assert token not in shown
    assert "NACRE_PORT" not in shown
    assert f"NACRE_HOME={daemon.env['NACRE_HOME']}" in shown, "a nacre in it finds this daemon"


# --- surroundings ------------------------------------------------------------------------------


def test_deep_home_works(tmp_path: Path) -> None:
    home = tmp_path / ("deep-" * 20) / ("deeper-" * 20)
    home.mkdir(parents=True)
    daemon = start_daemon(home)
    try:
        paths = find_paths(daemon.env)
        assert len(paths.socket) > 200
        status = subprocess.run(
            [sys.executable, "-m", "nacre", "status"],
            env=daemon.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert status.returncode == 0, status.stderr
        assert str(daemon.pid) in status.stdout
    finally:
        assert daemon.stop() == 0
    assert not os.path.exists(paths.socket)


def test_signals_that_the_daemon_inherited_as_ignored_work_in_its_sessions(
    own_daemon: Start,
) -> None:
    """As with `nohup nacre server &`: Ctrl+C and Ctrl+\\ would be dead in every session."""
    inherited = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP)
    before = [signal.signal(number, signal.SIG_IGN) for number in inherited]
    try:
        daemon = own_daemon()
    finally:
        for number, handler in zip(inherited, before, strict=True):
            signal.signal(number, handler)
    request = {"command": "grep -E '^SigIgn' /proc/self/status"}
    session = daemon.rest("POST", "/sessions", request)["session_id"]
    with suppress(HTTPError):  # it has ended by then
        daemon.rest("POST", f"/sessions/{session}/quiesce", {"timeout_ms": 20_000})
    shown = daemon.rest("GET", f"/sessions/{session}/output")["output"]
    # Signals from 32 on are the C library's own; whoever runs the tests may ignore those.
    assert int(shown.split()[1], 16) & 0x7FFFFFFF == 0, shown


def test_bad_setting_is_said_in_one_line(home: Path) -> None:
    ended = serve(home, "--max-sessions", "none")
    assert ended.returncode == 2
    assert "bad value for max_sessions (--max-sessions)" in ended.stderr
    assert "Traceback" not in ended.stderr


# --- logs --------------------------------------------------------------------------------------


def test_daemon_of_root_warns(own_daemon: Start) -> None:
    daemon = own_daemon()
    assert daemon.rest("GET", "/status")["pid"]
    assert daemon.stop() == 0
    told = AS_ROOT in (daemon.home / "daemon.log").read_text()
    assert told == (os.geteuid() == 0)


def test_log_is_one_json_object_a_line(own_daemon: Start) -> None:
    daemon = own_daemon(log_level="debug")
    daemon.rest("POST", "/sessions", {"command": "true"})
    daemon.stop()
    lines = log_of(daemon)
    assert {"time", "level", "logger", "message"} <= set.intersection(*map(set, lines))
    operations = [line for line in lines if line["message"] == "operation"]
    assert operations[0]["operation"] == "create_session"
    assert operations[0]["door"] == "rest"
    ready = next(line for line in lines if line["message"] == "ready")
    assert ready["port"] > 0


@pytest.mark.parametrize(("level", "logged"), [("info", {"info"}), ("error", set())])
def test_log_level_is_honoured(level: str, logged: set[str], own_daemon: Start) -> None:
    daemon = own_daemon(log_level=level)
    daemon.rest("POST", "/sessions", {"command": "true"})
    daemon.stop()
    lines = log_of(daemon)
    assert {line["level"] for line in lines} == logged, lines
