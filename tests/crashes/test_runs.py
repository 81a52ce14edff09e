"""Runs whose daemon is killed or replaced: each ends with its output and its exit code."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Daemon
from crashing import (
    COLOURS,
    PATIENCE,
    call,
    call_once,
    crash,
    create,
    listed,
    portrait,
    run,
    run_output,
    send,
    sight,
    start,
    text_of,
    until,
)
from nacre.errors import DaemonRestarted

from crashes.conftest import Start

# What runs the command, what is to be typed before, and by which way the command is brought there.
SHELLS = {
    "bash": ("bash --norc", None),
    "zsh": ("zsh -f", None),
    "fish": ("fish --no-config", None),
    "dash": ("dash", None),
    "nested": ("bash --norc", "dash"),
}
UNDER_WAY = "printf 'be%s\\n' fore; cat {fifo}; printf 'af%s\\n' ter; sh -c 'exit 7'"


def open_shell(daemon: Daemon, kind: str) -> None:
    """Start a shell and return when it takes commands."""
    command, inner = SHELLS[kind]
    program, *args = command.split()
    create(daemon, kind, program, args=args, env={"PS1": "> ", "HISTFILE": ""})
    until(daemon, kind, state=["prompt"])
    if inner is not None:
        run(daemon, kind, inner, timeout_ms=2000)
        until(daemon, kind, state=["prompt"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Daemon, str, Path]]]:
    """Runs that wait on a FIFO in shells of all kinds, whose daemon was killed meanwhile."""
    folder = tmp_path_factory.mktemp("runs")
    daemon = start(folder)
    try:
        begun = {}
        for kind in SHELLS:
            open_shell(daemon, kind)
            fifo = folder / f"{kind}.fifo"
            os.mkfifo(fifo)
            command = UNDER_WAY.format(fifo=fifo)
            run_id = run(daemon, kind, command, timeout_ms=0)["run_id"]
            until(daemon, kind, regex=r"(?m)^before")
            begun[kind] = (daemon, run_id, fifo)
        crash(daemon)  # some of it is in the journal by now, the last of it in the ring alone
        yield begun
    finally:
        code = daemon.stop()
    assert code == 0


@pytest.mark.parametrize("kind", SHELLS)
def test_run_under_way_can_be_waited_for(
    runs: dict[str, tuple[Daemon, str, Path]], kind: str
) -> None:
    daemon, run_id, fifo = runs[kind]
    assert not call(daemon, "read_run", run_id=run_id)["finished"]
    assert run(daemon, kind, "true", timeout_ms=0)["status"] == "busy"
    fifo.write_text("within\n")
    until(daemon, kind, run_id=run_id)
    page = call(daemon, "read_run", run_id=run_id)
    assert (page["output"].split("\n"), page["exit_code"]) == (["before", "within", "after"], 7)
    again = run(daemon, kind, "echo next")
    assert (again["output"], again["exit_code"]) == ("next", 0)


def test_output_of_runs_is_whole_whenever_the_daemon_dies(begin: Start, tmp_path: Path) -> None:
    daemon = begin(run_memory_bytes=65536)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    create(daemon, "bash", "bash", args=["--norc"])
    create(daemon, "dash", "dash", env={"PS1": "> "})
    numbers = [str(number) for number in range(1, 30_001)]
    long = run(daemon, "bash", f"seq 1 30000; cat {fifo}; seq 1 30000", timeout_ms=0)
    until(daemon, "bash", regex="(?m)^30000")
    until(daemon, "dash", state=["prompt"])
    short = [run(daemon, "dash", f"echo output {number}") for number in range(3)]
    crash(daemon)
    for number, one in enumerate(short):
        assert run_output(daemon, one["run_id"]) == [f"output {number}"]
    fifo.write_text("between\n")
    until(daemon, "bash", run_id=long["run_id"])
    assert run_output(daemon, long["run_id"]) == [*numbers, "between", *numbers]
    assert "_nacre" not in text_of(daemon, "dash"), "the wrapper shows"


HIDDEN = """
from nacre.services.session import output as stream
hide_echo = stream.OutputStream.hide_echo
def hide_and_die(self, veil):
    hide_echo(self, veil)
    if os.path.exists({place!r}):
        os.unlink({place!r})
        os.kill(os.getpid(), signal.SIGKILL)
stream.OutputStream.hide_echo = hide_and_die
"""


def test_what_happened_just_before_the_kill_is_not_lost(begin: Start, tmp_path: Path) -> None:
    place = tmp_path / "place"
    daemon = begin(doctored=HIDDEN.format(place=str(place)))
    count = tmp_path / "count"
    count.touch()
    create(daemon, "resized", "seq 1 40; exec cat")
    create(daemon, "restarted", f"wc -l < {count}; echo >> {count}; exec cat")
    create(daemon, "dash", "dash", env={"PS1": "> "})
    until(daemon, "resized", text="40")
    until(daemon, "restarted", text="0")
    until(daemon, "dash", state=["prompt"])
    until(daemon, "dash", quiet_ms=300)  # all so far is in the journal
    call(daemon, "restart_session", session="restarted")
    until(daemon, "restarted", text="1")
    call(daemon, "resize_session", session="resized", rows=10, cols=50)
    before = {name: sight(daemon, name) for name in ("resized", "restarted")}
    place.touch()
    with pytest.raises(DaemonRestarted):
        call_once(daemon, "run", session="dash", command="echo never sent")
    details = listed(daemon)["resized"]
    assert (details["rows"], details["cols"]) == (10, 50)
    assert {name: sight(daemon, name) for name in before} == before
    # Nobody hides for ever what the dead daemon wanted hidden.
    send(daemon, "dash", "echo vis''ible\r")
    until(daemon, "dash", text="visible")
    assert run(daemon, "dash", "echo again")["output"] == "again"


def test_upgrade_replaces_the_daemon_under_a_run(begin: Start, tmp_path: Path) -> None:
    daemon = begin()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    create(daemon, "shell", "bash", args=["--norc"])
    create(daemon, "lines", COLOURS)
    begun = run(daemon, "shell", UNDER_WAY.format(fifo=fifo), timeout_ms=0)
    until(daemon, "shell", regex="(?m)^before")
    until(daemon, "lines", text="here")
    before, status = portrait(daemon, "lines"), call(daemon, "status")
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "server", "--upgrade", "--json"],
        env=daemon.env,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["before"]["pid"] == status["pid"] != told["pid"]
    assert told["keeper_pid"] == status["keeper_pid"] == daemon.process.pid
    assert portrait(daemon, "lines") == before
    fifo.write_text("within\n")
    until(daemon, "shell", run_id=begun["run_id"])
    page = call(daemon, "read_run", run_id=begun["run_id"])
    assert (page["output"].split("\n"), page["exit_code"]) == (["before", "within", "after"], 7)


def test_next_daemon_knows_who_ran_what_and_sees_it_end(begin: Start, tmp_path: Path) -> None:
    daemon = begin()
    for name in ("asked", "typed"):
        create(daemon, name, "bash", env={"HISTFILE": ""})  # with marks
        until(daemon, name, state=["prompt"])
        os.mkfifo(tmp_path / name)
    run(daemon, "typed", "echo earlier")
    run(daemon, "asked", f"cat {tmp_path / 'asked'}; sh -c 'exit 5'", timeout_ms=0)
    send(daemon, "typed", f"cat {tmp_path / 'typed'}; sh -c 'exit 6'\r")
    until(daemon, "typed", state=["running"])
    before = {name: call(daemon, "list_activity", session=name) for name in ("asked", "typed")}
    crash(daemon)
    for name in ("asked", "typed"):
        assert call(daemon, "list_activity", session=name) == before[name]
    crash(daemon)  # and by one that nobody asked before the commands ended
    for name, code in (("asked", 5), ("typed", 6)):
        (tmp_path / name).write_text(f"printed by {name}\n")
        until(daemon, name, state=["prompt"])
        found = call(daemon, "list_activity", session=name)["entries"]
        last = before[name]["entries"][-1]
        assert [entry["id"] for entry in found] == [one["id"] for one in before[name]["entries"]]
        assert found[-1] == {
            **{key: value for key, value in last.items() if key != "running"},
            "exit_code": code,
            "by": "command line",
            "person": True,
            "ended": found[-1]["ended"],
            "duration_ms": found[-1]["duration_ms"],
            "last_generation": found[-1]["last_generation"],
        }
        answer = call(daemon, "activity_output", session=name, id=last["id"])
        assert answer == {"id": last["id"], "lines": 1, "output": f"printed by {name}"}
