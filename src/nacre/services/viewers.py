"""Who watches a session's output.

Rule 1: the engine never loses a byte, viewers may: one that takes too long loses what waits for it,
and gets a fresh snapshot instead. The session never waits for a viewer.
Rule 2: with nobody watching, output costs one look at whether somebody does.
Rule 3: a viewer whose screen has another size than the session gets snapshots that fit, for output
is meant for the session's size.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nacre.core.passage import Passage
from nacre.core.repaint import Size, repaint
from nacre.core.watch import Detached, Ended, Event, Output, Resized, Snapshot

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

# A snapshot does not carry the saved cursor: what restores one that the viewer never saw saved
# needs another snapshot (DECSC, DECRC, SCOSC, SCORC).
_SAVES_OR_RESTORES = re.compile(rb"\x1b(?:([7]|\[s)|8|\[u)")

_FRAME = 1 / 30  # seconds between snapshots that fit: as much as an eye follows


class Viewers:
    """The viewers of one session."""

    def __init__(self, terminal: "Callable[[], Terminal]", limit: int) -> None:
        self._terminal = terminal
        self._limit = limit
        self._viewers: list[Viewer] = []
        self._passage = Passage()
        self._unsure = False  # the first viewer came in the middle of a sequence

    def __bool__(self) -> bool:
        return bool(self._viewers)

    def __len__(self) -> int:
        return len(self._viewers)

    @contextmanager
    def watch(self, fit: Size | None = None) -> "Iterator[Viewer]":
        """Watch for as long as this is entered."""
        viewer = self.add(fit)
        try:
            yield viewer
        finally:
            self.remove(viewer)

    def add(self, fit: Size | None = None) -> "Viewer":
        if not self._viewers:
            self._passage = Passage()
            self._unsure = self._terminal().in_sequence
        viewer = Viewer(self._terminal, self._limit, fit)
        self._viewers.append(viewer)
        return viewer

    def remove(self, viewer: "Viewer") -> None:
        if viewer in self._viewers:
            self._viewers.remove(viewer)

    def publish(self, data: bytes) -> None:
        """Tell what the engine was fed; called after it was fed."""
        if self._unsure:
            # What the sequence began with is not known: the engine has it, a snapshot shows it.
            self._unsure = self._terminal().in_sequence
            self.refresh()
            return
        shown = self._passage.pass_on(data)
        if shown is None:
            self.refresh()
        elif shown:
            for viewer in self._viewers:
                viewer.publish(shown)

    def refresh(self) -> None:
        """Give all a fresh snapshot: the screen changed otherwise than by output (a resize)."""
        for viewer in self._viewers:
            viewer.refresh()

    def detach(self, message: str) -> None:
        """Send all viewers away."""
        self._finish(Detached(message))

    def ended(self, exit_code: int | None, signal: str | None) -> None:
        """Tell that the child has ended; each viewer still gets what came before."""
        self._finish(Ended(exit_code, signal))

    def _finish(self, last: Detached | Ended) -> None:
        viewers, self._viewers = self._viewers, []
        for viewer in viewers:
            viewer.finish(last)


class Viewer:
    """One who watches: an iterator of events."""

    def __init__(
        self, terminal: "Callable[[], Terminal]", limit: int, fit: Size | None = None
    ) -> None:
        self._terminal = terminal
        self._limit = limit
        self._fit = fit
        self._size: Size | None = None  # of the session, as the viewer was last told
        self._pieces: list[bytes] = []
        self._waiting = 0  # bytes
        self._stale = True  # a snapshot is due; output is not kept until it is taken
        self._saved = False  # the viewer's terminal has the cursor that the session's has saved
        self._last: list[Event] = []
        self._finished = False
        self._ready = asyncio.Event()
        self._ready.set()
        self._next_frame = 0.0

    # --- what the session does -------------------------------------------------------------

    def publish(self, data: bytes) -> None:
        if self._stale:
            return
        self._pieces.append(data)
        self._waiting += len(data)
        if self._waiting > self._limit or not self._fits() or self._restores(data):
            self.refresh()
        self._ready.set()

    def _restores(self, data: bytes) -> bool:
        """Tell whether a cursor is restored whose saving the viewer did not see."""
        if self._saved or not (found := _SAVES_OR_RESTORES.search(data)):
            return False
        self._saved = found[1] is not None
        return not self._saved

    def refresh(self) -> None:
        self._drop()
        self._stale = True
        self._ready.set()

    def finish(self, last: Detached | Ended) -> None:
        # Taken now: the terminal may be closed by the time the viewer reads this.
        self._last = [*self.take(), last] if isinstance(last, Ended) else [last]
        self._drop()
        self._finished = True
        self._ready.set()

    # --- what the viewer does --------------------------------------------------------------

    def fit(self, rows: int, cols: int) -> None:
        self._fit = (rows, cols)
        self.refresh()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            await self._ready.wait()
            if not self._fits() and not self._finished:
                await self._await_frame()
            self._ready.clear()
            for event in self._last if self._finished else self.take():
                yield event
            if self._finished and not self._ready.is_set():
                return

    async def _await_frame(self) -> None:
        loop = asyncio.get_running_loop()
        pause = self._next_frame - loop.time()
        if pause > 0:
            await asyncio.sleep(pause)
        self._next_frame = loop.time() + _FRAME

    def take(self) -> list[Event]:
        """Return what waits now; empty when nothing does."""
        if not self._stale:
            data = b"".join(self._pieces)
            self._drop()
            return [Output(data)] if data else []
        self._stale = self._saved = False
        picture = self._terminal().picture()
        size = (picture.rows, picture.cols)
        told: list[Event] = [] if size == self._size else [Resized(*size)]
        self._size = size
        return [*told, Snapshot(repaint(picture, self._fit), picture.alternate)]

    def _fits(self) -> bool:
        return self._fit is None or self._size is None or self._fit == self._size

    def _drop(self) -> None:
        self._pieces.clear()
        self._waiting = 0
