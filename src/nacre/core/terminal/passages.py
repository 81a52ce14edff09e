"""Tell which parts of an output are lines as they stand, and which were drawn over.

Most outputs are lines one after the other; their colours go, and that is all. A progress bar goes
back to the start of its line: a line is still a line, but only an engine knows what it came to
show. What moves up, or clears the screen, changes lines that were printed before.

Rule: what is taken for lines is exactly what an engine would show of it. In doubt it is drawn.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from nacre.core.terminal.transcript import ROWS
from nacre.core.text.needles import Needles
from nacre.core.text.pattern import compile_bytes, escaped
from nacre.late_pattern import late_pattern


class Kind(Enum):
    PLAIN = 1  # text, colours and tabs
    LOCAL = 2  # each line by itself, but an engine must draw it
    DRAWN = 3  # lines that changed others


class Strange(NamedTuple):
    """Where something stands that touches other lines."""

    start: int
    end: int
    lasts: bool  # it may change whatever comes after, for good


# ECMA-48 names the control functions by their final byte; those with a ? are xterm's (ctlseqs).
_NOT_PLAIN = (
    rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
    rb"|\x1b(?:[^\[]|\[[0-9;:]*[^0-9;:m])"  # but SGR
    rb"|\r+[^\r\n]"
)
# What grep prints after each colour: EL, which erases nothing where no text stands to its right.
_NOT_ERASING = (
    rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
    rb"|\x1b(?:[^\[]|\[(?:[^0-9;:mK]|[0-9;:]+[^0-9;:m]))"
    rb"|\r+[^\r\n]"
)
# Within a line: EL, CHA, CUF, CUB, ECH, DCH, ICH, HPA and HPR; BEL, BS, NUL, SI and DEL.
_FINALS = rb"mKGCDXP@`a"
_CONTROLS = rb"\x01-\x06\x0b\x0c\x0e\x10-\x1a\x1c-\x1f"
_MAYBE_STRANGE = rb"[%b]|\x1b(?:[^\[]|\[[0-9;:]*[^0-9;:%b])" % (_CONTROLS, _FINALS)
_HARMLESS = (
    rb"\[[0-9;:]*[%b]" % _FINALS,
    rb"\[\?(?:(?:1|12|25|100[0-6]|1015|2004|2026)[;hl])+",  # cursor, mouse, paste: no text
    rb"\[[<=>?][0-9;]*[mu]",  # keyboard
    rb"\[[>=?]?[0-9;]*[cnt]",  # questions, the window
    rb"\[[0-9]* q",  # the cursor's shape
    rb"\][^\x07\x1b\n]*(?:\x07|\x1b\\)",  # titles, links, marks
    rb"\(B",  # the character set that is there
    rb"[=>\\]",
)
_STRANGE = late_pattern(rb"[%b]|\x1b(?!%b)" % (_CONTROLS, b"|".join(_HARMLESS)))
# Cursor movements, erasing, inserting, scrolling, repeating: done with when they are done.
_MOMENTARY = late_pattern(rb"[\x0b\x0c]|\x1b(?:\[[0-9;]*[ABEFHJLMSTZIbdef]|[DEM])")

_COLOURS = late_pattern(rb"\x1b\[(?:[0-9;:]*m|K)")
_COLOUR = rb"(?:\x1b\[(?:[0-9;:]*m|K))*"  # any number of them, for RE2
_BLANKS = late_pattern(rb" +$", re.MULTILINE)
_BARE_FEED = late_pattern(rb"(?<!\r)\n")

_MOST_REPEATED = 1000  # by RE2

# Bytes: RE2 reads on much faster than the standard library, which finds the next much faster.
_NEAR = 500

# After so many lines below something strange, all that it can have touched has left the screen:
# up to a screen is written over, another pushes that out.
SETTLED = 2 * ROWS + 1


def kind_of(lines: bytes, cols: int) -> Kind:
    """Return what whole lines are; DRAWN when there is anything strange in them."""
    if compile_bytes(_NOT_PLAIN).search(lines) is None or _only_erases_nothing(lines, cols):
        # How wide other characters are, and so a tab after them, only the engine knows.
        return Kind.PLAIN if b"\t" not in lines or lines.isascii() else Kind.LOCAL
    return Kind.LOCAL if next_strange(lines) is None else Kind.DRAWN


def _only_erases_nothing(lines: bytes, cols: int) -> bool:
    if compile_bytes(_NOT_ERASING).search(lines) is not None:
        return False
    # At the end of a full row the cursor still stands on its last character.
    full = compile_bytes(rb"[^\n]{%d}" % min(cols, _MOST_REPEATED))
    return full.search(lines) is None


def next_strange(lines: bytes, at: int = 0) -> Strange | None:
    maybe = compile_bytes(_MAYBE_STRANGE)
    while (found := maybe.search(lines, at)) is not None:
        start = found.start()
        if strange := _STRANGE.match(lines, start):
            return _judged(lines, strange)
        at = start + 1
    return None


def all_strange(lines: bytes) -> Iterator[Strange]:
    """Give out all that is strange in lines, be it much or little."""
    at = 0
    while (strange := next_strange(lines, at)) is not None:
        yield strange
        near, at = strange.start - at < _NEAR, strange.end
        if near:
            for found in _STRANGE.finditer(lines, at):
                yield _judged(lines, found)
            return


def _judged(lines: bytes, strange: "re.Match[bytes]") -> Strange:
    momentary = _MOMENTARY.match(lines, strange.start())
    return Strange(strange.start(), (momentary or strange).end(), momentary is None)


def plain_text(lines: bytes) -> bytes:
    """Return PLAIN lines as they read, in UTF-8; their ends are line feeds."""
    text = lines
    if b"\x1b" in text:
        text = _COLOURS.sub(b"", text)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
        if b"\r" in text:  # of a program that writes \r\n itself, or of a line that is not over
            text = text.replace(b"\r", b"")
    if b"\t" in text:
        text = text.expandtabs()
    if b" \n" in text or text.endswith(b" "):
        text = _BLANKS.sub(b"", text)
    return text if text.isascii() else text.decode(errors="replace").encode()


class NeedleFinder:
    """Tells of lines as they were printed that none of some texts can be shown in them."""

    def __init__(self, needles: Needles) -> None:
        self._needles = [needle.encode() for needle in needles]
        self._blank = any(" " in needle for needle in needles)
        self._letters = [frozenset(needle.encode()) for needle in needles]
        # A colour may begin within a word.
        spread = (_COLOUR.join(escaped(letter).encode() for letter in one) for one in needles)
        self._spread = compile_bytes(b"|".join(spread))

    def may_be_in(self, lines: bytes, kind: Kind) -> bool:
        if kind is Kind.LOCAL:  # pieces that were printed over each other, but of these letters
            return any(all(lines.find(letter) >= 0 for letter in one) for one in self._letters)
        if self._blank and b"\t" in lines:
            return True  # which will be blanks
        if b"\x1b" not in lines:
            return any(needle in lines for needle in self._needles)
        return self._spread.search(lines) is not None


def local_lines(lines: bytes, count: int, cols: int) -> list[str]:
    """Return what LOCAL lines came to show."""
    from nacre.core.terminal.terminal import Terminal

    terminal = Terminal(ROWS, cols, scrollback=len(lines) + ROWS)
    try:
        terminal.feed(_BARE_FEED.sub(b"\r\n", lines))
        shown = terminal.unwrapped_lines()[:count]
        return shown + [""] * (count - len(shown))  # blank ones at the end are left out
    finally:
        terminal.close()
