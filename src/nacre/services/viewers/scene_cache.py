"""Pictures of a session, made once for all viewers that need the same one at the same moment.

Rule: everything that changes the picture calls `change`; until then the cached pictures are used.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from nacre.core.display.compose import NOTHING, Boxes, Scene, Shown, compose
from nacre.core.display.repaint import history, repaint
from nacre.core.screen.picture import Picture, Size

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal


class SceneCache:
    def __init__(self, terminal: "Callable[[], Terminal]", shown: Callable[[], Shown]) -> None:
        self.terminal = terminal
        self._elements = shown
        self._boxes = Boxes()
        self._picture: Picture | None = None
        self._repainted: bytes | None = None
        self._shown: Shown | None = None
        self._scenes: dict[tuple[bool, Size | None], Scene] = {}

    def change(self) -> None:
        if self._picture is not None or self._shown is not None:
            self._picture = self._repainted = self._shown = None
            self._scenes.clear()

    @property
    def picture(self) -> Picture:
        if self._picture is None:
            self._picture = self.terminal().picture()
        return self._picture

    @property
    def shown(self) -> Shown:
        if self._shown is None:
            self._shown = self._elements()
        return self._shown

    def repainted(self) -> bytes:
        if self._repainted is None:
            self._repainted = repaint(self.picture)
        return self._repainted

    def scene(self, size: Size | None, *, composed: bool) -> Scene:
        """Return the session with or without its elements, in its own size or another one."""
        scene = self._scenes.get((composed, size))
        if scene is None:
            if size is None:
                scene = self._whole(composed=composed)
            else:
                scene = self.scene(None, composed=composed).fit(size)
            self._scenes[composed, size] = scene
        return scene

    def _whole(self, *, composed: bool) -> Scene:
        if composed:
            return compose(self.picture, self.shown, self._boxes)
        return compose(self.picture, NOTHING)

    @property
    def first_line(self) -> int:
        """The number of the screen's first line, counted from the session's first one."""
        terminal = self.terminal()
        return terminal.evicted + terminal.scrollback_total

    def history(self, lines: int, rows: int) -> tuple[bytes, int]:
        """Return bytes that fill another terminal's scrollback, and how many lines they are."""
        terminal = self.terminal()
        total = terminal.scrollback_total
        above = terminal.scrollback_styled(max(0, total - lines), lines) if lines else []
        return history(above, rows), len(above)
