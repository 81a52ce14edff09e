"""Look at a screen as a whole: everything that was found on it, with references.

Rule 1: a reference is a role and a number, counted from the top: button2. It belongs to the screen
that it was found on.
Rule 2: of two readings of the same cells the first one here counts: a checkbox is no list entry.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from nacre.core.seeing.bars import find_bars
from nacre.core.seeing.boxes import Box, find_boxes, is_line
from nacre.core.seeing.buttons import find_buttons, find_checks
from nacre.core.seeing.cells import ScreenCells
from nacre.core.seeing.elements import Element, HighlightedText
from nacre.core.seeing.fields import find_fields
from nacre.core.seeing.lists import find_lists
from nacre.core.seeing.tables import find_tables

_MOST_HIGHLIGHTS = 100  # of a screen; more say nothing


def find_elements(cells: ScreenCells) -> list[Element]:
    """Return what a screen shows, from top to bottom."""
    boxes = find_boxes(cells)
    checks = find_checks(cells, boxes)
    buttons = [*find_buttons(cells, boxes), *find_bars(cells, boxes)]
    lists = find_lists(cells, boxes)
    checks = [_with_selection(check, lists) for check in checks]
    small = _apart([*checks, *buttons, *find_fields(cells, boxes), *lists])
    raised = {(one.row, one.col) for one in buttons if one.height > 1}
    drawn = [_as_element(box) for box in boxes if (box.row, box.col) not in raised]
    selected = {one.row for one in lists if one.selected}
    tables = find_tables(cells, boxes, selected)
    headings = {(table.row, col) for table in tables for col in _columns(table)}
    small = [one for one in small if one.role != "item" or (one.row, one.col) not in headings]
    found = [*drawn, *tables, *small]
    found.sort(key=lambda one: (one.row, one.col, -one.width * one.height))
    return _related(found)


def _columns(table: Element) -> range:
    return range(table.col - 1, table.col + table.width)


def _as_element(box: Box) -> Element:
    return Element(
        role="box",
        text=box.title,
        row=box.row,
        col=box.col,
        width=box.cols,
        height=box.rows,
        evidence="lines around it",
    )


def _with_selection(check: Element, lists: Sequence[Element]) -> Element:
    """Return a checkbox with what the list that it is an entry of says."""
    same = [one for one in lists if one.row == check.row and one.selected]
    near = [
        one for one in same if one.col < check.col + check.width and check.col < one.col + one.width
    ]
    if not near:
        return check
    return replace(check, selected=True, evidence=f"{check.evidence}; {near[0].evidence}")


def _apart(found: Sequence[Element]) -> list[Element]:
    """Leave out what lies on cells that an earlier one has."""
    kept: list[Element] = []
    for one in found:
        if not any(_overlap(one, other) for other in kept):
            kept.append(one)
    return kept


def _overlap(one: Element, other: Element) -> bool:
    rows = one.row < other.row + other.height and other.row < one.row + one.height
    return rows and one.col < other.col + other.width and other.col < one.col + one.width


def _related(found: Sequence[Element]) -> list[Element]:
    """Return elements with their references, and the box around each."""
    counts: Counter[str] = Counter()
    named: list[Element] = []
    for one in found:
        counts[one.role] += 1
        named.append(replace(one, ref=f"{one.role}{counts[one.role]}"))
    boxes = [one for one in named if one.role == "box"]
    return [replace(one, inside=_around(one, boxes)) for one in named]


def _around(one: Element, boxes: Sequence[Element]) -> str | None:
    around = [
        box
        for box in boxes
        if box is not one
        and box.has(one.row, one.col)
        and box.has(one.row + one.height - 1, one.col + max(1, one.width) - 1)
        and box.width * box.height > one.width * one.height
    ]
    return min(around, key=lambda box: box.width * box.height).ref if around else None


def find_highlights(cells: ScreenCells) -> list[HighlightedText]:
    """Return text on a ground that is not its neighbours'; what it means is not told."""
    found: list[HighlightedText] = []
    usual = Counter(
        cells.paper(row, col) for row in range(cells.rows) for col in range(cells.cols)
    ).most_common(1)[0][0]
    for row in range(cells.rows):
        for strip in cells.strips(row):
            text = cells.text(row, strip.start, strip.end)
            if strip.paper == usual or not text.strip() or is_line(text):
                continue
            look = cells.looks[row][strip.start]
            found.append(
                HighlightedText(
                    text=text.strip(),
                    row=row,
                    col=strip.start,
                    width=strip.width,
                    inverse=look.inverse,
                    fg=look.fg,
                    bg=look.bg,
                )
            )
    return found[:_MOST_HIGHLIGHTS]
