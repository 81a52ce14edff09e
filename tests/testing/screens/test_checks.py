"""What a check says of a screen: right, or what is wrong, in words."""

import pytest

from nacre.core.screen.screen import Line, Rgb, Span
from nacre.testing.screens.checks import AbsenceCheck, CursorCheck, ExitCheck, TextCheck
from nacre.testing.screens.masks import Mask, PatternMask, RegionMask, masked
from nacre.testing.screens.shown import ScreenPlace, ShownCursor, ShownScreen
from nacre.testing.screens.style import ExpectedStyle, style_words


def screen_of(*lines: str | Line, alive: bool = True, code: int | None = None) -> ShownScreen:
    return ShownScreen(lines, ShownCursor(1, 2, True), 40, 5, alive, code)


MENU = screen_of(
    (Span("Main menu", bold=True),),
    (),
    (Span("  "), Span("Open", fg="red", inverse=True), Span("  漢 Save")),
)


def test_a_text_is_found_anywhere_over_rows_and_at_its_place() -> None:
    assert TextCheck("Open").problem(MENU) is None
    assert TextCheck("menu\n\n  Open").problem(MENU) is None
    assert TextCheck("Open", row=2, col=2).problem(MENU) is None
    assert TextCheck(r"^M\w+ menu$", regex=True).problem(MENU) is None
    assert TextCheck("Save", col=11).problem(MENU) is None  # after a character of two columns


def test_what_is_not_there_is_told_with_the_nearest_row() -> None:
    assert TextCheck("Main manu").problem(MENU) == (
        "'Main manu' is not on the screen; row 0 has 'Main menu'"
    )
    assert TextCheck("xyz+", regex=True).problem(MENU) == "/xyz+/ is not on the screen"
    assert TextCheck("Open", row=1).problem(MENU) == (
        "'Open' stands at row 2, column 2, not in row 1"
    )


def test_a_style_is_that_of_every_character() -> None:
    red = ExpectedStyle.parse({"fg": "red", "inverse": True})
    assert TextCheck("Open", style=red).problem(MENU) is None
    told = TextCheck("Open  漢", style=red).problem(MENU)
    assert told == "'Open  漢' is there, but fg is default, not red (row 2, column 8)"
    assert TextCheck("Main", style=ExpectedStyle.parse("bold")).problem(MENU) is None


def test_one_of_several_places_in_the_style_is_enough() -> None:
    twice = screen_of((Span("ok "),), (Span("ok", fg="green"),))
    assert TextCheck("ok", style=ExpectedStyle.parse("green")).problem(twice) is None


def test_absence_cursor_and_exit() -> None:
    assert AbsenceCheck("Quit").problem(MENU) is None
    assert AbsenceCheck("O.en", regex=True).problem(MENU) == (
        "/O.en/ is on the screen, at row 2, column 2"
    )
    assert CursorCheck(1, 2, True).problem(MENU) is None
    assert CursorCheck(col=3).problem(MENU) == ("the cursor is at row 1, column 2, not at column 3")
    assert CursorCheck(visible=False).problem(MENU) == "the cursor is visible"
    assert ExitCheck(0).problem(MENU) == "the program is still running"
    dead = screen_of("x", alive=False, code=3)
    assert ExitCheck().problem(dead) is None
    assert ExitCheck(0).problem(dead) == "the program ended with exit code 3, not with exit code 0"
    killed = screen_of("x", alive=False)
    assert ExitCheck(0).problem(killed) == "the program ended by a signal, not with exit code 0"


def test_places_count_columns() -> None:
    assert MENU.place(MENU.text.index("Save")) == ScreenPlace(2, 11)
    assert [char.text for char in MENU.chars(0, 4)] == list("Main")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("bold red on blue", (("bold", True), ("fg", "red"), ("bg", "blue"))),
        ({"fg": 1, "bg": 255}, (("fg", "red"), ("bg", "color255"))),
        ({"fg": "#FF8000"}, (("fg", Rgb(255, 128, 0)),)),
        ({"fg": "bright-red", "bg": "default"}, (("fg", "bright_red"), ("bg", None))),
    ],
)
def test_styles_are_read(given: dict[str, object] | str, wanted: object) -> None:
    assert ExpectedStyle.parse(given).wanted == wanted


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"fg": "rde"}, "fg 'rde' is no colour; did you mean 'red'?"),
        ({"blod": True}, "no style is called 'blod'; did you mean 'bold'?"),
        ({"bold": "yes"}, "bold is true or false, not 'yes'"),
        ({"fg": 256}, "fg 256 is no colour"),
        ({}, "a style is empty"),
    ],
)
def test_wrong_styles_are_told(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("?", r"\?")):
        ExpectedStyle.parse(given)


def test_a_style_in_words() -> None:
    assert style_words(Span("x", fg=Rgb(1, 2, 3), bold=True)) == "fg=#010203 bold"
    assert style_words(Span("x")) == ""


@pytest.mark.parametrize(
    ("mask", "rows"),
    [
        (PatternMask(r"\d+"), ["pid ▒▒▒ x", "b"]),
        (RegionMask(0, 4, 1, 3), ["pid ▒▒▒ x", "b"]),
        (RegionMask(0, 4), ["pid ▒", "b"]),
        (RegionMask(1, 3, 2, 2), ["pid 123 x", "b  ▒▒"]),
    ],
)
def test_masks_cover_the_same_whatever_is_there(mask: Mask, rows: list[str]) -> None:
    assert masked(["pid 123 x", "b"], [mask]) == rows
