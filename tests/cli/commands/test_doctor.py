"""doctor, on machines that are well and machines that are not."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from confining import needs_bubblewrap, needs_landlock
from conftest import environment
from nacre.cli.commands import doctor
from nacre.cli.commands.doctor import (
    Finding,
    Machine,
    ask_daemon,
    check_daemon,
    check_folders,
    check_limits,
    check_port,
    check_sandbox,
    check_shells,
    check_token,
    check_upstreams,
)
from nacre.settings.paths import find_paths
from nacre.settings.table import Settings

from cli.conftest import Nacre

BUBBLEWRAP = Settings(sandbox_backend="bubblewrap")
CHECKS = {
    "platform",
    "python",
    "nacre",
    "engine",
    "terminal",
    "shells",
    "sandbox",
    "limits",
    "folders",
    "token",
    "daemon",
    "port",
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with nothing of nacre's on it yet."""
    return Machine(find_paths(environment(tmp_path)), Settings(), None)


def only(findings: Iterable[Finding]) -> Finding:
    [finding] = findings
    return finding


def make_folder(folder: str, mode: int = 0o700) -> Path:
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(mode)
    return path


def test_upstream_servers_are_told_by_the_daemon_or_else_by_the_file(
    machine: Machine, running: Nacre
) -> None:
    tables = "[mcp_servers.a]\ncommand = 'x'\n[mcp_servers.b]\ncomand = 'x'\n"
    make_folder(machine.paths.config)
    Path(machine.paths.config_file).write_text(tables)
    good, bad = check_upstreams(machine)
    assert (good.level, good.message) == ("ok", "a: idle")
    assert bad.level == "warn"
    assert "did you mean command?" in bad.message
    assert bad.advice == "nacre upstream test b"
    config = Path(running.paths.config_file)
    try:
        config.write_text(tables)
        report = running.json("doctor")
        found = [one for one in report["checks"] if one["check"] == "upstream"]
    finally:
        config.unlink()
    assert [one["level"] for one in found] == ["ok", "warn"]
    assert report["ok"] is True


# --- the command -------------------------------------------------------------------------------


def test_a_good_machine_has_no_failure(running: Nacre) -> None:
    report = running.json("doctor")
    assert report["ok"] is True
    found = {finding["check"]: finding for finding in report["checks"]}
    assert set(found) - {"user"} == CHECKS
    assert {found[check]["level"] for check in CHECKS - {"sandbox", "limits"}} == {"ok"}
    assert ("user" in found) == (os.geteuid() == 0)  # a warning that agents get root
    status = running.call("status")
    assert f"pid {status['pid']}" in found["daemon"]["message"]
    assert str(status["port"]) in found["port"]["message"]


def test_a_failure_sets_the_exit_code_and_says_what_to_do(own_nacre: Nacre) -> None:
    make_folder(own_nacre.paths.config)
    token = make_folder(own_nacre.paths.state) / "token"
    token.write_text("x" * 20)
    token.chmod(0o644)
    done = own_nacre("doctor")
    assert done.returncode == 1
    assert all(line.split()[0] in ("ok", "warn", "fail") for line in done.stdout.splitlines())
    [failure] = [line for line in done.stdout.splitlines() if line.startswith("fail")]
    assert failure.split()[1] == "token"
    assert f"rm {token}" in failure


def test_a_bad_setting_is_a_failure_among_the_other_checks(own_nacre: Nacre) -> None:
    done = own_nacre("doctor", "--json", NACRE_GRACE="soon")
    found = {finding["check"]: finding for finding in json.loads(done.stdout)["checks"]}
    assert done.returncode == 1
    assert "NACRE_GRACE" in found["settings"]["message"]
    assert set(found) > CHECKS


def test_lines_are_coloured_on_a_terminal(running: Nacre) -> None:
    master, slave = os.openpty()
    process = running.start("doctor", stdout=slave, stderr=slave, env={"TERM": "xterm"})
    os.close(slave)
    told = b""
    with suppress(OSError):  # EIO: the other side is closed (Linux)
        while part := os.read(master, 65536):
            told += part
    os.close(master)
    assert process.wait() == 0
    assert b"\x1b[32mok  \x1b[0m  platform" in told


# --- the checks --------------------------------------------------------------------------------


def test_a_path_without_programs_has_no_shell_and_no_sandbox(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SHELL", raising=False)
    assert only(check_shells()).level == "fail"
    finding = only(check_sandbox(machine._replace(settings=BUBBLEWRAP)))
    assert finding.level == "warn"
    assert "apt install bubblewrap" in (finding.advice or "")


def test_a_default_sandbox_that_cannot_be_had_is_a_failure(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    settings = Settings(sandbox="workspace", sandbox_backend="bubblewrap")
    confined = machine._replace(settings=settings)
    assert only(check_sandbox(confined)).level == "fail"


@needs_bubblewrap
def test_profiles_that_work_here_are_named(machine: Machine) -> None:
    finding = only(check_sandbox(machine))
    assert finding.level == "ok"
    assert finding.message.startswith("readonly, workspace, strict, review by bubblewrap")


@needs_landlock
def test_landlock_takes_the_place_of_a_bubblewrap_that_is_missing(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    works, review = check_sandbox(machine)
    assert (works.level, works.message) == ("ok", "readonly, workspace, strict by landlock")
    assert (review.level, "no review" in review.message) == ("warn", True)
    assert "install bubblewrap" in (review.advice or "") or "install it" in (review.advice or "")


@pytest.mark.parametrize(
    ("daemon", "level", "said"),
    [
        (None, "ok", "when the daemon starts"),
        ({"cgroups": "memory 2.0 GiB", "cgroups_fix": ""}, "ok", "each session memory 2.0 GiB"),
        ({"cgroups": "none: too bad", "cgroups_fix": "do this"}, "warn", "none: too bad"),
    ],
)
def test_what_limits_sessions_is_told(
    machine: Machine, daemon: dict[str, str] | None, level: str, said: str
) -> None:
    finding = only(check_limits(machine._replace(daemon=daemon)))
    assert finding.level == level
    assert said in finding.message


def test_shells_are_told_with_their_versions() -> None:
    found, *_ = check_shells()
    assert re.search(r"bash [45]\.", found.message)


def test_a_default_shell_that_is_gone_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/nowhere/zsh")
    _, warning = check_shells()
    assert (warning.level, "/nowhere/zsh" in warning.message) == ("warn", True)


def test_a_sandbox_that_cannot_be_made_is_a_warning(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'bwrap: no permissions' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    finding = only(check_sandbox(machine._replace(settings=BUBBLEWRAP)))
    assert (finding.level, "no permissions" in finding.message) == ("warn", True)


def test_folders_that_are_not_there_yet_are_fine(machine: Machine) -> None:
    assert only(check_folders(machine)).level == "ok"
    assert only(check_token(machine)).level == "ok"


def test_a_folder_that_others_can_enter_is_a_failure(machine: Machine) -> None:
    make_folder(machine.paths.config)
    runtime = make_folder(machine.paths.runtime, 0o755)
    finding = only(check_folders(machine))
    assert (finding.level, finding.advice) == ("fail", f"chmod 700 {runtime}")


def test_a_file_in_a_folders_place_is_a_failure(machine: Machine) -> None:
    make_folder(machine.paths.config)
    Path(machine.paths.state).write_text("")
    assert only(check_folders(machine)).level == "fail"


def test_an_empty_token_is_a_failure(machine: Machine) -> None:
    token = make_folder(machine.paths.state) / "token"
    token.touch(0o600)
    assert only(check_token(machine)).level == "fail"


def test_a_token_that_is_set_needs_no_file(machine: Machine) -> None:
    token = make_folder(machine.paths.state) / "token"
    token.touch(0o644)
    assert only(check_token(machine._replace(settings=Settings(token="x" * 16)))).level == "ok"


def test_a_taken_port_is_a_warning(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        taken = machine._replace(settings=Settings(port=holder.getsockname()[1]))
        assert only(check_port(taken)).level == "warn"


def test_a_daemon_on_another_port_is_a_warning(machine: Machine) -> None:
    elsewhere = machine._replace(daemon={"port": 1234, "url": "http://127.0.0.1:1234"})
    finding = only(check_port(elsewhere))
    assert (finding.level, "1234" in (finding.advice or "")) == ("warn", True)


STATUS = b'{"id":1,"result":{"version":"0.0.1","pid":1,"port":1,"sessions":0,"url":"u"}}\n'
REFUSAL = b'{"nacre":1,"version":"0.0.1","error":{"code":"INVALID_INPUT","message":"no"}}\n'


@pytest.mark.parametrize(
    ("answer", "level"),
    [(b'{"nacre":1,"version":"0.0.1"}\n' + STATUS, "warn"), (REFUSAL, "fail"), (b"", "fail")],
    ids=["older version", "refusal", "silence"],
)
def test_a_daemon_that_is_not_ours_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, answer: bytes, level: str
) -> None:
    monkeypatch.setenv("NACRE_HOME", machine.paths.config)
    if not answer:  # all of that time is waited for
        monkeypatch.setattr(doctor, "_PATIENCE", 0.1)
    make_folder(machine.paths.runtime)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(machine.paths.socket)
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

        server = threading.Thread(target=serve)
        server.start()
        asked = machine._replace(daemon=ask_daemon())
        server.join()
    assert only(check_daemon(asked)).level == level


def test_an_engine_that_does_not_load_is_a_failure(tmp_path: Path) -> None:
    library = tmp_path / "pyghostty" / "_lib" / "libghostty-vt"
    library.parent.mkdir(parents=True)
    (tmp_path / "pyghostty" / "__init__.py").touch()
    for suffix in (".so", ".dylib"):
        library.with_suffix(suffix).write_text("not for this machine")
    code = "from nacre.cli.commands.doctor import check_engine; print(next(check_engine()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "level='fail'" in done.stdout
    assert "pyghostty does not load" in done.stdout
