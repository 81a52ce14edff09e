"""The state of a session, from the facts: the table of what each program looks like."""

import pytest
from msgspec.structs import replace

from nacre.core.shell.state import Seen, asks_for_line, judge

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
CONFIRM_STATE = ("needs_input", "confirm")
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
    ("no permission to look", {"program": "passwd", "waits": None}, ("running", None)),
    (
        "another user's password",
        {"program": "passwd", "waits": None, **SECRET},
        ("needs_input", "password"),
    ),
    ("ssh at a prompt", {"program": "ssh", "line": "$ ", **RAW}, ("prompt", None)),
    (
        "ssh, paste mode",
        {"program": "ssh", "bracketed_paste": True, "line": "me:", **RAW},
        ("prompt", None),
    ),
    (
        "ssh, a program that wants pastes",
        {"program": "ssh", "bracketed_paste": True, **RAW},
        ("running", None),
    ),
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
    ("canonical python", {"program": "python3", "line": ">>> "}, ("needs_input", "repl")),
    ("simple ipython", {"program": "ipython", "line": "In [2]: "}, ("needs_input", "repl")),
    ("ocaml", {"program": "ocaml", "line": "# "}, ("needs_input", "repl")),
    ("perl -d", {"program": "perl", "line": "  DB<1> "}, ("needs_input", "repl")),
    ("erl", {"program": "beam.smp", "line": "1> ", **RAW}, ("needs_input", "repl")),
    ("erl listens while it computes", {"program": "beam.smp", **RAW}, ("running", None)),
    ("perl asks", {"program": "perl", "line": "name: "}, ("needs_input", "line")),
    ("input() in a REPL", {"program": "python3", "line": "name: ", **RAW}, ("needs_input", "line")),
    (
        "a script's library reads a line",
        {"program": "node", "scripted": True, "edits": True, "line": "name ", **RAW},
        ("needs_input", "line"),
    ),
    ("a script's menu", {"program": "node", "scripted": True, **RAW}, ("needs_input", "key")),
    (
        "pdb in a script",
        {"program": "python3", "scripted": True, "line": "(Pdb) ", **RAW},
        ("needs_input", "repl"),
    ),
    (
        "read -n1",
        {"marked": "running", "in_shell": True, "program": "bash", "canonical": False},
        ("needs_input", "key"),
    ),
    (
        "read -n1 in a nested bash",
        {"marked": "running", "program": "bash", "canonical": False},
        ("needs_input", "key"),
    ),
    (
        "read -sn1",
        {"marked": "running", "in_shell": True, "program": "bash", **RAW},
        ("needs_input", "key"),
    ),
    (
        "read -e",
        {"marked": "running", "in_shell": True, "program": "bash", "edits": True, **RAW},
        ("needs_input", "line"),
    ),
    (
        "rm -i",
        {"program": "rm", "line": "rm: remove regular empty file 'x'? "},
        ("needs_input", "confirm"),
    ),
    ("cp -i, in German", {"program": "cp", "line": "cp: 'x' ueberschreiben? "}, CONFIRM_STATE),
    ("bat reads a line", {"program": "bat"}, ("needs_input", "line")),
    ("top", {"program": "top", "timeout": 3.0, "quiet": 2.0, **RAW}, ("running", None)),
    (
        "htop",
        {"program": "htop", "alternate": True, "timeout": 1.5, "quiet": 1.0, **RAW},
        ("running", None),
    ),
    (
        "btop",
        {"program": "btop", "alternate": True, "unasked": 4.0, "quiet": 1.0, **RAW},
        ("running", None),
    ),
    (
        "watch",
        {"program": "watch", "alternate": True, "waits": False, "unasked": 4.0, **RAW},
        ("running", None),
    ),
    (
        "a menu that looks for keys but draws nothing",
        {"program": "menu", "alternate": True, "timeout": 0.1, "quiet": 9.0, **RAW},
        ("needs_input", "key"),
    ),
    (
        "a menu with an escape time-out",
        {"program": "menu", "alternate": True, "quiet": 0.1, "unasked": 0.1, **RAW},
        ("needs_input", "key"),
    ),
    (
        "tmux",
        {"program": "tmux", "alternate": True, "line": "$ ", **RAW},
        ("needs_input", "multiplexer"),
    ),
    ("screen", {"program": "screen", "waits": False, **RAW}, ("needs_input", "multiplexer")),
    ("tmux ls", {"program": "tmux", "waits": False}, ("running", None)),
    ("vim behind ssh", {"program": "ssh", "alternate": True, **RAW}, ("needs_input", "key")),
    ("psql behind su", {"program": "su", "line": "db=# ", **RAW}, ("needs_input", "repl")),
    (
        "psql behind su, the rest",
        {"program": "su", "line": "db-> ", "repl_prompt": "db=> ", **RAW},
        ("needs_input", "repl"),
    ),
    ("gdb asks", {"program": "gdb", "line": "Quit anyway? (y or n) ", **RAW}, CONFIRM_STATE),
    (
        "gdb shows a page",
        {"program": "gdb", "line": "--Type <RET> for more, q to quit, c to go on--", **RAW},
        ("needs_input", "pager"),
    ),
    (
        "git's hunks",
        {"program": "git", "line": "(1/1) Stage this hunk [y,n,q,a,d,e,?]? "},
        CONFIRM_STATE,
    ),
    (
        "a passphrase for gpg's agent",
        {"program": "gpg", "waits": False, "alternate": True, "line": "| Passphrase: ", **RAW},
        ("needs_input", "password"),
    ),
    (
        "a script's own full screen",
        {"program": "python3", "scripted": True, "edits": True, "alternate": True, "line": "MENU"}
        | RAW,
        ("needs_input", "key"),
    ),
    ("a program's own prompt", {"program": "app", "line": "app> ", **RAW}, ("needs_input", "repl")),
    ("a program's own prompt, plain", {"line": "(Cmd) "}, ("needs_input", "repl")),
    ("no prompt", {"line": "what is your name> "}, ("needs_input", "line")),
    (
        "behind text, where it was typed at",
        {"program": "python3", "scripted": True, "line": "abc>>> ", "repl_prompt": ">>> ", **RAW},
        ("needs_input", "repl"),
    ),
    (
        "input() in code",
        {"program": "python3", "line": "", "repl_prompt": ">>> ", "repl_runs": True, **RAW},
        ("needs_input", "line"),
    ),
    (
        "printed by a thread, below the prompt",
        {"program": "python3", "line": "", "repl_prompt": ">>> ", **RAW},
        ("needs_input", "repl"),
    ),
    (
        "printed by a thread, behind the prompt",
        {"program": "python3", "line": ">>> late", "repl_prompt": ">>> ", "repl_runs": True, **RAW},
        ("needs_input", "repl"),
    ),
    (
        "a prompt that ends as a question does",
        {"program": "python3", "line": "what? ", "repl_prompt": ">>> ", "reader": "own", **RAW},
        ("needs_input", "repl"),
    ),
    (
        "Prolog with an answer",
        {"program": "swipl", "line": "X = 1 ", **RAW},
        ("needs_input", "key"),
    ),
    ("Prolog's read", {"program": "swipl", "line": "|: ", **RAW}, ("needs_input", "line")),
    ("Prolog", {"program": "swipl", "line": "?- ", **RAW}, ("needs_input", "repl")),
    (
        "getLine in GHCi",
        {"program": "ghc", "line": "", "repl_prompt": "ghci> ", "repl_runs": True, **RAW},
        ("needs_input", "line"),
    ),
]


@pytest.mark.parametrize(
    ("facts", "wanted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_state_from_facts(facts: dict[str, object], wanted: tuple[str, str | None]) -> None:
    state = judge(replace(SEEN, **facts))
    assert (state.state, state.asks) == wanted
    assert state.evidence
    assert (state.hint is not None) == (state.state == "needs_input" or state.full_screen)


def test_code_that_asks_by_the_prompt_of_its_repl_is_told() -> None:
    typed = {"program": "python3", "line": ">>> ", "repl_prompt": ">>> ", "repl_runs": True, **RAW}
    state = judge(replace(SEEN, **typed, reader="other"))
    assert (state.asks, state.nested, state.sure) == ("repl", True, False)
    assert "what is sent next goes there" in (state.hint or "")
    assert not judge(replace(SEEN, **typed, reader="own")).nested
    assert not judge(replace(SEEN, **typed)).nested


def test_a_guess_says_so() -> None:
    assert judge(replace(SEEN, program="bash", echo=False, canonical=False)).sure
    assert not judge(replace(SEEN, program="dash")).sure
    assert not judge(replace(SEEN, program="ssh", line="$ ")).sure


def test_a_prompt_that_is_known_to_be_a_question_becomes_one() -> None:
    prompt = judge(replace(SEEN, program="dash"))
    assert asks_for_line(prompt, "name: ").asks == "line"
    assert asks_for_line(prompt, "ok [y/n] ").asks == "confirm"


HINTS: list[tuple[str, dict[str, object], str]] = [
    ("a new host", {"program": "ssh", "line": "(yes/no/[fingerprint])? "}, "yes or no, in full"),
    ("y/n", {"program": "apt", "line": "Continue? [Y/n] "}, "send y or n, and Enter"),
    (
        "y/n by a key",
        {"marked": "running", "in_shell": True, "program": "bash", "canonical": False}
        | {"line": "ok? [y/n] "},
        "without Enter",
    ),
    ("nano", {"program": "nano", **RAW}, "ctrl+x"),
    ("vim", {"program": "vim", **RAW}, ":q!"),
    ("emacs", {"program": "emacs", **RAW}, "ctrl+x, ctrl+c"),
    ("key", {"program": "fzf", **RAW}, "without Enter"),
    ("tmux", {"program": "tmux", **RAW}, "ctrl+b, then d"),
    ("screen", {"program": "screen", **RAW}, "ctrl+a, then d"),
    ("top", {"program": "top", "timeout": 3.0, **RAW}, "q leaves it"),
    ("watch", {"program": "watch", "alternate": True, "unasked": 9.0, **RAW}, "ctrl+c leaves it"),
    ("watch, at once", {"program": "watch", "waits": False, "alternate": True, **RAW}, "ctrl+c"),
    ("passwd", {"program": "passwd", **SECRET}, "ctrl+d"),
    ("an open block", {"program": "python3", "line": "... ", **RAW}, "the rest of its input"),
]


@pytest.mark.parametrize(
    ("facts", "said"), [row[1:] for row in HINTS], ids=[row[0] for row in HINTS]
)
def test_the_hint_fits_the_program(facts: dict[str, object], said: str) -> None:
    assert said in (judge(replace(SEEN, **facts)).hint or "")


def test_what_may_be_a_remote_prompt_says_how_to_make_it_known() -> None:
    quiet = replace(SEEN, program="ssh", line="=) ", quiet=1.0)
    told = judge(quiet)
    assert (told.state, told.sure) == ("running", False)
    assert told.hint is not None
    assert "'=)'" in told.hint
    assert judge(replace(quiet, quiet=0.2)).hint is None
    assert judge(replace(quiet, line="")).hint is None
