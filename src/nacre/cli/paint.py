"""Rebuild a styled line for a terminal: spans back to SGR sequences (ECMA-48 8.3.117).

Rule 1: only SGR is written. Links are left out: their address is the program's choice, not ours.
Rule 2: with NO_COLOR the attributes stay and the colours go (no-color.org).
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from nacre.core.screen import COLOR_NAMES

_RESET = "\x1b[0m"

_ATTRIBUTES = {
    "bold": "1",
    "faint": "2",
    "italic": "3",
    "blink": "5",
    "inverse": "7",
    "invisible": "8",
    "strikethrough": "9",
    "overline": "53",
}
# Kitty's extension 4:n, which other terminals took over; 4 alone is a single line.
_UNDERLINES = {"double": "4:2", "curly": "4:3", "dotted": "4:4", "dashed": "4:5"}


def paint_line(spans: Sequence[dict[str, Any]]) -> str:
    colored = not os.environ.get("NO_COLOR")
    return "".join(_paint(span, colored=colored) for span in spans)


def _paint(span: dict[str, Any], *, colored: bool) -> str:
    codes = [*_attributes(span), *(_colors(span) if colored else ())]
    text: str = span["text"]
    return f"\x1b[{';'.join(codes)}m{text}{_RESET}" if codes else text


def _attributes(span: dict[str, Any]) -> Iterable[str]:
    for name, code in _ATTRIBUTES.items():
        if span.get(name):
            yield code
    if span.get("underline"):
        yield _UNDERLINES.get(span.get("underline_style") or "", "4")


def _colors(span: dict[str, Any]) -> Iterable[str]:
    if (color := span.get("fg")) is not None:
        yield _color(color, base=30, extended=38)
    if (color := span.get("bg")) is not None:
        yield _color(color, base=40, extended=48)
    if (color := span.get("underline_color")) is not None:
        yield _color(color, base=None, extended=58)


def _color(color: str | dict[str, int], *, base: int | None, extended: int) -> str:
    if isinstance(color, dict):
        return f"{extended};2;{color['r']};{color['g']};{color['b']}"
    if color not in COLOR_NAMES:
        return f"{extended};5;{int(color.removeprefix('color'))}"
    index = COLOR_NAMES.index(color)
    if base is None:  # underlines have no short form
        return f"{extended};5;{index}"
    return str(
        base + index if index < 8 else base + 60 + index - 8
    )  # 90 to 97, 100 to 107: aixterm
