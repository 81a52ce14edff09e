"""What the kernel tells of a terminal, program by program."""

import os
import shutil
import signal
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nacre.system.processes import foreground
from nacre.system.processes.foreground import (
    TerminalFacts,
    children_of,
    is_script,
    runs_file,
    sample,
)
from nacre.system.processes.pty import Child, SessionLimits, spawn
from reading import read_available

PATIENCE = 60.0
PYTHON = os.path.realpath(sys.executable)


@contextmanager
def running(argv: list[str], folder: Path) -> Iterator[Child]:
    if shutil.which(argv[0]) is None:
        pytest.fail(f"{argv[0]} is not installed; 'make test' installs it", pytrace=False)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm", "LANG": "C.UTF-8"}
    child = spawn(argv, cwd=str(folder), env=env, rows=24, cols=80, limits=SessionLimits(256))
    try:
        yield child
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        os.close(child.master)
        child.process.wait()


def facts_that(child: Child, wanted: dict[str, object]) -> TerminalFacts | None:
    """Sample until the facts are these; the kernel has no event for them."""
    deadline = time.monotonic() + PATIENCE
    found: TerminalFacts | None = None
    while time.monotonic() < deadline:
        read_available(child.master, 65536)
        found = sample(child.master)
        if found and all(getattr(found, name) == value for name, value in wanted.items()):
            return found
        os.sched_yield()
    return found


RAW = {"echo": False, "canonical": False, "secret": False}
LINE = {"echo": True, "canonical": True, "secret": False}
SECRET = {"echo": False, "canonical": True, "secret": True}

WAIT_BY = {
    "read": "import sys; sys.stdin.readline()",
    "poll": "import select; p = select.poll(); p.register(0, 1); p.poll()",
    "select": "import select; select.select([0], [], [])",
    "epoll": "import select; e = select.epoll(); e.register(0, 1); e.poll()",
    "thread": "import sys, threading as t; t.Thread(target=sys.stdin.readline).start()",
    "tty": "open('/dev/tty').readline()",
}
BUSY_BY = {
    "pause": "import signal; signal.pause()",
    "compute": "while True: pass",
    "pipe": "import os; os.read(os.pipe()[0], 1)",
    "socket": "import socket; s = socket.create_server(('127.0.0.1', 0)); s.accept()",
    "poll a pipe": "import select, os; p = select.poll(); p.register(os.pipe()[0], 1); p.poll()",
}


def _each(programs: dict[str, str], *, waits: bool) -> list[tuple[list[str], dict[str, object]]]:
    return [([PYTHON, "-c", code], {"waits": waits, **LINE}) for code in programs.values()]


TABLE: list[tuple[list[str], dict[str, object]]] = [
    (["bash", "--norc"], {"program": "bash", "waits": True, **RAW}),
    (["zsh", "-f"], {"program": "zsh", "waits": True, **RAW}),
    (["fish", "--no-config"], {"program": "fish", "waits": True, **RAW}),
    (["dash"], {"program": "dash", "waits": True, "scripted": False, **LINE}),
    (["busybox", "sh"], {"program": "busybox", "waits": True, "scripted": False, **RAW}),
    (["bash", "-c", "read x"], {"program": "bash", "waits": True, "scripted": True, **LINE}),
    (["bash", "-c", "read -s x"], {"program": "bash", "waits": True, **SECRET}),
    ([PYTHON, "-c", "import getpass; getpass.getpass()"], {"waits": True, **SECRET}),
    (["cat"], {"program": "cat", "waits": True, **LINE}),
    (["grep", "x"], {"program": "grep", "waits": True, **LINE}),
    ([PYTHON, "-c", "input('name: ')"], {"waits": True, "scripted": True, **LINE}),
    ([PYTHON, "-q"], {"waits": True, "scripted": False, **RAW}),
    (["sqlite3"], {"program": "sqlite3", "waits": True, **RAW}),
    (["less", "/etc/passwd"], {"program": "less", "waits": True, **RAW}),
    (["vim", "-u", "NONE"], {"program": "vim", "waits": True, **RAW}),
    (["node"], {"program": "node", "waits": True, **RAW}),
    (["sleep", "60"], {"program": "sleep", "waits": False, **LINE}),
    (["sh", "-c", "sleep 60 | cat"], {"waits": False, **LINE}),
    (["sh", "-c", "seq 1000 | less; true"], {"program": "less", "waits": True, **RAW}),
    (["bash", "-c", "read -n1 x"], {"waits": True, "canonical": False, "echo": True}),
    (["bash", "-c", "read -sn1 x"], {"waits": True, "edits": False, **RAW}),
    (["bash", "-c", "read -e x"], {"waits": True, "edits": True, **RAW}),
    (["top"], {"program": "top", "timeout": 3.0, **RAW}),
    (["htop"], {"program": "htop", "timeout": 1.5, **RAW}),
    *_each(WAIT_BY, waits=True),
    *_each(BUSY_BY, waits=False),
]


@pytest.mark.parametrize(
    ("argv", "wanted"), TABLE, ids=[" ".join(row[0])[-40:].replace("/", " ") for row in TABLE]
)
def test_facts(argv: list[str], wanted: dict[str, object], tmp_path: Path) -> None:
    with running(argv, tmp_path) as child:
        found = facts_that(child, wanted)
        assert found is not None
        assert {name: getattr(found, name) for name in wanted} == wanted


TIMED_BY = {
    "poll": "import select; p = select.poll(); p.register(0, 1); p.poll(70_000)",
    "select": "import select; select.select([0], [], [], 70)",
    "epoll": "import select; e = select.epoll(); e.register(0, 1); e.poll(70)",
    "read": "import os, termios as t; a = t.tcgetattr(0); a[3] &= ~t.ICANON; a[6][t.VMIN] = 0;"
    "a[6][t.VTIME] = 250; t.tcsetattr(0, 0, a); os.read(0, 1)",
}


@pytest.mark.parametrize("call", TIMED_BY)
def test_a_wait_that_gives_up_by_itself_is_known(call: str, tmp_path: Path) -> None:
    with running([PYTHON, "-c", TIMED_BY[call]], tmp_path) as child:
        wanted = 25.0 if call == "read" else 70.0
        found = facts_that(child, {"waits": True, "timeout": wanted})
        assert found is not None
        assert found.timeout == wanted


def test_the_program_behind_an_alternative_is_known(tmp_path: Path) -> None:
    for name, program in (("editor", "vim"), ("pager", "less")):
        found = shutil.which(program)
        assert found is not None, f"{program} is not installed; 'make test' installs it"
        (tmp_path / name).symlink_to(found)
        (tmp_path / "x").write_text("x\n" * 99)
        with running([str(tmp_path / name), str(tmp_path / "x")], tmp_path) as child:
            facts = facts_that(child, {"program": program, "waits": True})
            assert facts is not None
            assert facts.program == program


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("python3", False),
        ("python3 -q", False),
        ("python3 -X utf8", False),
        ("python3 -i script.py", False),
        ("python3 script.py", True),
        ("python3 -m http.server", True),
        ("python3 -W ignore script.py", True),
        ("node", False),
        ("node --experimental-vm-modules", False),
        ("node server.js", True),
        ("node -e 1", True),
        ("php -a", False),
    ],
)
def test_an_interpreter_with_something_to_run_is_no_repl(line: str, runs: bool) -> None:
    assert runs_file(line.split()) is runs


def test_the_foreground_group_of_a_job(tmp_path: Path) -> None:
    with running(["bash", "--norc"], tmp_path) as child:
        facts_that(child, {"waits": True, **RAW})
        os.write(child.master, b"cat\r")
        found = facts_that(child, {"program": "cat", "waits": True})
        assert found is not None
        assert found.group == found.pid != child.pid
        assert found.pid in children_of(child.pid)
        os.write(child.master, b"\x04")
        back = facts_that(child, {"program": "bash", "waits": True})
        assert back is not None
        assert back.group == child.pid


def test_the_rest_of_a_pipeline_is_known_when_its_leader_is_gone(tmp_path: Path) -> None:
    with running(["bash", "--norc"], tmp_path) as child:
        facts_that(child, {"waits": True, **RAW})
        os.write(child.master, b"true | sleep 60\r")
        found = facts_that(child, {"program": "sleep", "waits": False})
        assert found is not None
        assert found.program == "sleep"


MANY = """
import os, sys, time
for _ in range(9):
    if os.fork() == 0:
        time.sleep(1000)
print("up", flush=True)
{}
"""


def test_of_many_processes_some_are_looked_at_and_the_rest_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    waits = foreground._waits

    def note(pid: int, terminal: str) -> Any:
        looked.append(pid)
        return waits(pid, terminal)

    monkeypatch.setattr(foreground, "_MOST", 5)
    monkeypatch.setattr(foreground, "_waits", note)
    with running([PYTHON, "-c", MANY.format("time.sleep(1000)")], tmp_path) as child:
        assert facts_that(child, {"waits": None}) is not None
        while len(children_of(child.pid)) < 9:
            os.sched_yield()
        looked.clear()
        found = sample(child.master)
        assert found is not None
        assert (found.waits, len(looked)) == (None, 5), "it may be one of the others that waits"
    with running([PYTHON, "-c", MANY.format("sys.stdin.read()")], tmp_path) as child:
        found = facts_that(child, {"waits": True})
        assert found is not None
        assert (found.waits, found.pid) == (True, child.pid), "who waits was among them"


def test_a_terminal_that_is_closed_has_no_facts() -> None:
    master, slave = os.openpty()
    os.close(slave)
    os.close(master)
    assert sample(master) is None


def test_a_terminal_without_a_session_has_no_program() -> None:
    master, slave = os.openpty()
    try:
        attributes = termios.tcgetattr(slave)
        found = sample(master)
        assert found is not None
        assert (found.program, found.pid, found.waits) == (None, None, None)
        assert found.echo == bool(attributes[3] & termios.ECHO)
    finally:
        os.close(slave)
        os.close(master)


@pytest.mark.parametrize(
    ("line", "scripted"),
    [
        ("bash", False),
        ("-bash", False),
        ("bash -i", False),
        ("bash --norc", False),
        ("bash --rcfile /x -i", False),
        ("bash -o vi", False),
        ("bash -O extglob", False),
        ("bash -s a b", False),
        ("zsh -f", False),
        ("fish --init-command x", False),
        ("fish -C x", False),
        ("busybox sh", False),
        ("/usr/bin/busybox ash", False),
        ("sh -c x", True),
        ("sh -ec x", True),
        ("bash -l -c x", True),
        ("bash script.sh", True),
        ("sh -e script.sh", True),
        ("bash -- script.sh", True),
        ("busybox sh script.sh", True),
        ("fish --command x", True),
    ],
)
def test_a_shell_with_something_to_run_is_at_no_prompt(line: str, scripted: bool) -> None:
    assert is_script(line.split()) is scripted


@pytest.mark.skipif(sys.platform != "linux", reason="only there is it seen who waits")
def test_code_that_asks_reads_elsewhere_than_the_prompt(tmp_path: Path) -> None:
    with running([PYTHON, "-q"], tmp_path) as child:
        first = facts_that(child, {"waits": True, "canonical": False})
        os.write(child.master, b"x = input('>>> ')\r")
        asks = _elsewhere(child, first)
        os.write(child.master, b"joe\r")
        again = _elsewhere(child, asks)
    assert first is not None
    assert first.reader is not None
    assert again.reader is not None
    if sys.version_info >= (3, 13):  # its editor is itself interpreted: it may get shallower
        assert again.reader.stack >= first.reader.stack
        assert again.reader.code == first.reader.code
    else:
        assert again.reader == first.reader


def _elsewhere(child: Child, before: TerminalFacts | None) -> TerminalFacts:
    """Sample until the program waits at another place."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        read_available(child.master, 65536)
        found = sample(child.master)
        if found and before and found.reader not in (None, before.reader) and found.raw:
            return found
        os.sched_yield()
    raise AssertionError(before)
