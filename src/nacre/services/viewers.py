"""Who watches a session's output.

Rule 1: the engine never loses a byte, viewers may: one that takes too long loses what waits for it,
and gets a fresh snapshot instead. The session never waits for a viewer.
Rule 2: with nobody watching, output costs one look at whether somebody does.
Rule 3: output goes to a viewer as it is where its screen shows the session's and nothing else. A
screen of another size, or with overlays, panels or a status line, gets frames: the rows that differ
from what it shows.
Rule 4: the first output after a pause goes at once, a key's echo must not wait; then a viewer is
told something at most once a frame. More in one than an eye can follow becomes a snapshot. All
viewers' frames end together, so that a snapshot is made once for all who need it.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from nacre.config import Settings
from nacre.core.bell import BELL, rings_bell
from nacre.core.canvas import Canvas
from nacre.core.compose import NOTHING, Row, Scene, Shown, status_row
from nacre.core.mouse import Mouse
from nacre.core.passage import Passage
from nacre.core.repaint import BEGIN, Size
from nacre.core.visual import VisualSpan
from nacre.core.watch import Detached, Ended, Event, Output, Resized, Snapshot
from nacre.services.beat import Beat
from nacre.services.shots import Shots

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

# A snapshot does not carry the saved cursor: what restores one that the viewer never saw saved
# needs another snapshot (DECSC, DECRC, SCOSC, SCORC).
_SAVES_OR_RESTORES = re.compile(rb"\x1b(?:([7]|\[s)|8|\[u)")
_OfCursor = Literal["saved", "restored"] | None

# All viewers of a session share `frame_bytes` a frame: of 128 KiB one may have 8 MB/s, twenty
# 500 kB/s each, which is 6,000 lines. Who is due more gets a snapshot, which has some 5 kB, and so
# there is a least share.
_LEAST_SHARE = 1 << 13  # bytes

# Seconds for which a program's half drawn picture is not shown (mode 2026); terminals that know the
# mode give it up after 150 ms to 1 s.
_LONGEST_UPDATE = 0.15


class Viewers:
    """The viewers of one session; `shown` tells its overlays and panels."""

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
        self._passage: Passage | None = None  # None: nobody is told output just now
        self._unsure = False  # it began in the middle of a sequence
        self._within = False  # the last output ended in the middle of one
        self._shots = Shots(terminal, shown)
        self._beat = Beat(settings.frame_rate)

    def __bool__(self) -> bool:
        return bool(self._viewers)

    def __len__(self) -> int:
        return len(self._viewers)

    @contextmanager
    def watch(
        self, fit: Size | None = None, *, composed: bool = False, history: int = 0
    ) -> "Iterator[Viewer]":
        """Watch for as long as this is entered."""
        viewer = self.add(fit, composed=composed, history=history)
        try:
            yield viewer
        finally:
            self.remove(viewer)

    def add(self, fit: Size | None = None, *, composed: bool = False, history: int = 0) -> "Viewer":
        if not self._viewers:
            self._shots.change()
            self._passage = None
            self._within = self._terminal().in_sequence
        viewer = Viewer(
            self._shots,
            self._beat,
            self._limit,
            self._begin_output,
            fit,
            composed=composed,
            history=history,
        )
        self._viewers.append(viewer)
        self._beat.slow_down(len(self._viewers))
        return viewer

    def remove(self, viewer: "Viewer") -> None:
        if viewer in self._viewers:
            self._viewers.remove(viewer)
            self._beat.slow_down(len(self._viewers))

    # --- what the session does -------------------------------------------------------------

    def publish(self, data: bytes) -> None:
        """Tell what the engine was fed; called after it was fed."""
        self._shots.change()
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
        # What an unknown sequence began with is not known: the engine has it, a snapshot shows it.
        passage = None if self._unsure or len(data) > share else self._passage
        shown = passage and passage.pass_on(data)
        if shown is None:
            for viewer in listening:
                viewer.refresh()
        elif shown:
            found = _SAVES_OR_RESTORES.search(shown)
            cursor: _OfCursor = None
            if found is not None:
                cursor = "saved" if found[1] else "restored"
            for viewer in listening:
                viewer.publish(shown, share, cursor)

    def _begin_output(self) -> None:
        """A viewer has a snapshot and is told output from here on."""
        if self._passage is None:
            self._passage = Passage()
            self._unsure = self._terminal().in_sequence

    def refresh(self) -> None:
        """Give all a fresh snapshot: the screen changed otherwise than by output (a resize)."""
        self._shots.change()
        for viewer in self._viewers:
            viewer.refresh()

    def redraw(self) -> None:
        """Overlays or panels have changed."""
        self._shots.change()
        for viewer in self._viewers:
            viewer.redraw()

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
        self,
        shots: Shots,
        beat: Beat,
        limit: int,
        begin_output: Callable[[], None],
        fit: Size | None,
        *,
        composed: bool,
        history: int,
    ) -> None:
        self._shots = shots
        self._beat = beat
        self._limit = limit
        self._begin_output = begin_output
        self._fit = fit
        self._composed = composed
        self._history = history  # lines that the next snapshot brings
        self._status: Sequence[VisualSpan] = ()
        self._status_row: tuple[int, Row] | None = None  # drawn for so many columns
        self._size: Size | None = None  # of the session, as the viewer was last told
        self._stale = True  # a snapshot is due; nothing is kept until it is taken
        self._framed = False  # it is shown frames, not output
        self._canvas = Canvas()
        self._mouse = Mouse()
        self._scene: Scene | None = None  # that it looks at, of a framed one
        self._rings = False
        self._pieces: list[bytes] = []
        self._waiting = 0  # bytes
        self._saved = False  # the viewer's terminal has the cursor that the session's has saved
        self._last: list[Event] = []
        self.finished = False  # the child has ended, or all viewers were sent away
        self._ready = asyncio.Event()
        self._ready.set()
        self._woken = True
        self._next_frame = 0.0
        self._busy = False  # with what it was told
        self._held = False  # because the program draws
        self._impatient = False  # with one that does not come to an end
        self._updates = 0  # that were held back

    # --- what the session does -------------------------------------------------------------

    @property
    def takes_output(self) -> bool:
        return not (self._stale or self._framed)

    def publish(self, data: bytes, share: int, cursor: _OfCursor) -> None:
        """`share` are the bytes it may have in a frame; what data does first with the cursor."""
        self._pieces.append(data)
        self._waiting += len(data)
        # One that is busy is behind already: what waits for it is more than a frame's.
        limit = self._limit if self._busy else min(self._limit, share)
        if self._waiting > limit or (cursor == "restored" and not self._saved):
            self.refresh()
        else:
            self._saved = self._saved or cursor == "saved"
            self._wake()

    def change(self, *, rings: bool) -> None:
        """Note output that is not told as such: a frame or a snapshot shows what came of it."""
        if not self.takes_output:
            self._rings = self._rings or rings
            if not self._stale:  # else it was woken for that
                self._wake()

    def redraw(self) -> None:
        if self._composed:
            if self._framed:
                self._wake()
            else:
                self.refresh()

    def _wake(self) -> None:
        if not self._woken:  # else it is to be told already, at the latest with the frame's end
            self._woken = True
            self._beat.wake(self._ready, self._next_frame)

    def finish(self, last: Detached | Ended) -> None:
        # Taken now: the terminal may be closed by the time the viewer reads this.
        self._last = [*self.take(), last] if isinstance(last, Ended) else [last]
        self._drop()
        self.finished = True
        self._ready.set()

    # --- what the viewer does --------------------------------------------------------------

    def fit(self, rows: int, cols: int) -> None:
        self._fit = (rows, cols)
        self.refresh()

    def refresh(self, history: int | None = None) -> None:
        """Ask for a snapshot; with `history` for so many lines above the screen, too."""
        if history is not None:
            self._history = history
        self._drop()
        self._stale = True
        self._wake()

    def show_status(self, line: Sequence[VisualSpan]) -> None:
        """Show this in the last row; nothing takes the row away."""
        before, self._status = self._status, line
        self._status_row = None
        if bool(before) != bool(line):
            self.refresh()
        else:
            self._wake()

    def for_child(self, data: bytes) -> bytes:
        """Return what of that which was typed here is for the child: its part of the mouse."""
        scene = self._scene if self._framed else None
        if scene is None:
            return data
        return self._mouse.move(data, scene.above, scene.child_rows)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            await self._ready.wait()
            self._ready.clear()
            self._woken = False
            self._next_frame = self._beat.next()
            if self._holds_back():
                continue
            events = self.take()
            self._busy = True
            for event in events:
                yield event
            self._busy = False
            if self.finished and not self._ready.is_set():
                return

    def _holds_back(self) -> bool:
        """Whether a frame would show what the program has drawn half; for a while only."""
        if self.finished or self._stale or not self._framed:
            return False
        if BEGIN not in self._shots.picture.codes.modes:
            self._updates += self._held
            self._held = self._impatient = False
            return False
        if not self._held:
            self._held = True
            loop = asyncio.get_running_loop()
            loop.call_later(_LONGEST_UPDATE, self._lose_patience, self._updates)
        return not self._impatient

    def _lose_patience(self, update: int) -> None:
        if self._held and update == self._updates:
            self._impatient = True  # until it has drawn
            self._ready.set()

    def take(self) -> list[Event]:
        """Return what waits now; empty when nothing does. Once it is finished, the last of all."""
        if self.finished:
            last, self._last = self._last, []
            return last
        if self._stale or (self._framed and self._is_alone()):
            return self._snapshot()
        data = self._frame() if self._framed else b"".join(self._pieces)
        self._drop()
        return [Output(data)] if data else []

    def _snapshot(self) -> list[Event]:
        self._stale = self._saved = False
        picture = self._shots.picture
        size = (picture.rows, picture.cols)
        told: list[Event] = [] if size == self._size else [Resized(*size)]
        self._size = size
        self._framed = not self._is_alone()
        self._drop()
        if self._framed:
            self._canvas.forget()
            data = self._frame()
        else:
            self._begin_output()
            data = self._shots.repainted() + self._bell()
        above, lines = self._shots.history(self._history, (self._fit or size)[0])
        self._history = 0
        snapshot = Snapshot(
            data,
            picture.alternate,
            rows=picture.rows,
            cols=picture.cols,
            history=above,
            history_lines=lines,
        )
        return [*told, snapshot]

    def _is_alone(self) -> bool:
        """Whether the session's screen, in its own size, is all that is shown."""
        if self._composed and (self._status or self._shots.shown):
            return False
        return self._fit is None or self._fit == self._size

    def _frame(self) -> bytes:
        size = self._fit
        if size is not None and self._status:
            size = (max(1, size[0] - 1), size[1])
        scene = self._scene = self._shots.scene(size, composed=self._composed)
        return self._canvas.draw(scene, self._draw_status(scene.cols)) + self._bell()

    def _bell(self) -> bytes:
        """Ring once, however often it was rung since."""
        bell, self._rings = BELL if self._rings else b"", False
        return bell

    def _draw_status(self, cols: int) -> Row | None:
        if not self._status:
            return None
        if self._status_row is None or self._status_row[0] != cols:
            self._status_row = (cols, status_row(self._status, cols))
        return self._status_row[1]

    def _drop(self) -> None:
        self._pieces.clear()
        self._waiting = 0
