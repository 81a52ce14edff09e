"""Tables and the text in them."""

import os

import pytest

from nacre.cli.output.answers import colors_wanted, harmless
from nacre.cli.output.table import format_table
from nacre.core.text.widths import text_width


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    table = format_table(("A", "B"), [("日本", "x"), ("e\u0301", "y")], None)
    assert [text_width(line) for line in table.splitlines()] == [7, 7, 7]


def test_long_cells_are_cut_to_the_widest() -> None:
    assert format_table(("A",), [("x" * 50,)], 10) == "A\nxxxxxxxxx…"
    assert format_table(("A",), [("日" * 50,)], 10) == "A\n日日日日…"


def test_a_cell_never_breaks_its_row() -> None:
    assert format_table(("A",), [("a\nb\tc",)], None) == "A\na\\nb\\tc"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b2J", "\\x9b2J"),
        ("a\rb\x7f", "a\\rb\\x7f"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("tab\tline\n", "tab\tline\n"),
        ("grüße 👩‍🚀", "grüße 👩‍🚀"),
    ],
)
def test_control_characters_are_made_visible(given: str, shown: str) -> None:
    assert harmless(given) == shown


def test_colours_are_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()
    with open(slave, "w") as terminal:
        monkeypatch.setattr("sys.stdout", terminal)
        for environ, wanted in (
            ({"TERM": "xterm", "NO_COLOR": ""}, True),
            ({"TERM": "xterm", "NO_COLOR": "1"}, False),
            ({"TERM": "dumb", "NO_COLOR": ""}, False),
        ):
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
            assert colors_wanted() is wanted
    os.close(master)
