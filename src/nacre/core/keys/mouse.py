"""Mouse reports from a viewer's screen of which the child's screen is only a part.

Rule 1: the child gets reports for its own cells, in its own coordinates; presses elsewhere are
dropped. A release elsewhere is reported at the nearest row, or the button would stay pressed.
Rule 2: everything else passes unchanged and at once; only an incomplete report waits.
The first protocol has bytes from 32 on instead of numbers.
"""

import re

from nacre.core.keys.sequences import (
    BYTE_BEGUN,
    BYTE_REPORT,
    CSI,
    MOUSE_RELEASED,
    SGR_BEGUN,
    SGR_REPORT,
    URXVT_REPORT,
)
from nacre.late_pattern import late_pattern

_REPORT = late_pattern(b"|".join((SGR_REPORT, URXVT_REPORT, BYTE_REPORT)))
_UNFINISHED = late_pattern(rb"(?:%b|%b)\Z" % (SGR_BEGUN, BYTE_BEGUN))
_MOST_HELD = 32  # bytes; a report is shorter


class Mouse:
    """The input from one screen, with mouse reports in it."""

    def __init__(self) -> None:
        self._held = b""

    def move(self, data: bytes, above: int, rows: int) -> bytes:
        """Return the input for a child with `rows` rows, whose first one is `above` rows down.

        Rows that are scrolled out of view at the top make `above` negative.
        """
        data, self._held = self._held + data, b""
        found = _UNFINISHED.search(data, max(0, len(data) - _MOST_HELD))
        if found:
            data, self._held = data[: found.start()], found[0]
        if CSI not in data:
            return data
        return _REPORT.sub(lambda report: _moved(report, above, rows), data)


def _moved(report: "re.Match[bytes]", above: int, rows: int) -> bytes:
    if (three := report["bytes"]) is not None:
        row = _inside(three[2] - 32 - above, rows, released=_is_release(three[0]))
        return b"" if row is None else b"\x1b[M" + bytes((*three[:2], row + 32))
    if (end := report["end"]) is not None:
        row = _inside(int(report["row"]) - above, rows, released=end == b"m")
        head = b"\x1b[<%b;%b" % (report["button"], report["col"])
    else:
        end, released = b"M", _is_release(int(report["button2"]))
        row = _inside(int(report["row2"]) - above, rows, released=released)
        head = b"\x1b[%b;%b" % (report["button2"], report["col2"])
    return b"" if row is None else b"%b;%d%b" % (head, row, end)


def _is_release(code: int) -> bool:
    button = code - 32
    return button & 3 == MOUSE_RELEASED and button < 32


def _inside(row: int, rows: int, *, released: bool) -> int | None:
    """Rows count from one here."""
    if 1 <= row <= rows:
        return row
    return min(max(1, row), rows) if released else None
