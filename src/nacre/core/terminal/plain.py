"""The plain text of rows, written by the engine's own formatter.

Rule: the structs and the buffer are made once per terminal and reused, because making them costs
more than a read.
"""

from itertools import pairwise
from typing import Any

from nacre.core.terminal.ghostty import NULL, OUT_OF_SPACE, check, ffi, lib, new, sized
from nacre.core.terminal.grid import Grid
from nacre.core.text.widths import text_width

_BUFFER_KEPT = 1 << 16  # bytes


def between(rows: list[str], lines: list[str], cols: int) -> list[str]:
    """Return what stands between rows that are these lines: a line's end, or blanks or nothing."""
    found: list[str] = []
    unread = iter(lines)
    rest = next(unread, "")
    for row, below in pairwise(rows):
        rest = rest[len(row) :]
        blanks = " " * max(0, cols - text_width(row))
        # A wide character that does not fit leaves a cell, which is no blank.
        if blanks and rest.startswith(blanks) and rest[len(blanks) :].startswith(below):
            found.append(blanks)
            rest = rest[len(blanks) :]
        elif rest and below and rest.startswith(below):
            found.append("")
        else:
            found.append("\n")
            rest = next(unread, "")
    return found


def numbered(rows: list[str], lines: list[str]) -> list[tuple[int, str]]:
    """Return the lines that these rows are, each with the number of its first row.

    Rows lack their trailing blanks, so where one line ends within them is found by its text.
    """
    while rows and not rows[-1]:
        rows.pop()
    if len(rows) == len(lines):
        return list(enumerate(lines))
    found: list[tuple[int, str]] = []
    at = 0
    for line in lines:
        if at >= len(rows):
            break
        found.append((at, line))
        rest, at = line.lstrip(" ")[len(rows[at].lstrip(" ")) :].lstrip(" "), at + 1
        while rest and at < len(rows) and rest.startswith(below := rows[at].lstrip(" ")):
            rest, at = rest[len(below) :].lstrip(" "), at + 1
    return found


class PlainText:
    def __init__(self, handle: Any, grid: Grid) -> None:
        self._handle = handle
        self._grid = grid
        self._start = sized("GhosttyGridRef")
        self._end = sized("GhosttyGridRef")
        self._selection = sized("GhosttySelection")
        self._options = sized("GhosttyFormatterTerminalOptions")
        self._options.emit = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN
        self._options.trim = True
        self._options.selection = self._selection
        self._formatter = new("GhosttyFormatter *")
        self._buffer = new("uint8_t[]", 16_384)
        self._size = new("size_t *")

    def lines(self, tag: int, first: int, count: int, cols: int) -> list[str]:
        """Read `count` rows in the coordinates of `tag`, each without its trailing spaces."""
        self._grid.refer(tag, 0, first, self._start)
        self._grid.refer(tag, cols - 1, first + count - 1, self._end)
        self._selection.start = self._start[0]
        self._selection.end = self._end[0]
        # The formatter leaves out the blank rows at the end.
        lines = [line.rstrip(" ") for line in self._format().split("\n")]
        lines += [""] * (count - len(lines))
        return lines

    def unwrapped(self, tag: int, first: int, count: int, cols: int) -> list[str]:
        """Read rows as lines; wrapped rows are joined."""
        self._grid.refer(tag, 0, first, self._start)
        self._grid.refer(tag, cols - 1, first + count - 1, self._end)
        self._selection.start = self._start[0]
        self._selection.end = self._end[0]
        self._options.unwrap = True
        try:
            return [line.rstrip(" ") for line in self._format().split("\n")]
        finally:
            self._options.unwrap = False

    def _format(self) -> str:
        formatter = self._formatter
        start = lib.ghostty_formatter_terminal_new
        check(start(NULL, formatter, self._handle, self._options[0]), "format")
        try:
            write = lib.ghostty_formatter_format_buf
            buffer = self._buffer
            result = write(formatter[0], buffer, len(buffer), self._size)
            if result == OUT_OF_SPACE:
                buffer = new("uint8_t[]", self._size[0])
                result = write(formatter[0], buffer, len(buffer), self._size)
                # A large screen keeps its large buffer, but one long read of the scrollback does
                # not.
                if len(buffer) <= _BUFFER_KEPT:
                    self._buffer = buffer
            check(result, "format")
        finally:
            lib.ghostty_formatter_free(formatter[0])
        raw: bytes = ffi.buffer(buffer, self._size[0])[:]
        return raw.decode(errors="replace")
