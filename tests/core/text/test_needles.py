"""Needles: what must stand in a line that matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.text.needles import needles_of
from nacre.core.text.pattern import LineFinder, PatternError


@pytest.mark.parametrize(
    ("expression", "needles"),
    [
        ("error|FAIL", ("error", "FAIL")),
        (r"error|FAIL|error\|FAIL", ("error", "FAIL", "error|FAIL")),
        ("^no such [t]ext$", ("no such ",)),
        ("colou?r", ("colo",)),
        (r"\[ERROR\].*timed out", ("timed out",)),
        (r"\d+ ms\b", (" ms",)),
        ("ab+c", ("ab",)),
        ("x", None),  # too short to help
        ("foo|", None),  # matches everything
        ("(?i)error", None),
        ("(error)", None),
        ("a{2}bc", None),
        (r"\x41bc", None),
        (r"\QA.B\E", None),
    ],
)
def test_the_longest_run_of_each_branch_is_needed(
    expression: str, needles: tuple[str, ...] | None
) -> None:
    assert needles_of(expression) == needles


_PIECES = st.sampled_from(
    [
        "ab",
        "error",
        "c",
        ".",
        "*",
        "+",
        "?",
        "|",
        "^",
        "$",
        r"\d",
        r"\.",
        r"\w",
        "[xy]",
        "[^z]",
        " ",
    ]
)
_LINES = st.text(alphabet="aberorcxyz. |1", max_size=20)


@steady
@given(st.lists(_PIECES, min_size=1, max_size=6).map("".join), st.lists(_LINES, max_size=5))
def test_what_matches_has_a_needle(expression: str, lines: list[str]) -> None:
    needles = needles_of(expression)
    try:
        finder = LineFinder(expression, regex=True)
    except PatternError:
        return
    for line in lines:
        if needles is not None and next(finder.lines(line.encode()), None) is not None:
            assert any(needle in line for needle in needles)
