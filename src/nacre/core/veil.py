"""Hide the echo of a line that we sent, until what it starts has begun.

What comes from the terminal between the sending of a wrapped command and its start mark is the echo
of our own text: nobody wants to see it. It is held back, and given out after all when the mark does
not come. What sets modes or asks the terminal something is let through: a shell switches bracketed
paste off in the middle of the echo.
"""

import re

from nacre.core.marks import Mark

_MOST = 64 * 1024  # an echo is not longer than a few kilobytes: what is more is output


# ECMA-48 5.4: private sequences (modes, xterm's and kitty's keyboards), DA, DSR; DECKPAM, DECKPNM.
_KEPT = re.compile(rb"\x1b\[[?<>=][0-9;]*\$?[A-Za-z]|\x1b\[[0-9]*[cn]|\x1b[=>]")


class Veil:
    def __init__(self, nonce: str, shown: bytes, until: str = "S") -> None:
        self.until = until  # the mark that ends it
        self.nonce = nonce
        self.shown = shown  # what is shown in the echo's place
        self._held: list[bytes] = []
        self._size = 0
        self.lifted = False

    def pass_on(self, piece: bytes | Mark) -> list[bytes | Mark]:
        """Return what may be seen of a piece."""
        if self.lifted:
            return [piece]
        if isinstance(piece, Mark):
            if piece.nonce != self.nonce:
                return [piece]
            if piece.kind == self.until and piece.value != "read":
                shown = b"".join(_KEPT.findall(self.release())) + self.shown
                return [shown, piece] if shown else [piece]
            return [piece]
        self._held.append(piece)
        self._size += len(piece)
        return [self.release()] if self._size > _MOST else []

    def release(self) -> bytes:
        """Give up hiding; return what was held back."""
        self.lifted = True
        held = b"".join(self._held)
        self._held.clear()
        return held
