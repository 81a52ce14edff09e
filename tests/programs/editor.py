"""An editor in the manner of vi: i inserts, Escape ends that, :w and :q, :wq, hjkl, x, dd.

A key that follows Escape within a twentieth of a second is one with Alt, as in many programs.
"""

import curses
import locale
import os
import sys

os.environ.setdefault("ESCDELAY", "50")


class Editor:
    def __init__(self, screen: "curses.window", path: str) -> None:
        self.screen, self.path = screen, path
        self.row = self.col = 0
        self.mode, self.command, self.told = "normal", "", ""
        self.lines = [""]
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.lines = file.read().splitlines() or [""]

    def draw(self) -> None:
        height, width = self.screen.getmaxyx()
        self.screen.erase()
        for number, line in enumerate(self.lines[: height - 1]):
            self.screen.addnstr(number, 0, line, width - 1)
        below = (
            f":{self.command}"
            if self.mode == "command"
            else f"-- {self.mode.upper()} -- {self.told}"
        )
        self.screen.addnstr(height - 1, 0, below, width - 1, curses.A_REVERSE)
        if self.mode == "command":
            self.screen.move(height - 1, len(self.command) + 1)
        else:
            self.screen.move(self.row, self.col)
        self.screen.refresh()

    def key(self, key: int | str) -> bool:
        """Return whether to go on."""
        if self.mode == "command":
            return self._in_command(key)
        if self.mode == "insert":
            self._insert(key)
        else:
            self._normal(key)
        return True

    def _insert(self, key: int | str) -> None:
        line = self.lines[self.row]
        if key == "\x1b":
            self.mode, self.col = "normal", max(0, self.col - 1)
        elif key in ("\n", "\r"):
            self.lines[self.row : self.row + 1] = [line[: self.col], line[self.col :]]
            self.row, self.col = self.row + 1, 0
        elif key in ("\x7f", curses.KEY_BACKSPACE) and self.col:
            self.lines[self.row] = line[: self.col - 1] + line[self.col :]
            self.col -= 1
        elif isinstance(key, str) and key.isprintable():
            self.lines[self.row] = line[: self.col] + key + line[self.col :]
            self.col += 1

    def _normal(self, key: int | str) -> None:
        if key == "i":
            self.mode = "insert"
        elif key == "o":
            self.lines.insert(self.row + 1, "")
            self.row, self.col, self.mode = self.row + 1, 0, "insert"
        elif key == ":":
            self.mode, self.command = "command", ""
        elif key == "x":
            line = self.lines[self.row]
            self.lines[self.row] = line[: self.col] + line[self.col + 1 :]
        elif key in ("h", curses.KEY_LEFT):
            self.col = max(0, self.col - 1)
        elif key in ("l", curses.KEY_RIGHT):
            self.col = min(max(0, len(self.lines[self.row]) - 1), self.col + 1)
        elif key in ("j", curses.KEY_DOWN):
            self.row = min(len(self.lines) - 1, self.row + 1)
        elif key in ("k", curses.KEY_UP):
            self.row = max(0, self.row - 1)

    def _in_command(self, key: int | str) -> bool:
        if key in ("\n", "\r"):
            self.mode = "normal"
            if "w" in self.command:
                with open(self.path, "w", encoding="utf-8") as file:
                    file.write("".join(f"{line}\n" for line in self.lines))
                self.told = f"{len(self.lines)} lines written"
            return "q" not in self.command
        if key == "\x1b":
            self.mode = "normal"
        elif isinstance(key, str):
            self.command += key
        return True


def run(screen: "curses.window") -> None:
    editor = Editor(screen, sys.argv[1])
    while True:
        editor.draw()
        key = screen.get_wch()
        if key == "\x1b":
            screen.timeout(50)
            try:
                follows = screen.get_wch()
            except curses.error:
                follows = None
            screen.timeout(-1)
            if follows is not None:  # Alt and a key: nothing is bound to any
                editor.told = "no such key"
                continue
        if not editor.key(key):
            return


if __name__ == "__main__":
    locale.setlocale(locale.LC_ALL, "")
    curses.wrapper(run)
