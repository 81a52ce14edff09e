"""How many columns text takes, counted as the engine does, so that what we draw beside it fits.

The page uses the same table (web/src/terminal/widths.ts).
"""

from bisect import bisect_right
from functools import cache, lru_cache
from itertools import accumulate

from nacre.core.text.width_table import NONE, WIDE


@lru_cache(maxsize=1 << 14)  # more characters than any text has; the table is slower
def char_width(char: str) -> int:
    code = ord(char)
    if code < 0xA0:
        return 0 if code < 0x20 or code >= 0x7F else 1  # controls are not drawn
    if _is_in(WIDE, code):
        return 2
    return 0 if _is_in(NONE, code) else 1


def text_width(text: str) -> int:
    return sum(map(char_width, text))


def from_column(line: str, col: int) -> str:
    """Return the part of a line that begins at a column or after it."""
    at = 0
    for index, char in enumerate(line):
        width = char_width(char)
        if at >= col and width:
            return line[index:]
        at += width
    return ""


def up_to_column(line: str, columns: int) -> str:
    """Return the part of a line that fits into so many columns."""
    taken = accumulate(map(char_width, line))
    return line[: next((index for index, at in enumerate(taken) if at > columns), len(line))]


def _is_in(table: str, code: int) -> bool:
    """Return whether a code is in a range. Starts and ends alternate, so an odd count is inside."""
    return bisect_right(_edges(table), code) % 2 == 1


@cache  # of the two tables
def _edges(table: str) -> tuple[int, ...]:
    return tuple(accumulate(int(step, 36) for step in table.split()))
