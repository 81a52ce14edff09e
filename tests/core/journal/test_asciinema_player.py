"""asciinema's own player plays what is written; its parser is the format's second opinion."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nacre.core.journal.asciicast_writer import CastAbout
from nacre.core.journal.records import EXIT, INPUT, OUTPUT, RESIZE, ending_payload, size_payload
from nacre.core.journal.replay import Moment
from nacre.core.terminal.terminal import Terminal

from core.journal.test_asciicast_writer import cast, mark, play, record
from vt_streams import STREAMS

SCRIPT = Path(__file__).with_name("asciinema_player.mjs")
PLAYER = Path(sys.prefix, "asciinema-player")


def played(lines: list[str], file: Path) -> list[tuple[str, Any]]:
    assert PLAYER.exists(), "asciinema's player is not there; 'make test' fetches it"
    file.write_text("".join(lines))
    done = subprocess.run(
        ["node", SCRIPT, PLAYER, file], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [(name, event) for name, event in json.loads(done.stdout)]


def test_every_kind_of_event_is_played_in_its_time(tmp_path: Path) -> None:
    lines = cast(
        record(OUTPUT, 0.5, b"\x1b[32m$\x1b[m "),
        record(INPUT, 1.0, b"ls\r"),
        mark("C", 1.1),
        record(OUTPUT, 1.25, 'naïve "漢"\r\n'.encode()),
        mark("D", 1.3, "3"),
        record(RESIZE, 3.25, size_payload(30, 90)),
        record(EXIT, 5.0, ending_payload(3, None)),
        typed=True,
        markers=True,
        about=CastAbout(title="t", command="sh", env={"SHELL": "/bin/sh"}, tags=["a"]),
    )
    assert played(lines, tmp_path / "a.cast") == [
        ("metadata", {"duration": 5, "markers": [[1.1, "3"]], "hasAudio": False}),
        ("reset", {"size": {"cols": 20, "rows": 8}, "init": "", "theme": None}),
        ("output", ["\x1b[32m$\x1b[m "]),
        ("input", {"data": "ls\r"}),
        ("marker", {"index": 0, "time": 1.1, "label": "3"}),
        ("output", ['naïve "漢"\r\n']),
        ("resize", {"cols": 90, "rows": 30}),
        ("ended", {}),
    ]


@pytest.mark.parametrize("after", [None, Moment(4)], ids=["whole", "span"])
def test_the_player_shows_what_the_session_showed(after: Moment | None, tmp_path: Path) -> None:
    records = [
        record(OUTPUT, n / 10, stream, n) for n, stream in enumerate(STREAMS.values(), start=2)
    ]
    lines = cast(*records, after=after)
    terminal = Terminal(8, 20)
    for name, event in played(lines, tmp_path / "a.cast"):
        if name == "output":
            terminal.feed("".join(event).encode())
    assert terminal.picture() == play(lines).picture()
