"""Find boxes that are drawn with lines, and their titles.

Rule 1: a box has four corners, and lines between them. Text may stand in its upper and lower line:
a title, a page number. What lies over a side hides a part of it, never most of it.
Rule 2: which way a line goes is told by its Unicode name, so every style of line is known. ASCII
boxes are drawn with + - = |.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from nacre.core.seeing.cells import ScreenCells

_FIRST, _LAST = 0x2500, 0x257F  # the Unicode block Box Drawing
_ASCII = {"+": "LRUD", "-": "LR", "=": "LR", "|": "UD"}
# Blocks that frame as lines do: the upper and the lower edge, and what may stand at the sides.
_EDGES = (("▔", "▁"), ("▁", "▔"), ("▄", "▀"), ("▀", "▄"))
_SIDES = "▊▎▌▐▏▕█▋▍▉"
_SCROLLBAR = "█▓▒░▲▼↑↓■◆▐▕^v#"  # on the right side

_LEAST_SIDE = 0.5  # of a side that is to be seen
_LEAST_COLS = 3
_MOST_TRIES = 3000  # edges that are looked at; a screen of nothing but corners has millions


class Box(NamedTuple):
    row: int
    col: int
    rows: int
    cols: int
    title: str
    sides: bool = True  # without: an upper and a lower edge alone

    @property
    def inner(self) -> tuple[int, int, int, int]:
        """The first and last row, and the first column and the one after the last."""
        return self.row + 1, self.row + self.rows - 2, self.col + 1, self.col + self.cols - 1

    def has(self, row: int, col: int) -> bool:
        return 0 <= row - self.row < self.rows and 0 <= col - self.col < self.cols


@cache
def arms(char: str) -> str:
    """Return the ways in which a character's line goes: some of L, R, U, D."""
    if char in _ASCII:
        return _ASCII[char]
    if len(char) != 1 or not _FIRST <= ord(char) <= _LAST:
        return ""
    words = (
        unicodedata.name(char).replace("HORIZONTAL", "LEFT RIGHT").replace("VERTICAL", "UP DOWN")
    )
    return "".join(way[0] for way in ("LEFT", "RIGHT", "UP", "DOWN") if way in words.split())


def is_line(text: str) -> bool:
    """Tell whether a text is nothing but lines and blanks."""
    return all(char == " " or arms(char) for char in text)


def find_boxes(cells: ScreenCells) -> list[Box]:
    """Return the boxes from top to bottom, the outer before the inner."""
    found = [*_lined(cells), *_blocked(cells)]
    return sorted(found, key=lambda box: (box.row, box.col, -box.rows * box.cols))


def _lined(cells: ScreenCells) -> list[Box]:
    found: list[Box] = []
    tries = iter(range(_MOST_TRIES))
    for row in range(cells.rows - 1):
        for start in range(cells.cols):
            begins = _is_corner(cells, row, start, "RD") and _begins(cells, row, start, found)
            if begins and (box := _box_at(cells, row, start, tries)) is not None:
                found.append(box)
    return found


def _is_corner(cells: ScreenCells, row: int, col: int, ways: str) -> bool:
    char = cells.texts[row][col]
    own = arms(char)
    return (own == "LRUD" and char == "+") or (len(own) == 2 and set(own) == set(ways))


def _begins(cells: ScreenCells, row: int, col: int, found: list[Box]) -> bool:
    """Tell whether a corner is the first of a box: a + may be one where lines go on."""
    if cells.texts[row][col] != "+":
        return True
    goes_on = col > 0 and cells.texts[row][col - 1] in ("-", "=")
    goes_up = row > 0 and cells.texts[row - 1][col] == "|"
    ends = any(box.row == row and box.col + box.cols - 1 == col for box in found)
    return not (goes_on or goes_up or ends)


def _box_at(cells: ScreenCells, row: int, col: int, tries: Iterator[int]) -> Box | None:
    """Return the box with this upper left corner."""
    for right in _right_corners(cells, row, col, tries):
        for below, _try in zip(_lower_rows(cells, row, col, right), tries, strict=False):
            if _is_edge(cells, below, col, right) and _has_sides(cells, row, below, col, right):
                title = _title(cells.text(row, col + 1, right))
                return Box(row, col, below - row + 1, right - col + 1, title)
    return None


def _right_corners(cells: ScreenCells, row: int, col: int, tries: Iterator[int]) -> list[int]:
    """Return where the upper edge may end. A + is also where lines cross: the last one counts."""
    found: list[int] = []
    crossing = cells.texts[row][col] == "+"
    for right in range(col + _LEAST_COLS - 1, cells.cols):
        if _is_corner(cells, row, right, "LD") and next(tries, None) is None:
            break
        if _is_corner(cells, row, right, "LD") and _is_edge(cells, row, col, right):
            found.append(right)
            if not crossing or cells.texts[row][right + 1 : right + 2] == ("+",):
                break
        elif _is_corner(cells, row, right, "RD"):
            break  # the next box begins
    return found[::-1] if crossing else found


def _lower_rows(cells: ScreenCells, row: int, col: int, right: int) -> list[int]:
    found = [
        below
        for below in range(row + 2, cells.rows)
        if _is_corner(cells, below, col, "RU") and _is_corner(cells, below, right, "LU")
    ]
    return found[::-1] if cells.texts[row][col] == "+" else found


def _is_edge(cells: ScreenCells, row: int, left: int, right: int) -> bool:
    """Tell whether a line goes from corner to corner; text may stand in it, but not most of it."""
    inner = cells.texts[row][left + 1 : right]
    drawn = [char for char in inner if {"L", "R"} <= set(arms(char))]
    text = "".join(inner)
    return bool(drawn) and (len(drawn) * 3 >= len(inner) or bool(_title(text))) and "  " not in text


def _has_sides(cells: ScreenCells, top: int, bottom: int, left: int, right: int) -> bool:
    rows = range(top + 1, bottom)
    for col, also in ((left, ""), (right, _SCROLLBAR)):
        column = [cells.texts[row][col] for row in rows]
        drawn = [char for char in column if "U" in arms(char) or (char and char in also)]
        if not column or len(drawn) < _LEAST_SIDE * len(column):
            return False
    return True


def _title(edge: str) -> str:
    """Return the part of an upper edge that says most; between ornaments there may be several."""
    parts: list[str] = [""]
    for char in edge:
        if arms(char) and char != "-" and char != "=":
            parts.append("")
        else:
            parts[-1] += char
    named = [part.strip(" -=[]()<>.^") for part in parts]
    best = max(named, key=lambda part: sum(char.isalnum() for char in part))
    return best if any(char.isalnum() for char in best) else ""


def _blocked(cells: ScreenCells) -> list[Box]:
    """Return what is framed by blocks, as Textual and others do."""
    found: list[Box] = []
    for row in range(cells.rows - 2):
        for upper, lower in _EDGES:
            for start, end in _runs_of(cells, row, upper):
                if any(_ends_at(box, row, start) for box in found):
                    continue  # between two boxes
                if (below := _lower_edge(cells, row, start, end, lower)) is not None:
                    found.append(_framed(cells, row, below, start, end))
    return found


def _ends_at(box: Box, row: int, col: int) -> bool:
    return box.row + box.rows - 1 == row and box.col <= col < box.col + box.cols


def _runs_of(cells: ScreenCells, row: int, char: str) -> list[tuple[int, int]]:
    """Return where a character stands several times, split where it looks different.

    What is below it does not count: a field that has the focus shows a cursor, or a selection.
    """
    found: list[tuple[int, int]] = []
    begin: int | None = None
    for col in range(cells.cols + 1):
        same = col < cells.cols and cells.texts[row][col] == char
        looks = cells.looks[row]
        alike = begin is None or not same or looks[col] == looks[begin]
        if begin is not None and (not same or not alike):
            if col - begin >= _LEAST_COLS:
                found.append((begin, col))
            begin = None
        if same and begin is None:
            begin = col
    return found


def _lower_edge(cells: ScreenCells, row: int, start: int, end: int, char: str) -> int | None:
    for below in range(row + 2, cells.rows):
        inside = cells.texts[below][start:end]
        if all(one == char for one in inside):
            return below
        if inside and inside[0] == cells.texts[row][start]:
            return None  # another one begins
    return None


def _framed(cells: ScreenCells, row: int, below: int, start: int, end: int) -> Box:
    left = (
        start > 0 and cells.texts[row + 1][start - 1] in _SIDES and cells.texts[row + 1][start - 1]
    )
    right = end < cells.cols and cells.texts[row + 1][end] in _SIDES and cells.texts[row + 1][end]
    if left and right:
        return Box(row, start - 1, below - row + 1, end - start + 2, "")
    return Box(row, start, below - row + 1, end - start, "", sides=False)
