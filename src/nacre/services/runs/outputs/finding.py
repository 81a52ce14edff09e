"""Find a text, or a regular expression, in what a run printed.

Rule 1: it is looked for line by line, and takes as long as one answer may: what was not searched by
then is said, and the caller goes on from there.
Rule 2: the first match is shown in any case, or nobody would get beyond it: of a match for which
there is no room, the lines around it are left out, and it is said, then more of its own line.
Rule 3: it blocks, and belongs into a thread, in the context of its call (redaction).
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from nacre.core.operations.results import FoundLine
from nacre.core.text.budget import json_size
from nacre.core.text.pattern import LineFinder
from nacre.core.text.redaction import searchable

_SHOWN = 400  # characters of a long line that are shown on each side of what was found
_LEAST = 20  # the same, where there is hardly any room

# Parts of it: the number of the first line, of the next part's, and the lines.
Texts = Iterable[tuple[int, int, bytes]]
Page = Callable[[int, int], list[str]]


class SearchOutcome(NamedTuple):
    lines: list[FoundLine]
    next_offset: int | None  # None: all of it was searched
    alone: bool = False  # there is one match, and no room for the lines around it


class Search(NamedTuple):
    finder: LineFinder
    context: int
    most: int  # lines that are found
    budget: int  # characters of JSON
    seconds: float

    def run(self, texts: Texts, page: Page, total: int) -> SearchOutcome:
        """Search the parts; `page` gives the lines around what is found."""
        found: list[FoundLine] = []
        deadline = time.monotonic() + self.seconds
        used = 0
        alone = False
        for first, following, text in texts:
            for number, line, start, end in _lines(self.finder, first, text):
                if number >= total:
                    return SearchOutcome(found, None, alone)
                shown = self._show(page, number, line, start, end)
                used += _size(shown)
                if len(found) == self.most or (found and used > self.budget):
                    return SearchOutcome(found, number, alone)
                if used > self.budget:
                    alone = bool(shown.before or shown.after)
                    shown = self._alone(shown, line, start, end)
                found.append(shown)
            if following < total and time.monotonic() > deadline:
                return SearchOutcome(found, following, alone)
        return SearchOutcome(found, None, alone)

    def _show(self, page: Page, number: int, line: str, start: int, end: int) -> FoundLine:
        before = page(max(0, number - self.context), min(number, self.context))
        after = page(number + 1, self.context)
        return FoundLine(
            line=number,
            text=_around(line, start, end, _SHOWN),
            before=tuple(_around(one, 0, 0, _SHOWN) for one in before),
            after=tuple(_around(one, 0, 0, _SHOWN) for one in after),
        )

    def _alone(self, shown: FoundLine, line: str, start: int, end: int) -> FoundLine:
        """Return a match without the lines around it, with what there is room for of its own."""
        side = _SHOWN
        shown = replace(shown, before=(), after=())
        while _size(shown) > self.budget and side > _LEAST:
            side = max(_LEAST, side // 2)
            shown = replace(shown, text=_around(line, start, end, side))
        return shown


def search_lines(search: Search, lines: list[str], offset: int) -> SearchOutcome:
    """Search lines that are in memory."""
    whole = (offset, len(lines), "\n".join(lines[offset:]).encode())
    texts = [whole] if offset < len(lines) else []
    return search.run(texts, lambda first, count: lines[first : first + count], len(lines))


def _lines(finder: LineFinder, first: int, text: bytes) -> Iterator[tuple[int, str, int, int]]:
    number, counted = first, 0
    for begin, start, end in finder.lines(text):
        number += text.count(b"\n", counted, begin)
        counted = begin
        stop = text.find(b"\n", begin)
        line = text[begin:] if stop < 0 else text[begin:stop]
        # Offsets of bytes become those of characters.
        from_, to = len(line[:start].decode()), len(line[:end].decode())
        decoded = line.decode()
        if (shown := searchable(decoded)) is not decoded and shown[from_:to] != decoded[from_:to]:
            continue  # within a secret: what nobody is shown is not found either
        yield number, shown, from_, to


def _around(line: str, start: int, end: int, side: int) -> str:
    """Return a line, of a long one what stands on each side of a place in it."""
    line = searchable(line)
    first, last = max(0, start - side), min(len(line), end + side, start + 3 * side)
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"


def _size(found: FoundLine) -> int:
    return json_size(found) + 1  # and a comma
