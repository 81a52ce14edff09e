"""How much output goes to the engine before the clock is looked at again.

A few bytes can take the engine long: `CSI 65535 b` prints a character 65,535 times, RIS and DECCOLM
rebuild the screen (ECMA-48 8.3.103; xterm ctlseqs). All of these begin with an escape; text without
one is cheap, and so are colours (SGR, ECMA-48 8.3.117), of which most output has many.

Rule: a slice has few such escapes, fewer on a large screen, and one if they have been slow. So no
slice takes long, and ordinary output is not cut into many.
"""

import re

_ESCAPE = b"\x1b"
_NO_COLOUR = re.compile(rb"\x1b(?:[^\[]|\[[0-9;:]*[^0-9;:m])")
_MOST_BYTES = 16_384  # of text: 0.2 ms
_MOST_ON_LARGE = 4096  # each line scrolls a large screen
_LEAST_BYTES = 2  # of the shortest sequence that is slow: RIS
_MOST_ESCAPES = 16  # 0.1 to 0.9 ms each at worst, at 80 columns and 24 rows
_CELLS = 16_384  # of a usual screen; on a larger one, a sequence takes longer

# Of DECCOLM, which makes the rows of the whole scrollback anew (xterm ctlseqs, DECSET 3).
_REFLOW = b"\x1b[?3"

_SLOW = 0.001  # seconds for a slice
_QUICK = 0.0002


class Pace:
    def __init__(self) -> None:
        self._bytes = _MOST_BYTES
        self._escapes = _MOST_ESCAPES

    def end_of_slice(self, data: bytes, begin: int, cells: int) -> int:
        """Return where the slice ends that begins here; `cells` is the size of the screen."""
        larger = max(1, cells // _CELLS)
        escapes = max(1, self._escapes // larger)
        most = _MOST_BYTES if larger == 1 else _MOST_ON_LARGE // larger
        size = min(2 * self._bytes, max(_LEAST_BYTES, most))
        if data.find(_REFLOW, begin, begin + size) >= 0:
            escapes = 1
        while size > _LEAST_BYTES and _has_more(data, begin, begin + size, escapes):
            size //= 2
        self._bytes = size
        return min(begin + size, len(data))

    def took(self, seconds: float) -> None:
        """Note how long the engine took for a slice."""
        if seconds >= _SLOW:
            self._escapes = 1
        elif seconds < _QUICK:
            self._escapes = min(_MOST_ESCAPES, 2 * self._escapes)


def _has_more(data: bytes, begin: int, end: int, escapes: int) -> bool:
    """Return whether there are more escapes between two places, colours not counted."""
    if data.count(_ESCAPE, begin, end) <= escapes:
        return False
    return len(_NO_COLOUR.findall(data, begin, end)) > escapes
