"""A terminal at one moment: everything that is needed to draw it on another one."""

from typing import NamedTuple

from msgspec import Struct

from nacre.core.screen.screen import Cursor, Line

Size = tuple[int, int]  # rows, columns


class Codes(NamedTuple):
    """The codes that bring another terminal into this one's state, without defaults."""

    modes: bytes
    tabs: bytes
    margins: bytes
    cursor: bytes  # where it is; at a line's end that waits to wrap, the last character again
    pen: bytes  # style, link, keyboard and charsets of what is written next


class Picture(Struct, frozen=True):
    """A terminal at one moment; `codes` are the engine's own (terminal/modes.py)."""

    rows: int
    cols: int
    lines: list[Line]
    cursor: Cursor
    title: str
    alternate: bool
    codes: Codes
