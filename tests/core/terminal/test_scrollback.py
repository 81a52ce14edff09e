from itertools import pairwise

import pytest

from nacre.core.terminal.terminal import Terminal

from vt_streams import styled_text


def numbered(first: int, count: int) -> bytes:
    return b"".join(b"\x1b[3%dmline\x1b[m %d\r\n" % (n % 8, n) for n in range(first, first + count))


def number_of(line: str) -> int:
    return int(line.removeprefix("line "))


def top(terminal: Terminal) -> int:
    """The number of the screen's first row."""
    return terminal.evicted + terminal.scrollback_total


def assert_numbers_hold(terminal: Terminal) -> None:
    """Every line printed by `numbered` from zero on has its own number."""
    assert number_of(terminal.plain_lines()[0]) == top(terminal)
    assert number_of(terminal.scrollback_plain(0, 1)[0]) == terminal.evicted


def test_pages_of_a_long_scrollback_are_gapless_and_agree() -> None:
    terminal = Terminal(24, 80)
    terminal.feed(numbered(0, 15_000))
    total = terminal.scrollback_total
    assert total == 10_000
    first = number_of(terminal.scrollback_plain(0, 1)[0])
    assert first == 15_000 + 1 - 24 - total
    for offset in range(0, total, 777):
        plain = terminal.scrollback_plain(offset, 777)
        assert len(plain) == min(777, total - offset)
        assert [number_of(line) for line in plain] == list(
            range(first + offset, first + offset + len(plain))
        )
        assert styled_text(terminal.scrollback_styled(offset, 777)) == plain


def test_a_styled_read_may_be_longer_than_one_piece() -> None:
    terminal = Terminal(24, 80)
    terminal.feed(numbered(0, 5_000))
    lines = terminal.scrollback_styled(0, 10_000)
    assert len(lines) == terminal.scrollback_total == 5_000 + 1 - 24
    assert styled_text(lines) == terminal.scrollback_plain(0, 10_000)
    assert lines[3][0].fg == "yellow"


@pytest.mark.parametrize(("offset", "limit"), [(-1, 5), (7, 5), (100, 1), (0, 0), (0, -3)])
def test_a_range_outside_is_empty(offset: int, limit: int) -> None:
    terminal = Terminal(4, 20)
    terminal.feed(b"x\r\n" * 10)
    assert terminal.scrollback_total == 7
    assert terminal.scrollback_plain(offset, limit) == []
    assert terminal.scrollback_styled(offset, limit) == []


def test_a_range_that_reaches_outside_is_cut() -> None:
    terminal = Terminal(4, 20)
    terminal.feed(numbered(0, 10))
    assert terminal.scrollback_plain(5, 100) == ["line 5", "line 6"]


@pytest.mark.parametrize("scrollback", [0, 1, 100, 3_000])
def test_exactly_as_many_rows_are_kept_as_asked_for(scrollback: int) -> None:
    terminal = Terminal(24, 80, scrollback=scrollback)
    terminal.feed(numbered(0, 8_000))
    assert terminal.scrollback_total == scrollback
    assert terminal.evicted == 8_000 + 1 - 24 - scrollback
    assert len(terminal.scrollback_plain(0, 9_999)) == scrollback


@pytest.mark.parametrize("cols", [2, 20, 80, 300])
@pytest.mark.parametrize("chunk", [100, 4_096, 1_000_000])
def test_numbers_hold_under_heavy_output(cols: int, chunk: int) -> None:
    terminal = Terminal(24, max(cols, 12), scrollback=1_000)
    stream = numbered(0, 12_000)
    for at in range(0, len(stream), chunk):
        terminal.feed(stream[at : at + chunk])
    assert_numbers_hold(terminal)


def test_numbers_hold_for_empty_lines_in_one_feed() -> None:
    terminal = Terminal(24, 80)
    terminal.feed(b"\n" * 100_000)
    assert top(terminal) == 100_000 + 1 - 24


def test_numbers_hold_wherever_one_looks() -> None:
    terminal = Terminal(24, 80, scrollback=500)
    for first in range(0, 9_000, 250):
        terminal.feed(numbered(first, 250))
        assert_numbers_hold(terminal)


def test_dense_rows_are_all_kept_once_the_limit_was_found() -> None:
    """Rows of many styles need larger pages than the byte limit of plain ones has room for."""
    terminal = Terminal(24, 80, scrollback=3_000)
    terminal.feed(numbered(0, 10_000))
    for n in range(10_000, 40_000):
        terminal.feed(
            b"line %d" % n
            + "".join(f"\x1b[38;2;{n % 256};{x};{n // 256}me\u0301" for x in range(10)).encode()
            + b"\x1b[m\r\n"
        )
    assert terminal.scrollback_total == 3_000
    assert terminal.evicted + 3_000 == 40_000 + 1 - 24


def test_erasing_the_scrollback_leaves_the_screens_numbers() -> None:
    terminal = Terminal(6, 20)
    terminal.feed(numbered(0, 50))
    before = top(terminal)
    terminal.feed(b"\x1b[3J")
    assert terminal.scrollback_total == 0
    assert top(terminal) == before
    terminal.feed(numbered(50, 20))
    assert_numbers_hold(terminal)


def test_rows_erased_before_they_were_counted_give_no_number_twice() -> None:
    terminal = Terminal(6, 20)
    terminal.feed(numbered(0, 50))
    bottom = top(terminal) + 5
    terminal.feed(numbered(50, 50) + b"\x1b[3J")
    assert top(terminal) > bottom


def test_clear_gives_no_number_twice() -> None:
    terminal = Terminal(6, 20)
    terminal.feed(numbered(0, 50))
    before = top(terminal)
    terminal.feed(b"\x1b[H\x1b[2J\x1b[3J")
    assert top(terminal) == before


def test_a_reset_gives_no_number_twice() -> None:
    terminal = Terminal(6, 20)
    terminal.feed(numbered(0, 50))
    bottom = top(terminal) + 5
    terminal.feed(b"\x1bc")
    assert terminal.scrollback_total == 0
    assert top(terminal) > bottom


def test_rows_that_outrun_the_count_give_no_number_twice() -> None:
    terminal = Terminal(6, 2, scrollback=100)
    terminal.feed(b"x\x1b[65535b" * 3)
    seen = top(terminal) + 5
    terminal.feed(b"x\x1b[65535b" * 30)
    assert top(terminal) > seen


def test_the_alternate_screen_does_not_count() -> None:
    terminal = Terminal(6, 20, scrollback=100)
    terminal.feed(numbered(0, 5_000))
    before = terminal.evicted
    terminal.feed(b"\x1b[?1049h" + b"~\r\n" * 30_000)
    assert (terminal.evicted, terminal.scrollback_total) == (before, 0)
    terminal.resize(9, 20)
    terminal.feed(b"\x1b[?1049l")
    assert_numbers_hold(terminal)
    terminal.feed(numbered(5_000, 5_000))
    assert_numbers_hold(terminal)


@pytest.mark.parametrize("lines", [10, 300, 9_000])
def test_a_change_of_height_keeps_the_numbers(lines: int) -> None:
    terminal = Terminal(12, 40, scrollback=2_000)
    terminal.feed(numbered(0, lines))
    for rows in (5, 30, 2, 24, 12):
        terminal.resize(rows, 40)
        shown = [line for line in terminal.plain_lines() if line]
        assert number_of(shown[0]) == top(terminal)
    terminal.feed(numbered(lines, 50))
    assert number_of(terminal.plain_lines()[0]) == top(terminal)


@pytest.mark.parametrize("lines", [300, 9_000])
def test_a_change_of_width_without_reflow_keeps_the_numbers(lines: int) -> None:
    terminal = Terminal(12, 40, scrollback=2_000)
    terminal.feed(numbered(0, lines))
    for cols in (20, 200, 12, 80):
        terminal.resize(12, cols)
        assert_numbers_hold(terminal)
        assert terminal.scrollback_total == min(2_000, lines + 1 - 12)


def test_a_reflow_keeps_the_number_of_the_cursors_row_or_raises_it() -> None:
    terminal = Terminal(6, 40)
    terminal.feed(b"".join(b"%d %s\r\n" % (n, b"x" * 30) for n in range(100)))
    number = top(terminal) + terminal.cursor().row
    for cols in (60, 10, 30, 80, 40):
        terminal.resize(6, cols)
        now = top(terminal) + terminal.cursor().row
        assert now >= number
        number = now


def test_the_count_never_falls() -> None:
    terminal = Terminal(6, 20, scrollback=50)
    counts = []
    for part in (
        numbered(0, 40),
        b"\x1b[3J",
        numbered(40, 9_000),
        b"\x1bc",
        b"\x1b[?1049h",
        b"x\n" * 99,
    ):
        terminal.feed(part)
        counts.append(terminal.evicted)
    assert all(earlier <= later for earlier, later in pairwise(counts))


def test_compression_changes_nothing_that_can_be_read() -> None:
    terminal = Terminal(24, 80)
    terminal.feed(numbered(0, 5_000))
    before = (terminal.scrollback_styled(0, 5_000), terminal.styled_lines(), terminal.evicted)
    while terminal.compress_some():
        pass
    assert (
        terminal.scrollback_styled(0, 5_000),
        terminal.styled_lines(),
        terminal.evicted,
    ) == before
    while terminal.compress_some():
        pass
    terminal.feed(numbered(5_000, 8_000))
    assert_numbers_hold(terminal)


def test_a_narrow_resize_in_the_alternate_screen_lets_output_through() -> None:
    terminal = Terminal(24, 80, scrollback=5_000)
    terminal.feed(numbered(0, 3_000))
    terminal.feed(b"\x1b[?1049h")
    terminal.resize(24, 2)  # pages of 16,000 rows: more than there are
    terminal.feed(b"x" * 20_000 + b"\x1b[?1049l")
    terminal.resize(24, 80)
    assert number_of(terminal.plain_lines()[0]) <= top(terminal)
