"""Find a text in what a session showed.

Rule 1: one line that was drawn again and again is one hit: on the primary screen the last of its
texts in which the same was found, with how many there were; on the alternate screen each text
once, and of a line that is being typed the last one.
Rule 2: what the call's reader is not shown (core/text/redaction.py) is not found either: else
whoever searches could learn a secret piece by piece.
Rule 3: only the newest hits are kept, the others counted.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nacre.core.journal.shown import ShownAt, ShownText
from nacre.core.text.pattern import LineFinder, escaped
from nacre.core.text.redaction import redaction_of_call, searchable

# A private key is known by its first line, and takes up to so many.
_KEY_MARK = b"PRIVATE KEY"
_KEY_LINES = 120


class ShownHit(NamedTuple):
    at: ShownAt
    number: int  # of the line, or its row on the alternate screen
    text: str
    start: int  # where in the text
    end: int
    line: int  # its place among the shown lines, and its bytes'
    begin: int
    versions: int = 1  # how many texts of this line were found


class ShownHits(NamedTuple):
    newest: list[ShownHit]  # the oldest of them first
    total: int


def text_finder(wanted: str, *, regex: bool, exact: bool) -> LineFinder:
    """Return what finds a text in any case, unless it has capitals or `exact` is given.

    Raises PatternError.
    """
    if regex or exact or wanted != wanted.lower():
        return LineFinder(wanted, regex=regex)
    return LineFinder(f"(?i){escaped(wanted)}", regex=True)


def find_shown(
    shown: ShownText,
    finder: LineFinder,
    most: int,
    since: float | None = None,
    until: float | None = None,
) -> ShownHits:
    """Find the lines of a span of time, the newest `most` of them."""
    kept: dict[tuple[int, bool, int | str, str], ShownHit] = {}
    growing: dict[int, tuple[int, bool, int | str, str]] = {}  # of the alternate screen, by row
    total = 0
    for hit in _found(shown, finder):
        if (since is not None and hit.at.time < since) or (
            until is not None and hit.at.time > until
        ):
            continue
        matched = hit.text[hit.start : hit.end]
        place = hit.text if hit.at.alternate else hit.number
        key = (hit.at.epoch, hit.at.alternate, place, matched)
        before = kept.get(key)
        if hit.at.alternate:
            if before is not None:
                continue
            earlier = growing.get(hit.number)
            if earlier is not None and _grew(kept.get(earlier), hit):
                before = kept.pop(earlier)
            growing[hit.number] = key
        if before is not None:
            kept.pop(key, None)  # so that it becomes the newest
            hit = hit._replace(versions=before.versions + 1)
        else:
            total += 1
        kept[key] = hit
        if len(kept) > most:
            del kept[next(iter(kept))]
    return ShownHits(list(kept.values()), total)


def _grew(before: ShownHit | None, hit: ShownHit) -> bool:
    """Tell whether a line is an earlier one with more behind it."""
    if before is None or before.at.epoch != hit.at.epoch:
        return False
    return hit.text.startswith(before.text) and hit.start == before.start


def _found(shown: ShownText, finder: LineFinder) -> Iterator[ShownHit]:
    text = bytes(shown.text)
    if shown.known:
        text = text[shown.known :]
    number = shown.text.count(b"\n", 0, shown.known)
    counted = 0
    for begin, start, end in finder.lines(text):
        if begin >= len(text):
            return  # after the last line's end
        number += text.count(b"\n", counted, begin)
        counted = begin
        line = text[begin : text.find(b"\n", begin)]
        decoded = line.decode()
        first, last = len(line[:start].decode()), len(line[:end].decode())
        allowed = _allowed(text, begin, decoded)
        if allowed is not decoded and allowed[first:last] != decoded[first:last]:
            continue
        place = (number, begin + shown.known)
        yield ShownHit(shown.moment_of(number), shown.numbers[number], allowed, first, last, *place)


def _allowed(text: bytes, begin: int, line: str) -> str:
    """Return a line without what the call's reader is not shown, of the same length."""
    if redaction_of_call() is None:
        return line
    if (above := _above(text, begin)) is None:
        return searchable(line)
    return searchable(above + line)[len(above) :]


def near_key(shown: ShownText, begin: int) -> bool:
    """Tell whether a line may stand in or beside a private key that its reader is not shown."""
    if redaction_of_call() is None:
        return False
    around = _KEY_LINES * 80
    return shown.text.find(_KEY_MARK, max(0, begin - around), begin + around) >= 0


def _above(text: bytes, begin: int) -> str | None:
    """Return the lines above one, if a private key may begin there."""
    mark = text.rfind(_KEY_MARK, max(0, begin - _KEY_LINES * 80), begin)
    if mark < 0:
        return None
    return text[text.rfind(b"\n", 0, mark) + 1 : begin].decode(errors="replace")
