"""A terminal: bytes go in, a screen and a scrollback can be read, replies and key codes come out.

Rule 1: one thread at a time owns a terminal; two crash the engine. `feed` releases the GIL. While
it is lent to a thread that packs it, every call here waits for that.
Rule 2: `feed` has no callbacks. The engine's answers to the program wait in `take_replies`.
Rule 3: the program is not trusted: it gets no clipboard, no title echoed as input, no file read as
an image, and no unlimited memory.
Rule 4: rows and columns count from zero; the scrollback counts from the oldest row kept.
"""

import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Self
from urllib.parse import unquote

from nacre.core.keys.names import KeyPress
from nacre.core.keys.pointing import PointerEvent
from nacre.core.screen.drawing import Drawing, draw
from nacre.core.screen.picture import Picture
from nacre.core.screen.screen import Cursor, Line, Modes
from nacre.core.seeing.cells import ScreenCells, cells_of
from nacre.core.terminal.ghostty import (
    Fields,
    callback,
    check,
    create,
    ffi,
    lib,
    new,
    set_option,
    text_of,
)
from nacre.core.terminal.grid import ACTIVE, SCREEN, Grid
from nacre.core.terminal.keyboard import Keyboard, encode_paste
from nacre.core.terminal.modes import StateCodes
from nacre.core.terminal.packed import UNFINISHED_BYTES, Packing, pack, unpack
from nacre.core.terminal.plain import PlainText, between, numbered
from nacre.core.terminal.pointer import encode_pointer
from nacre.core.terminal.rows import Rendering
from nacre.core.terminal.scrollback import Count, KeptRows

MIN_ROWS = 2  # at one row the engine crashes at a later scroll

_SIZE_MAX = 0xFFFF  # the engine's type

# The answers to OSC 10 and 11, so that programs know that the screen is dark.
_FOREGROUND = (220, 220, 220)
_BACKGROUND = (0, 0, 0)
_CELL_PIXELS = (8, 16)  # width and height; only size reports tell (XTWINOPS 14, 16)

# We show no images and no glyphs of programs. At zero the engine does not even answer the query for
# images (kitty graphics, a=q), so programs fall back to text; otherwise one could fill 48 MB.
_IMAGE_BYTES = 0
_APC_BYTES = 1 << 16  # of a string sequence, which is not used anyway

_write = lib.ghostty_terminal_vt_write


class TerminalClosed(RuntimeError):
    def __init__(self) -> None:
        super().__init__("the terminal is closed; read its screen before closing it")


class Terminal:
    def __init__(self, rows: int = 24, cols: int = 80, *, scrollback: int = 10_000) -> None:
        rows, cols = _size(rows, cols)
        self._begin(create("GhosttyTerminal", lib.ghostty_terminal_new, cols, rows), scrollback)

    @classmethod
    def from_snapshot(
        cls, data: bytes, *, scrollback: int = 10_000, evicted: int | None = None
    ) -> Self:
        """Return a copy of a terminal, as it was when its `snapshot` was taken.

        `evicted` continues from the given value, else from what it was. Raises ValueError for
        damaged bytes.
        """
        was = unpack(data)
        later = 0 if evicted is None else evicted - was.evicted
        count = Count(was.evicted + later, was.dropped + later, was.kept)
        terminal = cls.__new__(cls)
        terminal._begin(was.handle, scrollback, count)
        return terminal

    def _begin(self, handle: Any, scrollback: int, count: Count | None = None) -> None:
        self._handle = handle
        self._lent: Packing | None = None  # then there is no handle
        self._replies: list[bytes] = []
        self._callbacks = _callbacks(self._replies)
        self._configure()
        self._grid = Grid(handle)
        self._plain = PlainText(handle, self._grid)
        self._rendering = Rendering(handle, self._grid, self._plain)
        self._scrollback = KeptRows(handle, self._grid, scrollback, count)
        self._keyboard = Keyboard(handle)
        self._allowance = 0  # bytes that may be fed before the scrollback must check again
        self._string = new("GhosttyString *")
        self._size = _size_fields()
        self._modes = _mode_fields()
        self._forget()
        self._free = weakref.finalize(
            self,
            _free,
            handle,
            (self._keyboard.free, self._scrollback.free, self._rendering.free),
        )

    def _configure(self) -> None:
        handle = self._handle
        option = lib.GHOSTTY_TERMINAL_OPT_KITTY_IMAGE_STORAGE_LIMIT
        set_option(handle, option, new("uint64_t *", _IMAGE_BYTES), "the image limit")
        option = lib.GHOSTTY_TERMINAL_OPT_APC_MAX_BYTES
        set_option(handle, option, new("size_t *", _APC_BYTES), "the APC limit")
        option = lib.GHOSTTY_TERMINAL_OPT_CONTINUATION_MAX_BYTES
        set_option(handle, option, new("size_t *", UNFINISHED_BYTES), "what a snapshot may hold")
        option = lib.GHOSTTY_TERMINAL_OPT_GLYPH_PROTOCOL
        set_option(handle, option, new("bool *", False), "the glyph protocol")
        for option, color in (
            (lib.GHOSTTY_TERMINAL_OPT_COLOR_FOREGROUND, _FOREGROUND),
            (lib.GHOSTTY_TERMINAL_OPT_COLOR_BACKGROUND, _BACKGROUND),
        ):
            set_option(handle, option, new("GhosttyColorRgb *", color), "a colour")
        for option, function in self._callbacks.items():
            set_option(handle, option, function, "a callback")

    def _forget(self) -> None:
        """Ask the engine again: an answer takes some microseconds, and is asked for often."""
        self._known_size: tuple[int, int] | None = None
        self._known_cursor: Cursor | None = None
        self._known_modes: Modes | None = None
        self._known_total: int | None = None
        self._known_evicted: int | None = None

    def _open(self) -> Any:
        if self._handle is None:
            if self._lent is None:
                raise TerminalClosed
            self._handle, self._lent = self._lent.take_back(), None
        return self._handle

    # Input to the engine

    def feed(self, data: bytes) -> None:
        if self._handle is None:
            self._open()
        size = len(data)
        self._forget()
        if size > self._allowance:
            self._feed_in_pieces(data)
        else:
            self._allowance -= size
            _write(self._handle, data, size)

    def _feed_in_pieces(self, data: bytes) -> None:
        """Feed in pieces, so that the scrollback can check in time; mostly it is one piece."""
        scrollback = self._scrollback
        at = 0
        while at < len(data):
            allowance = scrollback.look()
            piece = data[at : at + allowance]
            _write(self._handle, piece, len(piece))
            at += len(piece)
            self._allowance = allowance - len(piece)

    def take_replies(self) -> bytes:
        """Return the answers to the program since the last call (DA, DSR, DECRQM …)."""
        self._open()
        if not self._replies:
            return b""
        replies = b"".join(self._replies)
        self._replies.clear()
        return replies

    def resize(self, rows: int, cols: int) -> None:
        handle = self._open()
        self._forget()
        rows, cols = _size(rows, cols)
        with self._scrollback.resizing(cols):
            check(lib.ghostty_terminal_resize(handle, cols, rows, *_CELL_PIXELS), "resize")
        self._allowance = 0

    def compress_some(self) -> bool:
        """Compress a part of an idle scrollback; a read expands it again. Takes under 1 ms.

        Return whether there is more to compress.
        """
        result = new("GhosttyTerminalCompressionResult *")
        mode = lib.GHOSTTY_TERMINAL_COMPRESSION_MODE_INCREMENTAL
        check(lib.ghostty_terminal_compress(self._open(), mode, result), "compress")
        return bool(result[0] == lib.GHOSTTY_TERMINAL_COMPRESSION_RESULT_PENDING)

    def snapshot(self) -> bytes:
        """Return the whole state for `from_snapshot`; takes 10 ms with a full scrollback.

        Replies that were not taken are not included. Raises WithinSequence if the input ends within
        a sequence of more than a megabyte.
        """
        count = self._scrollback_count()
        return pack(self._handle, count.evicted, count.dropped)

    def _scrollback_count(self) -> Count:
        self._open()
        return self._scrollback.count()

    def lend(self, lock: AbstractContextManager[Any]) -> Packing:
        """Let another thread take the snapshot, which can be 40 ms of work; see Packing.

        Any call before that is done waits for it, by the `lock`.
        """
        count = self._scrollback_count()
        lent = Packing(self, lock, self._open(), count.evicted, count.dropped)
        # What is remembered is forgotten, so that every call asks for the engine first.
        self._forget()
        self._handle, self._lent = None, lent
        return lent

    def close(self) -> None:
        """Free the native memory; any other call afterwards raises TerminalClosed."""
        if self._lent is not None:
            self._open()
        self._handle = None
        self._forget()
        self._free()

    # The screen

    @property
    def rows(self) -> int:
        return self._dimensions()[0]

    @property
    def cols(self) -> int:
        return self._dimensions()[1]

    @property
    def cells(self) -> int:
        rows, cols = self._dimensions()
        return rows * cols

    def _dimensions(self) -> tuple[int, int]:
        """Ask the engine after each output: that can change the width (DECCOLM)."""
        if self._known_size is None:
            self._size.fetch(self._open())
            rows, cols = self._size.cells
            self._known_size = (rows[0], cols[0])
        return self._known_size

    def plain_lines(self) -> list[str]:
        rows, cols = self._dimensions()
        return self._plain.lines(ACTIVE, 0, rows, cols)

    def plain_rows(self, first: int, count: int) -> list[str]:
        """Return some rows of the screen."""
        return self._plain.lines(ACTIVE, first, count, self.cols) if count > 0 else []

    def unwrapped_rows(self, first: int, count: int) -> list[str]:
        """Return rows of the screen as lines; wrapped rows are joined."""
        return self._plain.unwrapped(ACTIVE, first, count, self.cols) if count > 0 else []

    def styled_lines(self) -> list[Line]:
        return self._rendering.lines(*self._dimensions())

    def cursor(self) -> Cursor:
        if self._known_cursor is None:
            self._open()
            self._known_cursor = self._rendering.cursor()
        return self._known_cursor

    def modes(self) -> Modes:
        if self._known_modes is None:
            self._known_modes = self._read_modes()
        return self._known_modes

    def _read_modes(self) -> Modes:
        self._modes.fetch(self._open())
        screen, cursor_keys, keypad, paste, mouse, focus, kitty = self._modes.cells
        return Modes(
            alternate_screen=screen[0] == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE,
            application_cursor_keys=cursor_keys.value,
            application_keypad=keypad.value,
            bracketed_paste=paste.value,
            mouse_tracking=mouse[0],
            focus_events=focus.value,
            kitty_keyboard=kitty[0],
        )

    @property
    def alternate(self) -> bool:
        return self.modes().alternate_screen

    def picture(self) -> Picture:
        """Return what repaint() needs to draw this terminal on another one."""
        self._open()
        rows, cols = self._dimensions()
        return Picture(
            rows=rows,
            cols=cols,
            lines=self.styled_lines(),
            cursor=self.cursor(),
            title=self.title,
            alternate=self.alternate,
            codes=StateCodes(self._handle, self._grid).read(),
        )

    def drawing(self) -> Drawing:
        """Return what a painter needs to make an image of the screen."""
        rows, cols = self._dimensions()
        rendering = self._rendering
        return draw(rendering.cells(rows), rendering.colors(), self.cursor(), rows, cols)

    def screen_cells(self) -> ScreenCells:
        """Return every cell of the screen with its look."""
        rows, cols = self._dimensions()
        return cells_of(self._rendering.cells(rows), rows, cols, self.cursor())

    @property
    def in_sequence(self) -> bool:
        """Whether the input so far ends within a sequence or a character."""
        ground = new("bool *")
        key = lib.GHOSTTY_TERMINAL_DATA_VT_GROUND
        check(lib.ghostty_terminal_get(self._open(), key, ground), "answer")
        return not ground[0]

    @property
    def title(self) -> str:
        return self._text(lib.GHOSTTY_TERMINAL_DATA_TITLE)

    @property
    def cwd(self) -> str | None:
        """The folder that the program last reported (OSC 7), on whatever host."""
        return _path_of(self._text(lib.GHOSTTY_TERMINAL_DATA_PWD))

    def _text(self, key: int) -> str:
        check(lib.ghostty_terminal_get(self._open(), key, self._string), "answer")
        return text_of(self._string)

    # The scrollback

    @property
    def scrollback_total(self) -> int:
        """Rows above the screen; none while the alternate screen is shown."""
        if self._known_total is None:
            self._open()
            self._known_total = self._scrollback.total
        return self._known_total

    @property
    def evicted(self) -> int:
        """The number of rows that were dropped from the scrollback so far.

        evicted + scrollback_total + row is the number of a line while it exists. Erased rows count
        as dropped, and a reflow renumbers (scrollback.py has the rules).
        """
        if self._known_evicted is None:
            self._open()
            self._known_evicted = self._scrollback.evicted
        return self._known_evicted

    def scrollback_plain(self, offset: int, limit: int) -> list[str]:
        cols = self.cols
        first, count = self._scrollback.span(offset, limit)
        return self._plain.lines(SCREEN, first, count, cols) if count else []

    def scrollback_styled(self, offset: int, limit: int) -> list[Line]:
        rows = self.rows
        first, count = self._scrollback.span(offset, limit)
        return self._rendering.history(first, count, rows) if count else []

    def unwrapped_lines(self) -> list[str]:
        """Return scrollback and screen as lines; wrapped rows are joined."""
        rows, cols = self._dimensions()
        first, count = self._scrollback.span(0, self._scrollback.total)
        return self._plain.unwrapped(SCREEN, first, count + rows, cols)

    def separators(self, first: int, lines: list[str]) -> list[str]:
        """Return what stands between rows of scrollback and screen, from this row on.

        It is a line's end, or what blanks a row ends with that goes on in the next.
        """
        start, _ = self._scrollback.span(0, self._scrollback.total)
        whole = self._plain.unwrapped(SCREEN, start + first, len(lines), self.cols)
        return between(lines, whole, self.cols)

    def unwrapped_from(self, row: int) -> list[str]:
        """Return scrollback and screen as lines, but for the first rows."""
        rows, cols = self._dimensions()
        first, count = self._scrollback.span(0, self._scrollback.total)
        left = count + rows - row
        return self._plain.unwrapped(SCREEN, first + row, left, cols) if left > 0 else []

    def numbered_lines(self, row: int) -> list[tuple[int, str]]:
        """Return scrollback and screen as lines, from this row on, each with its first row."""
        rows, cols = self._dimensions()
        first, count = self._scrollback.span(0, self._scrollback.total)
        left = count + rows - row
        if left <= 0:
            return []
        plain = self._plain.lines(SCREEN, first + row, left, cols)
        whole = self._plain.unwrapped(SCREEN, first + row, left, cols)
        return [(row + at, line) for at, line in numbered(plain, whole)]

    def unwrapped_scrollback(self) -> list[str]:
        """Return the scrollback as lines; wrapped rows are joined."""
        cols = self.cols
        first, count = self._scrollback.span(0, self._scrollback.total)
        return self._plain.unwrapped(SCREEN, first, count, cols) if count else []

    # Keys and pastes

    def encode_key(self, press: KeyPress) -> bytes:
        self._open()
        return self._keyboard.encode(press)

    def encode_pointer(self, events: Iterable[PointerEvent]) -> bytes:
        """Return mouse reports; nothing for what the program does not want to know."""
        handle = self._open()
        return encode_pointer(handle, *self._dimensions(), events)

    def encode_paste(self, text: str) -> bytes:
        return encode_paste(text, bracketed=self.modes().bracketed_paste)


def _callbacks(replies: list[bytes]) -> dict[int, Any]:
    """The engine's callbacks. They hold no reference to a Terminal, so an unused one is freed."""

    def reply(_terminal: Any, _user: Any, data: Any, size: int) -> None:
        replies.append(ffi.buffer(data, size)[:])

    fields = _size_fields()

    def size(terminal: Any, _user: Any, out: Any) -> bool:
        fields.fetch(terminal)
        rows, cols = fields.cells
        out.rows, out.columns = rows[0], cols[0]
        out.cell_width, out.cell_height = _CELL_PIXELS
        return True

    return {
        lib.GHOSTTY_TERMINAL_OPT_WRITE_PTY: callback("GhosttyTerminalWritePtyFn", reply),
        lib.GHOSTTY_TERMINAL_OPT_SIZE: callback("GhosttyTerminalSizeFn", size),
    }


def _size(rows: int, cols: int) -> tuple[int, int]:
    if not (1 <= cols <= _SIZE_MAX and rows <= _SIZE_MAX):
        raise ValueError(f"no terminal has {rows} rows and {cols} columns")
    return max(MIN_ROWS, rows), cols


def _size_fields() -> Fields:
    return Fields(
        rows=(lib.GHOSTTY_TERMINAL_DATA_ROWS, "uint16_t"),
        cols=(lib.GHOSTTY_TERMINAL_DATA_COLS, "uint16_t"),
    )


def _mode_fields() -> Fields:
    mode = (lib.GHOSTTY_TERMINAL_DATA_MODE, "GhosttyTerminalModeConfig")
    fields = Fields(
        screen=(lib.GHOSTTY_TERMINAL_DATA_ACTIVE_SCREEN, "GhosttyTerminalScreen"),
        cursor_keys=mode,
        keypad=mode,
        paste=mode,
        mouse=(lib.GHOSTTY_TERMINAL_DATA_MOUSE_TRACKING, "bool"),
        focus=mode,
        kitty=(lib.GHOSTTY_TERMINAL_DATA_KITTY_KEYBOARD_FLAGS, "uint8_t"),
    )
    for index, number in ((1, 1), (2, 66), (3, 2004), (5, 1004)):
        fields.cells[index].mode = number
    return fields


def _path_of(reported: str) -> str | None:
    """OSC 7 carries a file URL; kitty's scheme is not percent-encoded; some shells send a path."""
    scheme, mark, rest = reported.partition("://")
    if not mark:
        return reported if reported.startswith("/") else None
    _host, slash, path = rest.partition("/")
    if not slash or scheme not in ("file", "kitty-shell-cwd"):
        return None
    return slash + (unquote(path, errors="replace") if scheme == "file" else path)


def _free(handle: Any, parts: tuple[Callable[[], None], ...]) -> None:
    for free in parts:
        free()
    lib.ghostty_terminal_free(handle)
