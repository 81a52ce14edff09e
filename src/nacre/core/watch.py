"""Watching a session: what is asked for, and what is told.

Not in the catalog: a stream is no call with one answer, so that it is neither a tool nor a route.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from nacre.core.catalog import Operation
from nacre.core.screen import Line
from nacre.core.visual import VisualSpan

ViewRows = Annotated[int, Meta(ge=1, le=1000)]
ViewCols = Annotated[int, Meta(ge=1, le=2000)]


class WatchSession(Operation, frozen=True, kw_only=True):
    """Watch a session from now on; with a size, what is told always fits a screen of that size.

    Composed, it is shown with its overlays and panels, and with the watcher's own status line in
    the last row; else as its program prints it.
    """

    session: str | int
    rows: ViewRows | None = None
    cols: ViewCols | None = None
    composed: bool = False
    history: Annotated[int, Meta(ge=0, le=100_000)] = 0  # lines above the screen, in snapshots
    inside: str | None = None  # the id of the session in which it is watched, if in one


class Output(msgspec.Struct, frozen=True):
    """What was printed, for a terminal that shows what was told before."""

    data: bytes


class Snapshot(msgspec.Struct, frozen=True):
    """The whole screen anew: bytes that draw it, on whatever screen they are written to."""

    data: bytes
    alternate: bool  # the program is on its alternate screen
    rows: int = 0
    cols: int = 0
    # What a terminal that was just reset is given before it: the lines above, and as many more as
    # push them out of the screen.
    history: bytes = b""
    history_lines: int = 0


class Resized(msgspec.Struct, frozen=True):
    """The session's size from here on; a snapshot follows."""

    rows: int
    cols: int


class Detached(msgspec.Struct, frozen=True):
    """Somebody sent the viewers away; the session goes on."""

    message: str


class Ended(msgspec.Struct, frozen=True):
    """The session's process has ended."""

    exit_code: int | None
    signal: str | None


Event = Output | Snapshot | Resized | Detached | Ended


MOST_SOUGHT = 1000  # characters


class Look(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for lines by their numbers, which stay (scrollback.py); without one for the last."""

    id: int
    limit: ViewRows
    first: int | None = None


class Find(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for the next line with a text, from a line on, and then around from the other end."""

    id: int
    text: Annotated[str, Meta(min_length=1, max_length=MOST_SOUGHT)]
    start: int
    backward: bool = False
    exact: bool = False  # capitals are not small letters


class Lines(msgspec.Struct, frozen=True):
    """Lines as they are now, and between which numbers there are any; the last are the screen."""

    id: int
    first: int
    lines: list[Line]
    oldest: int
    end: int
    alternate: bool = False  # a full-screen program is shown: there is nothing above, and no lines


class Found(msgspec.Struct, frozen=True):
    """The number of a line; None when no line has the text."""

    id: int
    line: int | None
    oldest: int
    end: int
    around: bool = False  # it lies beyond the end
    alternate: bool = False


class Watch(Protocol):
    """A stream of events; it ends after Detached or Ended."""

    def __aiter__(self) -> AsyncIterator[Event]: ...

    def fit(self, rows: int, cols: int) -> None:
        """Tell the size of the screen on which this is shown."""

    def refresh(self, history: int | None = None) -> None:
        """Ask for a snapshot; with `history` also for so many lines above the screen."""

    def show_status(self, line: Sequence[VisualSpan]) -> None:
        """Show this in the last row of what is composed."""

    async def type(self, data: bytes) -> None:
        """Type at this screen, as a person does who sits at it.

        Captured keys go to who captured them. Raises ControlHeld while another person drives,
        Forbidden for who may only look, and what send_input raises.
        """

    async def look(self, question: Look | Find) -> Lines | Found:
        """Look back at what was shown. Raises SessionExited."""
