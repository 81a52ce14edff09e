"""What a mouse does, event by event."""

from nacre.core.keys.pointing import PointerEvent, click, drag, scroll

NONE = frozenset[str]()


def test_a_click_is_a_press_and_a_release() -> None:
    press = PointerEvent("press", "left", 2, 3)
    release = PointerEvent("release", "left", 2, 3)
    assert click("left", (2, 3), 1, NONE) == [press, release]
    assert click("left", (2, 3), 2, NONE) == [press, release] * 2


def test_a_drag_moves_through_the_cells_between() -> None:
    events = drag("right", (5, 5), (3, 9), NONE)
    assert (events[0].action, events[-1].action) == ("press", "release")
    assert [event[2:4] for event in events[1:-1]] == [(4, 6), (4, 7), (4, 8), (3, 9)]
    assert events[-1][2:4] == (3, 9)
    assert len(drag("left", (1, 1), (1, 1), NONE)) == 3


def test_the_wheel_has_no_release() -> None:
    held = frozenset({"ctrl"})
    assert scroll("up", (0, 0), 2, held) == [PointerEvent("press", "wheel_up", 0, 0, held)] * 2
