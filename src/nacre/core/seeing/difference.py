"""Compare two screens, and give a screen a hash.

Rule: text and looks are compared apart: a test may care for one of them alone. The cursor and the
size are told, but a screen whose cursor alone has moved is the same.
"""

import hashlib
from typing import NamedTuple

import msgspec

from nacre.core.screen.screen import Cursor
from nacre.core.seeing.cells import ScreenCells


class RowChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row that differs; `before` or `after` is null if only one of the screens has it."""

    row: int
    col: int = 0  # the first column that differs
    end: int = 0  # and the one after the last
    style_only: bool = False  # the text is the same
    before: str | None
    after: str | None


class Difference(NamedTuple):
    same: bool
    same_text: bool
    changes: list[RowChange]


class Hashes(NamedTuple):
    text: str
    styled: str


def compare(before: ScreenCells, after: ScreenCells) -> Difference:
    changes = [
        change
        for row in range(max(before.rows, after.rows))
        if (change := _changed(row, before, after)) is not None
    ]
    texts = [change for change in changes if not change.style_only]
    return Difference(not changes, not texts, changes)


def _changed(row: int, before: ScreenCells, after: ScreenCells) -> RowChange | None:
    if row >= before.rows or row >= after.rows:
        own = before if row < before.rows else after
        text = own.text(row).rstrip(" ")
        sides = (text, None) if own is before else (None, text)
        return RowChange(row=row, col=0, end=own.cols, before=sides[0], after=sides[1])
    cols = max(before.cols, after.cols)
    differ = [col for col in range(cols) if _cell(before, row, col) != _cell(after, row, col)]
    if not differ:
        return None
    texts = (before.text(row).rstrip(" "), after.text(row).rstrip(" "))
    return RowChange(
        row=row,
        col=differ[0],
        end=differ[-1] + 1,
        style_only=texts[0] == texts[1],
        before=texts[0],
        after=texts[1],
    )


def _cell(cells: ScreenCells, row: int, col: int) -> object:
    """Return what a cell shows; beyond the width nothing, as a blank."""
    if col >= cells.cols:
        return None
    return cells.texts[row][col], cells.looks[row][col]


def hashes_of(cells: ScreenCells) -> Hashes:
    """Return SHA-256 of a screen's text, and of its text and looks; neither has the cursor."""
    text = "\n".join(cells.lines())
    looks = [[(col, span) for col, span in cells.runs(row)] for row in range(cells.rows)]
    size = (cells.rows, cells.cols)
    styled = msgspec.json.encode((size, looks))
    return Hashes(hashlib.sha256(text.encode()).hexdigest(), hashlib.sha256(styled).hexdigest())


def moved(before: Cursor, after: Cursor) -> bool:
    return (before.row, before.col, before.visible) != (after.row, after.col, after.visible)
