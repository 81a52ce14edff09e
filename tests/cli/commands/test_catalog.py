"""`nacre commands` as people and scripts use it."""

import json
import os
import signal
from pathlib import Path

import pytest

from cli.conftest import Nacre, is_running
from cli.person import Person

CTRL_C = b"\x03"


@pytest.fixture
def work(nacre: Nacre) -> Path:
    """A folder in which commands may work; it is where the command line runs."""
    (nacre.home / "notes.txt").write_text("one\nTODO two\n")
    return nacre.home


def test_list_names_what_may_run_and_all_of_it_on_demand(nacre: Nacre) -> None:
    listed = nacre.ok("commands", "list")
    assert "grep" in listed
    assert "\nsudo " not in listed
    everything = nacre.json("commands", "list", "--all")
    assert {"sudo", "grep"} <= {one["name"] for one in everything["commands"]}


def test_exec_runs_words_here_and_returns_their_exit_code(nacre: Nacre, work: Path) -> None:
    assert nacre.ok("commands", "exec", "--", "grep", "-n", "TODO", "notes.txt") == "2:TODO two\n"
    missing = nacre("commands", "exec", "cat", "none.txt")
    assert missing.returncode == 1
    assert "No such file" in missing.stderr
    assert missing.stdout == ""
    sorted_ = nacre.ok("commands", "exec", "sort", "--stdin", stdin="b\na\n")
    assert sorted_ == "a\nb\n"
    by_name = nacre.json("commands", "exec", "wc", "--args", '{"lines": true, "path": "notes.txt"}')
    assert by_name["output"] == "2 notes.txt\n"


def test_exec_refuses_with_the_documents_words(nacre: Nacre) -> None:
    refused = nacre("commands", "exec", "rm", "notes.txt")
    assert refused.returncode == 8
    assert "Command 'rm' is blacklisted for security reasons" in refused.stderr
    assert nacre("commands", "exec", "cat", "/etc/passwd").returncode == 8
    assert nacre("commands", "exec", "ls", "--args", "nonsense").returncode == 2
    assert nacre("commands", "exec").returncode == 2


def test_search_and_suggest_print_what_they_found(nacre: Nacre) -> None:
    assert "wc" in nacre.ok("commands", "search", "count", "lines")
    suggested = nacre("commands", "suggest", "find all Python files")
    assert suggested.stdout == "find . -name '*.py'\n"
    assert nacre("commands", "suggest", "paint me a horse").returncode == 1


def at_a_terminal(nacre: Nacre, *words: str) -> Person:
    return Person(nacre.env, *words, command=("commands", "exec"), cwd=nacre.home)


def test_ctrl_c_cancels_what_runs(nacre: Nacre) -> None:
    os.mkfifo(nacre.home / "feed")
    person = at_a_terminal(nacre, "cat", "feed")
    try:
        feeding = os.open(nacre.home / "feed", os.O_WRONLY)  # returns when cat has opened it, too
        person.type(CTRL_C)
        assert person.leaves() == 130
        said = person.text.replace("^C", "").strip()  # as the terminal shows the key
        assert said == "nacre: cancelled by Ctrl+C, with all that it had started"
        with pytest.raises(BrokenPipeError):
            os.write(feeding, b"is anybody there?")
        os.close(feeding)
    finally:
        person.close()


DEAF = """#!/bin/sh
trap 'echo told >&3' TERM
exec 3>told
echo $$ >&3
while :; do read line <never; done
"""


def test_a_second_ctrl_c_leaves_at_once(own_nacre: Nacre) -> None:
    """The program does not heed SIGTERM, and has long to do so."""
    nacre = own_nacre
    nacre.env["NACRE_KILL_GRACE"] = "600"
    for name in ("told", "never"):
        os.mkfifo(nacre.home / name)
    script = nacre.home / "deaf"
    script.write_text(DEAF)
    script.chmod(0o700)
    entry = {"name": "deaf", "description": "Heed nothing", "program": str(script)}
    folder = Path(nacre.paths.config)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "commands.json").write_text(json.dumps([entry]))
    person = at_a_terminal(nacre, "deaf")
    try:
        with open(nacre.home / "told") as told:
            pid = int(told.readline())
            person.type(CTRL_C)
            assert told.readline() == "told\n"
            person.type(CTRL_C)
            assert person.leaves() == 130
        assert is_running(pid)
        os.kill(pid, signal.SIGKILL)
    finally:
        person.close()
