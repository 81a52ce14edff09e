"""`nacre record --scenario`: a person works in a session, and the file passes as a test."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import Daemon
from nacre.cli.parser import run

from cli.person import Person

PROGRAM = "name = input('Your name: ')\nprint('Hello', name)\ninput('Go on? ')\nprint('Bye')\n"


def test_what_a_person_did_passes_as_a_scenario(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(PROGRAM)
    made = daemon.as_person(
        "create_session", command=sys.executable, args=["hello.py"], cwd=str(tmp_path), name="demo"
    )
    file = tmp_path / "demo.yaml"
    person = Person(daemon.env, "demo", "--scenario", str(file), command=("record",), cwd=tmp_path)
    person.sees("Your name:")
    person.type(b"Ada\r")
    person.sees("Go on?")
    person.type(b"\r")
    assert person.process.wait(60) == 0
    person.close()
    assert daemon.as_person("list_sessions", session=made["session_id"])["exit_code"] == 0
    text = file.read_text()
    assert "- keys: [Ada, Enter]" in text
    assert "- expect: {exit_code: 0}" in text
    assert text.index('expect: "Your name:"') < text.index("keys:") < text.index('expect: "Go on?"')
    assert run(["test", str(file)]) == 0


def test_it_needs_a_terminal_and_a_new_file(daemon: Daemon, tmp_path: Path) -> None:
    there = tmp_path / "there.yaml"
    there.write_text("x")
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "record", "demo", "--scenario", str(there)],
        env={**os.environ, **daemon.env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "this needs a terminal" in done.stderr
    assert there.read_text() == "x"
