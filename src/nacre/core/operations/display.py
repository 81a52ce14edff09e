"""The operations that show people overlays and panels, and that capture their keys."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Note, Operation, Result, operation
from nacre.core.operations.elements import (
    HIGHEST,
    LARGEST,
    Background,
    Overlay,
    Panel,
    Place,
    RegionWrite,
    SpanPatch,
    VisualSpan,
    fill_color,
)
from nacre.core.operations.parameters import MaxChars, MaxWait, SessionRef
from nacre.core.operations.results import Success
from nacre.core.screen.screen import ScreenMode

InputMode = Literal["passthrough", "capture"]

_Extent = Annotated[int, Meta(ge=1, le=LARGEST)]
_Depth = Annotated[int, Meta(ge=-HIGHEST - 1, le=HIGHEST)]
_Fill = Annotated[
    str | Background,
    Meta(description='Background colour: "blue", "#202020" or {"bg": "blue"}.'),
]
_Spans = Annotated[
    list[VisualSpan],
    Meta(description="Styled text; replaces all spans. A line feed starts the next row."),
]
_Patches = Annotated[
    list[SpanPatch],
    Meta(description="Change single spans by their id; omitted fields keep their values."),
]
_Writes = Annotated[
    list[RegionWrite],
    Meta(description="Text at given cells of the element, drawn over its spans."),
]
_Focusable = Annotated[
    bool, Meta(description="Whether captured input can focus on it. [default: true]")
]
_ElementId = Annotated[str, Meta(description="Omit to create, provide to update.")]

_LISTING = {"list": frozenset({"session", "max_chars"})}


class OverlayList(Result, frozen=True, kw_only=True, omit_defaults=True):
    omitted_overlays: int = 0  # for which there was no room
    hint: str | None = None
    overlays: list[Overlay]  # of each what there is room for


class PanelList(Result, frozen=True, kw_only=True, omit_defaults=True):
    omitted_panels: int = 0
    hint: str | None = None
    panels: list[Panel]


@operation(
    "overlay", "POST /sessions/{session}/overlay", result=(OverlayList, Overlay), scope=Scope.DRIVE
)
class PutOverlay(Operation, frozen=True, kw_only=True):
    """Create a floating overlay, update one by its id, or list them.

    People who watch the session, in a browser or an attached terminal, see it over the screen. The
    program does not notice it. Without width and height it is as large as its text.
    """

    alone = _LISTING

    session: SessionRef
    id: _ElementId | None = None
    x: Annotated[Place, Meta(description="Column. [default: 0]")] | None = None
    y: Annotated[Place, Meta(description="Row. [default: 0]")] | None = None
    z: Annotated[_Depth, Meta(description="Higher is on top. [default: on top of all]")] | None = (
        None
    )
    width: Annotated[_Extent, Meta(description="In columns.")] | None = None
    height: Annotated[_Extent, Meta(description="In rows.")] | None = None
    background: _Fill | None = None
    spans: _Spans | None = None
    update: _Patches | None = None
    writes: _Writes | None = None
    focusable: _Focusable | None = None
    list: Annotated[
        bool, Meta(description="Return all overlays of the current screen mode instead.")
    ] = False
    max_chars: MaxChars | None = None

    def __post_init__(self) -> None:
        fill_color(self.background)


@operation(
    "remove_overlay",
    "POST /sessions/{session}/overlay/remove",
    result=Success,
    scope=Scope.DRIVE,
)
class RemoveOverlay(Operation, frozen=True, kw_only=True):
    """Delete an overlay by its id, or clear all overlays of the session."""

    session: SessionRef
    id: Annotated[str, Meta(description="Omit to clear all.")] | None = None


@operation("panel", "POST /sessions/{session}/panel", result=(PanelList, Panel), scope=Scope.DRIVE)
class PutPanel(Operation, frozen=True, kw_only=True):
    """Create a panel at the top or bottom, update one by its id, or list them.

    A panel takes its rows from the terminal, so the program gets a smaller size. If not all panels
    fit, those with the lowest z are hidden (visible: false).
    """

    alone = _LISTING

    session: SessionRef
    id: _ElementId | None = None
    position: (
        Annotated[Literal["top", "bottom"], Meta(description="Edge. [default: bottom]")] | None
    ) = None
    height: (
        Annotated[_Extent, Meta(description="In rows. [default: as many as the text]")] | None
    ) = None
    z: (
        Annotated[_Depth, Meta(description="Higher is closer to the edge. [default: highest]")]
        | None
    ) = None
    background: _Fill | None = None
    spans: _Spans | None = None
    update: _Patches | None = None
    writes: _Writes | None = None
    focusable: _Focusable | None = None
    list: Annotated[
        bool, Meta(description="Return all panels of the current screen mode instead.")
    ] = False
    max_chars: MaxChars | None = None

    def __post_init__(self) -> None:
        fill_color(self.background)


@operation(
    "remove_panel", "POST /sessions/{session}/panel/remove", result=Success, scope=Scope.DRIVE
)
class RemovePanel(Operation, frozen=True, kw_only=True):
    """Delete a panel by its id, or clear all panels. The terminal gets the rows back."""

    session: SessionRef
    id: Annotated[str, Meta(description="Omit to clear all.")] | None = None


class InputModeNow(Result, frozen=True, kw_only=True):
    mode: InputMode
    focused_element: str | None


@operation(
    "input_mode",
    "POST /sessions/{session}/input_mode",
    result=InputModeNow,
    scope=Scope.DRIVE,
    idempotent=True,
    types=lambda request: request.mode == "capture",  # it takes keys away from who drives
    notes=(Note("await_input", "{} waits for captured keys."),),
)
class SetInputMode(Operation, frozen=True, kw_only=True):
    """Get or set who gets the keys that people type in this session.

    capture: keys become events and do not reach the program; a person ends it with Ctrl+\\.
    release: keys reach the program again. Input that callers send is never captured.
    """

    session: SessionRef
    mode: (
        Annotated[Literal["capture", "release"], Meta(description="Omit to get the mode.")] | None
    ) = None
    focus: (
        Annotated[str, Meta(description="Overlay or panel that captured keys are for.")] | None
    ) = None
    unfocus: Annotated[bool, Meta(description="Clear the focus.")] = False


class ScreenModeNow(Result, frozen=True, kw_only=True):
    mode: ScreenMode


@operation(
    "screen_mode", "POST /sessions/{session}/screen_mode", result=ScreenModeNow, scope=Scope.DRIVE
)
class SetScreenMode(Operation, frozen=True, kw_only=True):
    """Get the screen mode, or put an alternate layer for overlays and panels over the session.

    The mode is alt while that layer or a full-screen program (vim, htop) is active. Elements show
    only in the mode they were made in, and those of alt are deleted when it ends. The program is
    not affected.
    """

    session: SessionRef
    action: (
        Annotated[Literal["enter_alt", "exit_alt"], Meta(description="Omit to get the mode.")]
        | None
    ) = None


class ParsedKey(Result, frozen=True, kw_only=True):
    key: str
    modifiers: list[str]


class CapturedKey(Result, frozen=True, kw_only=True):
    number: int  # counts all captured keys of the session
    raw: list[int]
    parsed: ParsedKey | None
    focused_element: str | None


class CapturedKeys(Result, frozen=True, kw_only=True, omit_defaults=True):
    last: int  # pass it as `after` in the next call
    mode: InputMode
    more: bool = False  # later keys are there already
    keys: list[CapturedKey]


@operation(
    "await_input",
    "POST /sessions/{session}/await_input",
    result=CapturedKeys,
    scope=Scope.DRIVE,
    idempotent=True,
    notes=(Note("input_mode", "{} starts and ends the capture."),),
)
class AwaitInput(Operation, frozen=True, kw_only=True):
    """Wait for keys that a person types while input is captured, and return them.

    Returns at the first key, when the capture ends, or without keys after max_wait_ms.
    """

    session: SessionRef
    after: (
        Annotated[
            int,
            Meta(ge=0, description="`last` of an earlier call. Default: keys not returned yet."),
        ]
        | None
    ) = None
    max_wait_ms: MaxWait = 30_000
