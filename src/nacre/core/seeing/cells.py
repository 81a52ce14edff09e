"""The cells of a screen as those who look at it need them: the text and the look of each.

Rule 1: it is immutable and knows no engine: it is taken of a live screen, an earlier one or a file.
Rule 2: a look is a Span without its text, so that neighbours of one look are told by comparing.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from nacre.core.screen.screen import CellRun, Color, Cursor, Span

Paper = Color | None  # what a cell's ground is painted with; None: the screen's own

PLAIN = Span("")
_INVERSE = "foreground"  # the paper of a cell in reverse video that has no colour of its own


def paper_of(look: Span) -> Paper:
    if not look.inverse:
        return look.bg
    return _INVERSE if look.fg is None else look.fg


class Strip(NamedTuple):
    """Neighbouring cells of a row that have one paper."""

    row: int
    start: int
    end: int  # the column after its last
    paper: Paper

    @property
    def width(self) -> int:
        return self.end - self.start


class ScreenCells(Struct, frozen=True):
    rows: int
    cols: int
    texts: tuple[tuple[str, ...], ...]  # of each cell; empty after a wide character
    looks: tuple[tuple[Span, ...], ...]
    papers: tuple[tuple[Paper, ...], ...]
    cursor: Cursor

    def text(self, row: int, start: int = 0, end: int | None = None) -> str:
        return "".join(self.texts[row][start : self.cols if end is None else end])

    def lines(self) -> list[str]:
        """Return the rows as text, without the blanks at their ends."""
        return [self.text(row).rstrip(" ") for row in range(self.rows)]

    def columns(self) -> list[str]:
        """Return the rows with one character a column, without the blanks at their ends.

        A wide one's second is a NUL.
        """
        return ["".join(cell[:1] or "\0" for cell in row).rstrip(" ") for row in self.texts]

    def with_columns(self, columns: Sequence[str]) -> "ScreenCells":
        """Return it with other characters where they differ from its own; see `columns`."""
        own = self.columns()
        texts = tuple(
            row
            if before == after
            else tuple(
                cell if before[at : at + 1] == after[at : at + 1] else after[at].replace("\0", "")
                for at, cell in enumerate(row)
            )
            for row, before, after in zip(self.texts, own, columns, strict=True)
        )
        return ScreenCells(self.rows, self.cols, texts, self.looks, self.papers, self.cursor)

    def paper(self, row: int, col: int) -> Paper:
        return self.papers[row][col]

    def strips(self, row: int) -> list[Strip]:
        """Return the strips of a row, from left to right."""
        found: list[Strip] = []
        at = 0
        for paper, same in groupby(self.papers[row]):
            end = at + sum(1 for _cell in same)
            found.append(Strip(row, at, end, paper))
            at = end
        return found

    def runs(self, row: int, start: int = 0, end: int | None = None) -> Iterator[tuple[int, Span]]:
        """Yield the column, text and look of neighbouring cells that look alike."""
        end = self.cols if end is None else end
        begin = start
        for col in range(start + 1, end + 1):
            if col == end or self.looks[row][col] != self.looks[row][begin]:
                yield begin, replace(self.looks[row][begin], text=self.text(row, begin, col))
                begin = col


def cells_of(
    lines: Sequence[tuple[CellRun, ...]], rows: int, cols: int, cursor: Cursor
) -> ScreenCells:
    """Make it of the engine's runs of cells."""
    texts, looks, papers = [], [], []
    for line in lines:
        row, look = [" "] * cols, [PLAIN] * cols
        paper: list[Paper] = [None] * cols
        for run in line:
            end = min(cols, run.col + len(run.cells))
            width = end - run.col
            row[run.col : end] = run.cells[:width]
            look[run.col : end] = [replace(run.span, text="")] * width
            paper[run.col : end] = [paper_of(run.span)] * width
        texts.append(tuple(row))
        looks.append(tuple(look))
        papers.append(tuple(paper))
    return ScreenCells(rows, cols, tuple(texts), tuple(looks), tuple(papers), cursor)
