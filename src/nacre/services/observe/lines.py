"""The lines of a session by their numbers: the scrollback and the screen.

Rule: reading changes nothing, and no turn of the loop takes long: a search runs in parts, and a
program may print between them. The numbers never change (core/terminal/scrollback.py).
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nacre.core.display.lookback import sought
from nacre.core.operations.watch import Find, Found, Lines, Look
from nacre.core.screen.screen import Line

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal

_PART = 1000  # lines to search in one turn: a few milliseconds


def read_lines(terminal: "Terminal", look: Look) -> Lines:
    """Return the requested lines, or those nearest to them if they are gone."""
    oldest, end = _numbers(terminal)
    if terminal.alternate:
        return Lines(look.id, oldest, [], oldest, end, alternate=True)
    last = max(oldest, end - look.limit)
    first = last if look.first is None else max(oldest, min(look.first, last))
    above = terminal.scrollback_styled(first - oldest, look.limit)
    lines: list[Line] = above
    if (missing := min(look.limit, end - first) - len(above)) > 0:
        begin = max(0, first - (end - terminal.rows))
        lines = above + terminal.styled_lines()[begin : begin + missing]
    return Lines(look.id, first, lines, oldest, end)


async def find_line(terminal: "Callable[[], Terminal]", find: Find) -> Found:
    """Return the next line with a text. The terminal is fetched again in every turn."""
    pattern = sought(find.text, exact=find.exact)
    oldest, end = _numbers(terminal())
    if terminal().alternate:
        return Found(find.id, None, oldest, end, alternate=True)
    for first, count, around in _parts(find, oldest, end):
        lines = _plain(terminal(), first, count)
        for number in reversed(lines) if find.backward else lines:
            if pattern.search(lines[number]):
                return Found(find.id, number, *_numbers(terminal()), around=around)
        await asyncio.sleep(0)  # ten thousand lines take 50 ms: let others run in between
    return Found(find.id, None, *_numbers(terminal()))


def _numbers(terminal: "Terminal") -> tuple[int, int]:
    """Return the number of the oldest kept line, and the number after the last one."""
    oldest = terminal.evicted
    return oldest, oldest + terminal.scrollback_total + terminal.rows


def _parts(find: Find, oldest: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the parts of a search: first line, number of lines, whether past the end."""
    if find.backward:
        start = max(oldest, min(find.start + 1, end))
        spans = ((oldest, start, False), (start, end, True))
    else:
        start = max(oldest, min(find.start, end))
        spans = ((start, end, False), (oldest, start, True))
    for first, after, around in spans:
        starts = range(first, after, _PART)
        for at in reversed(starts) if find.backward else starts:
            yield at, min(_PART, after - at), around


def _plain(terminal: "Terminal", first: int, count: int) -> dict[int, str]:
    """Return the lines with these numbers that exist."""
    oldest, end = _numbers(terminal)
    after = min(first + count, end)
    first = max(first, oldest)
    screen = end - terminal.rows
    lines = terminal.scrollback_plain(first - oldest, max(0, min(after, screen) - first))
    if after > screen:
        begin = max(0, first - screen)
        lines += terminal.plain_lines()[begin : after - screen]
    return dict(zip(range(first, after), lines, strict=False))
