"""What a drawing says of a screen: columns, colours, styles, the cursor."""

import pytest

from nacre.core.screen.drawing import Drawing, StyledRun
from nacre.core.terminal.terminal import Terminal

BLACK, LIGHT = (0, 0, 0), (220, 220, 220)


def drawn(text: str, rows: int = 4, cols: int = 20) -> Drawing:
    terminal = Terminal(rows, cols)
    terminal.feed(text.encode())
    return terminal.drawing()


def only(text: str) -> StyledRun:
    [run] = drawn(text).runs
    return run


def test_blank_screen_has_no_runs_and_a_cursor() -> None:
    drawing = drawn("")
    assert drawing.runs == ()
    assert (drawing.rows, drawing.cols, drawing.background) == (4, 20, BLACK)
    assert drawing.cursor is not None
    assert (drawing.cursor.row, drawing.cursor.col, drawing.cursor.shape) == (0, 0, "block")


def test_wide_characters_and_marks_have_the_engines_columns() -> None:
    run = only("a世e\u0301b")
    assert list(run.clusters()) == [(0, "a", 1), (1, "世", 2), (3, "e\u0301", 1), (4, "b", 1)]


def test_inverse_swaps_and_faint_pales() -> None:
    inverse = only("\x1b[7mx\x1b[0m")
    assert (inverse.ink, inverse.paper) == (BLACK, LIGHT)
    assert only("\x1b[2mx\x1b[0m").ink == (110, 110, 110)


def test_invisible_text_leaves_its_background() -> None:
    run = only("\x1b[8;48;2;1;2;3mab\x1b[0m")
    assert (run.cells, run.paper) == ((" ", " "), (1, 2, 3))


def test_palette_is_the_terminals_own_also_when_changed() -> None:
    assert only("\x1b]4;1;rgb:12/34/56\x1b\\\x1b[31mx\x1b[0m").ink == (0x12, 0x34, 0x56)
    assert only("\x1b]4;200;rgb:12/34/56\x1b\\\x1b[38;5;200mx").ink == (0x12, 0x34, 0x56)
    assert drawn("\x1b]11;rgb:10/20/30\x1b\\").background == (0x10, 0x20, 0x30)
    cursor = drawn("\x1b]12;rgb:ff/00/00\x1b\\").cursor
    assert cursor is not None
    assert cursor.ink == (255, 0, 0)


@pytest.mark.parametrize(
    ("code", "style"),
    [("4", "single"), ("4:2", "double"), ("4:3", "curly"), ("4:4", "dotted"), ("4:5", "dashed")],
)
def test_underlines_have_style_and_colour(code: str, style: str) -> None:
    run = only(f"\x1b[{code};58:2::9:8:7mx\x1b[0m")
    assert (run.underline, run.underline_ink) == (style, (9, 8, 7))


def test_link_is_underlined() -> None:
    run = only("\x1b]8;;https://example.org\x1b\\x\x1b]8;;\x1b\\")
    assert (run.link, run.underline) == ("https://example.org", "dotted")


def test_block_cursor_swaps_what_it_covers() -> None:
    drawing = drawn("abc\x1b[2D")
    runs = [run for run in drawing.painted_runs() if run.cells]
    assert ["".join(run.cells).rstrip() for run in runs] == ["a", "c", "b"]
    assert (runs[-1].ink, runs[-1].paper) == (BLACK, LIGHT)


def test_cursor_on_a_wide_character_covers_it() -> None:
    cursor = drawn("世\x1b[1G").cursor
    assert cursor is not None
    assert (cursor.col, cursor.width) == (0, 2)


@pytest.mark.parametrize(("number", "shape"), [(2, "block"), (4, "underline"), (6, "bar")])
def test_cursor_has_its_shape(number: int, shape: str) -> None:
    cursor = drawn(f"\x1b[{number} q").cursor
    assert cursor is not None
    assert cursor.shape == shape


def test_hidden_cursor_is_not_drawn() -> None:
    drawing = drawn("x\x1b[?25l")
    assert drawing.cursor is None
    assert tuple(drawing.painted_runs()) == drawing.runs
