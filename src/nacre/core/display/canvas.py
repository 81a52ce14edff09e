"""A viewer's terminal as it was last drawn, and the bytes that draw the next scene on it.

Rule 1: it draws on the current screen and never switches to the person's own.
Rule 2: drawing the same scene again gives no bytes.
"""

from nacre.core.display.compose import Row, Scene, blank_row, paint_row
from nacre.core.display.repaint import DEFAULTS, paint_title
from nacre.core.screen.controls import BEGIN, CLEAR, CLUSTERS, END, HIDE_CURSOR, SHOW_CURSOR
from nacre.core.screen.screen import Cursor

_NO_WRAP = b"\x1b[?7l"  # if a width differs, only a column is wrong, not the rows below


class Canvas:
    def __init__(self) -> None:
        self._scene: Scene | None = None  # None: what the terminal shows is unknown
        self._status: Row | None = None
        self._cursor: Cursor | None = None  # None: it was moved or hidden

    def forget(self) -> None:
        """Draw everything next time, because something else was drawn on the terminal."""
        self._scene = None

    def draw(self, scene: Scene, status: Row | None = None) -> bytes:
        """Return the bytes that show a scene and below it a status line."""
        before = self._scene
        if before is None or not _same_cells(before, scene) or not self._same_rows(status):
            # Widths may differ now, too.
            parts = [DEFAULTS, _NO_WRAP, scene.state, CLEAR]
            parts += [paint_title(scene.title)] if scene.title else []
            parts += [
                scene.paint(y) for y, row in enumerate(scene.rows) if row != blank_row(scene.cols)
            ]
            self._status = self._cursor = None
        else:
            parts = self._changes(before, scene)
        if status is not None and status != self._status:
            parts.append(paint_row(len(scene.rows), status, scene.cols))
        if parts or scene.cursor != self._cursor:
            parts.append(b"\x1b[%d;%dH" % (scene.cursor.row + 1, scene.cursor.col + 1))
            if self._cursor is None or self._cursor.visible != scene.cursor.visible:
                parts.append(SHOW_CURSOR if scene.cursor.visible else HIDE_CURSOR)
        self._scene, self._status, self._cursor = scene, status, scene.cursor
        return b"".join([BEGIN, *parts, END]) if parts else b""

    def _same_rows(self, status: Row | None) -> bool:
        return (status is None) == (self._status is None)

    def _changes(self, before: Scene, scene: Scene) -> list[bytes]:
        parts: list[bytes] = []
        if scene.state != before.state:
            parts += [DEFAULTS, _NO_WRAP, scene.state]
            self._cursor = None
        if scene.title != before.title:
            parts.append(paint_title(scene.title))
        rows, number = scene.since(before)
        if number > 1:
            # Else it would be seen moving in terminals that do not hold drawing back.
            parts.append(HIDE_CURSOR)
            self._cursor = None
        return [*parts, rows] if rows else parts


def _same_cells(one: Scene, other: Scene) -> bool:
    sizes = (len(one.rows), one.cols) == (len(other.rows), other.cols)
    return sizes and (CLUSTERS in one.state) == (CLUSTERS in other.state)
