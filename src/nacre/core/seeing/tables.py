"""Find tables: columns that lines part, or a heading and rows whose columns stand under its names.

Rule: each column has a name in the heading, and most rows have text in several columns. Else it is
no table, or not surely one.
"""

from collections.abc import Sequence
from itertools import pairwise

from nacre.core.seeing.boxes import Box, arms, is_line
from nacre.core.seeing.cells import ScreenCells
from nacre.core.seeing.elements import Element
from nacre.core.seeing.regions import Region, plain_text, region_of, usual_paper

_LEAST_ROWS = 2  # below the heading
_FILLED = 0.6  # of the rows, that have text in two columns or more
_MOST_RECORDS = 200


def find_tables(cells: ScreenCells, boxes: Sequence[Box], selected: set[int]) -> list[Element]:
    """Return the tables; a row that is `selected` is no heading."""
    lined = [table for box in boxes if (table := _lined(cells, box)) is not None]
    taken = {row for table in lined for row in range(table.row, table.row + table.height)}
    return [*lined, *(one for one in _headed(cells, boxes, selected) if one.row not in taken)]


def _table(
    cells: ScreenCells, heading: int, rows: list[int], edges: list[tuple[int, int]], evidence: str
) -> Element | None:
    def cells_at(row: int) -> list[str]:
        return [" ".join(plain_text(cells, row, *edge).split()).strip("| ") for edge in edges]

    names = cells_at(heading)
    records = [cells_at(row) for row in rows[:_MOST_RECORDS]]
    filled = [record for record in records if sum(map(bool, record)) > 1]
    if len(filled) < 1 or len(filled) < _FILLED * len(records) or not all(names):
        return None
    return Element(
        role="table",
        text=" | ".join(names),
        row=heading,
        col=edges[0][0],
        width=edges[-1][1] - edges[0][0],
        height=rows[-1] - heading + 1,
        columns=names,
        records=records,
        evidence=evidence,
    )


def _lined(cells: ScreenCells, box: Box) -> Element | None:
    """Return the table of a box whose content has upright lines in the same columns."""
    if not box.sides:
        return None
    first, last, start, end = box.inner
    bars = [col for col in range(start, end) if _is_upright(cells, first, col)]
    if not bars:
        return None
    rows: list[int] = []
    for row in range(first + 1, last + 1):
        if is_line(cells.text(row, start, end)):
            if rows and not all(_is_upright(cells, row, col) for col in bars):
                break
            continue
        if not all(_is_upright(cells, row, col) for col in bars):
            break
        rows.append(row)
    rows = [row for row in rows if plain_text(cells, row, start, end).strip("| ")]
    if not rows:
        return None
    marks = [start - 1, *bars, end]
    edges = [(left + 1, right) for left, right in pairwise(marks)]
    return _table(cells, first, rows, edges, "lines between its columns")


def _is_upright(cells: ScreenCells, row: int, col: int) -> bool:
    own = arms(cells.texts[row][col])
    return "U" in own and "D" in own


def _headed(cells: ScreenCells, boxes: Sequence[Box], selected: set[int]) -> list[Element]:
    """Return tables whose heading stands on a ground of its own, over most of the width."""
    found: list[Element] = []
    for row in range(cells.rows - _LEAST_ROWS):
        if row in selected or not any(cells.papers[row]):
            continue
        for region in _regions(cells, boxes, row):
            usual = usual_paper(cells, region)
            own = [col for col in range(region.start, region.end) if cells.paper(row, col) != usual]
            if len(own) * 5 < (region.end - region.start) * 3:
                continue
            rows = _rows_below(cells, row, region)
            if len(rows) < _LEAST_ROWS:
                continue
            edges = _edges(cells, row, rows, own[0], own[-1] + 1)
            if len(edges) >= (3 if row == 0 else 2):
                table = _table(cells, row, rows, edges, "a heading over columns")
                found += [] if table is None else [table]
    return found


def _regions(cells: ScreenCells, boxes: Sequence[Box], row: int) -> list[Region]:
    starts = [0, *(box.col + 1 for box in boxes if box.row < row < box.row + box.rows - 1)]
    return list(dict.fromkeys(region_of(cells, boxes, row, start) for start in starts))


def _rows_below(cells: ScreenCells, heading: int, region: Region) -> list[int]:
    rows: list[int] = []
    for row in range(heading + 1, region.last + 1):
        text = plain_text(cells, row, region.start, region.end)
        if not text or (region.box is None and row == cells.rows - 1 and len(rows) > 1):
            break
        rows.append(row)
    return rows


def _edges(
    cells: ScreenCells, heading: int, rows: list[int], start: int, end: int
) -> list[tuple[int, int]]:
    """Return the columns: parted where every row is blank, each with a name in the heading."""
    blank = [
        all(cells.texts[row][col] == " " for row in (heading, *rows)) for col in range(start, end)
    ]
    parts: list[tuple[int, int]] = []
    begin: int | None = None
    for at, gap in enumerate([*blank, True]):
        if not gap and begin is None:
            begin = at
        elif gap and begin is not None:
            parts.append((start + begin, start + at))
            begin = None
    named: list[tuple[int, int]] = []
    for left, right in parts:
        if plain_text(cells, heading, left, right) or not named:
            named.append((left, right))
        else:  # text under no name belongs to the column before
            named[-1] = (named[-1][0], right)
    return named
