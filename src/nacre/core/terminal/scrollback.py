"""How many rows are kept above the screen, and numbers of lines that never change.

Keeping rows:
Rule 1: the engine drops whole pages of hundreds of rows. So it keeps a few pages more than
requested, and the extra rows are not shown.
Rule 2: when its byte limit is reached, the engine recycles a page; when its line limit is reached,
it frees one and makes a new one, and output is five times slower. Rows cannot be converted to bytes
in advance, so the line limit is set first, and when it is reached the byte limit is set just below
what is in use.

Numbering lines:
Rule 3: we track a row, at first the bottom one of the screen. It moves towards the oldest row by
the number of dropped rows. It must not be dropped itself: the allowance is how many bytes may be
fed before the next check, because plain output makes at most one row per byte. Codes that make more
(CSI b, CSI S) can outrun it; then every row counts as dropped, and no number is used twice.
Rule 4: erasing (CSI 3 J, RIS) counts as dropping: remaining rows keep their numbers, new rows get
new ones.
Rule 5: a resize keeps the number of the cursor's row. A reflow renumbers the rows above it; at a
narrower width there may not be enough numbers before it, and then it gets a higher one.
Rule 6: on the alternate screen the count does not change, and no row is kept above the screen.
Rule 7: a terminal that begins on the alternate screen (a snapshot) cannot track a row of the
primary one. Until that is shown, nothing is dropped, and the oldest row keeps its number.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from nacre.core.terminal.ghostty import NULL, Fields, lib, new, set_option
from nacre.core.terminal.grid import Grid

_ALTERNATE = lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE
_MAX_BYTES = lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_BYTES
_MAX_LINES = lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_LINES

# An engine page at 80 columns holds 578 rows, at one column 23,454: about 375 kB of eight bytes a
# cell and eight a row (measured at 19 widths). Very wide rows have larger pages, under 200 rows.
_PAGE_BYTES = 400_000
_PAGE_ROWS_MIN = 256
_CELL_BYTES = 8

# One page because whole pages are dropped, one to find the byte limit, one that is half full.
_SPARE_PAGES = 3

# A row with styles, clusters and links takes more than its cells. Above this the byte limit is too
# low and rows are missing, so it is determined again.
_DENSEST = 8
_STEP = _PAGE_BYTES // 2

# Least rows to keep: with fewer, the allowance would split every feed into tiny pieces.
_ROWS_MIN = 2_000


class Count(NamedTuple):
    """The state of the numbering, to continue from."""

    evicted: int
    dropped: int
    kept: int = 0  # rows above the primary screen


class KeptRows:
    def __init__(self, handle: Any, grid: Grid, limit: int, begin: Count | None = None) -> None:
        self._handle = handle
        self._grid = grid
        self._limit = limit
        self._fields = Fields(
            screen=(lib.GHOSTTY_TERMINAL_DATA_ACTIVE_SCREEN, "GhosttyTerminalScreen"),
            kept=(lib.GHOSTTY_TERMINAL_DATA_SCROLLBACK_ROWS, "size_t"),
            rows=(lib.GHOSTTY_TERMINAL_DATA_ROWS, "uint16_t"),
            cols=(lib.GHOSTTY_TERMINAL_DATA_COLS, "uint16_t"),
            cursor=(lib.GHOSTTY_TERMINAL_DATA_CURSOR_Y, "uint16_t"),
        )
        self._screen, self._kept, self._rows, self._cols, self._cursor = self._fields.cells
        self._fields.fetch(handle)
        self._page = self._full = self._bytes = 0
        self._keep(self._cols[0])
        self._tracked = grid.track(0, 0)
        self._x = 0
        self._y: int | None = None
        self._tracked_cols = 0
        self._low = _ROWS_MIN // 2  # with a lower allowance, a later row is tracked instead
        self._evicted, self._dropped, kept = begin or Count(0, 0)
        self._hidden: int | None = None  # rows of the primary screen, if it was not shown yet
        if self._screen[0] == _ALTERNATE:
            self._hide(kept)
        elif begin is not None:
            self._fields.fetch(handle)
            self._dropped += kept - self._kept[0]  # a lower limit may have dropped some
        self._settle()

    # Keeping rows

    def _keep(self, cols: int) -> None:
        """Set the line limit for a width, and forget the byte limit."""
        page = max(_PAGE_ROWS_MIN, _PAGE_BYTES // (_CELL_BYTES * (cols + 1)))
        most = max(self._limit, _ROWS_MIN) + _SPARE_PAGES * page
        self._page = page
        self._full = most - page
        self._bytes = _DENSEST * (most + page) * _CELL_BYTES * (cols + 1)
        set_option(self._handle, _MAX_BYTES, NULL, "the byte limit")
        set_option(self._handle, _MAX_LINES, new("size_t *", most), "the line limit")

    def _hide(self, kept: int) -> None:
        """Drop nothing until the primary screen is shown."""
        self._hidden = kept
        set_option(self._handle, _MAX_BYTES, NULL, "the byte limit")
        set_option(self._handle, _MAX_LINES, NULL, "the line limit")

    def _unhide(self, hidden: int) -> None:
        if (
            self._kept[0] < hidden
        ):  # erased meanwhile (rule 4); the number of rows before is unknown
            self._dropped += hidden + self._rows[0]
        self._hidden = None
        self._track(min(1, self._cols[0] - 1), self._rows[0] - 1)
        self._keep(self._cols[0])
        self._fields.fetch(self._handle)

    def _find_byte_limit(self) -> None:
        """Lower the byte limit until the engine drops a page for it."""
        limit = new("size_t *")
        kept = self._kept[0]
        while self._kept[0] == kept and self._bytes > _STEP:
            self._bytes -= _STEP
            limit[0] = self._bytes
            set_option(self._handle, _MAX_BYTES, limit, "the byte limit")
            self._fields.fetch(self._handle)
        self._dropped += kept - self._kept[0]

    # Numbering lines

    def look(self) -> int:
        """Make sure that the tracked row will not be dropped soon; return the allowance."""
        place = self._grid.tracked(self._tracked)
        if place is None or place[1] - self._page < self._low:
            return self._settle()
        return place[1] - self._page

    def _settle(self) -> int:
        """Count dropped rows, track the bottom row again, and return the allowance."""
        self._fields.fetch(self._handle)
        if self._screen[0] == _ALTERNATE:
            return self._full
        if self._hidden is not None:
            self._unhide(self._hidden)
        cols = self._cols[0]
        if self._y is not None and cols == self._tracked_cols:
            dropped = self._dropped_since()
            self._dropped += dropped
            if dropped and self._kept[0] < self._limit:
                self._keep(cols)
        if self._kept[0] >= self._full:
            self._find_byte_limit()
        # Not column 0: erased cells are reported there.
        self._track(min(1, cols - 1), self._rows[0] - 1)
        self._evicted = self._dropped + max(0, self._kept[0] - self._limit)
        kept: int = self._kept[0]
        self._low = max(_ROWS_MIN // 2, 3 * kept // 4 - self._page)
        # Nothing is dropped before the limit, and then a page more than was added.
        return max(self._full - kept, kept - self._page)

    def _dropped_since(self) -> int:
        """Return how many rows were dropped since the tracked row's place was noted."""
        assert self._y is not None
        place = self._grid.tracked(self._tracked)
        if place is None or place[0] != self._x:
            return self._y + 1
        return max(0, self._y - place[1])

    def count(self) -> Count:
        """Return the state of the numbering, also while the alternate screen is shown."""
        self._settle()
        if self._screen[0] != _ALTERNATE or self._hidden is not None or self._y is None:
            return Count(self._evicted, self._dropped)
        return Count(self._evicted, self._dropped + self._dropped_since())

    def _track(self, x: int, row: int) -> None:
        self._grid.retrack(self._tracked, x, row)
        self._x, self._y = x, self._kept[0] + row
        self._tracked_cols = self._cols[0]

    @contextmanager
    def resizing(self, cols: int) -> Iterator[None]:
        """Resize inside this context: it keeps rows that will fit, and the cursor's line number."""
        self._settle()
        if self._hidden is not None:
            self._hide(0)
            yield
            return
        self._keep(min(cols, self._cols[0]))
        if self._screen[0] != _ALTERNATE:
            # The bottom row may be blank and disappear, and a reflow keeps blanks up to a tracked
            # cell.
            self._track(0, self._cursor[0])
        yield
        self._keep(cols)
        place = self._grid.tracked(self._tracked)
        if place is not None and self._y is not None:
            self._dropped = max(0, self._dropped + self._y - place[1])
        self._x, self._y = place or (0, None)
        self._tracked_cols = cols
        self._settle()

    @property
    def evicted(self) -> int:
        self._settle()
        return self._evicted

    @property
    def total(self) -> int:
        self._fields.fetch(self._handle)
        kept: int = self._kept[0]
        return min(kept, self._limit)

    def span(self, offset: int, limit: int) -> tuple[int, int]:
        """The engine's row at an offset from the oldest one shown, and how many rows there are."""
        total = self.total
        if offset < 0:
            return 0, 0
        return self._kept[0] - total + offset, max(0, min(limit, total - offset))

    def free(self) -> None:
        lib.ghostty_tracked_grid_ref_free(self._tracked)
