"""Which element has the focus, and which key brings it to another one.

Rule 1: an element has the focus if the screen shows it: the cursor is on it, or it is the
highlighted one. A button that is drawn as the default while the cursor is in a field has not.
Rule 2: keys are those that move: arrows within a list or a row, Tab between the others. None that
chooses, and no letters.
Rule 3: a key that has led to a screen where it was pressed before is not pressed again, so that a
search ends.
"""

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

from nacre.core.screen.screen import Cursor
from nacre.core.seeing.elements import Element, Role

MovingKey = Literal["Tab", "Shift+Tab", "Up", "Down", "Left", "Right"]

_HOLDERS: tuple[Role, ...] = ("box", "table")
_IN_A_ROW: tuple[Role, ...] = ("button", "menu", "tab")
_IN_A_COLUMN: tuple[Role, ...] = ("item", "checkbox", "radio")


class FocusView(NamedTuple):
    """What a screen shows that tells of the focus."""

    elements: Sequence[Element]
    cursor: Cursor

    @property
    def mark(self) -> Hashable:
        """Equal for two screens that have the focus at the same place."""
        lit = tuple((one.role, one.row, one.col) for one in self.lit)
        return lit, (self.cursor.row, self.cursor.col) if self.cursor.visible else None

    @property
    def lit(self) -> list[Element]:
        return [one for one in self.elements if one.selected or one.focused]

    @property
    def tells(self) -> bool:
        """Whether anything at all shows where the focus is."""
        return bool(self.lit) or any(_has_cursor(one, self.cursor) for one in self.elements)

    def find(self, known: Element) -> Element | None:
        """Return an element of an earlier screen as it is now; None if that is not sure."""
        same = [one for one in self.elements if one.role == known.role]
        there = [one for one in same if (one.row, one.col) == (known.row, known.col)]
        if there:
            return there[0]
        alike = [one for one in same if (one.text, one.label) == (known.text, known.label)]
        return alike[0] if len(alike) == 1 else None

    def evidence(self, target: Element) -> str | None:
        """Return by what it is told that an element has the focus; None if it has not."""
        if target.role in _HOLDERS:
            inside = [one for one in self.lit if one is not target and target.has(one.row, one.col)]
            return f"{inside[0].ref} in it: {inside[0].evidence}" if inside else None
        if _has_cursor(target, self.cursor):
            return "the cursor is in it"
        if target.focused:
            return target.evidence
        if target.role == "button" and any(one.focused for one in self.elements):
            return None
        return target.evidence if target.selected else None


def _has_cursor(one: Element, cursor: Cursor) -> bool:
    if one.role in _HOLDERS or not cursor.visible:
        return False
    # Behind the last character of a field is in it, too.
    end = one.col + one.width + (one.role == "field")
    return one.row <= cursor.row < one.row + one.height and one.col <= cursor.col < end


def unfocusable(one: Element) -> str | None:
    """Return why an element cannot have the focus; None if it may."""
    if one.key is not None:
        return f"it names the key {one.key}, and is no part that can have the focus"
    return None


class FocusSearch:
    """One way from key to key. It remembers what each has led to."""

    def __init__(self) -> None:
        self._seen: dict[MovingKey, set[Hashable]] = {}
        self._dead: set[MovingKey] = set()

    def next_key(self, view: FocusView, target: Element) -> MovingKey | None:
        """Return what to press on this screen; None if nothing is left to try."""
        for key in _ways(view, target):
            seen = self._seen.setdefault(key, set())
            if key not in self._dead and view.mark not in seen:
                seen.add(view.mark)
                return key
        return None

    def note_nothing(self, key: MovingKey) -> None:
        """A key has changed nothing."""
        self._dead.add(key)

    def note_change(self, key: MovingKey) -> None:
        """A key has moved the focus: what the others did before says nothing about here."""
        self._dead.discard(key)
        if key in ("Tab", "Shift+Tab"):
            self._dead -= {"Up", "Down", "Left", "Right"}


def _ways(view: FocusView, target: Element) -> list[MovingKey]:
    """Return the keys that may help, the likeliest first."""
    beside = _beside(view, target)
    if beside is not None:
        return [*_towards(beside, target), "Tab"]
    lit = view.lit
    arrows = _towards(lit[0], target) if lit else []
    return ["Tab", "Shift+Tab", *arrows]


def _beside(view: FocusView, target: Element) -> Element | None:
    """Return the selected one of the list or row that the target belongs to."""
    if target.role == "button" and any(one.focused for one in view.lit if one.role == "field"):
        return None  # the arrows are the field's
    for one in view.lit:
        if one.role != target.role or one.inside != target.inside:
            continue
        if target.role in _IN_A_ROW and one.row == target.row:
            return one
        overlaps = one.col < target.col + target.width and target.col < one.col + one.width
        if target.role in _IN_A_COLUMN and overlaps:
            return one
    return None


def _towards(one: Element, target: Element) -> list[MovingKey]:
    down: list[MovingKey] = ["Down"] if target.row > one.row else ["Up"]
    right: list[MovingKey] = ["Right"] if target.col > one.col else ["Left"]
    if one.row == target.row:
        return right
    return down if one.col == target.col else [*down, *right]
