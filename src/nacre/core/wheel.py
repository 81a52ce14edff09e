"""The mouse of a person's terminal, for as long as no program wants it: its wheel looks back.

Rule 1: a program that asks for the mouse gets it as if nobody else had. Neither is it ours on the
alternate screen, where the wheel is arrow keys.
Rule 2: what is drawn passes as it is; what is ours comes before or after it.
Source: xterm ctlseqs, "Mouse Tracking" and "DEC Private Mode Set". What passes ends within no
sequence (passage.py).
"""

import re

_MODES = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_TRACKING = {b"9", b"1000", b"1002", b"1003"}
_SGR, _ARROWS = b"1006", b"1007"
_KNOWN = _TRACKING | {_SGR, _ARROWS}
_ON, _OFF = b"\x1b[?1000;1006h", b"\x1b[?1000;1006l"


class Wheel:
    def __init__(self) -> None:
        self._modes: set[bytes] = set()  # that the program has on
        self._alternate = False
        self.ours = False  # the terminal reports to us

    def pass_on(self, data: bytes, *, alternate: bool | None = None) -> bytes:
        """Return what is drawn, and leaves the mouse to whom it belongs.

        `alternate`: which screen the program is on, where that is known.
        """
        had_sgr = _SGR in self._modes
        touched = self._read(data)
        if alternate is not None:
            self._alternate = alternate
        wanted = not (self._modes & _TRACKING or self._alternate)
        before, self.ours = self.ours, wanted
        if wanted:
            return data + _ON if touched or not before else data
        if before:
            return _OFF + (b"\x1b[?1006h" if had_sgr else b"") + data
        return data

    def _read(self, data: bytes) -> bool:
        """Note the modes that are set; return whether any is of the mouse."""
        touched = False
        for found in _MODES.finditer(data):
            numbers = _KNOWN & set(found[1].split(b";"))
            touched = touched or bool(numbers)
            if _ARROWS in numbers:  # a frame tells it so (repaint.py)
                self._alternate = found[2] == b"h"
            self._modes = self._modes | numbers if found[2] == b"h" else self._modes - numbers
        return touched
