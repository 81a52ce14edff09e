"""The state of a session, from the facts: the table of what each program looks like."""

from dataclasses import replace

import pytest

from nacre.core.programs import CONFIRM, PASSWORD
from nacre.core.state import Seen, asks_for_line, judge

SEEN = Seen(
    marked=None,
    in_shell=False,
    program="cat",
    echo=True,
    canonical=True,
    waits=True,
    alternate=False,
    bracketed_paste=False,
    line="",
)
RAW = {"echo": False, "canonical": False}
SECRET = {"echo": False, "canonical": True}

TABLE: list[tuple[str, dict[str, object], tuple[str, str | None]]] = [
    (
        "a marked prompt",
        {"marked": "prompt", "in_shell": True, "program": "bash", **RAW},
        ("prompt", None),
    ),
    (
        "more is wanted",
        {"marked": "continuation", "in_shell": True, "program": "bash", **RAW},
        ("needs_input", "line"),
    ),
    (
        "read in bash",
        {"marked": "running", "in_shell": True, "program": "bash"},
        ("needs_input", "line"),
    ),
    (
        "read -p y/n",
        {"marked": "running", "in_shell": True, "program": "bash", "line": "ok? [y/N] "},
        ("needs_input", "confirm"),
    ),
    (
        "bash computes",
        {"marked": "running", "in_shell": True, "program": "bash", "waits": False},
        ("running", None),
    ),
    ("a nested bash", {"marked": "running", "program": "bash", **RAW}, ("prompt", None)),
    ("a dash prompt", {"program": "dash"}, ("prompt", None)),
    ("a busybox prompt", {"program": "ash", **RAW}, ("prompt", None)),
    ("a script reads", {"program": "sh", "scripted": True}, ("needs_input", "line")),
    (
        "a script asks",
        {"program": "sh", "scripted": True, "line": "sure (yes/no)? "},
        ("needs_input", "confirm"),
    ),
    (
        "read -s",
        {"marked": "running", "in_shell": True, "program": "bash", **SECRET},
        ("needs_input", "password"),
    ),
    ("getpass", {"program": "python3", **SECRET}, ("needs_input", "password")),
    ("cat", {"program": "cat"}, ("needs_input", "line")),
    (
        "y/n",
        {"program": "apt", "line": "Do you want to continue? [Y/n] "},
        ("needs_input", "confirm"),
    ),
    ("python", {"program": "python3", **RAW}, ("needs_input", "repl")),
    ("python3.13", {"program": "python3.13", **RAW}, ("needs_input", "repl")),
    ("input()", {"program": "python3"}, ("needs_input", "line")),
    ("sqlite3", {"program": "sqlite3", **RAW}, ("needs_input", "repl")),
    ("less", {"program": "less", "alternate": True, **RAW}, ("needs_input", "pager")),
    ("vim", {"program": "vim", "alternate": True, **RAW}, ("needs_input", "editor")),
    ("fzf", {"program": "fzf", **RAW}, ("needs_input", "key")),
    ("a python TUI", {"program": "python3", "alternate": True, **RAW}, ("needs_input", "key")),
    ("sleep", {"program": "sleep", "waits": False}, ("running", None)),
    ("may not be looked into", {"program": "passwd", "waits": None}, ("running", None)),
    (
        "another user's password",
        {"program": "passwd", "waits": None, **SECRET},
        ("needs_input", "password"),
    ),
    ("ssh at a prompt", {"program": "ssh", "line": "$ ", **RAW}, ("prompt", None)),
    ("ssh, paste mode", {"program": "ssh", "bracketed_paste": True, **RAW}, ("prompt", None)),
    ("ssh runs", {"program": "ssh", "line": "compiling", **RAW}, ("running", None)),
    (
        "ssh's password",
        {"program": "ssh", "line": "x@y's password: ", **SECRET},
        ("needs_input", "password"),
    ),
    (
        "a password behind ssh",
        {"program": "ssh", "line": "[sudo] password for x: ", **RAW},
        ("needs_input", "password"),
    ),
    (
        "a new host",
        {"program": "ssh", "line": "Are you sure (yes/no/[fingerprint])? "},
        ("needs_input", "confirm"),
    ),
    ("vim behind ssh", {"program": "ssh", "alternate": True, **RAW}, ("needs_input", "key")),
]


@pytest.mark.parametrize(
    ("facts", "wanted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_state_from_facts(facts: dict[str, object], wanted: tuple[str, str | None]) -> None:
    state = judge(replace(SEEN, **facts))  # type: ignore[arg-type]
    assert (state.state, state.asks) == wanted
    assert state.evidence
    assert (state.hint is not None) == (state.state == "needs_input")


def test_a_guess_says_so() -> None:
    assert judge(replace(SEEN, program="bash", echo=False, canonical=False)).sure
    assert not judge(replace(SEEN, program="dash")).sure
    assert not judge(replace(SEEN, program="ssh", line="$ ")).sure


def test_a_prompt_that_is_known_to_be_a_question_becomes_one() -> None:
    prompt = judge(replace(SEEN, program="dash"))
    assert asks_for_line(prompt, "name: ").asks == "line"
    assert asks_for_line(prompt, "ok [y/n] ").asks == "confirm"


@pytest.mark.parametrize(
    "line",
    ["[y/N] ", "Continue? [Y/n] ", "(yes/no)? ", "(y/n): ", "Are you sure? ", "proceed? ", "[y|n]"],
)
def test_questions(line: str) -> None:
    assert CONFIRM.search(line)


@pytest.mark.parametrize("line", ["any [y/n] left behind", "yes/no", "$ ", "continue"])
def test_no_questions(line: str) -> None:
    assert not CONFIRM.search(line)


@pytest.mark.parametrize(
    "line", ["Password: ", "x@y's password: ", "Enter passphrase for key '/k': ", "PIN: "]
)
def test_passwords(line: str) -> None:
    assert PASSWORD.search(line)


@pytest.mark.parametrize("line", ["password changed.", "spinning: ", "the password: x", "$ "])
def test_no_passwords(line: str) -> None:
    assert not PASSWORD.search(line)
