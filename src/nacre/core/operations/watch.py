"""Watching a session: the requests and the events.

Not in the catalog: a stream is not a call with one answer, so it is neither a tool nor a route.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, unlisted
from nacre.core.operations.elements import VisualSpan
from nacre.core.screen.screen import Line

ViewRows = Annotated[int, Meta(ge=1, le=1000)]
ViewCols = Annotated[int, Meta(ge=1, le=2000)]


@unlisted("watch", scope=Scope.OBSERVE)
class WatchSession(Operation, frozen=True, kw_only=True):
    """Watch a session from now on. With a size, everything fits a screen of that size.

    Composed, the events show the session with its overlays and panels, and with the viewer's own
    status line in the last row. Otherwise they show what its program prints.
    """

    session: str | int
    rows: ViewRows | None = None
    cols: ViewCols | None = None
    composed: bool = False
    history: Annotated[int, Meta(ge=0, le=100_000)] = 0  # lines above the screen, in snapshots
    inside: str | None = None  # the id of the session that the viewer runs in, if any
    # The name under which the viewer numbers what it types, the same after a reconnect. It chooses
    # 16 hex digits at random.
    typing: Annotated[str, Meta(pattern="^(?!0{16})[0-9a-f]{16}$")] | None = None


class Receipt(Protocol):
    """Hears what becomes of an input: it is written, settled otherwise, or dropped."""

    exact: bool  # each byte that is written is one that was typed

    def begin(self) -> None:
        """It is about to be written, or captured."""

    def write(self, terminal: int, data: memoryview) -> int:
        """Write what the terminal takes of its rest. Raises what os.write raises."""

    def wrote(self, count: int) -> None:
        """So many more bytes of it were written, maybe none; not all of it."""

    def settle(self) -> None:
        """Nobody has to write any of it any more."""

    def drop(self, why: str) -> None:
        """It will not be written; `why` is for the person who typed it."""


@unlisted("type", scope=Scope.DRIVE, types=True)
class TypeAtScreen(Operation, frozen=True, kw_only=True):
    """Type into a watched session, as a person at a screen."""

    session: str | int
    data: bytes
    receipt: Receipt | None = None  # it hears what becomes of it


class Printed(msgspec.Struct, frozen=True):
    """New output, for a terminal that shows everything sent before."""

    data: bytes


class Snapshot(msgspec.Struct, frozen=True):
    """The whole screen: bytes that draw it, whatever the terminal shows now."""

    data: bytes
    alternate: bool  # the program is on its alternate screen
    rows: int = 0
    cols: int = 0
    # For a terminal that was just reset, to be written before `data`: the lines above the screen,
    # and enough empty ones to push them into its scrollback.
    history: bytes = b""
    history_lines: int = 0
    line: int = 0  # the number of the screen's first line, counted from the session's first one


class Resized(msgspec.Struct, frozen=True):
    """The session's new size; a snapshot follows."""

    rows: int
    cols: int
    by: str | None = None  # who did it; None: this viewer, or a panel, or it is the first size
    given_back: bool = False  # it is the size from before that one borrowed it


class Detached(msgspec.Struct, frozen=True):
    """Somebody detached all viewers; the session keeps running."""

    message: str


class Ended(msgspec.Struct, frozen=True):
    """The session's process has ended."""

    exit_code: int | None  # None: a signal ended it, or nobody saw how
    signal: str | None
    lost: bool = False  # with its daemon and keeper


class Numbered(msgspec.Struct, frozen=True):
    """Where an input belongs in all that a viewer types: how many bytes came before it."""

    number: int
    go_on: bool = False  # its person knows of what was dropped, and types on
    late: bool = False  # it was under way for so long that the screen may have changed


class Typing(msgspec.Struct, frozen=True):
    """What became of all that a viewer typed before it came back; the first event if it numbers."""

    taken: int  # the terminal took everything before this number
    received: int  # everything before this one need not be sent again
    unsure: bool = False  # nobody knows what the terminal took of the bytes between the two
    dropped: bool = False  # those are dropped, and so is what follows, as after Dropped


class Taken(msgspec.Struct, frozen=True):
    """The terminal took everything that the viewer typed before this number."""

    number: int


class Dropped(msgspec.Struct, frozen=True):
    """What came before this number and was not taken is dropped, and so is what follows it, until
    the viewer says that its person knows."""

    number: int
    why: str = ""


WatchEvent = Printed | Snapshot | Resized | Detached | Ended | Typing | Taken | Dropped


MOST_SOUGHT = 1000  # characters


class Look(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for lines from number `first` on, or for the last ones. Numbers never change."""

    id: int
    limit: ViewRows
    first: int | None = None


class Find(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Search for a text from line `start` on, and then on from the other end."""

    id: int
    text: Annotated[str, Meta(min_length=1, max_length=MOST_SOUGHT)]
    start: int
    backward: bool = False
    exact: bool = False  # upper and lower case differ


class Lines(msgspec.Struct, frozen=True):
    """Lines as they are now, and the numbers of all there are. The last ones are the screen."""

    id: int
    first: int
    lines: list[Line]
    oldest: int
    end: int
    alternate: bool = False  # a full-screen program is active: it has no lines to look back at


class Found(msgspec.Struct, frozen=True):
    """The number of the line that was found; None if no line has the text."""

    id: int
    line: int | None
    oldest: int
    end: int
    around: bool = False  # the search passed the end and continued from the other one
    alternate: bool = False


class Watch(Protocol):
    """A stream of events; it ends after Detached or Ended."""

    def __aiter__(self) -> AsyncIterator[WatchEvent]: ...

    def fit(self, rows: int, cols: int) -> None:
        """Set the size of the viewer's screen."""

    def refresh(self, history: int | None = None) -> None:
        """Ask for a snapshot; with `history` also for that many lines above the screen."""

    def show_status(self, line: Sequence[VisualSpan]) -> None:
        """Show this in the last row, if the events are composed."""

    async def type(self, data: bytes, at: Numbered | None = None) -> None:
        """Type into the session, as a person at this screen; numbered, what is new of it.

        Captured keys go to the agent that captured them. Raises ControlHeld while another person
        drives, Forbidden for a caller that may only watch, and what send_input raises.
        """

    async def look(self, question: Look | Find) -> Lines | Found:
        """Read or search earlier lines. Raises SessionExited."""
