"""The bytes that real programs print show the same here as in a real tmux.

Each program is driven on a PTY; at each step all bytes so far go, at once and byte by byte, through
a terminal of ours, and through a tmux pane; the plain screens must be the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nacre.core.terminal.terminal import Terminal

from programs.machine import MENU, program, surroundings
from programs.recording import recorded
from programs.tmux import pane

ROWS, COLS = 24, 80
Holds = Callable[[list[str]], bool]


def shows(text: str) -> Holds:
    return lambda lines: any(text in line for line in lines)


def line_is(text: str) -> Holds:
    return lambda lines: text in lines


@dataclass(frozen=True)
class Play:
    """A program, and what is typed once its screen is so; the last input ends it."""

    argv: tuple[str, ...]
    steps: tuple[tuple[Holds, bytes], ...]


TEXT = "".join(f"{number:>4} " + "lorem ipsum ünïcode 漢字 " * 3 + "\n" for number in range(1, 200))

PLAYS = {
    "vim": Play(
        ("vim", "-u", "NONE", "-N", "-i", "NONE", "-n", "text"),
        (
            (shows('"text"'), b"Gohello \xc3\xbc wide \xe6\xbc\xa2\x1b"),
            (shows("hello ü wide 漢"), b":set number\r"),
            (shows("200 hello"), b"gg/ipsum\r"),
            (shows("  1 "), b":q!\r"),
        ),
    ),
    "less": Play(
        ("less", "text"),
        (
            (shows("text"), b" "),
            (shows("  24 lorem"), b"G"),
            (shows("(END)"), b"/ 150 \r"),
            (shows("attern not found"), b"\r"),
            (lambda lines: lines[-1] in (":", "(END)"), b"gq"),
        ),
    ),
    "htop": Play(("htop", "-d", "100"), ((shows("F10"), b"q"),)),
    "python": Play(
        ("python", "-q"),
        (
            (line_is(">>>"), b"1 + 1\n"),
            (line_is("2"), b"for i in range(30): print('line', i)\n\n"),
            (line_is("line 29"), b"print('\\u6f22', chr(0x1f600))\n"),
            (line_is("漢 😀"), b"exit()\n"),
        ),
    ),
    "menu": Play(
        ("python", MENU),
        (
            (shows("at 0"), b"\x1bOB\x1bOB"),
            (shows("at 2"), b"\x1bOA"),
            (shows("at 1"), b"\r"),
        ),
    ),
    "node": Play(
        ("node",),
        (
            (line_is(">"), b"[1, 2, 3].map(x => x * 2)\r"),
            (line_is("[ 2, 4, 6 ]"), b"'\\u6f22'.repeat(50)\r"),
            (shows("漢" * 20), b".exit\r"),
        ),
    ),
    "top": Play(("top", "-b", "-n", "1"), ()),
}


@pytest.mark.parametrize("name", PLAYS)
def test_bytes_of_a_program_show_as_in_tmux(name: str, tmp_path: Path) -> None:
    play, env = PLAYS[name], surroundings(tmp_path)
    (tmp_path / "text").write_text(TEXT)
    argv = [program(play.argv[0]), *play.argv[1:]]
    streams = []
    with recorded(argv, str(tmp_path), env, rows=ROWS, cols=COLS) as recording:
        for holds, keys in play.steps:
            streams.append(recording.until(holds))
            recording.type(keys)
        streams.append(recording.until_end())
        fed_as_it_came = recording.terminal.plain_lines()
    screens = [screen_of(stream) for stream in streams]
    assert screens[-1] == fed_as_it_came
    assert screen_of_bytes(streams[-1]) == fed_as_it_came
    for number, (stream, screen) in enumerate(zip(streams, screens, strict=True)):
        file = tmp_path / f"stream-{number}"
        file.write_bytes(stream)
        # Without OPOST, or the pane's terminal would add what the program's own has added already.
        cat = ["/bin/sh", "-c", f"stty raw -echo; cat {file}; exec sleep 1000"]
        with pane(cat, tmp_path, env, rows=ROWS, cols=COLS) as compared:
            assert compared.wait_for(screen) == screen, f"after step {number}"


def screen_of(stream: bytes) -> list[str]:
    terminal = Terminal(ROWS, COLS)
    terminal.feed(stream)
    return terminal.plain_lines()


def screen_of_bytes(stream: bytes) -> list[str]:
    terminal = Terminal(ROWS, COLS)
    for byte in stream:
        terminal.feed(bytes([byte]))
    return terminal.plain_lines()
