"""A budget keeps whole lines at the ends, counts what is left out, and holds memory down."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import steady
from nacre.core.screen.screen import Line, Span
from nacre.core.text.budget import (
    HeadTail,
    first_lines,
    first_text,
    head_and_tail,
    item_size,
    json_chars,
    last_characters,
    last_lines,
    last_text,
    parted_head_and_tail,
)


def filled(head: int, tail: int, parts: list[bytes]) -> HeadTail:
    capture = HeadTail(head, tail)
    for part in parts:
        capture.write(part)
    return capture


def test_a_short_output_is_whole() -> None:
    assert filled(10, 10, [b"one\n", b"two\n"]).parts() == (b"one\ntwo\n", None, 0)


def test_exactly_what_fits_is_whole() -> None:
    assert filled(4, 4, [b"one\ntwo\n"]).parts() == (b"one\ntwo\n", None, 0)


def test_the_cut_lies_between_lines_and_is_counted() -> None:
    lines = [f"{number:03d}\n".encode() for number in range(100)]
    head, tail, between = filled(10, 10, lines).parts()
    assert (head, tail, between) == (b"000\n001\n", b"098\n099\n", 96)


def test_one_endless_line_has_no_line_to_cut_at() -> None:
    head, tail, between = filled(10, 10, [b"x" * 1000]).parts()
    assert (head, tail, between) == (b"x" * 10, b"x" * 10, 0)


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.binary(max_size=40)), st.integers(1, 30), st.integers(1, 30))
def test_parts_do_not_depend_on_how_it_came(parts: list[bytes], head: int, tail: int) -> None:
    whole = b"".join(parts)
    pieces = filled(head, tail, parts).parts()
    assert pieces == filled(head, tail, [whole]).parts()
    assert pieces == filled(head, tail, [bytes([byte]) for byte in whole]).parts()
    first, last, between = pieces
    if last is None:
        assert first == whole
    else:
        assert whole.startswith(first)
        assert whole.endswith(last)
        assert first.count(b"\n") + last.count(b"\n") + between == whole.count(b"\n")


def test_memory_does_not_grow_with_the_output() -> None:
    capture = HeadTail(1000, 1000)
    for _ in range(10_000):
        capture.write(b"0123456789\n" * 10)
    held = len(capture._head) + len(capture._tail)
    assert held <= 1000 + 2 * 1000 + 110
    assert (capture.total, capture.lines) == (1_100_000, 100_000)


# --- answers ---------------------------------------------------------------------------------

AWKWARD = ["plain", 'say "hi"', "back\\slash", "tab\there", "\x1b[31m", "\x7f", "é 漢 🎉", ""]


@pytest.mark.parametrize("text", AWKWARD)
def test_a_text_counts_as_json_has_it(text: str) -> None:
    assert json_chars(text) == len(msgspec.json.encode(text).decode()) - 2


@pytest.mark.parametrize("lines", [AWKWARD, [(Span(line, fg="red"),) for line in AWKWARD]])
def test_lines_count_as_an_array_of_json_has_them(lines: list[str | Line]) -> None:
    whole = len(msgspec.json.encode(lines).decode())
    assert sum(map(item_size, lines)) == whole - 1  # two brackets, and no comma after the last


@pytest.mark.parametrize(
    ("room", "kept"),
    [
        (100, ["aaaa", "bb", "", "cccc"]),
        (22, ["aaaa", "bb", "", "cccc"]),  # the characters, and three more a line
        (21, ["bb", "", "cccc"]),
        (15, ["bb", "", "cccc"]),
        (14, ["", "cccc"]),
        (7, ["cccc"]),
        (6, []),
        (-5, []),
    ],
)
def test_last_lines_that_fit_are_kept_and_the_rest_is_counted(room: int, kept: list[str]) -> None:
    assert last_lines(["aaaa", "bb", "", "cccc"], room) == (kept, 4 - len(kept))


@pytest.mark.parametrize(
    ("room", "kept"),
    [(14, ["aa", "b", "cc"]), (13, ["aa", "b"]), (9, ["aa", "b"]), (8, ["aa"]), (-1, ["aa"])],
)
def test_first_lines_that_fit_are_kept_and_one_at_least(room: int, kept: list[str]) -> None:
    assert first_lines(["aa", "b", "cc"], room) == kept


def test_lines_of_a_text_are_parted_by_an_escape() -> None:
    lines = ["aa", "b", "cc"]
    assert (first_text(lines, 11), first_text(lines, 10)) == (lines, ["aa", "b"])
    assert (last_text(lines, 11), last_text(lines, 10)) == ((lines, 0), (["b", "cc"], 1))


def test_a_line_that_alone_is_too_long_is_kept_in_part_and_counts_as_left_out() -> None:
    assert last_text(["x" * 1000], 100) == (["x" * 100], 1)
    (line,) = first_text(["a" * 500 + "b" * 500], 150)
    assert line == f"{'a' * 50}[… 900 characters left out …]{'b' * 50}"


def test_text_keeps_its_last_characters() -> None:
    assert (last_characters("abcd", 4), last_characters("abcd", 3)) == ("abcd", "bcd")
    assert last_characters('a"b"c', 3) == '"c'  # an escape is two


def test_lines_between_the_ends_are_left_out_and_counted() -> None:
    lines = [f"{number:03d}" for number in range(100)]
    assert head_and_tail(lines, 498) == ("\n".join(lines), 0)
    text, cut = head_and_tail(lines, 497)
    assert cut == 12
    assert text.split("\n") == [*lines[:44], "[… 12 lines left out …]", *lines[56:]]


def test_one_long_line_keeps_both_ends_and_counts_what_lies_between() -> None:
    text, cut = head_and_tail(["a" * 500 + "b" * 500], 150)
    assert (text, cut) == (f"{'a' * 50}[… 900 characters left out …]{'b' * 50}", 1)


def test_long_lines_at_the_ends_are_shown_in_part() -> None:
    text, cut = head_and_tail(["a" * 500, "middle", "b" * 500], 150)
    assert text.split("\n") == ["a" * 50, "[… 3 lines left out …]", "b" * 50]
    assert cut == 3


def test_of_a_text_whose_middle_is_not_known_that_is_counted_too() -> None:
    text, cut = parted_head_and_tail(["1", "2"], ["8", "9"], 9, 5, 100)
    assert text.split("\n") == ["1", "2", "[… 5 lines left out …]", "8", "9"]
    assert cut == 5
    head = [str(number) for number in range(1000)]
    text, cut = parted_head_and_tail(head, head, 10_000, 8000, 150)
    assert len(text.split("\n")) + cut - 1 == 10_000


def test_of_an_endless_line_the_ends_are_kept() -> None:
    text, cut = parted_head_and_tail(["a" * 500], ["b" * 500], 0, 0, 150)
    assert text.split("\n") == ["a" * 50, "[… the middle of the line left out …]", "b" * 50]
    assert cut == 1


@steady
@given(st.lists(st.text(max_size=60), min_size=1, max_size=60), st.integers(200, 2000))
def test_what_is_kept_is_within_the_room(lines: list[str], room: int) -> None:
    text, cut = head_and_tail(lines, room)
    assert json_chars(text) <= room
    assert (cut == 0) == (text == "\n".join(lines))
    for kept in (first_text(lines, room), last_text(lines, room)[0]):
        assert json_chars("\n".join(kept)) <= room


def test_bytes_are_found_by_their_position_or_begin_where_they_are_kept() -> None:
    whole = b"".join(b"%d\n" % number for number in range(400))
    capture = filled(100, 100, [whole[:150]])
    assert capture.bytes_from(0, 1000) == (0, whole[:150])
    assert capture.bytes_from(90, 20) == (90, whole[90:110])
    assert capture.bytes_from(120, 7) == (120, whole[120:127])
    assert capture.last(80) == whole[70:150]
    long = filled(100, 100, [whole[at : at + 50] for at in range(0, len(whole), 50)])
    assert long.bytes_from(40, 1000) == (40, whole[40:100])
    begin, found = long.bytes_from(150, 1000)
    assert begin > 150
    assert found == whole[begin:]
    assert long.bytes_from(len(whole), 10) == (len(whole), b"")
    assert long.last(60) == whole[-60:]
