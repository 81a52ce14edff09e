"""Messages of `nacre attach` itself, in the last row of the terminal.

Rule 1: this file never reads a clock; the caller passes now.
Rule 2: a message covers the session's own row, which only the daemon can paint again. When the
message expires, the caller asks for that.
"""

import os

from nacre.cli.output.answers import harmless
from nacre.core.text.widths import up_to_column

_SECONDS = 3.0


class LastRow:
    def __init__(self, hint: str | None) -> None:
        """`hint` is shown with the first picture."""
        self.until: float | None = None  # when the message expires
        self.hint = hint  # None: there is none, or it was shown already
        self._said = ""

    def say(self, text: str, size: os.terminal_size, now: float) -> bytes:
        """Return the bytes that show it, until the first key or for a few seconds."""
        self.hint = None
        self.until = now + _SECONDS
        self._said = text
        return _draw(text, size, "7")

    def again(self, size: os.terminal_size) -> bytes:
        """Return the bytes that show the message once more, after what may have covered it."""
        return b"" if self.until is None else _draw(self._said, size, "7")

    def note(self, text: str, size: os.terminal_size) -> bytes:
        """Return the bytes that show it, until the next picture paints over it."""
        return _draw(text, size, "2")

    def drop(self) -> bool:
        """End the message. Return whether there was one."""
        said, self.until = self.until is not None, None
        return said


def _draw(text: str, size: os.terminal_size, pen: str) -> bytes:
    text = harmless(text).replace("\n", "⏎").replace("\t", " ")  # they would leave the row
    text = up_to_column(text, size.columns - 1)
    # DECSC and DECRC around it keep cursor, pen and origin mode; SGR: 2 faint, 7 inverse.
    return f"\x1b7\x1b[?6l\x1b[{size.lines};1H\x1b[0;{pen}m{text}\x1b[0m\x1b8".encode()
