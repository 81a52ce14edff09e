"""Record the screens that the tests look at: `python -m core.seeing.record FOLDER [NAME …]`.

Each is an asciicast of one event: all that a real program printed up to a moment, on 24 by 80. They
are recorded by hand and kept, so that the tests need none of the programs. Those of Textual and Ink
were recorded in the same way, from a small program each.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from programs.machine import MENU, surroundings
from programs.recording import recorded

ROWS, COLS = 24, 80
Holds = Callable[[list[str]], bool]


class Play(NamedTuple):
    argv: list[str]
    steps: list[tuple[str, bytes]]  # a text to wait for, and what is typed then
    until: str


def shows(text: str) -> Holds:
    return lambda lines: any(text in line for line in lines)


FILES = ["alpha.txt", "beta.md", "gamma.py", "delta.c", "epsilon.rs"]

# Its own processes alone: the recording says nothing of the machine's.
HTOP = "sleep 601 & a=$!; sleep 602 & b=$!; sleep 603 & exec htop -d 100 -p $a,$b,$!"

PLAYS = {
    "menu": Play([sys.executable, MENU], [("at 0", b"\x1bOB")], "at 1"),
    "dialog-menu": Play(
        [
            *("dialog", "--title", "Choose", "--menu", "Pick a fruit:", "14", "40", "5"),
            *("1", "Apple", "2", "Banana", "3", "Cherry", "4", "Date"),
        ],
        [("Date", b"\x1bOB")],
        "Cancel",
    ),
    "dialog-yesno": Play(
        ["dialog", "--title", "Sure", "--yesno", "Really remove it?", "8", "40"], [], "< No  >"
    ),
    "dialog-checklist": Play(
        [
            *("dialog", "--checklist", "Toppings", "14", "40", "4"),
            *("a", "Cheese", "on", "b", "Ham", "off", "c", "Olives", "on"),
        ],
        [],
        "Cancel",
    ),
    "dialog-inputbox": Play(
        ["dialog", "--title", "Name", "--inputbox", "Your name:", "10", "40", "Ada"], [], "Cancel"
    ),
    "dialog-form": Play(
        [
            *("dialog", "--form", "Account", "12", "50", "3"),
            *("User:", "1", "1", "ada", "1", "10", "20", "0"),
            *("Host:", "2", "1", "example", "2", "10", "20", "0"),
        ],
        [],
        "Cancel",
    ),
    "whiptail-menu": Play(
        [
            *("whiptail", "--title", "Choose", "--menu", "Pick a fruit:", "14", "40", "4"),
            *("1", "Apple", "2", "Banana", "3", "Cherry"),
        ],
        [("Cherry", b"\x1bOB")],
        "Cancel",
    ),
    "whiptail-inputbox": Play(
        ["whiptail", "--inputbox", "Your name:", "10", "40", "Ada"], [], "Cancel"
    ),
    "htop": Play(["sh", "-c", HTOP], [("F10", b"\x1bOB")], "F10"),
    "mc-ascii": Play(["mc", "--nosubshell", "-a"], [("10Quit", b"\x1bOB\x1bOB")], "10Quit"),
    "mc": Play(["mc", "--nosubshell"], [("10Quit", b"\x1bOB\x1bOB")], "10Quit"),
    "mc-dialog": Play(["mc", "--nosubshell"], [("10Quit", b"\x1b[18~")], "Create a new"),
    "fzf": Play(["sh", "-c", "ls | fzf"], [("5/5", b"a")], "/5"),
    "vim": Play(["vim", "-u", "NONE", "-N", "-i", "NONE", "-n", "prose"], [], '"prose"'),
    "vim-split": Play(
        ["vim", "-u", "NONE", "-N", "-i", "NONE", "-n", "-o", "prose", "alpha.txt"],
        [],
        '"prose"',
    ),
    "vim-search": Play(
        ["vim", "-u", "NONE", "-N", "-i", "NONE", "-n", "--cmd", "set hls", "prose"],
        [('"prose"', b"/seventh\r")],
        "/seventh",
    ),
    "nano": Play(["nano", "--ignorercfiles", "prose"], [], "Exit"),
    "less": Play(["less", "prose"], [("prose", b"G")], "(END)"),
    "shell": Play(
        ["bash", "--norc", "-i"], [("#", b"PS1='> '; clear; printf '  one\\n  two\\n'\r")], "  two"
    ),
    "sql": Play(["cat", "sql"], [], "rows in set"),
}

PROSE = "".join(
    f"This is the {word} line of a text that nobody selects.\n"
    for word in (
        *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
        *("ninth", "tenth"),
    )
)
SQL = """+----+--------+-------+
| id | name   | price |
+----+--------+-------+
|  1 | apple  |  1.20 |
|  2 | banana |  0.50 |
+----+--------+-------+
2 rows in set
"""


def folder_of(home: Path) -> Path:
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (work / name).write_text("x\n")
        os.utime(work / name, (1_700_000_000, 1_700_000_000))
    return work


def record(name: str, home: Path, into: Path, play: Play | None = None) -> None:
    play = play or PLAYS[name]
    work = folder_of(home)
    if "prose" in play.argv:
        (work / "prose").write_text(PROSE)
    if "sql" in play.argv:
        (work / "sql").write_text(SQL)
    with recorded(play.argv, str(work), surroundings(home), rows=ROWS, cols=COLS) as program:
        for text, typed in play.steps:
            program.until(shows(text))
            program.type(typed)
        program.until(shows(play.until))
        program.until_quiet(0.5)
        head = {"version": 3, "term": {"cols": COLS, "rows": ROWS}}
        event = [0, "o", program.raw.decode()]
        text = f"{json.dumps(head)}\n{json.dumps(event)}\n"
    (into / f"{name}.cast").write_text(text)
    for path in work.iterdir():
        path.unlink()


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    for chosen in names or PLAYS:
        print(chosen, flush=True)
        record(chosen, Path("/tmp/seen"), Path(folder))
