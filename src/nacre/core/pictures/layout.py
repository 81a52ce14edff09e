"""Where things go in a picture of a screen: cells, baseline, lines under and through the text.

Rule: everything is a whole number of pixels at every scale, so that edges are crisp and neighbours
join.
"""

import math

from msgspec import Struct

from nacre.core.pictures.box_drawing import Shape, rectangle
from nacre.core.screen.drawing import Caret, Drawing, Ink, StyledRun

# What the engine reports to programs (XTWINOPS 14, 16), so a picture has the same proportions.
CELL_WIDTH, CELL_HEIGHT = 8, 16
_PADDING = 8  # around the screen, so that text does not touch the edge
# Of the packaged font, DejaVu Sans Mono: ascent and descent (0.93 and 0.24 em) with half of what is
# left of the cell above and below.
_BASELINE = 12.5
_STRIKE = 4  # above the baseline: the middle of a small letter
MISSING_INSET = (1, 3)  # of the box for a character that no font has, from the cell's edges


class PictureLayout(Struct, frozen=True):
    """The measures of a picture in pixels."""

    scale: int

    @property
    def cell_width(self) -> int:
        return CELL_WIDTH * self.scale

    @property
    def cell_height(self) -> int:
        return CELL_HEIGHT * self.scale

    @property
    def padding(self) -> int:
        return _PADDING * self.scale

    @property
    def baseline(self) -> int:
        """From the cell's top."""
        return math.ceil(_BASELINE * self.scale)

    @property
    def thin(self) -> int:
        return self.scale

    def size(self, rows: int, cols: int) -> tuple[int, int]:
        """Return width and height of the whole picture."""
        return (
            cols * self.cell_width + 2 * self.padding,
            rows * self.cell_height + 2 * self.padding,
        )

    def place(self, row: int, col: int) -> tuple[int, int]:
        """Return the upper left corner of a cell."""
        return col * self.cell_width + self.padding, row * self.cell_height + self.padding

    def paper(self, run: StyledRun) -> Shape:
        left, top = self.place(run.row, run.col)
        right = left + len(run.cells) * self.cell_width
        return rectangle(left, top, right, top + self.cell_height)

    def lines(self, run: StyledRun) -> list[tuple[Shape, Ink]]:
        """Return the lines under, over and through a run."""
        left, top = self.place(run.row, run.col)
        right = left + len(run.cells) * self.cell_width
        baseline, thin = top + self.baseline, self.thin
        found: list[tuple[Shape, Ink]] = []
        if run.underline is not None and run.cells:
            ink = run.underline_ink or run.ink
            found += [(shape, ink) for shape in self._underline(run, left, top, right)]
        if run.strikethrough:
            strike = baseline - _STRIKE * self.scale
            found.append((rectangle(left, strike, right, strike + thin), run.ink))
        if run.overline:
            found.append((rectangle(left, top, right, top + thin), run.ink))
        return found

    def _underline(self, run: StyledRun, left: int, cell_top: int, right: int) -> list[Shape]:
        thin, bottom = self.thin, cell_top + self.cell_height
        if run.underline == "curly":
            return [self._wave(left, right, bottom)]
        if run.underline == "double":
            return [
                rectangle(left, bottom - 3 * thin, right, bottom - 2 * thin),
                rectangle(left, bottom - thin, right, bottom),
            ]
        top = cell_top + self.baseline + (3 * thin) // 2
        if run.underline == "single":
            return [rectangle(left, top, right, top + thin)]
        # Dots and dashes repeat with the cell, so that neighbouring runs match.
        length = thin if run.underline == "dotted" else self.cell_width // 2
        return [
            rectangle(at, top, at + length, top + thin) for at in range(left, right, 2 * length)
        ]

    def _wave(self, left: int, right: int, bottom: int) -> Shape:
        """One wave per cell, as high as the space under the baseline allows."""
        thin, step = self.thin, self.cell_width / 8
        top = bottom - 2.5 * thin
        count = round((right - left) / step)
        upper = [
            (left + i * step, top + thin / 2 * (1 - math.cos(i * math.pi / 4)) * 1.5)
            for i in range(count + 1)
        ]
        lower = [(x, y + thin) for x, y in upper]
        return Shape((*upper, *lower[::-1]))

    def caret(self, drawing: Drawing) -> tuple[Shape, Ink] | None:
        """Return the cursor if it is a line; a block cursor is a separate run."""
        caret = drawing.cursor
        if caret is None or caret.shape == "block":
            return None
        return self._line_caret(caret), caret.ink

    def _line_caret(self, caret: Caret) -> Shape:
        left, top = self.place(caret.row, caret.col)
        bottom, thick = top + self.cell_height, 2 * self.thin
        if caret.shape == "bar":
            return rectangle(left, top, left + thick, bottom)
        return rectangle(left, bottom - thick, left + caret.width * self.cell_width, bottom)

    def missing(self, row: int, col: int, width: int) -> list[Shape]:
        """Return the hollow box for a character that no font has."""
        x, y = (inset * self.scale for inset in MISSING_INSET)
        left, top = self.place(row, col)
        right, bottom = left + width * self.cell_width - x, top + self.cell_height - y
        left, top, thin = left + x, top + y, self.thin
        return [
            rectangle(left, top, right, top + thin),
            rectangle(left, bottom - thin, right, bottom),
            rectangle(left, top + thin, left + thin, bottom - thin),
            rectangle(right - thin, top + thin, right, bottom - thin),
        ]
