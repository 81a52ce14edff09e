"""The same bytes through tmux: where two terminals that share no code agree, both are right."""

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.core.terminal.terminal import Terminal

ROWS, COLS = 12, 40

# Where tmux has its own mind there is nothing to compare: emoji clusters, line drawing (captured as
# the letters that were sent), and a cursor that waits to wrap when DECAWM is switched.
AGREED: dict[str, str] = {
    "plain text": "hello\r\nworld\r\n",
    "wrapping": "x" * 95,
    "wrapping at the very edge": "x" * 40 + "\r\ny",
    "no wrapping": "\x1b[?7l" + "abc" * 20 + "\x1b[?7h\r\n!",
    "more than the screen": "".join(f"line {n}\r\n" for n in range(50)),
    "colours are no text": "\x1b[1;31mred\x1b[0m \x1b[38;5;99mx\x1b[48;2;1;2;3my\x1b[m",
    "cursor to a place": "\x1b[3;5Ha\x1b[12;40Hb\x1b[1;1Hc",
    "cursor past the edge": "\x1b[99;99Ha\x1b[99A\x1b[99Db",
    "cursor relative": "\x1b[5;5Hx\x1b[Ay\x1b[2Bz\x1b[3Dw\x1b[2Cv\x1b[Eu\x1b[2Ft\x1b[10Gs\x1b[4dr",
    "backspace and return": "abcdef\b\b\bX\rY\n\nZ",
    "saved cursor": "\x1b[2;2H\x1b7\x1b[9;9Hx\x1b8y",
    "erase in line": "abcdefgh\x1b[4G\x1b[K\r\nabcdefgh\x1b[4G\x1b[1K\r\nabcdefgh\x1b[2Kz",
    "erase in display": "aaa\r\nbbb\r\nccc\r\nddd\x1b[2;2H\x1b[J\x1b[1;2H\x1b[1J",
    "erase all": "aaa\r\nbbb\x1b[2Jc",
    "erase characters": "abcdefgh\x1b[3G\x1b[3X",
    "insert characters": "abcdefgh\x1b[3G\x1b[3@",
    "delete characters": "abcdefgh\x1b[3G\x1b[3P",
    "insert mode": "abc\x1b[1G\x1b[4hXY\x1b[4lZ",
    "insert lines": "1\r\n2\r\n3\r\n4\x1b[2;1H\x1b[2Lnew",
    "delete lines": "1\r\n2\r\n3\r\n4\x1b[2;1H\x1b[2Mnew",
    "scroll region": "".join(f"{n}\r\n" for n in range(11))
    + "\x1b[3;6r\x1b[6;1H\n\nin\x1b[r\x1b[12;1Hout",
    "reverse index in a region": "".join(f"{n}\r\n" for n in range(11))
    + "\x1b[3;6r\x1b[3;1H\x1bM\x1bMx\x1b[r",
    "lines in a region": "".join(f"{n}\r\n" for n in range(11))
    + "\x1b[3;6r\x1b[4;1H\x1b[L\x1b[5;1H\x1b[M\x1b[r",
    "index and next line": "a\x1bDb\x1bEc\x1bMd",
    "scroll up and down": "1\r\n2\r\n3\x1b[2S\x1b[Tx",
    "origin mode": "\x1b[3;6r\x1b[?6h\x1b[1;1Ha\x1b[99;1Hb\x1b[?6l\x1b[1;1Hc\x1b[r",
    "tabs": "\ta\tb\r\n\x1b[3g\x1b[5G\x1bH\x1b[20G\x1bH\r\tc\td\x1b[Ze",
    "wide": "漢字かな한국어\r\na漢b字c",
    "wide wraps whole": "x" * 39 + "漢字",
    "wide overwritten": "漢字漢字\x1b[3Gx",
    "combining": "e\u0301a\u0308 n\u0303",
    "UTF-8 of all lengths": "aé€𐍈z",
    "alternate screen": "one\r\n\x1b[?1049h\x1b[Htwo",
    "alternate screen and back": "one\r\ntwo\x1b[?1049h\x1b[2Jthree\x1b[?1049l!",
    "titles are no text": "\x1b]0;title\x07a\x1b]2;other\x1b\\b",
    "alignment": "\x1b#8\x1b[2;2H \x1b[4;4H\x1b[1K",
    "reset": "abc\x1b[31m\x1b[3;6r\x1bcx",
    "repeat": "ab\x1b[5bc",
    "shell at work": "$ ls\r\n\x1b[1;34mdir\x1b[0m  file\r\n\x1b[?2004h\x1b[7mq\x1b[m\b\x1b[K\r\n",
    "progress": "".join(f"\r{n:3}% [{'#' * (n // 5):20}]" for n in range(0, 101, 5)) + "\r\ndone",
}

# The reply to DSR proves that tmux has read all that came before it (`wait-for` alone would not).
PROGRAM = r"""
stty raw -echo
cat "$1"
printf '\033[6n'
IFS= read -r -d R _
{tmux} wait-for -S "$2"
exec cat >/dev/null
"""


class Tmux:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._base = ["tmux", "-u", "-S", str(folder / "socket"), "-f", "/dev/null"]
        self._environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self._environment.pop("TMUX", None)
        (folder / "program").write_text(PROGRAM.format(tmux=shlex.join(self._base)))
        self.run("new-session", "-d", "-x", str(COLS), "-y", str(ROWS), "cat")
        self.run("set-option", "-g", "status", "off")
        self.run("resize-window", "-x", str(COLS), "-y", str(ROWS))

    def run(self, *command: str) -> str:
        argv = [*self._base, *command]
        return subprocess.run(
            argv, env=self._environment, capture_output=True, text=True, check=True, timeout=30
        ).stdout

    def show(self, name: str, stream: bytes) -> tuple[list[str], tuple[int, int]]:
        """What a pane shows after a stream, and where its cursor is."""
        channel = name.replace(" ", "-")
        (self._folder / channel).write_bytes(stream)
        program = ["bash", str(self._folder / "program"), str(self._folder / channel), channel]
        pane = self.run("new-window", "-dPF", "#{pane_id}", shlex.join(program)).strip()
        self.run("wait-for", channel)
        text = self.run("capture-pane", "-p", "-t", pane)
        place = self.run("display-message", "-p", "-t", pane, "#{cursor_y} #{cursor_x}").split()
        self.run("kill-pane", "-t", pane)
        lines = [line.rstrip(" ") for line in text.split("\n")][:ROWS]
        return lines + [""] * (ROWS - len(lines)), (int(place[0]), int(place[1]))


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    server = Tmux(tmp_path_factory.mktemp("tmux"))
    yield server
    server.run("kill-server")


@pytest.mark.parametrize("name", AGREED)
def test_tmux_shows_the_same(tmux: Tmux, name: str) -> None:
    stream = AGREED[name].encode()
    terminal = Terminal(ROWS, COLS)
    terminal.feed(stream)
    cursor = terminal.cursor()
    lines, (row, col) = tmux.show(name, stream)
    assert terminal.plain_lines() == lines
    # A cursor that waits to wrap stands past the edge in tmux.
    assert (cursor.row, cursor.col) == (row, min(col, COLS - 1))
