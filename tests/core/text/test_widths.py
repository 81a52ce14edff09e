"""Columns: wide characters take two, marks none."""

import re
from pathlib import Path

import pytest

from nacre.core.terminal.terminal import Terminal
from nacre.core.text.width_table import NONE, WIDE
from nacre.core.text.widths import char_width, from_column, text_width


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
        ("\u0378\U0010fffd", 2),  # not assigned; private
        ("\U0001fae9", 2),  # an emoji that is newer than Python 3.11
        ("\u1100\u1161", 2),  # a syllable's vowel belongs to its beginning
    ],
)
def test_widths(text: str, width: int) -> None:
    assert text_width(text) == width
    assert sum(map(char_width, text)) == width


def test_page_counts_by_the_same_table() -> None:
    page = (Path(__file__).parents[3] / "web/src/terminal/widths.ts").read_text()
    for name, table in (("NONE", NONE), ("WIDE", WIDE)):
        found = re.search(rf"const {name} = read\((.*?)\);", page, re.DOTALL)
        assert found is not None
        assert "".join(re.findall(r'"([^"]*)"', found[1])) == table


@pytest.mark.parametrize("text", ["日", "e\u0301", "\u00ad", "\u0378", "\u1100\u1161", "🦪", "ｗ"])
def test_engine_counts_the_same(text: str) -> None:
    terminal = Terminal(2, 20)
    terminal.feed(text.encode())
    assert terminal.cursor().col == text_width(text)
    terminal.close()


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
