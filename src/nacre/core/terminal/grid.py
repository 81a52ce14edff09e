"""Places in a terminal's grid: cells to point at, cells to follow, the viewport.

Rule: a pointer is valid until the terminal changes; a tracked place moves with its row.
"""

from typing import Any

from nacre.core.terminal.ghostty import check, lib, new, union_function

# Coordinate systems: the screen that programs write to, and all rows from the oldest on.
ACTIVE = lib.GHOSTTY_POINT_TAG_ACTIVE
SCREEN = lib.GHOSTTY_POINT_TAG_SCREEN

_grid_ref = union_function("ghostty_terminal_grid_ref")
_track = union_function("ghostty_terminal_grid_ref_track")
_retrack = union_function("ghostty_tracked_grid_ref_set")
_scroll = union_function("ghostty_terminal_scroll_viewport")


class Grid:
    """Points of one terminal's grid. The structs are reused: making one costs more than a call."""

    __slots__ = ("_coordinate", "_handle", "_point", "_viewport")

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._point = new("NacrePoint *")
        self._coordinate = new("GhosttyPointCoordinate *")
        self._viewport = new("NacreScrollViewport *")

    def _at(self, tag: int, x: int, y: int) -> Any:
        point = self._point
        point.tag = tag
        point.value.x = x
        point.value.y = y
        return point[0]

    def refer(self, tag: int, x: int, y: int, ref: Any) -> None:
        """Point `ref` at a cell; it is valid until the terminal changes."""
        result = _grid_ref(self._handle, self._at(tag, x, y), ref)
        if result:
            check(result, f"find cell {x},{y}")

    def track(self, x: int, y: int) -> Any:
        """Follow a cell of the active area wherever its row goes."""
        slot = new("GhosttyTrackedGridRef *")
        check(_track(self._handle, self._at(ACTIVE, x, y), slot), "track a cell")
        return slot[0]

    def retrack(self, ref: Any, x: int, y: int) -> None:
        check(_retrack(ref, self._handle, self._at(ACTIVE, x, y)), "track a cell")

    def tracked(self, ref: Any) -> tuple[int, int] | None:
        """Return where a tracked cell is now, its row counted from the oldest; None if it was
        dropped.

        An erased cell (CSI 3 J) is reported at 0, 0.
        """
        coordinate = self._coordinate
        if lib.ghostty_tracked_grid_ref_point(ref, SCREEN, coordinate):
            return None
        return coordinate.x, coordinate.y

    def scroll_to(self, row: int | None) -> None:
        """Move the viewport to a row counted from the oldest, or back to the bottom with None."""
        view = self._viewport
        if row is None:
            view.tag = lib.GHOSTTY_SCROLL_VIEWPORT_BOTTOM
        else:
            view.tag = lib.GHOSTTY_SCROLL_VIEWPORT_ROW
            view.row = row
        _scroll(self._handle, view[0])
