"""One crash, many sessions: none of them notices, and all that can be seen is as before."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import Daemon
from crashing import (
    COLOURS,
    PATIENCE,
    Json,
    answering,
    call,
    crash,
    create,
    is_dead,
    kill,
    listed,
    members,
    portrait,
    press,
    run,
    send,
    start,
    text_of,
    until,
)

from crashes.conftest import Start

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
    less: Json  # what has changed there since


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
        "another": create(daemon, "another", cwd=str(folder), env={"GIVEN": "by caller"}),
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
    run(daemon, "another", f"cd {folder}/place; VARIABLE=lost")
    call(daemon, "resize_session", session="another", rows=31, cols=101)
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
        call(daemon, "get_screen", session="less", since_generation=generations["less"]),
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
    same = survived.less
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
    again = call(daemon, "restart_session", session="another")
    assert again["session_id"] == survived.ids["another"]
    assert (again["rows"], again["cols"]) == (31, 101)
    asked = run(daemon, "another", 'echo "$GIVEN"; pwd; echo "<$VARIABLE>"')
    assert asked["output"].split("\n") == ["by caller", str(survived.folder), "<>"]


# --- before all of them are back ---------------------------------------------------------------

HELD_UP = """
from nacre.services.recovery.service import Recovery
import asyncio, pathlib
recover = Recovery._recover
async def recover_when_told(self, found, worker):
    if found.record.identity.name == "last":
        await asyncio.to_thread(pathlib.Path({gate!r}).read_text)
    await recover(self, found, worker)
Recovery._recover = recover_when_told
"""


def test_daemon_answers_while_a_session_is_still_being_recovered(
    begin: Start, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    daemon = begin(doctored=HELD_UP.format(gate=str(gate)))
    for name in ("first", "last"):
        create(daemon, name, f"echo the {name}; exec cat")
        until(daemon, name, text=f"the {name}")
    kill(daemon)
    assert daemon.rest("GET", "/status")["sessions"] == 2
    assert text_of(daemon, "first").startswith("the first")
    assert daemon.rest("GET", "/sessions/first/screen")["lines"]
    gate.write_text("go on")
    assert text_of(daemon, "last").startswith("the last")
    assert list(listed(daemon)) == ["first", "last"]
