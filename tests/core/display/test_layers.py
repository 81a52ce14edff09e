"""The elements of one session: made, changed, removed; each in the mode it was made in."""

from typing import Any

import pytest

from nacre.core.display.layers import Elements
from nacre.core.operations.all import parse_operation
from nacre.core.operations.display import PutOverlay, PutPanel
from nacre.core.operations.elements import (
    HIGHEST,
    LARGEST,
    Background,
    Overlay,
    Panel,
    RegionWrite,
    VisualSpan,
)
from nacre.errors import InvalidInput, LimitReached, OverlayNotFound, PanelNotFound


def put_overlay(elements: Elements, **given: Any) -> Overlay:
    request = parse_operation("overlay", {"session": "x", **given})
    assert isinstance(request, PutOverlay)
    return elements.put_overlay(request)


def put_panel(elements: Elements, **given: Any) -> Panel:
    request = parse_operation("panel", {"session": "x", **given})
    assert isinstance(request, PutPanel)
    return elements.put_panel(request)


@pytest.fixture
def elements() -> Elements:
    return Elements(most=5, most_chars=100)


def test_what_is_not_given_has_a_default(elements: Elements) -> None:
    overlay = put_overlay(elements, spans=[{"text": "two\nrows"}])
    assert (overlay.x, overlay.y, overlay.z, overlay.width, overlay.height) == (0, 0, 0, 4, 2)
    assert (overlay.focusable, overlay.screen_mode, overlay.background) == (True, "normal", None)
    panel = put_panel(elements, spans=[{"text": "a\nb\nc"}])
    assert (panel.position, panel.height, panel.z, panel.visible) == ("bottom", 3, 0, True)
    empty = put_overlay(elements)
    assert (empty.width, empty.height, empty.spans) == (1, 1, [])
    assert put_panel(elements).height == 1


def test_what_is_new_is_on_top_of_its_kind(elements: Elements) -> None:
    assert [put_overlay(elements).z for _ in range(2)] == [0, 1]
    assert put_overlay(elements, z=7).z == 7
    assert put_overlay(elements).z == 8
    assert put_panel(elements).z == 0


def test_the_top_of_all_z_has_nothing_above_it(elements: Elements) -> None:
    highest = put_overlay(elements, z=HIGHEST)
    over = put_overlay(elements)
    assert over.z == HIGHEST
    assert elements.overlays() == [highest, over]  # the later one is drawn later


def test_overlays_are_listed_from_the_lowest(elements: Elements) -> None:
    high, low = put_overlay(elements, z=5), put_overlay(elements, z=-5)
    assert elements.overlays() == [low, high]


def test_an_update_changes_what_is_given_and_keeps_the_rest(elements: Elements) -> None:
    made = put_overlay(
        elements,
        x=1,
        y=2,
        z=3,
        width=30,
        height=4,
        background={"bg": "blue"},
        spans=[{"text": "a", "id": "s"}],
        focusable=False,
        writes=[{"row": 0, "col": 0, "text": "w"}],
    )
    moved = put_overlay(elements, id=made.id, x=0, z=-1)
    assert (moved.x, moved.y, moved.z, moved.width, moved.height) == (0, 2, -1, 30, 4)
    assert (moved.background, moved.focusable) == (Background(bg="blue"), False)
    patched = put_overlay(elements, id=made.id, update=[{"id": "s", "bold": True}])
    assert patched.spans == [VisualSpan(text="a", id="s", bold=True)]
    assert patched.region_writes == [RegionWrite(row=0, col=0, text="w")]
    anew = put_overlay(elements, id=made.id, spans=[{"text": "b", "id": "t"}])
    assert anew.region_writes == []
    both = put_overlay(
        elements, id=made.id, spans=[{"text": "c", "id": "u"}], update=[{"id": "u", "text": "d"}]
    )
    assert both.spans == [VisualSpan(text="d", id="u")]
    with pytest.raises(InvalidInput, match="no span has the id 'nobody'"):
        put_overlay(elements, id=made.id, x=9, update=[{"id": "nobody", "text": "d"}])
    assert elements.overlays() == [both]


def test_a_text_that_is_updated_does_not_change_a_panels_height(elements: Elements) -> None:
    made = put_panel(elements, spans=[{"text": "one"}])
    assert put_panel(elements, id=made.id, spans=[{"text": "a\nb"}]).height == 1


def test_an_overlay_stays_as_large_as_its_text_where_no_size_was_given(elements: Elements) -> None:
    made = put_overlay(elements, spans=[{"text": "1 %", "id": "s"}])
    grown = put_overlay(elements, id=made.id, update=[{"id": "s", "text": "100 %\ndone"}])
    assert (grown.width, grown.height) == (5, 2)
    moved = put_overlay(elements, id=made.id, x=4)
    assert (moved.width, moved.height) == (5, 2)
    fixed = put_overlay(elements, id=made.id, width=3, spans=[{"text": "a long line"}])
    assert (fixed.width, fixed.height) == (3, 1)
    assert put_overlay(elements, id=made.id, spans=[{"text": "a\nlong\none"}]).width == 3
    assert put_overlay(elements, id=made.id, spans=[{"text": "a\nlong\none"}]).height == 3


def test_a_size_that_was_given_stays_whatever_the_text(elements: Elements) -> None:
    made = put_overlay(elements, width=3, height=1, spans=[{"text": "one"}])
    same = put_overlay(elements, id=made.id, spans=[{"text": "a\nb"}])
    assert (same.width, same.height) == (3, 1)


def test_a_text_of_very_many_rows_makes_no_endless_element() -> None:
    elements = Elements(most=1, most_chars=100_000)
    assert put_overlay(elements, spans=[{"text": "\n" * 90_000}]).height == LARGEST


def test_an_unknown_id_says_what_there_is(elements: Elements) -> None:
    with pytest.raises(OverlayNotFound, match=r"no overlay 'x' \(there are: none\); leave id out"):
        put_overlay(elements, id="x")
    panel = put_panel(elements)
    with pytest.raises(PanelNotFound, match=rf"no panel 'x' \(there are: {panel.id}\)"):
        put_panel(elements, id="x")
    with pytest.raises(OverlayNotFound):
        put_overlay(elements, id=panel.id)
    with pytest.raises(OverlayNotFound):
        elements.remove(Overlay, panel.id)
    with pytest.raises(PanelNotFound):
        elements.remove(Panel, "")
    # Leaving the id out would remove all of them.
    with pytest.raises(PanelNotFound, match=rf"there are: {panel.id}\); nothing was removed$"):
        elements.remove(Panel, "x")


def test_a_removal_is_of_one_or_of_all_of_a_kind(elements: Elements) -> None:
    first, second = put_overlay(elements), put_overlay(elements)
    panel = put_panel(elements)
    elements.remove(Overlay, first.id)
    assert elements.overlays() == [second]
    elements.enter_layer()
    put_overlay(elements)
    elements.remove(Overlay, None)
    assert elements.overlays() == []
    elements.leave_layer()
    assert elements.overlays() == []
    assert elements.panels() == [panel]
    elements.remove(Panel, None)
    assert not elements


def test_a_failed_creation_takes_no_room(elements: Elements) -> None:
    for _ in range(5):
        put_overlay(elements)
    with pytest.raises(LimitReached):
        put_panel(elements)
    elements.remove(Overlay, None)
    with pytest.raises(LimitReached):
        put_overlay(elements, spans=[{"text": "x" * 101}])
    assert not elements
    put_overlay(elements, spans=[{"text": "x" * 100}])


def test_who_has_room_is_noted_for_the_mode_that_shows(elements: Elements) -> None:
    low, high = put_panel(elements, height=4, z=0), put_panel(elements, height=4, z=1)
    elements.note_visible(8)
    assert [panel.visible for panel in elements.panels()] == [False, True]
    elements.enter_layer()
    elements.note_visible(100)
    elements.leave_layer()
    assert [panel.visible for panel in elements.panels()] == [False, True]
    elements.note_visible(10)
    assert [panel.visible for panel in elements.panels()] == [True, True]
    assert [panel.id for panel in elements.panels()] == [low.id, high.id]


@pytest.mark.parametrize("first", ["layer", "child"])
def test_the_mode_is_alt_while_layer_or_child_make_it_so(elements: Elements, first: str) -> None:
    normal = put_overlay(elements)
    elements.enter_layer()
    alt = put_overlay(elements)
    assert elements.note_alternate(True)
    assert not elements.note_alternate(True)
    if first == "layer":
        elements.leave_layer()
    else:
        elements.note_alternate(False)
    assert (elements.mode, elements.overlays()) == ("alt", [alt])
    if first == "layer":
        elements.note_alternate(False)
    else:
        elements.leave_layer()
    assert (elements.mode, elements.overlays()) == ("normal", [normal])
    assert elements.find(alt.id) is None


def test_what_is_kept_is_restored(elements: Elements) -> None:
    overlay, panel = put_overlay(elements, x=3), put_panel(elements, height=2)
    elements.enter_layer()
    over = put_overlay(elements)
    kept = elements.keep()
    again = Elements(most=5, most_chars=100)
    again.restore(kept, alternate=False)
    assert (again.mode, again.overlays()) == ("alt", [over])
    again.leave_layer()
    assert (again.overlays(), again.panels()) == ([overlay], [panel])
    assert put_overlay(again).id not in {overlay.id, panel.id, over.id}
    assert put_overlay(again, id=overlay.id, spans=[{"text": "longer"}]).width == 6


def test_what_was_made_on_a_screen_that_ended_meanwhile_is_not_restored(elements: Elements) -> None:
    elements.note_alternate(True)
    over = put_overlay(elements)
    again = Elements(most=5, most_chars=100)
    again.restore(elements.keep(), alternate=True)
    assert again.overlays() == [over]
    again.restore(elements.keep(), alternate=False)
    again.note_alternate(True)
    assert again.overlays() == []
