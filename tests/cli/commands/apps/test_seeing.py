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
