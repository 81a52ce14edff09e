"""The lines of a session by their numbers, as a real terminal has them."""

import asyncio

import pytest

from nacre.core.operations.watch import Find, Found, Look
from nacre.core.screen.screen import Line, Span
from nacre.core.terminal.terminal import Terminal
from nacre.services.observe.lines import find_line, read_lines


def printed(lines: int, *, rows: int = 5, scrollback: int = 10_000) -> Terminal:
    terminal = Terminal(rows, 20, scrollback=scrollback)
    terminal.feed("\r\n".join(f"line {n}" for n in range(lines)).encode())
    return terminal


def texts(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def find(terminal: Terminal, text: str, start: int, **more: bool) -> Found:
    return asyncio.run(find_line(lambda: terminal, Find(id=1, text=text, start=start, **more)))


@pytest.mark.parametrize(
    ("first", "limit", "begin", "count"),
    [
        (None, 4, 16, 4),
        (None, 8, 12, 8),
        (0, 3, 0, 3),
        (13, 4, 13, 4),  # over the edge of the screen
        (15, 5, 15, 5),
        (16, 3, 16, 3),
        (-5, 3, 0, 3),
        (99, 3, 17, 3),
        (3, 100, 0, 20),
    ],
)
def test_lines_of_scrollback_and_screen_are_read_as_one(
    first: int | None, limit: int, begin: int, count: int
) -> None:
    page = read_lines(printed(20), Look(id=7, first=first, limit=limit))
    assert (page.id, page.first, page.oldest, page.end) == (7, begin, 0, 20)
    assert texts(page.lines) == [f"line {n}" for n in range(begin, begin + count)]


def test_numbers_stay_when_old_lines_fall_out() -> None:
    terminal = printed(20_000, scrollback=100)
    oldest = terminal.evicted
    assert oldest == 20_000 - 105
    page = read_lines(terminal, Look(id=1, first=0, limit=2))
    assert (page.first, texts(page.lines)) == (oldest, [f"line {oldest}", f"line {oldest + 1}"])
    terminal.feed(b"\r\nmore" * 10)
    page = read_lines(terminal, Look(id=2, first=19_950, limit=1))
    assert (page.first, texts(page.lines)) == (19_950, ["line 19950"])


def test_styles_come_along() -> None:
    terminal = Terminal(3, 20)
    terminal.feed(b"\x1b[31mred\x1b[m\r\n" * 6)
    page = read_lines(terminal, Look(id=1, first=2, limit=4))
    assert page.lines == [(Span("red", fg="red"),)] * 4


def test_a_full_screen_program_has_no_lines_above() -> None:
    terminal = printed(20)
    terminal.feed(b"\x1b[?1049hfull screen")
    page = read_lines(terminal, Look(id=1, limit=4))
    assert (page.alternate, page.lines) == (True, [])
    assert find(terminal, "line", 3).alternate
    terminal.feed(b"\x1b[?1049l")
    assert texts(read_lines(terminal, Look(id=1, first=3, limit=1)).lines) == ["line 3"]


@pytest.mark.parametrize(
    ("start", "backward", "line", "around"),
    [
        (0, False, 7, False),
        (7, False, 7, False),
        (8, False, 2_007, False),
        (2_008, False, 3_998, False),
        (3_999, False, 7, True),
        (9_999, False, 7, True),
        (3_999, True, 3_998, False),
        (3_998, True, 3_998, False),
        (3_997, True, 2_007, False),
        (6, True, 3_998, True),
        (-9, True, 3_998, True),
    ],
)
def test_the_next_line_with_a_text_is_found(
    start: int, backward: bool, line: int, around: bool
) -> None:
    terminal = Terminal(5, 20)
    marked = {7: "Here!", 2_007: "here!", 3_998: "HERE!"}  # the last one on the screen
    terminal.feed("\r\n".join(marked.get(n, f"line {n}") for n in range(4_000)).encode())
    found = find(terminal, "here!", start, backward=backward)
    assert (found.line, found.around) == (line, around)
    assert (found.oldest, found.end) == (0, 4_000)


def test_a_text_is_no_pattern_and_capitals_count_when_they_are_to() -> None:
    terminal = printed(20)
    assert find(terminal, "line.", 0).line is None
    assert find(terminal, "LINE 3", 0).line == 3
    assert find(terminal, "LINE 3", 0, exact=True).line is None


def test_lines_that_fall_out_during_a_search_are_not_found_and_not_misnumbered() -> None:
    terminal = printed(3_000, scrollback=2_900)
    fed = False

    def printing() -> Terminal:
        nonlocal fed
        if not fed:
            fed = True
        else:
            terminal.feed(b"\r\nnew" * 50)
        return terminal

    found = asyncio.run(find_line(printing, Find(id=1, text="line 2990", start=500)))
    assert found.line == 2_990
