"""How much output goes to the engine before the clock is looked at again.

A few bytes can take the engine long: `CSI 65535 b` prints a character 65,535 times, RIS and DECCOLM
rebuild the screen (ECMA-48 8.3.103; xterm ctlseqs). All of these begin with an escape; text without
one is cheap, and so are colours (SGR, ECMA-48 8.3.117), of which most output has many.

Some text is slow too: combining characters, emoji, short lines that scroll.

Rule: a slice has few such escapes, fewer on a large screen, and one if they have been slow; and it
is shorter if the last one was slow. So no slice takes long, and ordinary output is not cut into
many.
"""

import re

_ESCAPE = b"\x1b"
_NO_COLOUR = re.compile(rb"\x1b(?:[^\[]|\[[0-9;:]*[^0-9;:m])")
_MOST_BYTES = 16_384  # of text: 0.2 ms
_MOST_ON_LARGE = 4096  # each line scrolls a large screen
_LEAST_BYTES = 2  # of the shortest sequence that is slow: RIS
_MOST_ESCAPES = 16  # 0.1 to 0.9 ms each at worst, at 80 columns and 24 rows
_CELLS = 16_384  # of a usual screen; on a larger one, a sequence takes longer

# Those that are known to be slow: DECCOLM makes the rows of the whole scrollback anew (xterm
# ctlseqs, DECSET 3), and REP prints as often as it is told.
_SLOW_ESCAPE = re.compile(rb"\x1b\[(?:\?3|[0-9]{4,}b)")
_LEAST_TEXT = 1024  # bytes of a slice of slow text: 0.5 ms

# For bytes that continue a character which never began (RFC 3629), the engine looks at all that
# follow, again for each: 0.7 ms for 1,024 in a row, 40 ms for 16,384. In text there are three in a
# row at most. Each 31st byte is looked at, which costs a fiftieth of drawing them.
_CONTINUES = re.compile(rb"[\x80-\xbf]{8}")
_SAMPLED = 31  # bytes from one sample to the next
_MOST_TORN = 512  # bytes: 0.2 ms

_SLOW = 0.001  # seconds for a slice
_QUICK = 0.0002


class Pace:
    def __init__(self) -> None:
        self._bytes = _MOST_BYTES
        self._escapes = _MOST_ESCAPES
        self._most = _MOST_BYTES

    def end_of_slice(self, data: bytes, begin: int, cells: int) -> int:
        """Return where the slice ends that begins here; `cells` is the size of the screen."""
        larger = max(1, cells // _CELLS)
        escapes = max(1, self._escapes // larger)
        most = self._most if larger == 1 else _MOST_ON_LARGE // larger
        size = min(2 * self._bytes, max(_LEAST_BYTES, most))
        if _SLOW_ESCAPE.search(data, begin, begin + size):
            escapes = 1
        if _is_torn(data, begin, begin + size):
            size = min(size, _MOST_TORN)
        while size > _LEAST_BYTES and _has_more(data, begin, begin + size, escapes):
            size //= 2
        self._bytes = size
        return _whole(data, begin, begin + size)

    def took(self, seconds: float) -> None:
        """Note how long the engine took for a slice."""
        if seconds >= _SLOW:
            self._escapes = 1
            self._most = max(_LEAST_TEXT, min(self._most, self._bytes) // 2)
        elif seconds < _QUICK:
            self._most = min(_MOST_BYTES, 2 * self._most)
            self._escapes = min(_MOST_ESCAPES, 2 * self._escapes)


def _is_torn(data: bytes, begin: int, end: int) -> bool:
    """Return whether there is a long run of bytes that continue no character."""
    found = _CONTINUES.search(data[begin:end:_SAMPLED])
    return found is not None and bool(_CONTINUES.match(data, begin + found.start() * _SAMPLED))


def _whole(data: bytes, begin: int, end: int) -> int:
    """Return an end that is not within a character (RFC 3629), if there is one near."""
    if end >= len(data):
        return len(data)
    least = max(begin + _LEAST_BYTES, end - 3)
    while end > least and data[end] & 0xC0 == 0x80:
        end -= 1
    return end


def _has_more(data: bytes, begin: int, end: int, escapes: int) -> bool:
    """Return whether there are more escapes between two places, colours not counted."""
    if data.count(_ESCAPE, begin, end) <= escapes:
        return False
    return len(_NO_COLOUR.findall(data, begin, end)) > escapes
