"""Text that is cut to a budget: whole lines of its beginning and its end, and how to get the rest.

Rule 1: a quarter of the room is for the beginning, three quarters for the end: what failed is told
last.
Rule 2: the cut is named by its lines, with the call that reads or searches them.
Rule 3: a line over LONGEST_LINE characters is cut in its middle; one in which something was found,
around that. Nothing else is changed.
"""

from collections.abc import Sequence
from typing import NamedTuple

LONGEST_LINE = 500
NO_OUTPUT = "(no output)"

_CUT_MARK = " … line cut … "
_FOR_MARK = 120  # characters of the line that names the cut


class KnownLines(NamedTuple):
    """Lines of a text: its first ones, and its last if some between them are not known."""

    head: Sequence[str]
    between: int = 0  # lines that are not here
    tail: Sequence[str] = ()
    first: int = 1  # the number of the head's first line

    @property
    def total(self) -> int:
        return len(self.head) + self.between + len(self.tail)


def cut(known: KnownLines, room: int, rest: str | None) -> str:
    """Return the text in as many characters as there is room for.

    `rest` is the call that has what was cut; None where there is none.
    """
    head = [cut_line(line) for line in known.head]
    tail = [cut_line(line) for line in known.tail]
    if not known.total:
        return ""
    if not known.between and _size([*head, *tail]) <= room:
        return "\n".join([*head, *tail])
    every = head if known.between else [*head, *tail]
    room -= _FOR_MARK
    kept_head = _fitting(every, room // 4)
    behind = tail if known.between else every[len(kept_head) :]
    kept_tail = _fitting(behind[::-1], room - _size(kept_head))[::-1]
    if not kept_tail and behind:
        kept_tail = [cut_line(behind[-1], max(room - _size(kept_head), 40))]
    missing = known.total - len(kept_head) - len(kept_tail)
    if missing <= 0:
        return "\n".join([*kept_head, *kept_tail])
    from_ = known.first + len(kept_head)
    which = f"line {from_:,}" if missing == 1 else f"lines {from_:,}–{from_ + missing - 1:,}"
    mark = f"… {which} cut{f': {rest}' if rest else ''} …"
    return "\n".join([*kept_head, mark, *kept_tail])


def cut_line(line: str, most: int = LONGEST_LINE) -> str:
    """Return a line, of a long one both ends."""
    if len(line) <= most:
        return line
    half = max(1, (most - len(_CUT_MARK)) // 2)
    return f"{line[:half]}{_CUT_MARK}{line[-half:]}"


def cut_around(line: str, start: int, end: int, most: int = LONGEST_LINE) -> str:
    """Return a line, of a long one what stands around a place in it."""
    if len(line) <= most:
        return line
    first = max(0, min(start - max(0, most - (end - start)) // 2, len(line) - most))
    last = first + most
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"


def numbered(lines: Sequence[str], first: int) -> list[str]:
    """Return lines with their numbers, for who reads on from one."""
    width = len(str(first + len(lines) - 1))
    return [f"{number:>{width}}  {line}" for number, line in enumerate(lines, first)]


def changed_rows(before: Sequence[str] | None, now: Sequence[str]) -> str:
    """Return a screen, or only the rows that changed since it was last shown if that is shorter."""
    last = len(now)
    while last and not now[last - 1].strip():
        last -= 1
    whole = "\n".join(row.rstrip() for row in now[:last])
    if before is None or len(before) != len(now):
        return whole
    changed = [
        f"{number:>2} {row.rstrip()}"
        for number, (old, row) in enumerate(zip(before, now, strict=True), 1)
        if old.rstrip() != row.rstrip()
    ]
    if not changed:
        return "(the screen is as it was)"
    rows = "\n".join(["rows that changed:", *changed])
    return rows if len(rows) < len(whole) else whole


def _size(lines: Sequence[str]) -> int:
    return sum(map(len, lines)) + len(lines)


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
