"""The difference of two screens, their hashes, and what redaction leaves of them."""

from nacre.core.seeing.cells import ScreenCells
from nacre.core.seeing.difference import compare, hashes_of
from nacre.core.terminal.terminal import Terminal


def cells(printed: str, rows: int = 3, cols: int = 20) -> ScreenCells:
    terminal = Terminal(rows, cols)
    terminal.feed(printed.encode())
    return terminal.screen_cells()


def test_same_screens_have_no_difference_wherever_the_cursor_is() -> None:
    one, other = cells("one\r\ntwo"), cells("one\r\ntwo\x1b[H")
    assert compare(one, other) == (True, True, [])
    assert hashes_of(one) == hashes_of(other)


def test_text_that_differs() -> None:
    found = compare(cells("one\r\ntwo three"), cells("one\r\ntwo four"))
    assert (found.same, found.same_text) == (False, False)
    [change] = found.changes
    assert (change.row, change.col, change.end) == (1, 4, 9)
    assert (change.before, change.after, change.style_only) == ("two three", "two four", False)


def test_style_that_differs_is_told_apart() -> None:
    plain, bold = cells("one two"), cells("one \x1b[1mtwo")
    found = compare(plain, bold)
    assert (found.same, found.same_text) == (False, True)
    assert [(one.col, one.end, one.style_only) for one in found.changes] == [(4, 7, True)]
    assert hashes_of(plain).text == hashes_of(bold).text
    assert hashes_of(plain).styled != hashes_of(bold).styled


def test_screens_of_different_sizes() -> None:
    found = compare(cells("one", rows=2), cells("one\r\n\r\nmore", rows=3))
    assert [(one.row, one.before, one.after) for one in found.changes] == [(2, None, "more")]
    wider = compare(cells("one"), cells("one" + " " * 18 + "x", cols=30))
    assert [(one.row, one.col, one.end) for one in wider.changes] == [
        (0, 20, 30),
        (1, 20, 30),
        (2, 20, 30),
    ]


def test_cells_keep_their_columns_when_characters_are_replaced() -> None:
    screen = cells("a 漢字 secret e\u0301")
    columns = screen.columns()
    assert columns[0] == "a 漢\0字\0 secret e"
    hidden = [columns[0].replace("secret", "******"), *columns[1:]]
    assert screen.with_columns(hidden).lines()[0] == "a 漢字 ****** e\u0301"
    assert screen.with_columns(columns) == screen
