"""A capture keeps head and tail, counts the rest, and does not grow."""

from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.core.capture import Capture


def filled(head: int, tail: int, parts: list[bytes]) -> Capture:
    capture = Capture(head, tail)
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
    assert (head, tail, between) == (b"", b"x" * 10, 0)


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
    capture = Capture(1000, 1000)
    for _ in range(10_000):
        capture.write(b"0123456789\n" * 10)
    held = len(capture._head) + len(capture._tail)
    assert held <= 1000 + 2 * 1000 + 110
    assert (capture.total, capture.lines) == (1_100_000, 100_000)
