"""Boxes of every style, their titles, and what is none."""

import pytest

from nacre.core.seeing.boxes import arms, find_boxes
from nacre.core.seeing.cells import ScreenCells
from nacre.core.terminal.terminal import Terminal


def cells(*lines: str) -> ScreenCells:
    terminal = Terminal(max(2, len(lines)), 40)
    terminal.feed("\r\n".join(lines).encode())
    return terminal.screen_cells()


@pytest.mark.parametrize(
    "lines",
    [
        ("┌─ one ─┐", "│       │", "└───────┘"),
        ("╭─one───╮", "│       │", "╰───────╯"),
        ("╔═ one ═╗", "║       ║", "╚═══════╝"),
        ("┏━┫one┣━┓", "┃       ┃", "┗━━━━━━━┛"),
        ("+- one -+", "|       |", "+-------+"),
    ],
)
def test_box_of_any_style_has_its_title(lines: tuple[str, ...]) -> None:
    assert [
        (box.row, box.col, box.rows, box.cols, box.title) for box in find_boxes(cells(*lines))
    ] == [(0, 0, 3, 9, "one")]


def test_boxes_side_by_side_and_one_in_another() -> None:
    found = find_boxes(
        cells("┌──────┐┌────┐", "│┌──┐  ││    │", "││  │  ││    │", "│└──┘  │└────┘", "└──────┘")
    )
    assert [(box.row, box.col, box.rows, box.cols) for box in found] == [
        (0, 0, 5, 8),
        (0, 8, 4, 6),
        (1, 1, 3, 4),
    ]


def test_window_over_a_side_does_not_hide_the_box() -> None:
    found = find_boxes(
        cells("┌──────┐", "│      │", "│      │", "│   window", "│      │", "└──────┘")
    )
    assert [(box.rows, box.cols) for box in found] == [(6, 8)]


@pytest.mark.parametrize(
    "lines",
    [
        ("┌───────", "│       │", "└───────┘"),
        ("1 + 1 - 2 + 3", "| or |", "4 + 4 = 8 + 0"),
        ("┌──┐  ┌──┐", "│        │", "└──┘  └──┘"),
        ("a ┐ b", "c │ d", "e ┘ f"),
    ],
)
def test_lines_that_are_no_box(lines: tuple[str, ...]) -> None:
    assert find_boxes(cells(*lines)) == []


def test_screen_of_nothing_but_corners_is_given_up_on() -> None:
    find_boxes(cells(*(["+x" * 20] * 60)))


def test_ways_of_a_line() -> None:
    assert (arms("┼"), arms("╰"), arms("━"), arms("x"), arms("")) == ("LRUD", "RU", "LR", "", "")
