"""See more of a screen than its text: what stands on it, how cells look, and what has changed.

Rule: what is told was found on the screen, and says by what; what might be there is not told.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Note, Operation, Result, operation
from nacre.core.operations.parameters import MaxChars, SessionRef
from nacre.core.screen.screen import Cursor, ScreenMode, Span
from nacre.core.seeing.difference import RowChange
from nacre.core.seeing.elements import Element, HighlightedText

Ref = Annotated[str, Meta(min_length=1, description="An element of the last snapshot: button2.")]
_Row = Annotated[int, Meta(ge=0, description="Row, from zero.")]
_Col = Annotated[int, Meta(ge=0, description="Column, from zero.")]
_Moment = Annotated[
    float, Meta(description="Seconds since the epoch; negative: seconds before now.")
]


class ScreenSnapshot(Result, frozen=True, kw_only=True, omit_defaults=True):
    """What a screen shows, beside its text."""

    generation: int
    rows: int
    cols: int
    mode: ScreenMode
    cursor: Cursor
    title: str = ""
    text_hash: str
    styled_hash: str
    mouse: bool = False  # the program listens to it
    selected: tuple[str, ...] = ()  # references
    focused: str | None = None  # the reference of what is typed into
    omitted_lines: int = 0
    omitted_elements: int = 0
    hint: str | None = None
    elements: list[Element]
    highlights: tuple[HighlightedText, ...] = ()  # text that stands out, whatever it means
    lines: Sequence[str]


class CellLook(Span, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Neighbouring cells of a row that look alike."""

    row: int
    col: int
    width: int


class Cells(Result, frozen=True, kw_only=True, omit_defaults=True):
    generation: int
    rows: int  # of the screen
    cols: int
    row: int  # where the range begins
    col: int
    height: int
    width: int
    omitted_runs: int = 0
    hint: str | None = None
    runs: list[CellLook]


class ScreenHash(Result, frozen=True, kw_only=True):
    generation: int
    rows: int
    cols: int
    text_hash: str
    styled_hash: str


class ScreenDiff(Result, frozen=True, kw_only=True, omit_defaults=True):
    same: bool
    same_text: bool
    before_generation: int
    after_generation: int
    before_size: tuple[int, int]  # rows and columns
    after_size: tuple[int, int]
    before_cursor: Cursor
    after_cursor: Cursor
    omitted_changes: int = 0
    hint: str | None = None
    changes: list[RowChange]


@operation(
    "snapshot",
    "GET /sessions/{session}/snapshot",
    result=ScreenSnapshot,
    scope=Scope.OBSERVE,
    idempotent=True,
    notes=(
        Note("mouse", "{} clicks an element by its ref."),
        Note("focus", "{} moves the focus to one."),
    ),
)
class TakeSnapshot(Operation, frozen=True, kw_only=True):
    """Read the screen of a full-screen program as what it shows, beside the text.

    Boxes, buttons, menus, entries of lists, tabs, checkboxes, fields and tables, each with a ref;
    which are selected, focused or checked. `evidence` says by what each was found.
    """

    session: SessionRef
    lines: Annotated[bool, Meta(description="Include the text of the screen.")] = True
    max_chars: MaxChars | None = None


@operation(
    "get_cells",
    "GET /sessions/{session}/cells",
    result=Cells,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetCells(Operation, frozen=True, kw_only=True):
    """Read how cells look: colours, bold, reverse video and so on, of a range or of a text."""

    session: SessionRef
    row: _Row | None = None
    col: _Col = 0
    height: Annotated[int, Meta(ge=1, description="Rows of the range.")] = 1
    width: Annotated[int, Meta(ge=1, description="Columns. Default: to the right edge.")] | None = (
        None
    )
    text: (
        Annotated[str, Meta(min_length=1, description="A text on the screen, instead of a range.")]
        | None
    ) = None
    max_chars: MaxChars | None = None


@operation(
    "screen_hash",
    "GET /sessions/{session}/screen_hash",
    result=ScreenHash,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetScreenHash(Operation, frozen=True, kw_only=True):
    """Get a hash of the screen's text, and one of text and styles; the cursor is in neither."""

    session: SessionRef


@operation(
    "screen_diff",
    "GET /sessions/{session}/screen_diff",
    result=ScreenDiff,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class DiffScreens(Operation, frozen=True, kw_only=True):
    """Compare a session's screen at an earlier generation or time with now, or with a later one.

    Returns the rows that differ, as they were and as they are.
    """

    session: SessionRef
    generation: Annotated[int, Meta(ge=0, description="The earlier screen.")] | None = None
    time: _Moment | None = None
    to_generation: (
        Annotated[int, Meta(ge=0, description="The later screen. Default: the current one.")] | None
    ) = None
    to_time: _Moment | None = None
    styles: Annotated[bool, Meta(description="Count other colours as a change, too.")] = True
    max_chars: MaxChars | None = None
