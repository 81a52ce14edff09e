"""Masks: parts of a screen that differ from run to run, as times and process ids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nacre.core.text.widths import char_width

COVER = "▒"


@dataclass(frozen=True)
class PatternMask:
    """Whatever matches an expression, in any row."""

    pattern: str

    def cover(self, rows: list[str]) -> list[str]:
        return [re.sub(self.pattern, lambda found: COVER * len(found[0]), row) for row in rows]


@dataclass(frozen=True)
class RegionMask:
    """A rectangle of cells; without `cols` to the end of the rows."""

    row: int
    col: int = 0
    rows: int = 1
    cols: int | None = None

    def cover(self, rows: list[str]) -> list[str]:
        inside = range(self.row, self.row + self.rows)
        return [self._covered(row) if at in inside else row for at, row in enumerate(rows)]

    def _covered(self, row: str) -> str:
        end = None if self.cols is None else self.col + self.cols
        covered, col = "", 0
        for char in row:
            within = col >= self.col and (end is None or col < end)
            covered += COVER * char_width(char) if within else char
            col += char_width(char)
        if end is None:  # how long the row is may differ, too
            return covered.ljust(self.col)[: self.col] + COVER
        return covered.ljust(self.col).ljust(end, COVER) if col < end else covered


Mask = PatternMask | RegionMask


def masked(rows: list[str], masks: Sequence[Mask]) -> list[str]:
    for mask in masks:
        rows = mask.cover(rows)
    return [row.rstrip() for row in rows]
