"""What a caller can show to people beside a session's screen, and ask of their keyboards."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.caller import Scope
from nacre.core.catalog import Operation, Result, operation
from nacre.core.parameters import MaxWait, SessionRef
from nacre.core.results import Success
from nacre.core.screen import ScreenMode
from nacre.core.visual import (
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

InputMode = Literal["passthrough", "capture"]

_Extent = Annotated[int, Meta(ge=1, le=LARGEST)]
_Depth = Annotated[int, Meta(ge=-HIGHEST - 1, le=HIGHEST)]
_Fill = Annotated[
    str | Background,
    Meta(description='Background colour: "blue", "#202020" or {"bg": "blue"}.'),
]
_Spans = Annotated[
    list[VisualSpan],
    Meta(description="Styled text; replaces all spans. A line feed begins the next row."),
]
_Patches = Annotated[
    list[SpanPatch],
    Meta(description="Change single spans by their id; what is not given stays."),
]
_Writes = Annotated[
    list[RegionWrite],
    Meta(description="Text at cells of the element, drawn over its spans."),
]
_Focusable = Annotated[
    bool, Meta(description="Whether it can have the focus of captured input. [default: true]")
]
_ElementId = Annotated[str, Meta(description="Omit to create, provide to update.")]


class OverlayList(Result, frozen=True, kw_only=True):
    overlays: list[Overlay]


class PanelList(Result, frozen=True, kw_only=True):
    panels: list[Panel]


@operation(
    "overlay", "POST /sessions/{session}/overlay", result=(OverlayList, Overlay), scope=Scope.DRIVE
)
class PutOverlay(Operation, frozen=True, kw_only=True):
    """Create a floating overlay, update one by its id, or list them.

    People who watch the session see it over the screen, in a browser or an attached terminal; the
    program in the session does not. Without width and height it is as large as its text.
    """

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

    A panel takes its rows from the terminal: the program in the session is told its new size.
    Where not all fit, those of the lowest z wait (visible: false).
    """

    session: SessionRef
    id: _ElementId | None = None
    position: (
        Annotated[Literal["top", "bottom"], Meta(description="Edge. [default: bottom]")] | None
    ) = None
    height: (
        Annotated[_Extent, Meta(description="In rows. [default: as many as the text has]")] | None
    ) = None
    z: (
        Annotated[_Depth, Meta(description="Higher is nearer to the edge. [default: highest]")]
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

    def __post_init__(self) -> None:
        fill_color(self.background)


@operation(
    "remove_panel", "POST /sessions/{session}/panel/remove", result=Success, scope=Scope.DRIVE
)
class RemovePanel(Operation, frozen=True, kw_only=True):
    """Delete a panel by its id, or clear all panels; the terminal gets its rows back."""

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
)
class SetInputMode(Operation, frozen=True, kw_only=True):
    """Get or set who gets the keys that people type in this session.

    capture: keys become events (await_input, or WebSocket subscribers) and do not reach the
    program; the person's way out is Ctrl+\\. release: they reach it again. What callers send
    (send_input) is never captured.
    """

    session: SessionRef
    mode: (
        Annotated[Literal["capture", "release"], Meta(description="Omit to get the mode.")] | None
    ) = None
    focus: (
        Annotated[str, Meta(description="Overlay or panel to which captured keys are meant.")]
        | None
    ) = None
    unfocus: Annotated[bool, Meta(description="Clear the focus.")] = False


class ScreenModeNow(Result, frozen=True, kw_only=True):
    mode: ScreenMode


@operation(
    "screen_mode", "POST /sessions/{session}/screen_mode", result=ScreenModeNow, scope=Scope.DRIVE
)
class SetScreenMode(Operation, frozen=True, kw_only=True):
    """Get the screen mode, or put an alternate layer for overlays and panels over the session.

    The mode is alt while the layer or a full-screen program (vim, htop) is there. Elements show in
    the mode they were made in; those of alt are deleted when it ends. The program is not touched.
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


class CapturedKeys(Result, frozen=True, kw_only=True):
    keys: list[CapturedKey]
    last: int  # for the next call's after
    mode: InputMode


@operation(
    "await_input",
    "POST /sessions/{session}/await_input",
    result=CapturedKeys,
    scope=Scope.DRIVE,
    idempotent=True,
)
class AwaitInput(Operation, frozen=True, kw_only=True):
    """Wait for keys that a person types while input is captured (input_mode), and return them.

    Returns at the first key, when capture ends, or with none at the deadline.
    """

    session: SessionRef
    after: (
        Annotated[
            int,
            Meta(ge=0, description="`last` of a former call; default: what no call returned yet."),
        ]
        | None
    ) = None
    max_wait_ms: MaxWait = 30_000
