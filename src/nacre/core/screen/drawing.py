"""A screen as painters need it: cells with their columns, colours as red, green and blue.

Rule 1: a Drawing is immutable and knows no session, engine or font: it is taken on the loop, of any
moment, and can be painted in a thread.
Rule 2: the meaning of styles is decided here (inverse, faint, invisible, the palette, the block
cursor), so that all painters show the same.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from nacre.core.screen.screen import COLOR_NAMES, CellRun, Color, Cursor, CursorShape, Rgb, Span

Ink = tuple[int, int, int]  # red, green, blue
Underline = Literal["single", "double", "curly", "dotted", "dashed"]

_FAINT = 0.5  # of the ink that is left on the paper; xterm's and most others'


class Colors(NamedTuple):
    """The terminal's colours, as its program may have changed them."""

    foreground: Ink
    background: Ink
    cursor: Ink | None  # None: the foreground
    palette: tuple[Ink, ...]

    def resolve(self, color: Color | None, default: Ink) -> Ink:
        if color is None:
            return default
        if isinstance(color, Rgb):
            return color.r, color.g, color.b
        return self.palette[_PALETTE[color]]


_PALETTE = {name: index for index, name in enumerate(COLOR_NAMES)} | {
    f"color{index}": index for index in range(len(COLOR_NAMES), 256)
}


class StyledRun(Struct, frozen=True):
    """Neighbouring cells that look alike."""

    row: int
    col: int
    cells: tuple[str, ...]  # empty after a wide character
    ink: Ink
    paper: Ink | None = None  # None: the screen's own
    bold: bool = False
    italic: bool = False
    underline: Underline | None = None
    underline_ink: Ink | None = None  # None: the text's
    strikethrough: bool = False
    overline: bool = False
    link: str | None = None

    def clusters(self) -> Iterator[tuple[int, str, int]]:
        """Yield each cluster: its column, its text, and how many cells it takes."""
        cells = self.cells
        for index, text in enumerate(cells):
            if text and text != " ":
                wide = index + 1 < len(cells) and not cells[index + 1]
                yield self.col + index, text, 2 if wide else 1


class Caret(NamedTuple):
    """The cursor as it is drawn."""

    row: int
    col: int
    width: int  # in cells
    shape: CursorShape
    ink: Ink


class Drawing(Struct, frozen=True):
    rows: int
    cols: int
    background: Ink
    runs: tuple[StyledRun, ...]  # top to bottom, left to right; blank ones of no style are left out
    cursor: Caret | None

    def without_cursor(self) -> "Drawing":
        return replace(self, cursor=None)

    def texts(self) -> list[str]:
        """Return its rows as texts, a character for each column; a wide one's second is a NUL."""
        rows = [[" "] * self.cols for _ in range(self.rows)]
        for run in self.runs:
            for index, text in enumerate(run.cells):
                if run.col + index < self.cols and run.row < self.rows:
                    rows[run.row][run.col + index] = text[:1] or "\0"
        return ["".join(row).rstrip(" ") for row in rows]

    def with_texts(self, texts: Sequence[str]) -> "Drawing":
        """Return it with other characters where they differ from its own; see `texts`."""
        own = self.texts()
        changed = [
            replace(run, cells=_changed_cells(run, own[run.row], texts[run.row]))
            if run.row < self.rows and own[run.row] != texts[run.row]
            else run
            for run in self.runs
        ]
        return replace(self, runs=tuple(changed))

    def painted_runs(self) -> Iterator[StyledRun]:
        """Yield the runs; what a block cursor covers is a separate run in the cursor's colours."""
        caret = self.cursor
        if caret is None or caret.shape != "block":
            yield from self.runs
            return
        covered = StyledRun(caret.row, caret.col, (" ",) * caret.width, self.background, caret.ink)
        for run in self.runs:
            at = caret.col - run.col
            if run.row != caret.row or not 0 <= at < len(run.cells):
                yield run
                continue
            end = at + caret.width
            yield replace(run, cells=run.cells[:at])
            yield replace(run, col=caret.col + caret.width, cells=run.cells[end:])
            ink = self.background if run.paper is None else run.paper
            covered = replace(run, col=caret.col, cells=run.cells[at:end], ink=ink, paper=caret.ink)
        yield covered


def _changed_cells(run: StyledRun, before: str, after: str) -> tuple[str, ...]:
    return tuple(
        after[at] if at < len(before) and before[at] != after[at] else cell
        for at, cell in enumerate(run.cells, run.col)
    )


def draw(
    lines: Sequence[tuple[CellRun, ...]], colors: Colors, cursor: Cursor, rows: int, cols: int
) -> Drawing:
    """Make a drawing of the cells of a screen."""
    runs = [
        run
        for row, line in enumerate(lines)
        for part in line
        if (run := _run(row, part, colors)) is not None
    ]
    caret = None
    if cursor.visible and cursor.row < rows:
        caret = _caret(cursor, lines[cursor.row], colors)
    return Drawing(rows, cols, colors.background, tuple(runs), caret)


def _run(row: int, part: CellRun, colors: Colors) -> StyledRun | None:
    span = part.span
    if part.cells and not part.cells[0]:  # the second half of a character of another style
        part = CellRun(part.col + 1, part.cells[1:], span)
    blank = span.invisible or not span.text.strip(" ")
    ink = colors.resolve(span.fg, colors.foreground)
    paper = None if span.bg is None else colors.resolve(span.bg, colors.background)
    if span.inverse:
        ink, paper = colors.background if paper is None else paper, ink
    plain = not (span.underline or span.strikethrough or span.overline or span.link)
    if not part.cells or (blank and paper is None and plain):
        return None
    line_ink = None if span.underline_color is None else colors.resolve(span.underline_color, ink)
    if span.faint:
        ink = _mixed(ink, colors.background if paper is None else paper)
    return StyledRun(
        row,
        part.col,
        (" ",) * len(part.cells) if span.invisible else part.cells,
        ink,
        paper,
        bold=span.bold,
        italic=span.italic,
        underline=_underline(span),
        underline_ink=line_ink,
        strikethrough=span.strikethrough,
        overline=span.overline,
        link=span.link,
    )


def _underline(span: Span) -> Underline | None:
    if not span.underline:
        # Links are underlined, as terminals do under the pointer.
        return "dotted" if span.link else None
    return span.underline_style or "single"


def _mixed(ink: Ink, paper: Ink) -> Ink:
    red, green, blue = (
        round(one * _FAINT + other * (1 - _FAINT)) for one, other in zip(ink, paper, strict=True)
    )
    return red, green, blue


def _caret(cursor: Cursor, line: tuple[CellRun, ...], colors: Colors) -> Caret:
    col, width = cursor.col, 1
    for part in line:
        at = col - part.col
        if not 0 <= at < len(part.cells):
            continue
        if not part.cells[at] and at:  # on the second half of a wide character
            col, at = col - 1, at - 1
        if part.cells[at + 1 : at + 2] == ("",):
            width = 2
        break
    return Caret(cursor.row, col, width, cursor.shape, colors.cursor or colors.foreground)
