"""Sequences: patterns that fit whole reports and keys, and codes that agree with each other."""

import re

import pytest

from nacre.core.keys.sequences import (
    BYTE_BEGUN,
    BYTE_REPORT,
    CODED_KEY,
    KEYPAD_PAGE_UP,
    KITTY_KEYS,
    MODIFIED_KEY,
    SGR_BEGUN,
    SGR_REPORT,
    URXVT_REPORT,
    is_extended_key,
    without_groups,
)


@pytest.mark.parametrize(
    ("pattern", "report"),
    [
        (SGR_REPORT, b"\x1b[<0;10;5M"),
        (SGR_REPORT, b"\x1b[<35;210;50m"),
        (URXVT_REPORT, b"\x1b[32;10;5M"),
        (BYTE_REPORT, b"\x1b[M \xff!"),
        (CODED_KEY, b"\x1b[97;5u"),
        (CODED_KEY, b"\x1b[97:65;6:1;65u"),
        (CODED_KEY, b"\x1b[5;2~"),
        (MODIFIED_KEY, b"\x1b[27;5;105~"),
    ],
)
def test_pattern_fits_the_whole_and_nothing_less(pattern: bytes, report: bytes) -> None:
    for one in (pattern, without_groups(pattern)):
        assert re.fullmatch(one, report)
        assert not any(re.match(one, report[:length]) for length in range(len(report)))
    assert re.compile(without_groups(pattern)).groups == 0


@pytest.mark.parametrize(
    ("pattern", "report"), [(SGR_BEGUN, b"\x1b[<0;10;5M"), (BYTE_BEGUN, b"\x1b[M \xff!")]
)
def test_begin_of_a_report_is_known_at_each_byte(pattern: bytes, report: bytes) -> None:
    assert all(re.fullmatch(pattern, report[:length]) for length in range(3, len(report)))
    assert not re.fullmatch(pattern, report)


def test_key_that_is_let_go_of_is_no_press() -> None:
    assert not re.fullmatch(CODED_KEY, b"\x1b[97;5:3u")


def test_keypad_s_page_up_is_one() -> None:
    assert KITTY_KEYS[KEYPAD_PAGE_UP] == "PageUp"


@pytest.mark.parametrize("code", [b"\x1b[105;5u", b"\x1b[27;5;105~"])
def test_extended_codes_are_known(code: bytes) -> None:
    assert is_extended_key(code)


@pytest.mark.parametrize("code", [b"u", b"\x1bu", b"\x1b[A", b"\x1b[2;5~", b"\x1bOP", b""])
def test_other_codes_are_not_extended(code: bytes) -> None:
    assert not is_extended_key(code)
