"""All viewers of a session's output.

Rule 1: the engine never loses a byte, but viewers may: a slow one loses what waits for it, and gets
a fresh snapshot instead. The session never waits for a viewer.
Rule 2: without viewers, output costs only the check for them.
Rule 3: the frames of all viewers end together, so that one snapshot is made for all that need it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nacre.core.catalog.caller import Caller
from nacre.core.display.bell import BELL, rings_bell
from nacre.core.display.compose import NOTHING, Shown
from nacre.core.display.passage import Passage
from nacre.core.operations.watch import Detached, Ended
from nacre.core.screen.picture import Size
from nacre.late_pattern import late_pattern
from nacre.services.viewers.frame_clock import FrameClock
from nacre.services.viewers.scene_cache import SceneCache
from nacre.services.viewers.viewer import OfCursor, Viewer
from nacre.settings.table import Settings

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal

# A snapshot does not include the saved cursor. If output restores a cursor that the viewer did not
# see saved, it needs another snapshot (DECSC, DECRC, SCOSC, SCORC).
_SAVES_OR_RESTORES = late_pattern(rb"\x1b(?:([7]|\[s)|8|\[u)")

# All viewers of a session share `frame_bytes` per frame. With 128 KiB one viewer gets up to 8 MB/s,
# twenty get 500 kB/s each, which is 6,000 lines. Beyond that a viewer gets a snapshot, which has
# about 5 kB, so there is a minimum share.
_LEAST_SHARE = 1 << 13  # bytes


class Viewers:
    """The viewers of one session; `shown` returns its overlays and panels."""

    def __init__(
        self,
        terminal: "Callable[[], Terminal]",
        settings: Settings,
        shown: Callable[[], Shown] = lambda: NOTHING,
    ) -> None:
        self._terminal = terminal
        self._limit = settings.max_viewer_bytes
        self._frame_bytes = settings.frame_bytes
        self._viewers: list[Viewer] = []
        self._passage: Passage | None = None  # None: nobody gets output as it is now
        self._unsure = False  # it began in the middle of a sequence
        self._within = False  # the last output ended in the middle of a sequence
        self._scenes = SceneCache(terminal, shown)
        self._clock = FrameClock(settings.frame_rate)

    def __bool__(self) -> bool:
        return bool(self._viewers)

    def __len__(self) -> int:
        return len(self._viewers)

    @contextmanager
    def watch(
        self, fit: Size | None = None, *, composed: bool = False, history: int = 0, key: str = ""
    ) -> Iterator[Viewer]:
        """Watch while this context is entered; `key` is the caller's."""
        viewer = self.add(fit, composed=composed, history=history, key=key)
        try:
            yield viewer
        finally:
            self.remove(viewer)

    def add(
        self, fit: Size | None = None, *, composed: bool = False, history: int = 0, key: str = ""
    ) -> Viewer:
        if not self._viewers:
            self._scenes.change()
            self._passage = None
            self._within = self._terminal().in_sequence
        viewer = Viewer(
            self._scenes,
            self._clock,
            self._limit,
            self._begin_output,
            fit,
            composed=composed,
            history=history,
            key=key,
        )
        self._viewers.append(viewer)
        self._clock.slow_down(len(self._viewers))
        return viewer

    def remove(self, viewer: Viewer) -> None:
        if viewer in self._viewers:
            self._viewers.remove(viewer)
            self._clock.slow_down(len(self._viewers))

    # --- what the session does -------------------------------------------------------------

    def publish(self, data: bytes) -> None:
        """Send output to viewers; called after the engine has got it."""
        self._scenes.change()
        listening = [viewer for viewer in self._viewers if viewer.takes_output]
        if len(listening) < len(self._viewers):
            rings = BELL in data and rings_bell(data, within=self._within)
            for viewer in self._viewers:
                viewer.change(rings=rings)
        self._within = self._terminal().in_sequence
        if not listening:
            self._passage = None
            return
        share = max(_LEAST_SHARE, self._frame_bytes // len(listening))
        # The beginning of this sequence is unknown here, but not to the engine: send a snapshot.
        passage = None if self._unsure or len(data) > share else self._passage
        shown = passage and passage.pass_on(data)
        if shown is None:
            for viewer in listening:
                viewer.refresh()
        elif shown:
            found = _SAVES_OR_RESTORES.search(shown)
            cursor: OfCursor = None
            if found is not None:
                cursor = "saved" if found[1] else "restored"
            for viewer in listening:
                viewer.publish(shown, share, cursor)

    def _begin_output(self) -> None:
        """A viewer has its snapshot, and gets output from here on."""
        if self._passage is None:
            self._passage = Passage()
            self._unsure = self._terminal().in_sequence

    def refresh(self) -> None:
        """Send all viewers a fresh snapshot: the screen changed, but not by output (a resize)."""
        self._scenes.change()
        for viewer in self._viewers:
            viewer.refresh()

    def resized_by(self, caller: Caller | None, *, back: bool = False) -> None:
        """Note who is about to change the size, to tell the others; `back`: to what it was.

        None: somebody who is not here any more.
        """
        for viewer in self._viewers:
            mine = caller is not None and bool(viewer.key) and viewer.key == caller.key
            by = None if mine else "somebody who left" if caller is None else _name(caller)
            viewer.resized_by(by, back=back)

    def redraw(self) -> None:
        """Overlays or panels have changed."""
        self._scenes.change()
        for viewer in self._viewers:
            viewer.redraw()

    def detach(self, message: str) -> None:
        """Detach all viewers."""
        self._finish(Detached(message))

    def ended(self, exit_code: int | None, signal: str | None) -> None:
        """Send that the child has ended; each viewer first gets what came before."""
        self._finish(Ended(exit_code, signal))

    def _finish(self, last: Detached | Ended) -> None:
        viewers, self._viewers = self._viewers, []
        for viewer in viewers:
            viewer.finish(last)


def _name(caller: Caller) -> str:
    return caller.label or ("somebody" if caller.person else "an agent")
