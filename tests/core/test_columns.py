"""Columns: wide characters take two, marks none."""

import pytest

from nacre.core.columns import char_width, from_column, text_width


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("abc", 3),
        ("日本", 4),
        ("é", 1),
        ("e\u0301", 1),  # a combining acute
        ("\u200d\u200b\ufeff", 0),
        ("ｗ", 2),
        ("🦪", 2),
        ("\x1b\x07\r\n\t\x7f\x9b", 0),  # never drawn
        ("a\u0000b", 2),
    ],
)
def test_widths(text: str, width: int) -> None:
    assert text_width(text) == width
    assert sum(map(char_width, text)) == width


@pytest.mark.parametrize(
    ("line", "col", "rest"),
    [
        ("abc", 0, "abc"),
        ("abc", 2, "c"),
        ("abc", 3, ""),
        ("abc", 99, ""),
        ("", 0, ""),
        ("日本c", 2, "本c"),
        ("日本c", 1, "本c"),  # the half that is left of a wide one is none
        ("e\u0301x", 1, "x"),  # the mark belongs to what is before the column
    ],
)
def test_what_begins_at_a_column(line: str, col: int, rest: str) -> None:
    assert from_column(line, col) == rest
