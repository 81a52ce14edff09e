"""The engine's rendering of a terminal: styled rows of screen and scrollback, and the cursor.

Rule 1: a terminal has one render state for its changes: an update consumes the changes, so a second
render state would silently go stale.
Rule 2: a decoded row is kept until the engine marks it dirty.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from nacre.core.screen.drawing import Colors, Ink
from nacre.core.screen.screen import (
    CellRun,
    Color,
    Cursor,
    CursorShape,
    Line,
    Rgb,
    Span,
    UnderlineStyle,
)
from nacre.core.terminal.cells import CELL_BYTES, CellDecoder, Style, palette_color
from nacre.core.terminal.ghostty import (
    NULL,
    OUT_OF_SPACE,
    cell_layout,
    check,
    create,
    ffi,
    lib,
    new,
    sized,
    text_of,
)
from nacre.core.terminal.grid import ACTIVE, SCREEN, Grid
from nacre.core.terminal.plain import PlainText

# Rows of the scrollback to render at once: limits the native copy, and an overscan has only sixteen
# bits.
_PIECE = 1000

# Most decoded styles to keep, found by their bytes. With more, all are dropped.
_STYLES_KEPT = 4096

_UNDERLINES: dict[int, UnderlineStyle] = {2: "double", 3: "curly", 4: "dotted", 5: "dashed"}

_SHAPES: dict[int, CursorShape] = {
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: "bar",
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: "underline",
}

_CURSOR = lib.GHOSTTY_RENDER_STATE_DATA_CURSOR
_COLORS = lib.GHOSTTY_RENDER_STATE_DATA_COLORS
_ROW_ITERATOR = lib.GHOSTTY_RENDER_STATE_DATA_ROW_ITERATOR
_CELLS = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS
_CELLS_RAW = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW
_STYLE = lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE
_CLUSTER = lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_UTF8
_row_get = lib.ghostty_render_state_row_get
_next_row = lib.ghostty_render_state_row_iterator_next
_next_dirty_row = lib.ghostty_render_state_row_iterator_next_dirty
_select_cell = lib.ghostty_render_state_row_cells_select
_cell_get = lib.ghostty_render_state_row_cells_get

RowT = TypeVar("RowT")


class Rendering:
    def __init__(self, handle: Any, grid: Grid, plain: PlainText) -> None:
        self._handle = handle
        self._grid = grid
        self._plain = plain
        self._state = create("GhosttyRenderState", lib.ghostty_render_state_new)
        self._iterator = new("GhosttyRenderStateRowIterator *")
        check(lib.ghostty_render_state_row_iterator_new(NULL, self._iterator), "make an iterator")
        self._row = _Row(grid)
        self._y = new("uint16_t *")
        self._cursor = sized("GhosttyRenderStateCursor")
        self._lines: list[Line] = []

    def cursor(self) -> Cursor:
        self._update()
        cursor = self._find_cursor()
        shape = _SHAPES.get(cursor.visual_style, "block")
        return Cursor(cursor.viewport_y, cursor.viewport_x, cursor.visible, shape, cursor.blinking)

    def _find_cursor(self) -> Any:
        check(lib.ghostty_render_state_get(self._state, _CURSOR, self._cursor), "find the cursor")
        return self._cursor

    def lines(self, rows: int, cols: int) -> list[Line]:
        self._update()
        state = self._state
        check(lib.ghostty_render_state_get(state, _ROW_ITERATOR, self._iterator), "list rows")
        iterator = self._iterator[0]
        row = self._row
        lines = self._lines
        if len(lines) != rows:
            lines = [row.line(iterator, ACTIVE, y) for y in range(rows) if _next_row(iterator)]
            self._lines = lines
        else:
            y = self._y
            while _next_dirty_row(iterator, y):
                lines[y[0]] = row.line(iterator, ACTIVE, y[0])
        lib.ghostty_render_state_clean(state)
        self._mend_cursor_row(cols)
        return lines.copy()

    def _mend_cursor_row(self, cols: int) -> None:
        """Decode the cursor's row again if the engine did not mark it dirty.

        A combining mark that arrives after its character was read changes the row, but the engine
        marks the row only when the cursor leaves it (pyghostty 0.1.3).
        """
        y: int = self._find_cursor().viewport_y
        shown = "".join([span.text for span in self._lines[y]]).rstrip(" ")
        if shown != self._plain.lines(ACTIVE, y, 1, cols)[0]:
            [self._lines[y]] = self._read_afresh(self._row.line, ACTIVE, y, 1, skipped=y)

    def cells(self, rows: int) -> list[tuple[CellRun, ...]]:
        """Decode the screen with the column of everything in it."""
        self._update()
        return self._read_afresh(self._row.runs, ACTIVE, 0, rows)

    def colors(self) -> Colors:
        """Return the colours, which the program may have changed (OSC 4, 10, 11, 12, DECSCNM)."""
        self._update()
        colors = sized("GhosttyRenderStateColors")
        check(lib.ghostty_render_state_get(self._state, _COLORS, colors), "tell its colours")
        return Colors(
            foreground=_ink(colors.foreground),
            background=_ink(colors.background),
            cursor=_ink(colors.cursor) if colors.cursor_has_value else None,
            palette=tuple(map(_ink, colors.palette)),
        )

    def _update(self) -> None:
        result = lib.ghostty_render_state_update(self._state, self._handle)
        if result:
            check(result, "render")

    def history(self, first: int, count: int, rows: int) -> list[Line]:
        """Decode rows counted from the oldest one, on a screen of `rows` rows."""
        # The live state takes its changes first, or the temporary one below would consume them.
        self._update()
        try:
            read = self._row.line
            lines: list[Line] = []
            for start in range(first, first + count, _PIECE):
                piece = min(_PIECE, first + count - start)
                self._grid.scroll_to(start)
                below = max(0, piece - rows)
                lines += self._read_afresh(read, SCREEN, start, piece, below=below)
            return lines
        finally:
            # The engine remembers the viewport's last place. If that is a blank row, a later reflow
            # keeps it, as for the cursor; there is no other effect.
            self._grid.scroll_to(None)

    def _read_afresh(
        self,
        read: Callable[[Any, int, int], RowT],
        tag: int,
        first: int,
        count: int,
        *,
        skipped: int = 0,
        below: int = 0,
    ) -> list[RowT]:
        """Decode rows of the viewport and `below` it, with a temporary render state.

        The first row comes after `skipped` rows, and is `first` in the coordinates of `tag`.
        """
        state = create("GhosttyRenderState", lib.ghostty_render_state_new)
        try:
            overscan = new("GhosttyRenderStateOverscan *", {"below": below})
            option = lib.GHOSTTY_RENDER_STATE_OPTION_OVERSCAN
            check(lib.ghostty_render_state_set(state, option, overscan), "widen the view")
            check(lib.ghostty_render_state_update(state, self._handle), "render")
            check(lib.ghostty_render_state_get(state, _ROW_ITERATOR, self._iterator), "list rows")
            iterator = self._iterator[0]
            for _row in range(skipped):
                _next_row(iterator)
            span = range(first, first + count)
            return [read(iterator, tag, y) for y in span if _next_row(iterator)]
        finally:
            lib.ghostty_render_state_free(state)

    def free(self) -> None:
        self._row.free()
        lib.ghostty_render_state_row_iterator_free(self._iterator[0])
        lib.ghostty_render_state_free(self._state)


class _Row:
    """The current row of an iterator, as the decoder needs it."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._decoder = CellDecoder(cell_layout())
        self._raw = new("GhosttyCellsView *")
        self._cells = new("GhosttyRenderStateRowCells *")
        check(lib.ghostty_render_state_row_cells_new(NULL, self._cells), "make a row")
        self._style = sized("GhosttyStyle")
        self._style_bytes = ffi.buffer(self._style)
        self._styles: dict[bytes, Style] = {}
        self._cluster = new("GhosttyBuffer *")
        self._grow(256)
        self._size = new("size_t *")
        self._ref = sized("GhosttyGridRef")
        self._iterator = NULL
        self._place = (ACTIVE, 0)
        self._opened: Any = None

    def line(self, iterator: Any, tag: int, y: int) -> Line:
        return self._decoder.line(self._read(iterator, tag, y), self)

    def runs(self, iterator: Any, tag: int, y: int) -> tuple[CellRun, ...]:
        return self._decoder.runs(self._read(iterator, tag, y), self)

    def _read(self, iterator: Any, tag: int, y: int) -> bytes:
        self._iterator = iterator
        self._place = (tag, y)
        self._opened = None
        raw = self._raw
        result = _row_get(iterator, _CELLS_RAW, raw)
        if result:
            check(result, "read a row")
        cells: bytes = ffi.buffer(raw.ptr, raw.len * CELL_BYTES)[:]
        return cells

    def _open(self) -> Any:
        check(_row_get(self._iterator, _CELLS, self._cells), "read a row")
        self._opened = self._cells[0]
        return self._opened

    def style(self, x: int) -> Style:
        cells = self._opened or self._open()
        _select_cell(cells, x)
        _cell_get(cells, _STYLE, self._style)
        key: bytes = self._style_bytes[:]
        style = self._styles.get(key)
        return self._decode_style(key) if style is None else style

    def _decode_style(self, key: bytes) -> Style:
        if len(self._styles) >= _STYLES_KEPT:
            self._styles.clear()
        style = self._styles[key] = _style_of(self._style)
        return style

    def cluster(self, x: int) -> str:
        """The whole grapheme cluster, its first code point included."""
        cells = self._opened or self._open()
        _select_cell(cells, x)
        result = _cell_get(cells, _CLUSTER, self._cluster)
        if result == OUT_OF_SPACE:
            self._grow(self._cluster.len)
            result = _cell_get(cells, _CLUSTER, self._cluster)
        check(result, "read a cluster")
        return text_of(self._cluster)

    def link(self, x: int) -> str | None:
        tag, y = self._place
        self._grid.refer(tag, x, y, self._ref)
        read = lib.ghostty_grid_ref_hyperlink_uri
        result = read(self._ref, self._bytes, len(self._bytes), self._size)
        if result == OUT_OF_SPACE:
            self._grow(self._size[0])
            result = read(self._ref, self._bytes, len(self._bytes), self._size)
        check(result, "read a link")
        raw: bytes = ffi.buffer(self._bytes, self._size[0])[:]
        return raw.decode(errors="replace") or None

    def _grow(self, size: int) -> None:
        self._bytes = new("uint8_t[]", size)
        self._cluster.ptr, self._cluster.cap = self._bytes, size

    def free(self) -> None:
        lib.ghostty_render_state_row_cells_free(self._cells[0])


def _style_of(native: Any) -> Style:
    span = Span(
        "",
        fg=_color(native.fg_color),
        bg=_color(native.bg_color),
        bold=native.bold,
        faint=native.faint,
        italic=native.italic,
        underline=native.underline != 0,
        underline_style=_UNDERLINES.get(native.underline),
        underline_color=_color(native.underline_color),
        strikethrough=native.strikethrough,
        overline=native.overline,
        inverse=native.inverse,
        invisible=native.invisible,
        blink=native.blink,
    )
    values = [getattr(span, name) for name in Span.__struct_fields__[1:]]
    while values and not values[-1]:
        values.pop()
    return tuple(values)


def _color(color: Any) -> Color | None:
    if color.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
        return palette_color(color.value.palette)
    if color.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
        rgb = color.value.rgb
        return Rgb(rgb.r, rgb.g, rgb.b)
    return None


def _ink(color: Any) -> Ink:
    return color.r, color.g, color.b
