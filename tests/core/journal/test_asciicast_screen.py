"""The screen of a recording at a moment."""

import json

import pytest

from nacre.core.journal.asciicast_screen import cells_of_cast

EVENTS = [[0.5, "o", "one\r\n"], [1.0, "o", "two\r\n"], [1.0, "r", "30x5"], [0.0, "o", "three"]]


def cast(header: dict[str, object], events: list[list[object]]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in (header, *events))


def test_screen_at_a_moment_and_at_the_end() -> None:
    text = cast({"version": 3, "term": {"cols": 20, "rows": 4}}, EVENTS)
    early = cells_of_cast(text, 1.0)
    assert (early.rows, early.cols, early.lines()) == (4, 20, ["one", "", "", ""])
    late = cells_of_cast(text)
    assert (late.rows, late.cols, late.lines()[:3]) == (5, 30, ["one", "two", "three"])


def test_times_of_version_2_count_from_the_beginning() -> None:
    text = cast({"version": 2, "width": 20, "height": 4}, [[1.0, "o", "one"], [2.0, "o", "two"]])
    assert cells_of_cast(text, 1.5).lines()[0] == "one"
    assert cells_of_cast(text, 2.0).lines()[0] == "onetwo"


def test_what_is_no_recording_is_refused() -> None:
    with pytest.raises(ValueError, match="header"):
        cells_of_cast("hello\n")
