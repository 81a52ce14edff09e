"""A session as a person sees it: its screen, overlays on it, panels around it, a status line.

Rule 1: what a program drew is never changed; elements are put over it, cell by cell. A wide
character that is half covered becomes a blank.
Rule 2: rows are values: rows of two scenes are equal if they look the same, and only rows that
differ are drawn.
Rule 3: the cursor is where the program put it; under an overlay it is hidden.
Limit: columns are counted by character, as the engine does (core/text/widths.py). If a program uses
clusters (mode 2027), the text right of an emoji of several characters may move while an overlay is
in its row.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import msgspec

from nacre.core.display.repaint import kept_state, paint_span
from nacre.core.operations.elements import (
    Overlay,
    Panel,
    RegionWrite,
    VisualSpan,
    fill_color,
    paint_color,
)
from nacre.core.screen.picture import Picture, Size
from nacre.core.screen.screen import Cursor, Line, Span
from nacre.core.text.widths import char_width


class Shown(NamedTuple):
    """What is shown of a session besides its screen, from the upper edge to the lower."""

    overlays: Sequence[Overlay] = ()
    top: Sequence[Panel] = ()
    bottom: Sequence[Panel] = ()

    @property
    def rows(self) -> int:
        """The number of rows that panels take."""
        return sum(panel.height for panel in (*self.top, *self.bottom))

    def __bool__(self) -> bool:
        return any(self)


NOTHING = Shown()


class Piece(NamedTuple):
    """Text at a column; the rest up to `end` is blank."""

    col: int
    end: int
    line: Line


Row = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is shown, row by row; the first `above` rows are above the child's."""

    rows: list[Row]
    cols: int
    cursor: Cursor
    title: str
    state: bytes
    above: int
    child_rows: int
    serial: int = field(default_factory=count().__next__, compare=False)
    _painted: dict[int, bytes] = field(default_factory=dict, compare=False)
    _since: dict[int, tuple[bytes, int]] = field(default_factory=dict, compare=False)

    def since(self, before: "Scene") -> tuple[bytes, int]:
        """Return the bytes that draw the rows that differ from another scene, and their number.

        The scenes must have the same size. The result is made once for all viewers of that scene.
        """
        known = self._since.get(before.serial)
        if known is None:
            pairs = enumerate(zip(self.rows, before.rows, strict=True))
            changed = [y for y, (row, old) in pairs if row != old]
            known = (b"".join(map(self.paint, changed)), len(changed))
            self._since[before.serial] = known
        return known

    def paint(self, y: int) -> bytes:
        """Return the bytes that draw a row; made once for all viewers of this scene."""
        painted = self._painted.get(y)
        if painted is None:
            painted = self._painted[y] = paint_row(y, self.rows[y], self.cols)
        return painted

    def fit(self, size: Size) -> "Scene":
        """Return the scene for another size: the part around the cursor, or with blank rows."""
        rows, cols = size
        if (rows, cols) == (len(self.rows), self.cols):
            return self
        top = max(0, min(self.cursor.row - rows + 1, len(self.rows) - rows))
        shown = [_cut(row, cols) for row in self.rows[top : top + rows]]
        shown += [blank_row(cols)] * (rows - len(shown))
        row, col = self.cursor.row - top, min(self.cursor.col, cols - 1)
        cursor = msgspec.structs.replace(self.cursor, row=row, col=col)
        return Scene(
            rows=shown,
            cols=cols,
            cursor=cursor,
            title=self.title,
            state=self.state,
            above=self.above - top,
            child_rows=self.child_rows,
        )


def compose(picture: Picture, shown: Shown, boxes: "Boxes | None" = None) -> Scene:
    """Return the screen with everything on it: the picture's rows and those of the panels."""
    boxes = boxes or Boxes()
    cols = picture.cols
    rows: list[Row] = [(Piece(0, cols, line),) for line in picture.lines]
    cursor = picture.cursor
    for overlay in sorted(shown.overlays, key=lambda overlay: overlay.z):
        left, right = max(0, overlay.x), min(cols, overlay.x + overlay.width)
        bottom = min(len(rows), overlay.y + overlay.height)
        if left >= right or bottom <= overlay.y:
            continue
        # Draw only the visible part: a box may be a thousand times as large as the screen.
        box = boxes.of(overlay, right - overlay.x, bottom - overlay.y)
        for y in range(max(0, overlay.y), bottom):
            line = slice_line(box[y - overlay.y], left - overlay.x, right - overlay.x)
            rows[y] = tuple(_covered(rows[y], Piece(left, right, line)))
            if (cursor.row, left <= cursor.col < right) == (y, True):
                cursor = msgspec.structs.replace(cursor, visible=False)
    above = [row for panel in shown.top for row in _panel(panel, cols, boxes)]
    below = [row for panel in shown.bottom for row in _panel(panel, cols, boxes)]
    boxes.keep((*shown.overlays, *shown.top, *shown.bottom))
    return Scene(
        rows=[*above, *rows, *below],
        cols=cols,
        cursor=msgspec.structs.replace(cursor, row=cursor.row + len(above)),
        title=picture.title,
        state=kept_state(picture),
        above=len(above),
        child_rows=picture.rows,
    )


def _panel(panel: Panel, cols: int, boxes: "Boxes") -> list[Row]:
    return [(Piece(0, cols, line),) for line in boxes.of(panel, cols, panel.height)]


def status_row(spans: Sequence[VisualSpan], cols: int) -> Row:
    """Return a line of text as a row; the last span's background fills it."""
    fill = spans[-1] if spans else None
    blank = Span("") if fill is None else _style(fill, None)
    [line] = _draw(spans, (), cols, 1, blank)
    return (Piece(0, cols, line),)


# --- elements ----------------------------------------------------------------------------------

_Cell = tuple[str, Span]  # its text ("" after a wide character), and its style without text


class Boxes:
    """Elements as lines, made once for each element."""

    def __init__(self) -> None:
        # By identity, because elements do not change. The element is kept, so that its id is not
        # reused.
        self._lines: dict[tuple[int, int, int], tuple[Overlay | Panel, list[Line]]] = {}

    def of(self, element: Overlay | Panel, width: int, height: int) -> list[Line]:
        known = self._lines.get((id(element), width, height))
        if known is None:
            blank = Span("", bg=fill_color(element.background))
            lines = _draw(element.spans, element.region_writes, width, height, blank)
            known = self._lines[id(element), width, height] = (element, lines)
        return known[1]

    def keep(self, elements: Iterable[Overlay | Panel]) -> None:
        """Forget all other elements."""
        shown = set(map(id, elements))
        if len(self._lines) > len(shown):
            self._lines = {key: box for key, box in self._lines.items() if key[0] in shown}


def _draw(
    spans: Iterable[VisualSpan],
    writes: Iterable[RegionWrite],
    width: int,
    height: int,
    blank: Span,
) -> list[Line]:
    grid: list[list[_Cell]] = [[(" ", blank)] * width for _ in range(height)]
    row = col = 0
    for span in spans:
        style = _style(span, blank)
        for number, part in enumerate(span.text.split("\n")):
            if number:
                row, col = row + 1, 0
            col = _write(grid, row, col, part, style)
    for write in writes:
        _write(grid, write.row, write.col, write.text, _style(write, blank))
    return [_joined(cells) for cells in grid]


def _style(given: VisualSpan | RegionWrite, blank: Span | None) -> Span:
    return Span(
        "",
        fg=paint_color(given.fg),
        bg=paint_color(given.bg) or (blank.bg if blank is not None else None),
        bold=given.bold,
        faint=given.faint,
        italic=given.italic,
        underline=given.underline,
        strikethrough=given.strikethrough,
        inverse=given.inverse,
    )


def _write(grid: list[list[_Cell]], row: int, col: int, text: str, style: Span) -> int:
    """Write text into a row, as far as it fits; return the column after it."""
    cells = grid[row] if 0 <= row < len(grid) else []
    for char in text:
        width = char_width(char)
        if width == 0:
            # A combining mark belongs to the character before it; control characters are not drawn.
            if char.isprintable() or char == "\u200d":
                _join_mark(cells, col, char)
            continue
        if col >= 0 and col + width <= len(cells):
            _part_wide(cells, col, col + width)
            cells[col] = (char, style)
            cells[col + 1 : col + width] = [("", style)] * (width - 1)
        elif 0 <= col < len(cells):
            _part_wide(cells, col, col + 1)
            cells[col] = (" ", style)
        col += width
    return col


def _join_mark(cells: list[_Cell], col: int, mark: str) -> None:
    at = col - 1
    if 0 < at < len(cells) and cells[at][0] == "":
        at -= 1
    if 0 <= at < len(cells):
        cells[at] = (cells[at][0] + mark, cells[at][1])


def _part_wide(cells: list[_Cell], start: int, end: int) -> None:
    """Blank the other halves of wide characters that these cells cut."""
    if cells[start][0] == "" and start > 0:
        cells[start - 1] = (" ", cells[start - 1][1])
    if end < len(cells) and cells[end][0] == "":
        cells[end] = (" ", cells[end][1])


def _joined(cells: list[_Cell]) -> Line:
    spans: list[Span] = []
    text, style = "", Span("")
    for char, its in cells:
        if its != style:
            if text:
                spans.append(msgspec.structs.replace(style, text=text))
            text, style = "", its
        text += char
    return (*spans, msgspec.structs.replace(style, text=text)) if text else tuple(spans)


# --- rows --------------------------------------------------------------------------------------


def blank_row(cols: int) -> Row:
    return (Piece(0, cols, ()),)


def _covered(row: Row, top: Piece) -> Iterator[Piece]:
    """Put a piece over a row."""
    placed = False
    for piece in row:
        if piece.end <= top.col:
            yield piece
            continue
        if piece.col < top.col:
            yield Piece(piece.col, top.col, slice_line(piece.line, 0, top.col - piece.col))
        if not placed:
            placed = True
            yield top
        if piece.end > top.end:
            start = max(piece.col, top.end)
            line = slice_line(piece.line, start - piece.col, piece.end - piece.col)
            yield Piece(start, piece.end, line)


def _cut(row: Row, cols: int) -> Row:
    shown = []
    for piece in row:
        if piece.col < cols:
            end = min(piece.end, cols)
            shown.append(Piece(piece.col, end, slice_line(piece.line, 0, end - piece.col)))
    if shown and shown[-1].end < cols:
        shown.append(Piece(shown[-1].end, cols, ()))
    return tuple(shown)


def slice_line(line: Line, start: int, end: int) -> Line:
    """Keep the columns from `start` to `end`; half of a wide character is a blank."""
    kept: list[Span] = []
    at = 0
    for span in line:
        if at >= end:
            break
        text, at = _columns(span.text, at, start, end)
        if text:
            kept.append(msgspec.structs.replace(span, text=text))
    return tuple(kept)


def _columns(text: str, at: int, start: int, end: int) -> tuple[str, int]:
    """Return the part of a text that lies within these columns, and the column after the text."""
    if text.isascii():
        return text[max(0, start - at) : max(0, end - at)], at + len(text)
    kept: list[str] = []
    for char in text:
        width = char_width(char)
        if width == 0:
            if kept and start < at <= end:
                kept.append(char)
        elif start <= at and at + width <= end:
            kept.append(char)
        else:
            kept.append(" " * max(0, min(at + width, end) - max(at, start)))
        at += width
    return "".join(kept), at


def paint_row(y: int, row: Row, cols: int) -> bytes:
    """Return the bytes that draw a row over anything; the pen is the default before and after."""
    place = f"\x1b[{y + 1}H"
    if len(row) == 1 and all(span.text.isascii() for span in row[0].line):
        line = row[0].line
        # Erase after the text, so that nothing flickers. A full row has nothing to erase, and at
        # its end the cursor is still on the last character.
        erase = "\x1b[K" if sum(len(span.text) for span in line) < cols else ""
        return f"{place}{''.join(map(paint_span, line))}{erase}".encode()
    # The terminal may count widths differently: erase first, and place each piece.
    parts = [place, "\x1b[K"]
    for piece in row:
        if piece.line:
            parts += [f"\x1b[{piece.col + 1}G" if piece.col else "", *map(paint_span, piece.line)]
    return "".join(parts).encode(errors="replace")
