"""Where text belongs: the innermost box around it, and the parts of a row that stand apart."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nacre.core.seeing.boxes import Box, arms
from nacre.core.seeing.cells import Paper, ScreenCells
from nacre.late_pattern import late_pattern

_APART = late_pattern(r"\S+(?: \S+)*")  # words with single blanks between them


class WordsApart(NamedTuple):
    """Text of a row that two blanks or more, or a line, part from its neighbours."""

    row: int
    start: int
    end: int
    text: str


class Region(NamedTuple):
    """The content of a box, or the whole screen."""

    box: Box | None
    first: int
    last: int  # the last row
    start: int
    end: int  # the column after its last


def region_of(cells: ScreenCells, boxes: Sequence[Box], row: int, col: int) -> Region:
    around = [box for box in boxes if box.sides and box.has(row, col)]
    inside = [box for box in around if box.row < row < box.row + box.rows - 1]
    if not inside:
        return Region(None, 0, cells.rows - 1, 0, cells.cols)
    box = min(inside, key=lambda box: box.rows * box.cols)
    return Region(box, *box.inner)


def usual_paper(
    cells: ScreenCells, region: Region, start: int = 0, end: int | None = None
) -> Paper:
    """Return what most of a region is painted with, in some of its columns."""
    left, right = max(start, region.start), min(end or region.end, region.end)
    counted: Counter[Paper] = Counter()
    for row in range(region.first, region.last + 1):
        counted.update(cells.papers[row][left:right])
    return counted.most_common(1)[0][0] if counted else None


def words_of(
    cells: ScreenCells, row: int, start: int = 0, end: int | None = None
) -> list[WordsApart]:
    """Return the parts of a row that stand apart, by their columns."""
    end = cells.cols if end is None else end
    # One character a column, so that an index is a column; lines part as blanks do.
    columns = "".join(
        " " if _parts(cells, row, col) else (cells.texts[row][col][:1] or "\0")
        for col in range(start, end)
    )
    return [
        WordsApart(
            row,
            start + found.start(),
            start + found.end(),
            cells.text(row, start + found.start(), start + found.end()),
        )
        for found in _APART.finditer(columns)
    ]


def _parts(cells: ScreenCells, row: int, col: int) -> bool:
    char = cells.texts[row][col]
    return bool(arms(char)) and char not in "+-=|"


def plain_text(cells: ScreenCells, row: int, start: int, end: int) -> str:
    """Return the text between columns without lines and the blanks around it."""
    return "".join(
        " " if _parts(cells, row, col) else cells.texts[row][col] for col in range(start, end)
    ).strip(" ")
