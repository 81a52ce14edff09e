"""Watching a session: what is asked for, and what is told.

Not in the catalog: a stream is no call with one answer, so that it is neither a tool nor a route.
"""

from collections.abc import AsyncIterator
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from nacre.core.catalog import Operation

ViewRows = Annotated[int, Meta(ge=1, le=1000)]
ViewCols = Annotated[int, Meta(ge=1, le=2000)]


class WatchSession(Operation, frozen=True, kw_only=True):
    """Watch a session from now on; with a size, what is told always fits a screen of that size."""

    session: str | int
    rows: ViewRows | None = None
    cols: ViewCols | None = None


class Output(msgspec.Struct, frozen=True):
    """What was printed, for a terminal that shows what was told before."""

    data: bytes


class Snapshot(msgspec.Struct, frozen=True):
    """The whole screen anew: bytes that draw it, on whatever screen they are written to."""

    data: bytes
    alternate: bool  # the program is on its alternate screen


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


class Watch(Protocol):
    """A stream of events; it ends after Detached or Ended."""

    def __aiter__(self) -> AsyncIterator[Event]: ...

    def fit(self, rows: int, cols: int) -> None:
        """Tell the size of the screen on which this is shown."""

    def refresh(self) -> None:
        """Ask for a snapshot."""
