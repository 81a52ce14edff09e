"""What attach itself says in the last row, and for how long."""

import os

import pytest

from nacre.cli.attach.lastrow import LastRow
from nacre.core.terminal.terminal import Terminal

SIZE = os.terminal_size((12, 4))


def test_the_hint_is_there_until_something_was_said() -> None:
    row = LastRow("Ctrl+] detaches")
    assert row.hint == "Ctrl+] detaches"
    row.say("no", SIZE, 1.0)
    assert row.hint is None


def test_what_is_said_for_a_while_has_an_end() -> None:
    row = LastRow(None)
    row.say("one", SIZE, 1.0)
    assert row.until == 4.0
    row.say("two", SIZE, 2.0)
    assert row.until == 5.0


def test_it_is_shown_again_over_what_covers_it_while_it_is_said() -> None:
    row = LastRow(None)
    assert row.again(SIZE) == b""
    said = row.say("news", SIZE, 0.0)
    assert row.again(SIZE) == said
    row.drop()
    assert row.again(SIZE) == b""


def test_it_is_dropped_once() -> None:
    row = LastRow(None)
    assert row.drop() is False
    row.say("one", SIZE, 1.0)
    assert row.drop() is True
    assert row.until is None
    assert row.drop() is False


def test_a_note_stays_for_the_next_picture_to_paint_over() -> None:
    row = LastRow("hint")
    row.note("waiting", SIZE)
    assert (row.until, row.hint) == (None, "hint")
    assert row.drop() is False


def test_it_is_drawn_in_the_last_row_and_the_cursor_stays() -> None:
    terminal = Terminal(SIZE.lines, SIZE.columns)
    terminal.feed(b"first\r\nsec")
    terminal.feed(LastRow(None).say("leave", SIZE, 1.0) + b"ond")
    assert terminal.plain_lines() == ["first", "second", "", "leave"]


def test_a_long_text_is_cut_and_none_drives_the_terminal() -> None:
    drawn = LastRow(None).note("a\x1bb" + "c" * 20, SIZE)
    assert b"ma\\x1bbccccc\x1b[0m" in drawn


@pytest.mark.parametrize(("text", "shown"), [("漢" * 12, "漢" * 5), ("a\nb\tc", "a⏎b c")])
def test_nothing_leaves_the_row(text: str, shown: str) -> None:
    terminal = Terminal(SIZE.lines, SIZE.columns)
    terminal.feed(b"first")
    terminal.feed(LastRow(None).say(text, SIZE, 0.0))
    assert terminal.plain_lines() == ["first", "", "", shown]
