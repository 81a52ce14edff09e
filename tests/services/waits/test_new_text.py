"""Which matches lie in new text, however many there are."""

from typing import Any

import pytest

from nacre.core.text.pattern import compile_pattern
from nacre.services.waits.new_text import first_within


@pytest.mark.parametrize(
    ("pattern", "spans", "found"),
    [
        ("one", [(0, 3)], "one"),
        ("one", [(3, 20)], None),
        ("one", [(2, 4)], "one"),
        ("t.o", [(0, 3), (6, 7), (9, 20)], "two"),
        ("[a-z]+", [(8, 20)], "three"),
        ("", [(0, 3)], ""),
        ("", [(0, 1)], None),
        ("^", [(0, 7), (8, 14)], None),
        ("x", [(0, 14)], None),
        ("one", [], None),
    ],
)
def test_the_first_match_that_shares_something_with_new_text_is_found(
    pattern: str, spans: list[tuple[int, int]], found: str | None
) -> None:
    assert first_within(compile_pattern(pattern).finditer("one two\nthree"), spans) == found


class Counted(list[tuple[int, int]]):
    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return super().__getitem__(index)


def test_matches_that_do_not_count_are_passed_once() -> None:
    count = 1000
    spans = Counted((at * 2, at * 2 + 1) for at in range(count))
    # At the begin of each line, and so in none.
    matches = compile_pattern("^").finditer("x\n" * count)
    assert first_within(matches, spans) is None
    assert spans.looks < 10 * count
