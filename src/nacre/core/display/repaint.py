"""A screen as the bytes that draw it on another terminal.

Rule 1: it is exact on a terminal of the same size: that terminal then shows the same, with the same
cursor and pen, and later output has the same effect there as here.
Rule 2: it draws on the current screen and never switches to the alternate one or back, because the
other screen may be the person's own. The caller switches first if needed.
Rule 3: it starts from the defaults, whatever state the other terminal was in.
Rule 4: what no viewer's terminal may get (passage.py) is not drawn either: links but to http and
https, and characters that nobody sees.
Not included: the saved cursor (DECSC), the character that REP repeats, and changed palettes; the
engine does not report them.
"""

import re
from typing import TypeGuard

from nacre.core.keys.sequences import WHEEL_IS_ARROWS, WHEEL_IS_NOTHING
from nacre.core.screen.controls import BEGIN, CLEAR, CLUSTERS, END
from nacre.core.screen.picture import Picture
from nacre.core.screen.screen import Line, Span
from nacre.core.text.sgr import sgr_parameters
from nacre.core.text.unseen import for_eyes
from nacre.late_pattern import late_pattern

# Modes by number: xterm ctlseqs, "DEC Private Mode Set"; 2027 is the grapheme cluster proposal.
_MODE = late_pattern(rb"\x1b\[(\??)(\d+)([hl])")
_SIDE_MARGINS = b"\x1b[?69h"
# Modes that switch or resize the screen: 3 and 40 change the width, 2026 holds drawing back.
_NOT_CARRIED = {b"?3", b"?40", b"?47", b"?1047", b"?1048", b"?1049", b"?2026"}
# How text wraps: not useful where only what fits is drawn.
_FLOW = {b"4", b"20", b"?6", b"?7", b"?69"}

DEFAULTS = (
    # no origin, insert and newline mode, margins over all, wrapping, a cursor
    b"\x1b[?6l\x1b[4;20l\x1b[?69l\x1b[r\x1b[?7;25h"
    # cursor keys, keypad, colours the right way round, reverse wrap, mouse, focus, paste, clusters
    b"\x1b[?1;5;45;66l\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004;2027l"
    # keyboards: kitty's flags, xterm's modifyOtherKeys
    b"\x1b[=0;1u\x1b[>4m"
    # pen, link, charsets
    b"\x1b[0m\x1b]8;;\x1b\\\x1b(B\x1b)B\x0f"
)

_SHAPES = {"block": 1, "underline": 3, "bar": 5}  # DECSCUSR, blinking; steady is one more


def repaint(picture: Picture) -> bytes:
    """Return the bytes that draw a picture."""
    return b"".join([*_head(picture), *_whole(picture), *_state(picture), END])


def restore() -> bytes:
    """Return the bytes that reset a terminal to its defaults; the screen stays as it is."""
    return DEFAULTS + b"\x1b[0 q" + END


def _head(picture: Picture) -> list[bytes]:
    parts = [BEGIN, DEFAULTS]
    if CLUSTERS in picture.codes.modes:
        parts.append(CLUSTERS)
    parts.append(CLEAR)
    if picture.title:
        parts.append(paint_title(picture.title))
    return parts


def paint_title(title: str) -> bytes:
    """Return the bytes that set the window's title (OSC 2)."""
    harmless = for_eyes(re.sub(r"[\x00-\x1f\x7f-\x9f]", "", title))
    return b"\x1b]2;%b\x1b\\" % harmless.encode(errors="replace")


# --- the text ----------------------------------------------------------------------------------


def _whole(picture: Picture) -> list[bytes]:
    return [_row(y, line) for y, line in enumerate(picture.lines) if line]


def _row(y: int, line: Line) -> bytes:
    return b"\x1b[%dH%b" % (y + 1, "".join(map(paint_span, line)).encode(errors="replace"))


# A link (OSC 8) that is no web page.
_OTHER_LINK = late_pattern(rb"\x1b\]8;[^;\x07\x1b]*;(?!(?i:https?)://)[^\x07\x1b]+(?:\x07|\x1b\\)")


def is_web(link: str | None) -> TypeGuard[str]:
    return link is not None and link[:8].lower().startswith(("http://", "https://"))


def paint_span(span: Span) -> str:
    text = for_eyes(span.text)
    if codes := sgr_parameters(span):
        text = f"\x1b[{codes}m{text}\x1b[m"
    return f"\x1b]8;;{span.link}\x1b\\{text}\x1b]8;;\x1b\\" if is_web(span.link) else text


# --- the state ---------------------------------------------------------------------------------


def _state(picture: Picture) -> list[bytes]:
    codes = picture.codes
    return [
        codes.tabs,
        _SIDE_MARGINS if _SIDE_MARGINS in codes.modes else b"",
        codes.margins,
        *_modes(picture, without=_NOT_CARRIED | {b"?69"}),
        _cursor(picture),
        _OTHER_LINK.sub(b"", codes.pen),
    ]


def _modes(picture: Picture, *, without: set[bytes]) -> list[bytes]:
    shape = _SHAPES[picture.cursor.shape] + (not picture.cursor.blinking)
    kept = [
        found[0]
        for found in _MODE.finditer(picture.codes.modes)
        if found[1] + found[2] not in without
    ]
    # A steady block is the default: the other terminal may use its own cursor.
    return [b"\x1b[%d q" % (0 if shape == 2 else shape), *kept]


# kitty's flags and modifyOtherKeys, among the codes of the pen.
_KEYBOARDS = late_pattern(rb"\x1b\[(?:=\d+;\d+u|>4;\d+m)")
_NOT_OF_SCENES = _NOT_CARRIED | _FLOW | {b"?25"}


def kept_state(picture: Picture) -> bytes:
    """Return the modes in which the program gets its keys and mouse, and the cursor's shape.

    For a screen on which only what fits is drawn, and whose cursor is handled separately.
    """
    keyboards = _KEYBOARDS.findall(picture.codes.pen)
    # Scenes are drawn on the alternate screen, where many terminals turn the wheel into arrow keys.
    # Full-screen programs want that, but at a prompt it would walk through the history.
    wheel = WHEEL_IS_ARROWS if picture.alternate else WHEEL_IS_NOTHING
    return b"".join([wheel, *_modes(picture, without=_NOT_OF_SCENES), *keyboards])


def history(lines: list[Line], rows: int) -> bytes:
    """Return bytes that fill the scrollback of a reset terminal: lines, then blank rows.

    There are as many blank rows as push the lines out of a screen with that many rows.
    """
    if not lines:
        return b""
    text = "".join("".join(map(paint_span, line)) + "\r\n" for line in lines)
    return text.encode(errors="replace") + b"\n" * (rows - 1)


_MARGINS = late_pattern(rb"\x1b\[(\d+);(\d+)r")
_SIDES = late_pattern(rb"\x1b\[(\d+);(\d+)s")
_PLACE = late_pattern(rb"\x1b\[(\d+);(\d+)H")


def _cursor(picture: Picture) -> bytes:
    row, col = picture.cursor.row + 1, picture.cursor.col + 1
    again = _PLACE.sub(b"", picture.codes.cursor, count=1)
    if b"\x1b[?6h" in picture.codes.modes:  # origin mode: places count from the margins
        if margins := _MARGINS.search(picture.codes.margins):
            row -= int(margins[1]) - 1
        if sides := _SIDES.search(picture.codes.margins):
            col -= int(sides[1]) - 1
    place = b"\x1b[%d;%dH" % (max(1, row), max(1, col))
    line = picture.lines[picture.cursor.row]
    if again and line and is_web(link := line[-1].link):
        # The formatter writes the last character again, but not its link.
        again = b"\x1b]8;;%b\x1b\\%b\x1b]8;;\x1b\\" % (link.encode(errors="replace"), again)
    return place + again
