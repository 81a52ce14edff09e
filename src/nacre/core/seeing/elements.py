"""What can be found on a screen, as it is told on the wire.

Rule: an element says by what it was found (`evidence`). What only might be there is not told.
"""

from typing import Literal

import msgspec

from nacre.core.screen.screen import Color

Role = Literal["box", "button", "item", "menu", "tab", "checkbox", "radio", "field", "table"]


class Element(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a screen that stands for something; rows and columns count from zero.

    `ref` names it until the screen changes. `text` is a box's title, a button's or an item's label,
    a field's content.
    """

    ref: str = ""
    role: Role
    text: str
    row: int
    col: int
    width: int
    height: int = 1
    selected: bool = False  # it is the highlighted one among others
    focused: bool = False  # what is typed goes there
    checked: bool | None = None  # of a checkbox or radio
    key: str | None = None  # that presses it, as its label says
    label: str | None = None  # of a field
    inside: str | None = None  # the innermost box around it
    columns: list[str] | None = None  # of a table: the names
    records: list[list[str]] | None = None  # and the cells of each row below them
    evidence: str = ""

    def has(self, row: int, col: int) -> bool:
        return 0 <= row - self.row < self.height and 0 <= col - self.col < self.width

    @property
    def place(self) -> tuple[int, int]:
        """Where a click should go: the middle of its first row, but a box's or table's corner."""
        if self.role in ("box", "table"):
            return self.row, self.col
        return self.row + (self.height - 1) // 2, self.col + (max(1, self.width) - 1) // 2


class HighlightedText(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Text on a ground of its own; it may be selected, a heading, a status line or a mark."""

    text: str
    row: int
    col: int
    width: int
    inverse: bool = False
    fg: Color | None = None
    bg: Color | None = None
