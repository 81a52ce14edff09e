"""What a test expects of a screen: a text, its style and place, the cursor, the exit code.

Rule: a check looks at one screen and says in words what is wrong with it; who waits until it is
right is pilot.py.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from nacre.testing.screens.shown import ScreenPlace, ShownScreen
from nacre.testing.screens.style import ExpectedStyle

# A screen that shall not show something must have been quiet for so long (seconds), for a program
# that draws its screen again takes everything away for a moment.
QUIET = 0.1
_LONGEST_WAITED = 500  # characters; the daemon has a limit of its own (max_pattern_chars)


class Check(Protocol):
    @property
    def styled(self) -> bool:
        """Whether it needs the styles of the screen."""

    @property
    def quiet(self) -> float:
        """Seconds that the screen must have been quiet."""

    @property
    def after_end(self) -> bool:
        """Whether it is about a program that has ended."""

    def problem(self, screen: ShownScreen) -> str | None:
        """Return what is wrong; None if the screen is as expected."""


@dataclass(frozen=True)
class TextCheck:
    """A text, or a regular expression, stands on the screen: anywhere, in a row, at a place."""

    text: str
    regex: bool = False
    style: ExpectedStyle | None = None
    row: int | None = None
    col: int | None = None
    quiet: float = 0.0
    after_end: bool = False

    @property
    def styled(self) -> bool:
        return self.style is not None

    @property
    def is_plain(self) -> bool:
        """Whether it is only a text in one row, of a length that the daemon looks for itself."""
        placed = self.style is not None or self.row is not None or self.col is not None
        short = 0 < len(self.text) <= _LONGEST_WAITED and "\n" not in self.text
        return short and not self.regex and not placed

    def problem(self, screen: ShownScreen) -> str | None:
        found = list(_matches(self, screen))
        if not found:
            return f"{self} is not on the screen{_nearest(self, screen)}"
        there = [one for one in found if self._is_here(screen.place(one[0]))]
        if not there:
            place = screen.place(found[0][0])
            return f"{self} stands at row {place.row}, column {place.col}, not {self._where()}"
        if self.style is None:
            return None
        problems = [self._style_problem(screen, *one) for one in there]
        return None if None in problems else problems[0]

    def _is_here(self, place: ScreenPlace) -> bool:
        return self.row in (None, place.row) and self.col in (None, place.col)

    def _where(self) -> str:
        parts = (("in row", self.row), ("in column", self.col))
        return " ".join(f"{word} {value}" for word, value in parts if value is not None)

    def _style_problem(self, screen: ShownScreen, start: int, end: int) -> str | None:
        assert self.style is not None
        for char in screen.chars(start, end):
            if char.text.strip() and (problem := self.style.problem(char.span)):
                row, col = char.place
                return f"{self} is there, but {problem} (row {row}, column {col})"
        return None

    def __str__(self) -> str:
        return f"/{self.text}/" if self.regex else repr(self.text)


@dataclass(frozen=True)
class AbsenceCheck:
    """A text does not stand on the screen."""

    text: str
    regex: bool = False
    styled: bool = False
    quiet: float = QUIET
    after_end: bool = False

    def problem(self, screen: ShownScreen) -> str | None:
        check = TextCheck(self.text, self.regex)
        found = next(iter(_matches(check, screen)), None)
        if found is None:
            return None
        place = screen.place(found[0])
        return f"{check} is on the screen, at row {place.row}, column {place.col}"


@dataclass(frozen=True)
class CursorCheck:
    row: int | None = None
    col: int | None = None
    visible: bool | None = None
    styled: bool = False
    quiet: float = 0.0
    after_end: bool = False

    def problem(self, screen: ShownScreen) -> str | None:
        cursor = screen.cursor
        if self.row not in (None, cursor.row) or self.col not in (None, cursor.col):
            return f"the cursor is at row {cursor.row}, column {cursor.col}, not at {self._place()}"
        if self.visible not in (None, cursor.visible):
            return f"the cursor is {'visible' if cursor.visible else 'hidden'}"
        return None

    def _place(self) -> str:
        parts = (("row", self.row), ("column", self.col))
        return ", ".join(f"{word} {value}" for word, value in parts if value is not None)


@dataclass(frozen=True)
class ExitCheck:
    """The program has ended, with this exit code if one is given."""

    code: int | None = None
    styled: bool = False
    quiet: float = 0.0
    after_end: bool = True

    def problem(self, screen: ShownScreen) -> str | None:
        if screen.alive:
            return "the program is still running"
        if self.code in (None, screen.exit_code):
            return None
        return f"{ended(screen.exit_code)}, not with exit code {self.code}"


def ended(exit_code: int | None) -> str:
    by = "by a signal" if exit_code is None else f"with exit code {exit_code}"
    return f"the program ended {by}"


def _matches(check: TextCheck, screen: ShownScreen) -> list[tuple[int, int]]:
    pattern = check.text if check.regex else re.escape(check.text)
    return [found.span() for found in re.finditer(pattern, screen.text, re.MULTILINE)]


def _nearest(check: TextCheck, screen: ShownScreen) -> str:
    """Tell the row that is most like it: mostly a word was misspelt, or has another case."""
    if check.regex:
        return ""
    rows = {row.strip(): number for number, row in enumerate(screen.rows) if row.strip()}
    near = get_close_matches(check.text, list(rows), n=1, cutoff=0.6)
    return f"; row {rows[near[0]]} has {near[0]!r}" if near else ""
