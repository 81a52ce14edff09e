"""What shows the focus, and which keys are tried on the way to an element."""

import pytest

from nacre.core.journal.asciicast_screen import cells_of_cast
from nacre.core.screen.screen import Cursor
from nacre.core.seeing.elements import Element, Role
from nacre.core.seeing.focus import FocusSearch, FocusView
from nacre.core.seeing.snapshot import find_elements

from core.seeing.test_snapshot import SCREENS

HIDDEN = Cursor(0, 0, visible=False)


def view_of(name: str) -> FocusView:
    cells = cells_of_cast((SCREENS / f"{name}.cast").read_text("utf-8"))
    return FocusView(find_elements(cells), cells.cursor)


def named(view: FocusView, text: str) -> Element:
    return next(one for one in view.elements if text in (one.text, one.label))


@pytest.mark.parametrize(
    ("name", "text", "evidence"),
    [
        ("dialog-inputbox", "Your name", "the cursor is in it"),
        ("dialog-inputbox", "OK", None),  # drawn as the default, but the cursor is in the field
        ("whiptail-inputbox", "Ada", "the cursor is in it"),
        ("whiptail-menu", "2 Banana", "on red, its neighbours on white"),
        ("textual-field", "Host", "a box of one row; a cursor is drawn in it"),
        ("textual-field", "Name", None),
        ("textual-button", "Save", "its label has a ground of its own"),
        ("textual-button", "Cancel", None),
        ("textual-checkbox", "Verbose", "its label has a ground of its own"),
    ],
)
def test_focus_on_recorded_screens(name: str, text: str, evidence: str | None) -> None:
    view = view_of(name)
    told = view.evidence(named(view, text))
    assert told == evidence or (evidence is not None and str(told).endswith(evidence))


def test_a_box_has_the_focus_if_something_in_it_has() -> None:
    view = view_of("mc")
    left, right = [one for one in view.elements if one.role == "box"][:2]
    assert "its neighbours on blue" in str(view.evidence(left))
    assert view.evidence(right) is None


def element(role: Role, row: int, col: int, *, selected: bool = False) -> Element:
    return Element(role=role, text=f"{row}-{col}", row=row, col=col, width=5, selected=selected)


def test_a_key_that_leads_where_it_led_before_is_not_pressed_again() -> None:
    target = element("field", 5, 5)
    rings = [
        FocusView([element("button", 9, col, selected=True), target], HIDDEN) for col in (1, 9)
    ]
    search = FocusSearch()
    assert search.next_key(rings[0], target) == "Tab"
    assert search.next_key(rings[1], target) == "Tab"
    assert search.next_key(rings[0], target) == "Shift+Tab", "the ring is through"
    search.note_nothing("Shift+Tab")
    assert search.next_key(rings[0], target) == "Up"
    search.note_nothing("Up")
    assert search.next_key(rings[0], target) == "Right"
    assert search.next_key(rings[0], target) is None


def test_within_a_row_or_a_list_arrows_come_first() -> None:
    entries = [element("item", row, 3, selected=row == 4) for row in range(2, 7)]
    view = FocusView(entries, HIDDEN)
    assert FocusSearch().next_key(view, entries[0]) == "Up"
    assert FocusSearch().next_key(view, entries[-1]) == "Down"
    buttons = [element("button", 8, col, selected=col == 9) for col in (1, 9, 20)]
    view = FocusView(buttons, HIDDEN)
    assert FocusSearch().next_key(view, buttons[0]) == "Left"
    assert FocusSearch().next_key(view, buttons[2]) == "Right"


def test_an_element_of_an_earlier_screen_is_known_by_its_place_or_its_name() -> None:
    known = element("button", 3, 3)
    moved = Element(role="button", text="3-3", row=9, col=3, width=5)
    assert FocusView([moved], HIDDEN).find(known) == moved
    assert FocusView([moved, moved], HIDDEN).find(known) is None
    assert FocusView([], HIDDEN).find(known) is None
