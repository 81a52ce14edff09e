"""Daemons that are killed: no session notices, and none is lost.

Rule: many things are looked at after one crash; a daemon's start costs most of a test's time.
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import printing
from conftest import Daemon, environment
from crashing import (
    PATIENCE,
    PRINTING,
    Json,
    Twin,
    answering,
    call,
    call_once,
    crash,
    create,
    daemon_children,
    is_dead,
    journal_of,
    kill,
    listed,
    log_of,
    members,
    next_pid,
    portrait,
    press,
    run,
    run_output,
    send,
    sight,
    start,
    text_of,
    until,
    wait_gone,
)
from nacre.errors import DaemonRestarted
from nacre.paths import find_paths
from ranges import own_ports

from doors.wire import Bridge, daemon_pid

Start = Callable[..., Daemon]

COUNTER = """
import os, signal, sys, time
out = open(sys.argv[1], "w", buffering=1)
signal.signal(signal.SIGHUP, lambda *_: out.write("HUP\\n"))
count = 0
while not os.path.exists(sys.argv[2]):
    count += 1
    try:
        os.write(1, b"%d\\r" % count)
    except OSError as error:
        out.write(f"{error}\\n")
    out.write(f"{count}\\n")
out.write("done\\n")
"""

KEYS = r"""
import os, tty
tty.setraw(0)
os.write(1, b"\x1b[?1h\x1b[?2004h\x1b]2;a title\x07keys:")
while True:
    os.write(1, os.read(0, 100).hex().encode() + b" ")
"""

COLOURS = (
    "for i in $(seq 1 700); do printf '\\033[3%d;4mline %d\\033[0m plain\\n' $((i % 8)) $i; done;"
    " printf '\\033]0;all colours\\007\\033[5;10Hhere'; exec cat"
)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Start]:
    """Start daemons that one test has for itself."""
    started: list[Daemon] = []

    def begin_one(**options: object) -> Daemon:
        started.append(start(tmp_path, **options))  # type: ignore[arg-type]  # as they were given
        return started[-1]

    yield begin_one
    for one in started:
        if one.process.poll() is None:
            one.stop()


# --- one crash, many sessions ------------------------------------------------------------------


@dataclass
class Survived:
    daemon: Daemon
    folder: Path
    before: dict[str, Json]
    after: dict[str, Json]
    generations: dict[str, int]
    ids: dict[str, str]
    ports: dict[str, int]
    run_id: str


@dataclass
class Spoilt:
    intact: Json
    after_damage: dict[str, Json]
    before_next: dict[str, Json]
    after_next: dict[str, Json]


NAMES = ("renamed", "vim", "less", "colours", "keys", "ended", "shot")


@pytest.fixture(scope="module")
def survived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Survived]:
    """Sessions of many kinds, whose daemon was killed and replaced."""
    folder = tmp_path_factory.mktemp("survived")
    (folder / "text").write_text("".join(f"{number} of the text\n" for number in range(300)))
    (folder / "place").mkdir()
    daemon = start(folder)
    try:
        yield _survive(daemon, folder)
    finally:
        code = daemon.stop()
    assert code == 0


def _survive(daemon: Daemon, folder: Path) -> Survived:
    made = {
        "shell": create(daemon, "shell", cwd=str(folder), env={"GIVEN": "by caller"}, tags=["t1"]),
        "vim": create(daemon, "vim", "vim", args=["-u", "NONE", "-N", str(folder / "text")]),
        "less": create(daemon, "less", f"less {folder}/text", rows=15, cols=60),
        "colours": create(daemon, "colours", COLOURS),
        "keys": create(daemon, "keys", sys.executable, args=["-c", KEYS]),
        "ended": create(daemon, "ended", "echo last words; exit 3"),
        "shot": create(daemon, "shot", "kill -KILL $$"),
        "gone": create(daemon, "gone", "echo still readable; exec cat"),
        "counter": create(
            daemon,
            "counter",
            sys.executable,
            args=["-c", COUNTER, str(folder / "count"), str(folder / "stop")],
        ),
    }
    run(daemon, "shell", f"cd {folder}/place; VARIABLE=kept; greet() {{ echo hello $1; }}")
    run(daemon, "shell", "sleep 1000 &")
    run_id = run(daemon, "shell", "echo some output; (exit 5)")["run_id"]
    call(daemon, "manage_session", session="shell", action="rename", new_name="renamed")
    call(daemon, "resize_session", session="renamed", rows=31, cols=101)
    until(daemon, "vim", text="0 of the text")
    send(daemon, "vim", ":set number\r50G")
    until(daemon, "vim", text="50 49 of")
    until(daemon, "less", text="0 of the text")
    send(daemon, "less", " ")
    until(daemon, "less", text="20 of the text")
    until(daemon, "colours", text="here")
    until(daemon, "keys", text="keys:")
    until(daemon, "gone", text="still readable")
    call(daemon, "manage_session", session="gone", action="kill")
    assert is_dead(daemon, "ended")
    assert is_dead(daemon, "shot")
    until(daemon, "renamed", state=["prompt"])
    before = {name: portrait(daemon, name) for name in NAMES}
    generations = {name: one["generation"] for name, one in listed(daemon).items()}
    crash(daemon)
    return Survived(
        daemon,
        folder,
        before,
        {name: portrait(daemon, name) for name in NAMES},
        generations,
        {name: one["session_id"] for name, one in made.items()},
        {name: one["port"] for name, one in made.items()},
        run_id,
    )


@pytest.mark.parametrize("name", NAMES)
def test_everything_that_can_be_seen_is_as_before(survived: Survived, name: str) -> None:
    assert survived.after[name] == survived.before[name]


def test_generations_do_not_go_back(survived: Survived) -> None:
    after = {name: one["generation"] for name, one in listed(survived.daemon).items()}
    assert after.keys() == survived.generations.keys()
    assert all(after[name] >= known for name, known in survived.generations.items())


def test_generation_that_was_given_out_before_is_still_understood(survived: Survived) -> None:
    daemon, known = survived.daemon, survived.generations["keys"]
    same = call(daemon, "get_screen", session="less", since_generation=survived.generations["less"])
    assert same.get("unchanged") or same["lines"] == survived.before["less"]["screen"]["lines"]
    send(daemon, "keys", "x")
    until(daemon, "keys", text="78", after_generation=known)
    newer = call(daemon, "get_screen", session="keys", since_generation=known)
    assert newer["generation"] > known
    assert not newer.get("unchanged")


def test_child_does_not_notice(survived: Survived) -> None:
    before = (survived.folder / "count").read_text().count("\n")
    until(survived.daemon, "counter", quiet_ms=0)
    (survived.folder / "stop").touch()
    assert is_dead(survived.daemon, "counter")
    assert listed(survived.daemon)["counter"]["exit_code"] == 0
    lines = (survived.folder / "count").read_text().splitlines()
    assert lines == [*map(str, range(1, len(lines))), "done"]
    assert len(lines) >= before


def test_shell_has_its_variables_functions_and_jobs(survived: Survived) -> None:
    daemon = survived.daemon
    asked = run(daemon, "renamed", 'echo "$VARIABLE, $GIVEN"; greet you; pwd; jobs')
    assert asked["exit_code"] == 0
    assert asked["output"].split("\n")[:3] == [
        "kept, by caller",
        "hello you",
        str(survived.folder / "place"),
    ]
    assert "sleep 1000 &" in asked["output"]


def test_job_control_works(survived: Survived) -> None:
    daemon = survived.daemon
    begun = run(daemon, "renamed", "cat", timeout_ms=0)
    until(daemon, "renamed", state=["needs_input", "running"])
    send(daemon, "renamed", "typed\r")
    until(daemon, "renamed", regex=r"typed\s+typed")
    press(daemon, "renamed", "ctrl+z")
    until(daemon, "renamed", run_id=begun["run_id"])
    assert "Stopped" in run(daemon, "renamed", "jobs")["output"]
    begun = run(daemon, "renamed", "fg", timeout_ms=0)
    until(daemon, "renamed", regex=r"fg\s+cat")
    send(daemon, "renamed", "more\r")
    until(daemon, "renamed", regex=r"more\s+more")
    press(daemon, "renamed", "ctrl+d")
    until(daemon, "renamed", run_id=begun["run_id"])


def test_run_that_had_ended_before_is_still_readable(survived: Survived) -> None:
    page = call(survived.daemon, "read_run", run_id=survived.run_id)
    assert (page["output"], page["exit_code"], page["finished"]) == ("some output", 5, True)


def test_keys_are_encoded_as_the_program_asked_for_them(survived: Survived) -> None:
    press(survived.daemon, "keys", "up")
    until(survived.daemon, "keys", text=b"\x1bOA".hex())


def test_ports_of_sessions_answer(survived: Survived) -> None:
    for name in ("shell", "vim", "ended"):
        with socket.create_connection(("127.0.0.1", survived.ports[name]), PATIENCE) as client:
            client.sendall(b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 ")


def test_loopback_port_and_token_are_the_same(survived: Survived) -> None:
    daemon = survived.daemon
    assert daemon.rest("GET", "/status")["pid"] == answering(daemon)


def test_killed_session_does_not_come_back(survived: Survived) -> None:
    assert "gone" not in listed(survived.daemon)
    assert members(survived.ids["gone"]) == []
    with socket.socket() as free:
        free.bind(("127.0.0.1", survived.ports["gone"]))


def test_programs_take_input_again(survived: Survived) -> None:
    daemon = survived.daemon
    send(daemon, "vim", "1G")
    until(daemon, "vim", text="1 0 of the text")
    send(daemon, "less", "G")
    until(daemon, "less", text="299 of the text")
    send(daemon, "colours", "from the keyboard\r")
    until(daemon, "colours", regex="keyboard\\s+from the keyboard")


def test_restart_has_the_same_environment_and_place(survived: Survived) -> None:
    daemon = survived.daemon
    again = call(daemon, "restart_session", session="renamed")
    assert again["session_id"] == survived.ids["shell"]
    assert (again["rows"], again["cols"]) == (31, 101)
    asked = run(daemon, "renamed", 'echo "$GIVEN"; pwd; echo "<$VARIABLE>"')
    assert asked["output"].split("\n") == ["by caller", str(survived.folder), "<>"]


# --- runs --------------------------------------------------------------------------------------

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
from nacre.services import stream
hide_echo = stream.Stream.hide_echo
def hide_and_die(self, veil):
    hide_echo(self, veil)
    if os.path.exists({place!r}):
        os.unlink({place!r})
        os.kill(os.getpid(), signal.SIGKILL)
stream.Stream.hide_echo = hide_and_die
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


# --- under load --------------------------------------------------------------------------------


class Printers:
    """Programs that print at full speed, and a terminal beside each that nothing happens to."""

    def __init__(self, daemon: Daemon, count: int, lines: int) -> None:
        self.daemon = daemon
        self.names = [f"load{number}" for number in range(count)]
        self.blocks = [0] * count
        self.twins = [Twin(lines) for _ in self.names]
        self.pids: list[int] = []
        for number, name in enumerate(self.names):
            args = ["-S", "-E", PRINTING, str(number)]
            self.pids.append(create(daemon, name, sys.executable, args=args)["pid"])
        for name in self.names:
            until(daemon, name, text=":000")

    def toggle(self) -> None:
        """Have all of them stop, or go on."""
        for pid in self.pids:
            os.kill(pid, signal.SIGUSR1)

    def go_on(self) -> None:
        before = [call(self.daemon, "get_screen", session=name) for name in self.names]
        self.toggle()
        for name, seen in zip(self.names, before, strict=True):
            after = seen["generation"]
            call(self.daemon, "await_quiesce", session=name, timeout_ms=0, last_generation=after)

    def check(self) -> None:
        """Assert that all of them, once they have stopped, look like their twins."""
        for number, name in enumerate(self.names):
            until(self.daemon, name, text=" blocks")
            seen = sight(self.daemon, name)
            text = "".join(span["text"] for line in seen["screen"] for span in line)
            last = int(text.rpartition("printed ")[2].partition(" ")[0])
            self.twins[number].feed(printing.part(number, self.blocks[number], last))
            assert last > self.blocks[number]
            self.blocks[number] = last
            assert seen == self.twins[number].sight(), (name, last)


def test_kills_under_load_cost_no_byte(begin: Start) -> None:
    daemon = begin(scrollback=3000, journal_segment_bytes=300_000)
    printers = Printers(daemon, 8, 3000)
    moments = random.Random(4)
    for left in reversed(range(5)):
        for _ in range(moments.randrange(30)):
            call(daemon, "status")
        kill(daemon)
        printers.toggle()
        printers.check()
        if left:
            printers.go_on()


KILLED_IN_REPLAY = """
from nacre.services import rebuilding
import pathlib
left = pathlib.Path({left!r})
rebuild = rebuilding.Screens._rebuild
def rebuild_and_die(self, *arguments):
    rebuilt = rebuild(self, *arguments)
    if (count := int(left.read_text())):
        left.write_text(str(count - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return rebuilt
rebuilding.Screens._rebuild = rebuild_and_die
"""


def test_kills_during_the_recovery_lose_nothing(begin: Start, tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.write_text("0")
    daemon = begin(doctored=KILLED_IN_REPLAY.format(left=str(left)), scrollback=1000)
    printers = Printers(daemon, 2, 1000)
    ended = create(daemon, "ends", "read line; exit 4")
    pid = kill(daemon)
    printers.toggle()
    for _ in range(2):  # as soon as the keeper has started it
        pid = kill(daemon, next_pid(daemon, pid))
    left.write_text("4")  # and in the middle of a session's replay
    printers.check()
    assert left.read_text() == "0"
    send(daemon, "ends", "\r")
    assert is_dead(daemon, "ends")
    assert listed(daemon)["ends"]["exit_code"] == 4
    assert listed(daemon)["ends"]["session_id"] == ended["session_id"]


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


# --- the keeper, signals, stops ----------------------------------------------------------------


def test_sessions_survive_their_keeper_and_are_lost_with_both(begin: Start, tmp_path: Path) -> None:
    daemon = begin()
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
    assert call(daemon, "status")["keeper_pid"] is None
    before = {name: sight(daemon, name) for name in ("lines", "shell", "later")}
    ids = {name: one["session_id"] for name, one in listed(daemon).items()}
    until(daemon, "later", quiet_ms=400)  # the journal waits 200 ms; there is no ring any more
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


# --- what goes wrong inside --------------------------------------------------------------------

POISONED = """
from nacre.core.terminal import Terminal
feed = Terminal.feed
def feed_or_die(self, data):
    if b"POISON" in data:
        os.abort()
    feed(self, data)
Terminal.feed = feed_or_die
"""


def test_session_whose_output_crashes_the_engine_is_put_aside(begin: Start) -> None:
    daemon = begin(doctored=POISONED)
    made = create(daemon, "poisoned", "echo fine; read line; printf 'POI%s\\n' SON; exec cat")
    create(daemon, "other", "seq 1 50; exec cat")
    until(daemon, "poisoned", text="fine")
    until(daemon, "other", text="50")
    before = portrait(daemon, "other")
    send(daemon, "poisoned", "\r")
    details = call(daemon, "list_sessions", session="poisoned")
    while not text_of(daemon, "poisoned").startswith(" nacre  The screen of this session"):
        details = call(daemon, "list_sessions", session="poisoned")
    assert (details["alive"], details["session_id"]) == (True, made["session_id"])
    assert portrait(daemon, "other") == before
    aside = journal_of(daemon, f"{made['session_id']}.quarantine")
    assert str(aside) in text_of(daemon, "poisoned").replace("\n", "")
    kept = b"".join(path.read_bytes() for path in aside.iterdir())
    assert b"fine" in kept
    assert b"POISON" in kept
    send(daemon, "poisoned", "new output\r")
    until(daemon, "poisoned", regex=r"new output\s+new output")
    crash(daemon)
    assert text_of(daemon, "poisoned").startswith(" nacre  The screen of this session")
    until(daemon, "poisoned", regex=r"new output\s+new output")


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)


def spoil_begin(folder: Path) -> None:
    flip(sorted(folder.glob("*.log"))[-1], 0)


def spoil_middle(folder: Path) -> None:
    newest = sorted(folder.glob("*.log"))[-1]
    flip(newest, newest.stat().st_size // 2)


def spoil_end(folder: Path) -> None:
    newest = sorted(folder.glob("*.log"))[-1]
    os.truncate(newest, newest.stat().st_size - 3)


def empty_it(folder: Path) -> None:
    for path in folder.glob("*.log"):
        os.truncate(path, 0)


def spoil_checkpoints(folder: Path) -> None:
    assert list(folder.glob("*.screen"))
    for path in folder.glob("*.screen"):
        flip(path, path.stat().st_size // 2)


def drop_checkpoints(folder: Path) -> None:
    for path in folder.glob("*.screen"):
        path.unlink()


def drop_first(folder: Path) -> None:
    drop_checkpoints(folder)
    sorted(folder.glob("*.log"))[0].unlink()


def spoil_first(folder: Path) -> None:
    drop_checkpoints(folder)
    oldest = sorted(folder.glob("*.log"))[0]
    flip(oldest, oldest.stat().st_size // 2)


def put_a_folder(folder: Path) -> None:
    newest = sorted(folder.glob("*.log"))[-1]
    newest.unlink()
    newest.mkdir()


def put_a_stranger(folder: Path) -> None:
    (folder / "stranger.log").write_bytes(b"\0" * 100)


def drop_all(folder: Path) -> None:
    shutil.rmtree(folder)


SPOILERS = (
    *(spoil_begin, spoil_middle, spoil_end, empty_it, spoil_checkpoints, drop_checkpoints),
    *(drop_first, spoil_first, put_a_folder, put_a_stranger, drop_all),
)
NOTICE = re.compile(r" nacre  The (daemon was|journal of)")


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spoilt]:
    """Sessions whose journals were damaged in all ways before their daemon was killed twice."""
    daemon = start(tmp_path_factory.mktemp("spoilt"), journal_segment_bytes=65536)
    try:
        names = [spoiler.__name__ for spoiler in SPOILERS]
        made = {name: create(daemon, name, "seq 1 30000; exec cat") for name in names}
        for name in names:
            until(daemon, name, regex="(?m)^30000$")
            until(daemon, name, quiet_ms=300)  # the ring is empty: all is in the journal alone
        intact = sight(daemon, names[0])
        daemon.process.send_signal(signal.SIGSTOP)
        kill(daemon)
        for spoiler in SPOILERS:
            spoiler(journal_of(daemon, made[spoiler.__name__]["session_id"]))
        daemon.process.send_signal(signal.SIGCONT)
        first = {name: sight(daemon, name) for name in names}
        for name in names:
            send(daemon, name, f"typed into {name}\r")
            until(daemon, name, regex=f"into {name}\\s+typed into {name}")
        second = {name: sight(daemon, name) for name in names}
        crash(daemon)
        yield Spoilt(intact, first, second, {name: sight(daemon, name) for name in names})
    finally:
        code = daemon.stop()
    assert code == 0


@pytest.mark.parametrize("name", [spoiler.__name__ for spoiler in SPOILERS])
def test_damaged_journal_is_said_and_never_shown_wrong(spoilt: Spoilt, name: str) -> None:
    seen = spoilt.after_damage[name]
    text = "".join(span["text"] for line in seen["screen"][:1] for span in line)
    assert NOTICE.match(text) or seen == spoilt.intact, text
    assert spoilt.after_next[name] == spoilt.before_next[name], "the journal goes on after it"


def test_full_disk_stops_the_journal_and_nothing_else(begin: Start) -> None:
    limit = ("/bin/bash", "-c", 'ulimit -f 1024; exec "$@"', "limit")  # 1 MiB a file
    daemon = begin(wrapper=limit, journal_segment_bytes=4 * 1024 * 1024)
    create(daemon, "loud", "seq -f %070.0f 1 30000; exec cat")
    create(daemon, "quiet", "echo little; exec cat")
    until(daemon, "loud", text="0030000")
    until(daemon, "quiet", text="little")
    until(daemon, "loud", quiet_ms=300)
    assert [line["level"] for line in log_of(daemon) if "journal has stopped" in line["message"]]
    details = listed(daemon)
    assert details["loud"]["notice"].startswith("the journal has stopped")
    assert details["quiet"].get("notice") is None
    quiet = portrait(daemon, "quiet")
    crash(daemon)
    assert portrait(daemon, "quiet") == quiet
    # The notice, and below it what was still in the ring.
    seen = sight(daemon, "loud")
    assert NOTICE.match(seen["scrollback"][0])
    numbers = [*seen["scrollback"][3:], *text_of(daemon, "loud").split("\n")]
    assert numbers == [f"{number:070d}" for number in range(int(numbers[0]), 30_001)]
    send(daemon, "loud", "goes on\r")
    until(daemon, "loud", regex=r"goes on\s+goes on")


# --- half-made sessions ------------------------------------------------------------------------

# Dies at a place in the making of a session, which a file names; once.
DIES_AT = """
import pathlib, subprocess
from nacre.system import keeping, pty
from nacre.services import session
place = pathlib.Path({place!r})
def die_at(name):
    if place.exists() and place.read_text() == name:
        place.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
class Popen(subprocess.Popen):
    def __init__(self, *args, **kw):
        die_at("before the process")
        super().__init__(*args, **kw)
        die_at("after the process")
class Subprocess:
    DEVNULL = subprocess.DEVNULL
Subprocess.Popen = Popen
pty.subprocess = Subprocess
keep = keeping.Keeping.keep
def keep_and_die(self, key, descriptor):
    keep(self, key, descriptor)
    for word in ("port", "ring", "master"):
        if word in key:
            die_at(f"after keeping the {{word}}")
keeping.Keeping.keep = keep_and_die
watch = keeping.Keeping.watch
def watch_and_die(self, *args):
    watch(self, *args)
    die_at("after watching")
keeping.Keeping.watch = watch_and_die
"""
PLACES = (
    *("after keeping the port", "after keeping the ring", "after keeping the master"),
    *("before the process", "after the process", "after watching"),
)


def test_sessions_that_were_being_made_are_whole_or_nothing(begin: Start, tmp_path: Path) -> None:
    place = tmp_path / "place"
    daemon = begin(doctored=DIES_AT.format(place=str(place)))
    first = create(daemon, "first", "exec cat")
    keeper = Path(f"/proc/{daemon.process.pid}/fd")
    held = len(list(keeper.iterdir()))
    for number, where in enumerate(PLACES):
        place.write_text(where)
        with pytest.raises(DaemonRestarted):
            call_once(daemon, "create_session", name=f"half{number}", command="echo made; exec cat")
        answering(daemon)
        assert not place.exists()
    details = listed(daemon)
    assert details["first"]["pid"] == first["pid"]
    halves = [one for name, one in details.items() if name.startswith("half")]
    for one in halves:
        if one["alive"]:
            until(daemon, one["name"], text="made")
        call(daemon, "manage_session", session=one["name"], action="kill")
        assert members(one["session_id"]) == []
    assert {one["name"] for one in halves} >= {"half4", "half5"}, "their processes were there"
    assert list(listed(daemon)) == ["first"]
    assert len(list(keeper.iterdir())) == held, "something of them is left with the keeper"
    assert daemon_children(daemon) == {first["pid"]}


def test_creations_with_kills_in_between_leave_no_orphan(begin: Start) -> None:
    daemon = begin()
    moments = random.Random(20)
    made = []
    for number in range(20):
        killing = number % 5 == 4
        timer = threading.Timer(moments.random() / 200, kill, (daemon,)) if killing else None
        if timer is not None:
            timer.start()
        with suppress(DaemonRestarted):
            created = call_once(daemon, "create_session", name=f"s{number}", command="exec cat")
            made.append(created["session_id"])
        if timer is not None:
            timer.join()
            answering(daemon)
    details = {one["session_id"]: one for one in listed(daemon).values()}
    assert details.keys() >= set(made)
    assert all(details[known]["alive"] for known in made)
    for known in details:
        call(daemon, "manage_session", session=known, action="kill")
    assert daemon_children(daemon) == set()
    assert listed(daemon) == {}
