"""A search in an output: what is shown of what was found, where there is little room."""

from nacre.core.text.budget import json_size
from nacre.core.text.pattern import LineFinder
from nacre.services.runs.outputs.finding import Search, search_lines

LINES = [f"{number} " + "x" * 90 for number in range(100)]


def search(wanted: str, budget: int, context: int = 0) -> Search:
    return Search(LineFinder(wanted, regex=False), context, 100, budget, 60.0)


def test_a_match_without_room_comes_without_the_lines_around_it() -> None:
    found = search_lines(search("50 x", 300, context=10), LINES, 0)
    (match,) = found.lines
    assert (match.line, match.text, match.before, match.after) == (50, LINES[50], (), ())
    assert found.alone
    assert json_size(match) <= 300


def test_of_a_long_line_without_room_less_is_shown_around_the_match() -> None:
    lines = ["a" * 5000 + "needle" + "b" * 5000, "the next needle"]
    found = search_lines(search("needle", 200), lines, 0)
    (match,) = found.lines
    assert "aneedleb" in match.text
    assert json_size(match) <= 200
    assert (found.next_offset, found.alone) == (1, False)
    assert "needle" in search_lines(search("needle", 1), lines, 0).lines[0].text


def test_with_room_nothing_is_left_out() -> None:
    found = search_lines(search("50 x", 10_000, context=10), LINES, 0)
    assert (len(found.lines[0].before), len(found.lines[0].after)) == (10, 10)
    assert (found.alone, found.next_offset) == (False, None)
