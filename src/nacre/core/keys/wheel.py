"""The mouse of a person's terminal while no program uses it: its wheel looks back.

Rule 1: a program that asks for the mouse gets it, unaffected by us. On the alternate screen we do
not use it either, because there the wheel sends arrow keys.
Rule 2: the output passes unchanged; our own codes come before or after it.
Source: xterm ctlseqs, "Mouse Tracking" and "DEC Private Mode Set". The output never ends within a
sequence (core/display/passage.py).
"""

import re

from nacre.core.keys.sequences import (
    ARROWS_MODE,
    MOUSE_OFF,
    MOUSE_ON,
    SGR_MODE,
    SGR_ON,
    TRACKING_MODES,
)

_MODES = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_KNOWN = TRACKING_MODES | {SGR_MODE, ARROWS_MODE}


class Wheel:
    def __init__(self) -> None:
        self._modes: set[bytes] = set()  # that the program has set
        self._alternate = False
        self.ours = False  # the terminal reports to us

    def pass_on(self, data: bytes, *, alternate: bool | None = None) -> bytes:
        """Return the output, with codes that give the mouse to the program or to us.

        `alternate`: whether the program is on its alternate screen, if known.
        """
        had_sgr = SGR_MODE in self._modes
        touched = self._read(data)
        if alternate is not None:
            self._alternate = alternate
        wanted = not (self._modes & TRACKING_MODES or self._alternate)
        before, self.ours = self.ours, wanted
        if wanted:
            return data + MOUSE_ON if touched or not before else data
        if before:
            return MOUSE_OFF + (SGR_ON if had_sgr else b"") + data
        return data

    def _read(self, data: bytes) -> bool:
        """Note the modes that are set; return whether any of them is about the mouse."""
        touched = False
        for found in _MODES.finditer(data):
            numbers = _KNOWN & set(found[1].split(b";"))
            touched = touched or bool(numbers)
            if ARROWS_MODE in numbers:  # a frame tells it so (repaint.py)
                self._alternate = found[2] == b"h"
            self._modes = self._modes | numbers if found[2] == b"h" else self._modes - numbers
        return touched
