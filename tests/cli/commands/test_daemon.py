"""status, stop and server: the daemon's life as the command line sees it."""

import json
import os
import pty
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import nacre
from conftest import PATIENCE
from nacre import __version__
from nacre.client.lock import is_free
from nacre.settings.table import setting_names

from cli.conftest import Nacre, is_running, make_nacre


def test_status_without_a_daemon_is_one(own_nacre: Nacre) -> None:
    done = own_nacre("status", "--json")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (1, {"running": False}, "")
    done = own_nacre("status")
    assert done.returncode == 1
    assert "no daemon is running" in done.stdout


def test_stop_without_a_daemon_says_so_and_succeeds(own_nacre: Nacre) -> None:
    assert own_nacre.ok("stop") == "no daemon is running\n"
    assert own_nacre.json("stop") == {"success": True, "stopped": False}


READERS = [
    ("send", "dev", "x"),
    ("keys", "dev", "x"),
    ("screen", "dev"),
    ("scrollback", "dev"),
    ("read", "dev"),
    ("wait", "dev"),
    ("kill", "dev"),
    ("rename", "dev", "x"),
    ("resize", "dev", "4x4"),
    ("restart", "dev"),
    ("signal", "dev"),
    ("dismiss", "dev"),
]


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_commands_on_sessions_start_no_daemon(own_nacre: Nacre, command: tuple[str, ...]) -> None:
    assert "nacre server" in own_nacre.fails("DAEMON_UNREACHABLE", 7, *command)
    assert not os.path.exists(own_nacre.paths.runtime)


def test_refusals_exit_as_the_docs_say(running: Nacre) -> None:
    assert "already running" in running.fails("DAEMON_RUNNING", 9, "server")
    assert "blacklisted" in running.fails("FORBIDDEN", 8, "commands", "exec", "rm")
    running.call("create_session", name="huge", command="cat", rows=500, cols=500)
    told = running.fails("RESOURCE_LIMIT", 5, "screenshot", "huge", "--scale", "4")
    assert "max_picture_pixels" in told


def test_list_starts_no_daemon_and_is_empty(own_nacre: Nacre) -> None:
    assert own_nacre.json("list") == []
    assert own_nacre.ok("list") == "no sessions; start one with 'nacre new'\n"
    assert not os.path.exists(own_nacre.paths.runtime)


def test_stop_returns_when_daemon_and_sessions_are_gone(own_nacre: Nacre) -> None:
    child = own_nacre.json("new", "--", "sh", "-c", "trap '' HUP TERM; cat")["pid"]
    status = own_nacre.json("status")
    assert status["running"] is True
    assert status["version"] == __version__
    assert status["ephemeral"] is True
    assert f"pid {status['pid']}" in own_nacre.ok("status")
    assert own_nacre.ok("stop") == "the daemon has stopped\n"
    assert is_free(own_nacre.paths)
    assert not is_running(child)
    assert not os.path.exists(own_nacre.paths.socket)


def test_server_says_on_a_terminal_where_it_is(own_nacre: Nacre) -> None:
    master, slave = pty.openpty()
    server = own_nacre.start("server", stdout=slave, stderr=subprocess.DEVNULL, text=False)
    os.close(slave)
    line = ""
    while not line.endswith("\n"):
        line += os.read(master, 1000).decode()
    port = own_nacre.json("status")["port"]
    assert line.startswith(f"nacre is up at http://127.0.0.1:{port};")
    assert own_nacre.json("status")["ephemeral"] is False
    server.send_signal(signal.SIGINT)
    assert server.wait(PATIENCE) == 0
    os.close(master)


def test_a_second_server_is_refused(running: Nacre) -> None:
    done = running("server")
    assert done.returncode == 9
    assert "nacre stop" in done.stderr
    assert done.stdout == ""


def test_server_names_the_flag_that_is_wrong(own_nacre: Nacre) -> None:
    done = own_nacre("server", "--max-sessions", "none")
    assert done.returncode == 2
    assert "--max-sessions" in done.stderr


def test_every_setting_is_a_flag_of_server(own_nacre: Nacre) -> None:
    told = own_nacre.ok("server", "--help")
    for name in setting_names():
        assert f"--{name.replace('_', '-')} " in told
    assert "--ready-fd" not in told


# --- a daemon whose folders are deleted, or that does not end ------------------------------------


@pytest.mark.parametrize("deleted", ["run", "state", ""])
def test_command_waits_while_the_daemon_makes_its_folders_again(
    own_nacre: Nacre, deleted: str
) -> None:
    own_nacre.ok("new", "a", "--", "cat")
    folder = os.path.normpath(os.path.join(own_nacre.paths.config, deleted))
    for words in (("status",), ("list",), ("screen", "a"), ("send", "a", "x"), ("new", "b")):
        shutil.rmtree(folder, ignore_errors=True)  # it may not be there yet
        own_nacre.ok(*words)
    shutil.rmtree(folder, ignore_errors=True)
    with nacre.connect(home=own_nacre.paths.config, start=False) as client:
        assert [session.name for session in client.sessions()] == ["a", "b"]
        shutil.rmtree(folder, ignore_errors=True)  # it may not be there yet
        assert next(iter(client.events(["mode"], "a"))).kind == "sync", (
            "it needs the token's file as well"
        )
    shutil.rmtree(folder, ignore_errors=True)
    assert own_nacre.ok("stop") == "the daemon has stopped\n"


@pytest.mark.parametrize("deleted", ["run", "run/nacre.sock", ""])
def test_daemon_whose_folder_was_deleted_is_found_again(own_nacre: Nacre, deleted: str) -> None:
    session = own_nacre.json("new", "a", "--", "cat")
    pid = own_nacre.json("status")["pid"]
    path = os.path.normpath(os.path.join(own_nacre.paths.config, deleted))
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
    own_nacre.ok("new", "b", "--", "cat")  # it would start a second daemon
    assert own_nacre.json("status")["pid"] == pid
    assert [one["alive"] for one in own_nacre.json("list")] == [True, True]
    assert is_running(session["pid"])
    done = own_nacre("server")
    assert done.returncode == 9
    assert f"pid {pid}, port {own_nacre.json('status')['port']}, socket " in done.stderr


def test_no_second_daemon_starts_before_the_first_has_made_its_folder_again(
    own_nacre: Nacre,
) -> None:
    own_nacre.ok("new", "a", "--", "cat")
    pid = own_nacre.json("status")["pid"]
    os.kill(pid, signal.SIGSTOP)  # it cannot make the folder while we look
    try:
        shutil.rmtree(own_nacre.paths.config)
        done = own_nacre("server")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert done.returncode == 9
    assert f"pid {pid}" in done.stderr
    own_nacre.ok("new", "b", "--", "cat")
    assert own_nacre.json("status")["pid"] == pid
    assert [one["name"] for one in own_nacre.json("list")] == ["a", "b"]


@pytest.mark.parametrize("renamed", ["", "state"])
def test_daemon_whose_home_was_renamed_stays_the_only_one(own_nacre: Nacre, renamed: str) -> None:
    own_nacre.ok("new", "a", "--", "cat")
    pid = own_nacre.json("status")["pid"]
    path = os.path.normpath(os.path.join(own_nacre.paths.config, renamed))
    os.kill(pid, signal.SIGSTOP)  # it cannot make the folder while we look
    try:
        os.rename(path, f"{path}.old")
        done = own_nacre("server")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert done.returncode == 9
    assert f"pid {pid}" in done.stderr
    own_nacre.ok("new", "b", "--", "cat")
    assert own_nacre.json("status")["pid"] == pid
    assert [one["alive"] for one in own_nacre.json("list")] == [True, True]
    if not renamed:  # what it was renamed to is a home as well: there its sessions are not lost
        own_nacre.env["NACRE_HOME"] += ".old"
        done = own_nacre("server")
        assert done.returncode == 9
        assert f"pid {pid}" in done.stderr
        own_nacre.env["NACRE_HOME"] = own_nacre.env["NACRE_HOME"].removesuffix(".old")


def test_a_client_with_another_runtime_folder_finds_the_daemon(tmp_path: Path) -> None:
    """As of a cron job, which has no XDG_RUNTIME_DIR."""
    (tmp_path / "user").mkdir()
    nacre = make_nacre(tmp_path)
    del nacre.env["NACRE_HOME"]
    for name, folder in {"CONFIG_HOME": "c", "STATE_HOME": "s", "RUNTIME_DIR": "user"}.items():
        nacre.env[f"XDG_{name}"] = str(tmp_path / folder)
    nacre.ok("new", "a", "--", "cat")
    del nacre.env["XDG_RUNTIME_DIR"]
    assert [one["name"] for one in nacre.json("list")] == ["a"]
    assert nacre.ok("stop") == "the daemon has stopped\n"


@pytest.mark.parametrize("which", ["pid", "keeper_pid"])
def test_stop_ends_a_stopped_daemon_and_says_so(own_nacre: Nacre, which: str) -> None:
    own_nacre.env["NACRE_STOP_PATIENCE"] = "0.5"
    child = own_nacre.json("new", "--", "sh", "-c", "trap '' HUP TERM; cat")["pid"]
    status = own_nacre.json("status")
    os.kill(status[which], signal.SIGSTOP)
    said = own_nacre.ok("stop")
    assert "did not stop within 0.5 s, so it was killed" in said
    assert str(status[which]) in said
    assert not is_running(child)
    assert not is_running(status["pid"])
    assert not is_running(status["keeper_pid"])
    assert own_nacre.ok("stop") == "no daemon is running\n"


def test_stop_ends_what_cannot_start_again_with_a_broken_config(own_nacre: Nacre) -> None:
    own_nacre.env["NACRE_STOP_PATIENCE"] = "0.5"
    child = own_nacre.json("new", "--", "cat")["pid"]
    status = own_nacre.json("status")
    Path(own_nacre.paths.config_file).write_bytes(b"\xff[[")
    os.kill(status["pid"], signal.SIGKILL)
    done = own_nacre("stop", "--json")
    os.unlink(own_nacre.paths.config_file)
    told = json.loads(done.stdout)
    assert "config.toml" in done.stderr
    assert (done.returncode, told["success"], told["left"]) == (0, True, [])
    assert not is_running(child)
    assert not is_running(status["keeper_pid"])


def test_stop_ends_a_daemon_that_hangs_in_a_home_that_was_renamed(own_nacre: Nacre) -> None:
    own_nacre.env["NACRE_STOP_PATIENCE"] = "0.5"
    child = own_nacre.json("new", "--", "cat")["pid"]
    status = own_nacre.json("status")
    os.kill(status["pid"], signal.SIGSTOP)
    os.rename(own_nacre.paths.config, f"{own_nacre.paths.config}.renamed")
    told = own_nacre.json("stop")
    assert (told["success"], told["stopped"], told["left"]) == (True, True, [])
    assert told["daemons"] == sorted((status["keeper_pid"], status["pid"]))
    assert not is_running(child)
    assert not is_running(status["pid"])
    assert own_nacre.ok("stop") == "no daemon is running\n"


def test_stop_without_socket_keeper_or_answer_ends_it_too(own_nacre: Nacre) -> None:
    own_nacre.env["NACRE_STOP_PATIENCE"] = "0.5"
    child = own_nacre.json("new", "--", "cat")["pid"]
    status = own_nacre.json("status")
    os.kill(status["pid"], signal.SIGSTOP)
    os.kill(status["keeper_pid"], signal.SIGKILL)
    shutil.rmtree(own_nacre.paths.runtime)
    told = own_nacre.json("stop")
    assert (told["success"], told["stopped"], told["left"]) == (True, True, [])
    assert status["pid"] in told["daemons"]
    assert told["programs"] == [child]
    assert not is_running(child)
