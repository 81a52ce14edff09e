"""What agents show people beside a session's own screen: overlays float, panels take rows.

Rule 1: these are plain values with the wire's field names. Values are returned as they were given.
Rule 2: an element belongs to the screen mode it was made in, and shows only there.
Rule 3: rows and columns count from zero, for an overlay from the first cell of the child's screen.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from nacre.core.catalog.catalog import Result
from nacre.core.screen.screen import COLOR_NAMES, Color, Rgb, ScreenMode
from nacre.core.text.widths import text_width
from nacre.late_pattern import late_pattern

LEAST_ROWS = 2  # panels leave at least this to the child: the engine has no smaller screen

LARGEST = 2000  # rows or columns of an element: twice the largest screen
FARTHEST = 10_000  # row or column of an element; what lies beyond the screen is cut off
HIGHEST = 2**31 - 1

Place = Annotated[int, Meta(ge=0, le=FARTHEST)]
Position = Literal["top", "bottom"]

_HEX = late_pattern(r"#[0-9a-fA-F]{6}")
_INDEXED = late_pattern(r"color(\d{1,3})")


def paint_color(color: Color | None) -> Color | None:
    """Return a colour as screens store it: a name, "colorN" or RGB; None is the default colour.

    Raises ValueError for anything else.
    """
    if color is None or color == "default":
        return None
    if isinstance(color, Rgb):
        if not all(0 <= part <= 255 for part in (color.r, color.g, color.b)):
            raise ValueError("r, g and b are 0 to 255")
        return color
    name = color.lower().replace("-", "_")
    if name in COLOR_NAMES:
        return name
    if _HEX.fullmatch(name):
        return Rgb(*(int(name[at : at + 2], 16) for at in (1, 3, 5)))
    if (found := _INDEXED.fullmatch(name)) and int(found[1]) <= 255:
        number = int(found[1])
        return COLOR_NAMES[number] if number < len(COLOR_NAMES) else name
    raise ValueError(
        f"{color!r} is not a colour; use {', '.join(COLOR_NAMES[:8])}, bright_red …, color0 to "
        "color255, #rrggbb or {r, g, b}"
    )


class Styled(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The style of a piece of text."""

    fg: Color | None = None
    bg: Color | None = None
    bold: bool = False
    italic: bool = False
    underline: bool = False
    faint: bool = False
    inverse: bool = False
    strikethrough: bool = False

    def __post_init__(self) -> None:
        paint_color(self.fg)
        paint_color(self.bg)


class VisualSpan(Styled, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Text in one style; a line feed starts the element's next row."""

    text: str
    id: str | None = None  # to change this span alone


class SpanPatch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to the span with this id; omitted fields keep their values."""

    id: str
    text: str | None = None
    fg: Color | None = None  # "default" removes the colour
    bg: Color | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    faint: bool | None = None
    inverse: bool | None = None
    strikethrough: bool | None = None

    def __post_init__(self) -> None:
        paint_color(self.fg)
        paint_color(self.bg)

    def apply(self, span: VisualSpan) -> VisualSpan:
        given = {name: getattr(self, name) for name in self.__struct_fields__ if name != "id"}
        return msgspec.structs.replace(
            span, **{name: value for name, value in given.items() if value is not None}
        )


class RegionWrite(
    Styled, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Text at a cell of an element, over its spans."""

    row: Place
    col: Place
    text: str


class Background(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bg: Color


Fill = str | Background  # "blue", or {"bg": "blue"}


def fill_color(fill: Fill | None) -> Color | None:
    """Return the colour of a background. Raises ValueError if it is not a colour."""
    return paint_color(fill.bg if isinstance(fill, Background) else fill)


class Overlay(Result, frozen=True, kw_only=True, omit_defaults=True):
    """A box that floats over the screen; what does not fit into it is cut off."""

    id: str
    x: int
    y: int
    z: int
    width: int
    height: int
    spans: list[VisualSpan]
    focusable: bool
    screen_mode: ScreenMode
    background: Fill | None = None
    region_writes: list[RegionWrite] = msgspec.field(default_factory=list)


class Panel(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Rows at the top or bottom of the screen, which the child does not get."""

    id: str
    position: Position
    height: int
    z: int
    spans: list[VisualSpan]
    focusable: bool
    screen_mode: ScreenMode
    visible: bool
    background: Fill | None = None
    region_writes: list[RegionWrite] = msgspec.field(default_factory=list)


class OverlayFacts(Overlay, frozen=True, kw_only=True, omit_defaults=True):
    """An overlay in an answer that would be too long with its text."""

    spans_left_out: Literal[True]


class PanelFacts(Panel, frozen=True, kw_only=True, omit_defaults=True):
    spans_left_out: Literal[True]


Element = Overlay | Panel


class PanelLayout(NamedTuple):
    """Where panels are: the first of `top` at the upper edge, the last of `bottom` at the lower.

    `rows` is what is left for the child.
    """

    top: list[Panel]
    bottom: list[Panel]
    rows: int


def lay_out(panels: Iterable[Panel], rows: int) -> PanelLayout:
    """Give rows to panels, the highest z first and closest to its edge. Others are left out."""
    left = rows
    top: list[Panel] = []
    bottom: list[Panel] = []
    for panel in sorted(panels, key=lambda panel: -panel.z):  # stable: for equal z, older first
        if panel.height <= left - LEAST_ROWS:
            left -= panel.height
            (top if panel.position == "top" else bottom).append(panel)
    return PanelLayout(top, bottom[::-1], left)


def text_size(spans: Iterable[VisualSpan]) -> tuple[int, int]:
    """Return the rows and columns that a text needs: at least one of each, at most LARGEST."""
    lines = "".join(span.text for span in spans).split("\n")
    return min(LARGEST, len(lines)), min(LARGEST, max(1, *map(text_width, lines)))


def patched(spans: list[VisualSpan], patches: Iterable[SpanPatch]) -> list[VisualSpan]:
    """Return the spans with the patches applied. Raises ValueError for an unknown id."""
    changed = list(spans)
    for patch in patches:
        places = [at for at, span in enumerate(changed) if span.id == patch.id]
        if not places:
            known = ", ".join(repr(span.id) for span in spans if span.id) or "none"
            raise ValueError(f"no span has the id {patch.id!r}; there are: {known}")
        for at in places:
            changed[at] = patch.apply(changed[at])
    return changed


def written(before: list[RegionWrite], writes: Iterable[RegionWrite]) -> list[RegionWrite]:
    """Return the writes with the new ones added; a new one replaces the one at its cell."""
    by_cell: dict[Any, RegionWrite] = {(one.row, one.col): one for one in before}
    by_cell.update({(one.row, one.col): one for one in writes})
    return list(by_cell.values())
