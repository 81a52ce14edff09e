"""Hide the echo of a line that we sent, until its command has started.

What the terminal prints between a wrapped command and its start mark is the echo of our own text,
which nobody wants to see. It is held back, and shown after all if the mark does not come. Codes
that set modes or query the terminal pass: a shell turns bracketed paste off in the middle of the
echo.
"""

from nacre.core.shell.marks import Mark
from nacre.late_pattern import late_pattern

# Bytes; anything more is output. An echo has a few kilobytes, but where a line editor draws a whole
# line for each of its characters (fish in a dumb terminal) it has half a million.
_MOST = 1024 * 1024


# ECMA-48 5.4: private sequences (modes, xterm's and kitty's keyboards), DA, DSR; DECKPAM, DECKPNM.
_KEPT = late_pattern(rb"\x1b\[[?<>=][0-9;]*\$?[A-Za-z]|\x1b\[[0-9]*[cn]|\x1b[=>]")


# What every line of ours has, in each row that a line editor makes of it.
_OURS = late_pattern(rb"\$_n[a-z]\b|_nacre_")


class Veil:
    def __init__(self, nonce: str, shown: bytes, until: str = "S") -> None:
        self.until = until  # the mark that ends it
        self.nonce = nonce
        self.shown = shown  # what is shown instead of the echo
        self._held: list[bytes] = []
        self._size = 0
        self.lifted = False

    def pass_on(self, piece: bytes | Mark) -> list[bytes | Mark]:
        """Return the visible part of a piece."""
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

    def drop(self, *, prompt: bool) -> bytes:
        """Stop hiding a line that was not understood; return what is shown of it.

        With `prompt`, that is the command, and the line that stands below the complaint about it.
        """
        held = self.release()
        modes = b"".join(_KEPT.findall(held))
        _, ended, below = held.rpartition(b"\n")
        # Without a line's end, and with the nonce, it is a piece of the echo.
        if not ended or self.nonce.encode() in below:
            below = b""
        return modes + self.shown + below if prompt else modes

    def uncover(self) -> bytes:
        """Stop hiding; return the command, and what came behind the echo of its line."""
        nonce, held = self.nonce.encode(), self.release()
        rows = held.split(b"\n")
        ours = [at for at, row in enumerate(rows) if nonce in row or _OURS.search(row)]
        if not ours:
            return held
        echo, rest = rows[: ours[-1] + 1], rows[ours[-1] + 1 :]
        return b"".join(_KEPT.findall(b"\n".join(echo))) + self.shown + b"\n".join(rest)

    def release(self) -> bytes:
        """Stop hiding; return what was held back."""
        self.lifted = True
        held = b"".join(self._held)
        self._held.clear()
        return held
