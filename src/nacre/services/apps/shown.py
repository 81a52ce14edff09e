"""The screens that callers have seen of a program, so that they can ask for what has changed.

A wait for new text remembers screens too (session/seen_screens.py), but by the numbers of lines,
which those of a full-screen program do not have. Here a screen is its rows.

Rule: the last ones are kept, of sessions that somebody reads this way.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

from nacre.core.screen.screen import Line
from nacre.services.session.session import Session

# Screens of a session that callers can refer to by generation; one takes some kilobytes.
_SCREENS = 8


class SeenRows(NamedTuple):
    """The rows of a screen with their styles: another colour is a change, too."""

    rows: tuple[Line, ...]
    cols: int

    def changes_to(self, later: "SeenRows") -> list[int] | None:
        """Return which rows are different; None if the sizes are."""
        if self.cols != later.cols or len(self.rows) != len(later.rows):
            return None
        pairs = zip(self.rows, later.rows, strict=True)
        return [row for row, (one, other) in enumerate(pairs) if one != other]


class ShownScreens:
    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Session, dict[int, SeenRows]] = WeakKeyDictionary()

    def note(self, session: Session) -> SeenRows:
        """Remember the screen as it is now, by its generation."""
        kept = self._known.setdefault(session, {})
        if session.generation not in kept:
            terminal = session.terminal
            kept[session.generation] = SeenRows(tuple(terminal.styled_lines()), terminal.cols)
            while len(kept) > _SCREENS:
                del kept[next(iter(kept))]
        return kept[session.generation]

    def find(self, session: Session, generation: int) -> SeenRows | None:
        return self._known.get(session, {}).get(generation)
