"""snapshot and compare."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Nacre

DRAWN = r"printf '+-- Sure? --+\n| [ OK ]    |\n+-----------+\nready\n'; exec cat"


@pytest.fixture
def drawn(running: Nacre) -> Iterator[str]:
    running.call("create_session", name="drawn", command=DRAWN)
    running.until_line("drawn", "ready")
    yield "drawn"
    running.call("manage_session", session="drawn", action="kill")


def test_snapshot_lists_what_stands_on_the_screen(nacre: Nacre, drawn: str) -> None:
    header, *rows = nacre.ok("snapshot", drawn).splitlines()
    assert header.split()[:4] == ["REF", "PLACE", "STATE", "TEXT"]
    assert [row.split()[0] for row in rows[:2]] == ["box1", "button1"]
    seen = nacre.json("snapshot", drawn)
    assert [one["text"] for one in seen["elements"][:2]] == ["Sure?", "OK"]
    assert seen["lines"][3] == "ready"


MENU = r"""
stty raw -echo; at=1
while :; do
  printf '\033[2J\033[H'
  for n in 1 2 3; do test $n = $at && printf '> ' || printf '  '; printf 'line %d\r\n' $n; done
  printf 'ready\r\n\033[?25l'
  test "$(dd bs=9 count=1 2>/dev/null)" = "$(printf '\033[B')" && at=$((at + 1))
done
"""


def test_focus_says_how_and_by_what(running: Nacre) -> None:
    nacre = running
    nacre.call("create_session", name="menu", command="/bin/sh", args=["-c", MENU])
    nacre.until_line("menu", "ready")
    told = nacre.ok("focus", "menu", "line 3")
    assert told == "item 'line 3' has the focus (> before it); pressed: Down, Down\n"
    seen = nacre.json("snapshot", "menu")
    ref = next(one["ref"] for one in seen["elements"] if one["text"] == "line 3")
    assert "pressed: nothing" in nacre.ok("focus", "menu", ref)
    assert nacre("focus", "menu", "line 9").returncode == 2
    nacre.call("manage_session", session="menu", action="kill")


def test_compare_a_session_with_what_it_was(nacre: Nacre, drawn: str) -> None:
    then = nacre.generation(drawn)
    assert nacre.ok("compare", f"{drawn}@{then}") == ""
    nacre.ok("send", drawn, "more")
    nacre.until_line(drawn, "more")
    done = nacre("compare", f"{drawn}@{then}")
    assert done.returncode == 1
    assert "+more" in done.stdout
    assert nacre("compare", drawn).returncode == 2, "it is not said with what"


def test_compare_recordings(nacre: Nacre, tmp_path: Path) -> None:
    lines = [
        {"version": 3, "term": {"cols": 20, "rows": 4}},
        [0.5, "o", "one\r\n"],
        [1.0, "o", "two"],
    ]
    recording = tmp_path / "it.cast"
    recording.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = nacre("compare", f"{recording}@0.5", str(recording))
    assert (done.returncode, done.stdout) == (1, "@ row 1, columns 0 to 2\n-\n+two\n")
    assert nacre.ok("compare", str(recording), str(recording)) == ""
    recording.write_text("nothing\n")
    assert nacre("compare", str(recording), str(recording)).returncode == 2
