"""A screen as a test sees it: its rows as text, and the style of each character."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nacre.core.screen.screen import Line, Span
from nacre.core.text.widths import char_width


class ScreenPlace(NamedTuple):
    row: int
    col: int


class ShownCursor(NamedTuple):
    row: int
    col: int
    visible: bool


class StyledChar(NamedTuple):
    place: ScreenPlace
    text: str
    span: Span  # whose style it has


@dataclass(frozen=True)
class ShownScreen:
    """`lines` are texts or spans; `rows` is the same without styles and without blank ends."""

    lines: Sequence[str | Line]
    cursor: ShownCursor
    cols: int
    generation: int
    alive: bool
    exit_code: int | None

    @property
    def rows(self) -> list[str]:
        return [text_of(line).rstrip() for line in self.lines]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    def chars(self, start: int, end: int) -> Iterator[StyledChar]:
        """Yield the characters of a part of `text`, with their places; not its line ends."""
        at = 0
        for row, line in enumerate(self.lines):
            width = len(text_of(line).rstrip())
            if at < end and at + width > start:
                first, last = max(0, start - at), min(width, end - at)
                yield from list(_chars(row, line))[first:last]
            at += width + 1

    def place(self, index: int) -> ScreenPlace:
        """Return where a character of `text` stands; a line end stands behind its row."""
        row = self.text.count("\n", 0, index)
        before = self.text[self.text.rfind("\n", 0, index) + 1 : index]
        return ScreenPlace(row, sum(map(char_width, before)))


def text_of(line: str | Line) -> str:
    return line if isinstance(line, str) else "".join(span.text for span in line)


def _chars(row: int, line: str | Line) -> Iterator[StyledChar]:
    col = 0
    for span in (Span(line),) if isinstance(line, str) else line:
        for char in span.text:
            yield StyledChar(ScreenPlace(row, col), char, span)
            col += char_width(char)
