"""One viewer of a session's output.

Rule 1: a slow viewer loses what waits for it, and gets a fresh snapshot instead.
Rule 2: a viewer whose screen shows only the session, in its size, gets output as it is. A screen of
another size, or with overlays, panels or a status line, gets frames: the rows that have changed.
Rule 3: the first output after a pause is sent at once, because a key's echo must not wait. After
that a viewer gets something at most once per frame. Too much output for one frame becomes a
snapshot.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Literal

from nacre.core.display.bell import BELL
from nacre.core.display.canvas import Canvas
from nacre.core.display.compose import Row, Scene, status_row
from nacre.core.keys.mouse import Mouse
from nacre.core.operations.elements import VisualSpan
from nacre.core.operations.watch import (
    Detached,
    Dropped,
    Ended,
    Printed,
    Resized,
    Snapshot,
    Taken,
    Typing,
    WatchEvent,
)
from nacre.core.screen.controls import BEGIN
from nacre.core.screen.picture import Size
from nacre.services.viewers.frame_clock import FrameClock
from nacre.services.viewers.scene_cache import SceneCache

# What output first does with the saved cursor.
OfCursor = Literal["saved", "restored"] | None

# Seconds for which a half-drawn picture of a program is held back (mode 2026); terminals with this
# mode wait 150 ms to 1 s.
_LONGEST_UPDATE = 0.15
# Seconds after which a viewer is told that the terminal took its keys. Mostly their echo comes
# first and takes it along.
_LATEST_RECEIPT = 0.05


class Viewer:
    """One viewer: an iterator of events."""

    def __init__(
        self,
        scenes: SceneCache,
        clock: FrameClock,
        limit: int,
        begin_output: Callable[[], None],
        fit: Size | None,
        *,
        composed: bool,
        history: int,
        key: str = "",
    ) -> None:
        self.key = key  # of the caller who watches
        self._scenes = scenes
        self._clock = clock
        self._limit = limit
        self._begin_output = begin_output
        self._fit = fit
        self._composed = composed
        self._history = history  # lines above the screen in the next snapshot
        self._status: Sequence[VisualSpan] = ()
        self._status_row: tuple[int, Row] | None = None  # with its number of columns
        self._size: Size | None = None  # the session's size that was sent last
        self._resized_by: str | None = None  # who else changed it since
        self._given_back = False  # to what it was
        self._stale = True  # a snapshot is due; until then nothing is queued
        self._framed = False  # it gets frames, not output
        self._canvas = Canvas()
        self._mouse = Mouse()
        self._scene: Scene | None = None  # what a framed viewer shows now
        self._rings = False
        self._pieces: list[bytes] = []
        self._waiting = 0  # bytes
        self._saved = False  # the viewer's terminal has the same saved cursor as the session's
        self._told: list[WatchEvent] = []  # what became of what was typed here
        self._acknowledging = False  # a timer runs
        self._last: list[WatchEvent] = []
        self.finished = False  # the child has ended, or all viewers were detached
        self._ready = asyncio.Event()
        self._ready.set()
        self._woken = True
        self._next_frame = 0.0
        self._busy = False  # it is still handling the last event
        self._held = False  # because the program is drawing
        self._impatient = False  # the program does not finish its drawing
        self._updates = 0  # number of updates held back

    # --- what the session does -------------------------------------------------------------

    @property
    def takes_output(self) -> bool:
        return not (self._stale or self._framed)

    def publish(self, data: bytes, share: int, cursor: OfCursor) -> None:
        """`share`: bytes for this frame; `cursor`: what data first does with the saved cursor."""
        self._pieces.append(data)
        self._waiting += len(data)
        # A busy viewer is behind already: more than one frame waits for it.
        limit = self._limit if self._busy else min(self._limit, share)
        if self._waiting > limit or (cursor == "restored" and not self._saved):
            self.refresh()
        else:
            self._saved = self._saved or cursor == "saved"
            self._wake()

    def change(self, *, rings: bool) -> None:
        """Note output that is not sent as it is: a frame or a snapshot will show its effect."""
        if not self.takes_output:
            self._rings = self._rings or rings
            if not self._stale:  # else it is already woken for the snapshot
                self._wake()

    def resized_by(self, who: str | None, *, back: bool) -> None:
        """Note who is about to change the session's size; None: this viewer itself."""
        self._resized_by, self._given_back = who, back

    def redraw(self) -> None:
        if self._composed:
            if self._framed:
                self._wake()
            else:
                self.refresh()

    def _wake(self) -> None:
        if not self._woken:  # else it will be woken at the end of the frame anyway
            self._woken = True
            self._clock.wake(self._ready, self._next_frame)

    def finish(self, last: Detached | Ended) -> None:
        # Taken now, because the terminal may be closed when the viewer reads this.
        self._last = [*self.take(), last] if isinstance(last, Ended) else [last]
        self._drop()
        self.finished = True
        self._ready.set()

    # --- what the viewer does --------------------------------------------------------------

    def fit(self, rows: int, cols: int) -> None:
        self._fit = (rows, cols)
        self.refresh()

    def refresh(self, history: int | None = None) -> None:
        """Ask for a snapshot; with `history` also for that many lines above the screen."""
        if history is not None:
            self._history = history
        self._drop()
        self._stale = True
        self._wake()

    def tell(self, event: Typing | Taken | Dropped) -> None:
        """Tell what became of what was typed here, before what is shown next."""
        if isinstance(event, Taken) and self._told and isinstance(self._told[-1], Taken):
            self._told.pop()  # the later number says it too
        self._told.append(event)
        if not isinstance(event, Taken):
            self._wake()
        elif not self._acknowledging:
            self._acknowledging = True
            asyncio.get_running_loop().call_later(_LATEST_RECEIPT, self._acknowledge)

    def _acknowledge(self) -> None:
        self._acknowledging = False
        if self._told and not self._woken:  # else it goes with what is shown next
            self._ready.set()

    def show_status(self, line: Sequence[VisualSpan]) -> None:
        """Show this in the last row, which then always stays."""
        before, self._status = self._status, line
        self._status_row = None
        if bool(before) != bool(line):
            self.refresh()
        else:
            self._wake()

    def for_child(self, data: bytes) -> bytes:
        """Return the typed bytes that are for the child, without mouse reports on other rows."""
        scene = self._scene if self._framed else None
        if scene is None:
            return data
        return self._mouse.move(data, scene.above, scene.child_rows)

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        while True:
            await self._ready.wait()
            self._ready.clear()
            if self._told and not (self._woken or self._held or self.finished):
                # Only a receipt: it uses up no frame, or the next echo would wait for one.
                told, self._told = self._told, []
                for event in told:
                    yield event
                continue
            self._woken = False
            self._next_frame = self._clock.next()
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
        """Return whether to hold back a frame, for a while, because the program is drawing."""
        if self.finished or self._stale or not self._framed:
            return False
        if BEGIN not in self._scenes.picture.codes.modes:
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
            self._impatient = True  # until the drawing is finished
            self._ready.set()

    def take(self) -> list[WatchEvent]:
        """Return the waiting events; if it is finished, the last ones."""
        told, self._told = self._told, []
        return told + self._take_shown()

    def _take_shown(self) -> list[WatchEvent]:
        if self.finished:
            last, self._last = self._last, []
            return last
        if self._stale or (self._framed and self._is_alone()):
            return self._snapshot()
        data = self._frame() if self._framed else b"".join(self._pieces)
        self._drop()
        return [Printed(data)] if data else []

    def _snapshot(self) -> list[WatchEvent]:
        self._stale = self._saved = False
        picture = self._scenes.picture
        size = (picture.rows, picture.cols)
        told: list[WatchEvent] = []
        if size != self._size:
            told = [Resized(*size, by=self._resized_by, given_back=self._given_back)]
        self._size, self._resized_by, self._given_back = size, None, False
        self._framed = not self._is_alone()
        self._drop()
        if self._framed:
            self._canvas.forget()
            data = self._frame()
        else:
            self._begin_output()
            data = self._scenes.repainted() + self._bell()
        above, lines = self._scenes.history(self._history, (self._fit or size)[0])
        self._history = 0
        snapshot = Snapshot(
            data,
            picture.alternate,
            rows=picture.rows,
            cols=picture.cols,
            history=above,
            history_lines=lines,
            line=self._scenes.first_line,
        )
        return [*told, snapshot]

    def _is_alone(self) -> bool:
        """Return whether only the session's screen is shown, in its own size."""
        if self._composed and (self._status or self._scenes.shown):
            return False
        return self._fit is None or self._fit == self._size

    def _frame(self) -> bytes:
        size = self._fit
        if size is not None and self._status:
            size = (max(1, size[0] - 1), size[1])
        scene = self._scene = self._scenes.scene(size, composed=self._composed)
        return self._canvas.draw(scene, self._draw_status(scene.cols)) + self._bell()

    def _bell(self) -> bytes:
        """Ring the bell once, however often it rang since."""
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
