"""Regular expressions by RE2: what is found, what is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.text.pattern import LineFinder, PatternError, compile_pattern, escaped


def test_lines_begin_and_end_anywhere_in_the_text() -> None:
    found = compile_pattern(r"^b\d$").search("a\nb1\nc")
    assert found is not None
    assert (found.start(), found.end(), found.group(0)) == (2, 4, "b1")


def test_offsets_are_those_of_characters() -> None:
    (one, two) = compile_pattern("ö|世").finditer("äö 世")
    assert [(one.start(), one.end()), (two.start(), two.end())] == [(1, 2), (3, 4)]


@pytest.mark.parametrize("expression", ["(", "a(?=b)", r"(a)\1", "(?<=x)y", "a{1,9999}", "["])
def test_what_re2_has_not_is_refused_with_the_reason(expression: str) -> None:
    for compiled in (compile_pattern, lambda text: LineFinder(text, regex=True)):
        with pytest.raises(PatternError, match=r"\w"):
            compiled(expression)


def test_an_expression_that_would_take_for_ever_elsewhere_does_not() -> None:
    assert compile_pattern("(a*)*(a|aa)+b").search("a" * 50_000) is None


def test_groups_cost_nothing() -> None:
    found = compile_pattern("(" * 5000 + "a" + ")" * 5000).search("b" * 1000 + "a")
    assert found is not None
    assert found.group() == "a"


@steady
@given(st.text(max_size=20), st.text(max_size=5), st.text(max_size=5))
def test_an_escaped_text_is_found_as_it_is(text: str, before: str, after: str) -> None:
    found = compile_pattern(escaped(text)).search(before + text + after)
    assert found is not None
    assert found.group(0) == text


WORDS = st.text(alphabet="ab \n", max_size=40)


@steady
@given(WORDS, st.sampled_from(["a", "a b", "^a", "b$", "^$", "a[^b]*b", r"\s", "a|b", ""]))
def test_the_lines_that_are_found_are_those_that_match_by_themselves(
    text: str, wanted: str
) -> None:
    expected = [line for line in text.split("\n") if re.search(wanted, line)]
    spans = LineFinder(wanted, regex=True).lines(text.encode())
    assert [text[start:].split("\n")[0] for start, _, _ in spans] == expected


def test_what_is_wrong_is_told_in_the_words_that_were_given() -> None:
    for wrong in (compile_pattern, lambda text: LineFinder(text, regex=True)):
        with pytest.raises(PatternError, match=r"^missing \): \(a$"):
            wrong("(a")
