"""Mouse reports of a screen on which the child's own screen is only a part.

Rule 1: the child is told of its own cells, in its own coordinates; what is pressed elsewhere goes
nowhere. A button that is let go of elsewhere is told at the nearest row, or it would stay pressed.
Rule 2: everything else passes as it is, at once; only a report that is not whole waits.
Source: xterm ctlseqs, "Mouse Tracking": SGR (1006), urxvt (1015), and the first protocol, which has
bytes from 32 on instead of numbers.
"""

import re

_REPORT = re.compile(
    rb"\x1b\[<(?P<button>\d+);(?P<col>\d+);(?P<row>\d+)(?P<end>[Mm])"
    rb"|\x1b\[(?P<button2>\d+);(?P<col2>\d+);(?P<row2>\d+)M"
    rb"|\x1b\[M(?P<bytes>[\x20-\xff]{3})",
)
_UNFINISHED = re.compile(rb"\x1b\[(?:<[\d;]*|M[\x20-\xff]{0,2})\Z")
_MOST_HELD = 32  # bytes; a report has less
_RELEASED = 3  # of the low two bits, in protocols without an end of its own for it


class Mouse:
    """What is typed at one screen, reports among it."""

    def __init__(self) -> None:
        self._held = b""

    def move(self, data: bytes, above: int, rows: int) -> bytes:
        """Return what is for a child that has `rows` rows, the first one `above` rows further down.

        Rows that are scrolled out of view at the top make `above` negative.
        """
        data, self._held = self._held + data, b""
        found = _UNFINISHED.search(data, max(0, len(data) - _MOST_HELD))
        if found:
            data, self._held = data[: found.start()], found[0]
        if b"\x1b[" not in data:
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
    return button & 3 == _RELEASED and button < 32


def _inside(row: int, rows: int, *, released: bool) -> int | None:
    """Rows count from one here."""
    if 1 <= row <= rows:
        return row
    return min(max(1, row), rows) if released else None
