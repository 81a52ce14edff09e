"""What a terminal shows: spans, lines, cursor, modes.

Rule 1: these are plain values. Nothing here knows the engine or a wire format, but the field names
are those on the wire, so a snapshot is encoded as it is.
Rule 2: rows and columns count from zero.
"""

from typing import Literal, NamedTuple

import msgspec

# The sixteen ANSI colours by name (ECMA-48 SGR 30-37 and xterm's bright 90-97).
COLOR_NAMES = (
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright_black",
    "bright_red",
    "bright_green",
    "bright_yellow",
    "bright_blue",
    "bright_magenta",
    "bright_cyan",
    "bright_white",
)


class Rgb(msgspec.Struct, frozen=True):
    """A direct colour (SGR 38;2)."""

    r: int
    g: int
    b: int


# A name of COLOR_NAMES, "color16" to "color255" for the rest of the palette (SGR 38;5), or direct.
Color = str | Rgb

UnderlineStyle = Literal["double", "curly", "dotted", "dashed"]
CursorShape = Literal["block", "bar", "underline"]
ScreenMode = Literal["normal", "alt"]


class Span(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A run of text with one style; what is not set is not sent.

    It refers to nothing that could refer to it, so the garbage collector need not look at it: there
    are a hundred thousand in a long answer.
    """

    text: str
    fg: Color | None = None
    bg: Color | None = None
    bold: bool = False
    faint: bool = False
    italic: bool = False
    underline: bool = False
    underline_style: UnderlineStyle | None = None  # None with underline: a single line
    underline_color: Color | None = None
    strikethrough: bool = False
    overline: bool = False
    inverse: bool = False
    invisible: bool = False
    blink: bool = False
    link: str | None = None


Line = tuple[Span, ...]


class CellRun(NamedTuple):
    """Neighbouring cells of one style, cell by cell."""

    col: int
    cells: tuple[str, ...]  # what each shows; empty after a wide character
    span: Span  # their text and style


class Cursor(msgspec.Struct, frozen=True):
    row: int
    col: int
    visible: bool = True
    shape: CursorShape = "block"
    blinking: bool = False


class Modes(msgspec.Struct, frozen=True):
    """The terminal modes that decide how input must be written."""

    alternate_screen: bool = False
    application_cursor_keys: bool = False  # DECCKM, mode 1
    application_keypad: bool = False  # DECKPAM, mode 66
    bracketed_paste: bool = False  # mode 2004
    mouse_tracking: bool = False  # modes 9, 1000, 1002, 1003
    focus_events: bool = False  # mode 1004
    kitty_keyboard: int = 0  # progressive enhancement flags
