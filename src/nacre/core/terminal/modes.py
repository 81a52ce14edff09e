"""The codes that bring another terminal into a terminal's state: modes, tabs, margins, pen.

The engine's own formatter writes them, but not without text. So they are computed as one cell
formatted with the codes minus the same cell without them; modes and tabs come before the text, the
rest after it.
"""

from typing import Any

from nacre.core.screen.picture import Codes
from nacre.core.terminal.ghostty import NULL, OUT_OF_SPACE, check, ffi, lib, new, sized
from nacre.core.terminal.grid import ACTIVE, Grid

_BUFFER = 1 << 14  # bytes; the tab stops of 2,000 columns take a tenth of it


class StateCodes:
    def __init__(self, handle: Any, grid: Grid) -> None:
        self._handle = handle
        self._grid = grid

    def read(self) -> Codes:
        cell = self._format(_options())
        return Codes(
            modes=self._format(_options(modes=True)).removesuffix(cell),
            tabs=self._format(_options(tabs=True)).removesuffix(cell),
            margins=self._format(_options(margins=True)).removeprefix(cell),
            cursor=self._format(_options(cursor=True)).removeprefix(cell),
            pen=self._format(_options(pen=True)).removeprefix(cell),
        )

    def _format(self, options: Any) -> bytes:
        corner = sized("GhosttyGridRef")
        self._grid.refer(ACTIVE, 0, 0, corner)
        selection = sized("GhosttySelection")
        selection.start = selection.end = corner[0]
        options.selection = selection
        formatter = new("GhosttyFormatter *")
        start = lib.ghostty_formatter_terminal_new
        check(start(NULL, formatter, self._handle, options[0]), "format")
        try:
            return _written(formatter[0])
        finally:
            lib.ghostty_formatter_free(formatter[0])


def _options(
    *,
    modes: bool = False,
    tabs: bool = False,
    margins: bool = False,
    cursor: bool = False,
    pen: bool = False,
) -> Any:
    options = sized("GhosttyFormatterTerminalOptions")
    options.emit = lib.GHOSTTY_FORMATTER_FORMAT_VT
    extra = options.extra
    extra.modes, extra.tabstops, extra.scrolling_region = modes, tabs, margins
    extra.screen.cursor = cursor
    extra.keyboard = pen
    own = extra.screen
    own.style = own.hyperlink = own.protection = own.kitty_keyboard = own.charsets = pen
    return options


def _written(formatter: Any) -> bytes:
    buffer, size = new("uint8_t[]", _BUFFER), new("size_t *")
    write = lib.ghostty_formatter_format_buf
    result = write(formatter, buffer, len(buffer), size)
    if result == OUT_OF_SPACE:
        buffer = new("uint8_t[]", size[0])
        result = write(formatter, buffer, len(buffer), size)
    check(result, "format")
    raw: bytes = ffi.buffer(buffer, size[0])[:]
    return raw
