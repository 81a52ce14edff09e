"""A full or read-only disk, and descriptors that are used up: nobody is kept out."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Daemon
from crashing import PATIENCE, answering, call, crash, create, kill, run
from nacre.client.calls import AnsweredError
from nacre.settings.paths import find_paths

from crashes.conftest import Start

# No file below NACRE_HOME can be written: a disk without room for one more.
FULL = """
import builtins, errno, io
home, real_open, real_os_open = os.environ["NACRE_HOME"], open, os.open
def refuse(path):
    if isinstance(path, str) and path.startswith(home):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
def full_open(path, mode="r", *more, **named):
    if not set(mode).isdisjoint("wxa+"):
        refuse(path)
    return real_open(path, mode, *more, **named)
def full_os_open(path, flags, *more, **named):
    if flags & os.O_CREAT:
        refuse(path)
    return real_os_open(path, flags, *more, **named)
builtins.open, os.open = full_open, full_os_open
"""


def test_full_disk_keeps_nobody_out(begin: Start) -> None:
    daemon = begin(doctored=FULL)
    paths = find_paths(daemon.env)
    made = create(daemon, "a")
    assert made["notice"].startswith("the journal has stopped: No space left on device (")
    ran = run(daemon, "a", "echo $((40 + 2))")
    told = (
        "the journal has stopped: No space left on device; a crash would lose what is printed "
        "meanwhile"
    )
    assert (ran["output"], ran["notice"]) == ("42", told)
    assert nacre(daemon, "run", "a", "--", "echo $((40 + 1))") == ("41\n", f"nacre: {told}\n")
    halves = "seq 300000; read x; seq 3"  # more than there is room for in the ring
    half = call(daemon, "run", session="a", command=halves, timeout_ms=PATIENCE * 900)["run_id"]
    kill(daemon, answering(daemon))  # the next daemon finds the disk as full
    call(daemon, "send_input", session="a", input="go\n")
    whole = call(daemon, "wait_for", session="a", run_id=half)["run"]
    assert (whole["output"][-8:], whole["exit_code"]) == ("go\n1\n2\n3", 0)
    page = call(daemon, "read_run", run_id=half)
    gone = 300_000 - (page["total_lines"] - len(("go", 1, 2, 3)))
    lost_lines = "".join(f"{number}\r\n" for number in range(1, gone + 1))
    assert gone > 0
    assert abs(page["lost_bytes"] - len(lost_lines)) < 200, "but for a line in part, and marks"
    lost = f"about {page['lost_bytes']} bytes of its output is lost"
    assert (lost in page["hint"], lost in whole["hint"]) == (True, True)
    assert nacre(daemon, "read", "a", "--run", half)[1].count(f"{page['lost_bytes']} bytes") == 1
    followed = call(daemon, "follow_run", run_id=half)
    assert (followed["incomplete"], followed["lost_bytes"]) == (True, page["lost_bytes"])
    assert run(daemon, "a", "echo $((40 + 3))")["output"] == "43"
    assert call(daemon, "status")["sessions"] == 1
    assert os.listdir(paths.journals) == [], "no half of a record is left"
    assert not os.path.exists(paths.token_file), "nor half of a token"
    assert not os.path.exists(paths.state_file)


def nacre(daemon: Daemon, *words: str) -> tuple[str, str]:
    """Return what the command line prints, and what it says beside it."""
    argv = [sys.executable, "-m", "nacre", *words]
    done = subprocess.run(argv, env=daemon.env, capture_output=True, text=True, timeout=PATIENCE)
    return done.stdout, done.stderr


def make_sessions(daemon: Daemon, count: int) -> None:
    for number in range(count):
        create(daemon, f"s{number}", "exec cat")


def test_descriptors_that_are_used_up_refuse_the_new_alone(begin: Start) -> None:
    daemon = begin(wrapper=["/bin/sh", "-c", 'ulimit -Sn 50; ulimit -Hn 80; exec "$@"', "sh"])
    pid = answering(daemon)
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    (files,) = [line.split()[3:5] for line in limits if line.startswith("Max open files")]
    assert files == ["80", "80"], "raised to what is allowed"
    create(daemon, "first")
    folder = Path(find_paths(daemon.env).journals)
    with pytest.raises(AnsweredError) as refused:
        make_sessions(daemon, 20)
    assert refused.value.code == "RESOURCE_LIMIT"
    assert "RLIMIT_NOFILE" in refused.value.message
    sessions = call(daemon, "list_sessions")["sessions"]
    assert len(list(folder.iterdir())) == len(sessions), "nothing is left of the refused one"
    assert run(daemon, "first", "ulimit -n")["output"] == "50", "and sessions have the user's"
    crash(daemon)
    assert len(call(daemon, "list_sessions")["sessions"]) == len(sessions)


@pytest.mark.parametrize("umask", ["000", "777"])
def test_every_file_is_private_and_sessions_have_the_users_umask(
    begin: Start, tmp_path: Path, umask: str
) -> None:
    daemon = begin(wrapper=["/bin/sh", "-c", f'umask {umask}; exec "$@"', "sh"])
    create(daemon, "a")
    assert run(daemon, "a", "umask")["output"] == f"0{umask}"
    run(daemon, "a", "seq 100000")
    wrong = [
        (path, oct(stat.S_IMODE(mode)))
        for path in Path(find_paths(daemon.env).config).rglob("*")
        if (mode := path.lstat().st_mode)
        # askpass is a program, which sudo and ssh start
        and stat.S_IMODE(mode) != (0o700 if stat.S_ISDIR(mode) or path.name == "askpass" else 0o600)
    ]
    assert wrong == []
    exported = tmp_path / "a.cast"
    call(daemon, "export_recording", session="a", path=str(exported))
    assert stat.S_IMODE(exported.stat().st_mode) == 0o666 & ~int(umask, 8)
    exported.chmod(0o600)  # under 0777 its owner cannot read it either
    assert json.loads(exported.read_bytes().splitlines()[0])["version"] == 3


def test_output_of_runs_goes_with_the_daemon(begin: Start) -> None:
    daemon = begin()
    runs = Path(find_paths(daemon.env).runtime) / "runs"
    create(daemon, "a")
    long = run(daemon, "a", "seq 300000")
    assert [path.name for path in runs.iterdir()] == [long["run_id"]]
    (runs / "0000").write_bytes(b"of a daemon before")
    crash(daemon)
    assert not (runs / "0000").exists()
    call(daemon, "stop")
    daemon.process.wait(PATIENCE)
    assert not runs.exists()


def test_long_output_without_a_place_on_disk_keeps_its_ends(begin: Start) -> None:
    daemon = begin(doctored=FULL)
    create(daemon, "a")
    ran = run(daemon, "a", "seq 300000")
    assert ran["exit_code"] == 0
    assert ran["output"].startswith("1\n2\n")
    assert ran["output"].endswith("\n300000")
    page = call(daemon, "read_run", run_id=ran["run_id"], limit=3)
    assert page["output"] == "1\n2\n3"
    assert page["lost_bytes"] > 100_000, "what is between the ends"
