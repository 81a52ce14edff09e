"""What a person has typed and the daemon has not confirmed yet.

Rule 1: it is kept until the terminal has taken it. The next daemon says what the one before it had
written; the rest is sent again, so every byte is typed once.
Rule 2: half a line is worse than none. When something is lost, or nobody knows whether it is, all
that follows is dropped up to and with the Enter that would run the rest. Ctrl+C and Ctrl+U end that
too and are passed on: what they leave of a line runs nothing. A paste is dropped to its end.
Rule 3: a daemon of an earlier version confirms nothing; what was sent to it is not sent again.
"""

import base64
import re
from typing import Any

from nacre.core.keys.sequences import PASTE_BEGIN, PASTE_END

# Bytes typed without a daemon that are kept for the next one. It is as much as a terminal's own
# line holds (termios(3), canonical mode).
KEPT = 4096

# A paste is text, also where it has an Enter. Enter and Ctrl+C also as the keyboard protocol of
# kitty sends them.
_PASTE = rb"\x1b\[200~.*?(?:\x1b\[201~|\Z)"
_ENTER = rb"[\r\n]|\x1b\[13(?:;1)?u"
_BREAK = rb"[\x03\x15]|\x1b\[(?:99|117);5u"
_ENDS = re.compile(
    rb"(?P<paste>%b)|(?P<enter>%b)|(?P<break>%b)" % (_PASTE, _ENTER, _BREAK), re.DOTALL
)


def after_line(typed: bytes) -> bytes | None:
    """Return what is typed after the line that is dropped; None if the line goes on."""
    for found in _ENDS.finditer(typed):
        if found["enter"]:
            return typed[found.end() :]
        if found["break"]:
            return typed[found.start() :]
    return None


class Unconfirmed:
    def __init__(self) -> None:
        self.dropping = False
        self._numbers = False  # this daemon confirms what it is sent
        self._open = False  # it may be sent something now
        self._kept = b""
        self._first = 0  # number of the first kept byte
        self._sent = 0  # bytes of what is kept that this daemon has got
        self._go_on = False
        self._resumed = 0  # number of the first byte after what was dropped last
        self._pasting = False  # the end of a paste is still to come
        self._tail = b""  # of what was typed last: the beginning or end of a paste may be cut

    # --- the person ------------------------------------------------------------------------

    def add(self, keys: bytes) -> bool:
        """Type keys. Return False if they, or some before them, are dropped."""
        rest = self._after_paste(keys)
        if self.dropping:
            rest = None if rest is None else after_line(rest)
            self._leave_out(len(keys) - len(rest or b""))
            if rest is None:
                return False
            self.dropping, self._go_on, keys = False, True, rest
        self._kept += keys
        if not self._open and len(self._kept) - self._sent > KEPT:
            self._drop()
            return False
        return True

    # --- the daemon ------------------------------------------------------------------------

    def came(self, *, numbers: bool) -> None:
        """A daemon let us in; `numbers`: it will say what became of what was typed before."""
        self._numbers = numbers
        self._open = not numbers
        if not numbers:
            self._forget(self._sent)

    def went(self) -> None:
        self._open = False

    def typing(self, taken: int, received: int, *, lost: bool) -> bool:
        """Hear what became of what was typed before; `lost`: what was received and not taken.

        Return False if the rest is dropped.
        """
        self._open = True
        self._forget(taken - self._first)
        self._sent = min(len(self._kept), max(0, received - self._first))
        if lost and self._kept and not self._go_on:  # else nothing of it was sent yet
            self._drop()
            return False
        return True

    def taken(self, number: int) -> None:
        self._forget(number - self._first)

    def dropped(self, number: int) -> bool:
        """Hear that the daemon drops what was typed before this number and what follows.

        Return whether that is news: it may be about what we have dropped, too.
        """
        news = not self.dropping and number > self._resumed
        if news:
            self._drop()
        return news

    def message(self) -> dict[str, Any] | None:
        """Return what is to be sent now; None: nothing."""
        keys = self._kept[self._sent :]
        if not self._open or not (keys or self._go_on):
            return None
        typed: dict[str, Any] = {"input": base64.b64encode(keys).decode()}
        number, self._sent = self._first + self._sent, len(self._kept)
        if not self._numbers:
            self._go_on = False
            self._forget(self._sent)
            return typed if keys else None
        typed["number"] = number
        if self._go_on:
            typed["go_on"] = True
            self._go_on = False
        return typed

    def _drop(self) -> None:
        self._forget(len(self._kept))
        self.dropping, self._go_on = True, False
        self._resumed = self._first

    def _after_paste(self, keys: bytes) -> bytes | None:
        """Return the keys behind a paste that was begun before them; None if it goes on."""
        whole, pasting, before = self._tail + keys, self._pasting, len(self._tail)
        begin, end = whole.rfind(PASTE_BEGIN), whole.rfind(PASTE_END)
        self._pasting = pasting if begin == end else begin > end  # equal: there is none
        self._tail = whole[1 - len(PASTE_END) :]
        if not pasting:
            return keys
        first = whole.find(PASTE_END)
        return None if first < 0 else whole[max(before, first + len(PASTE_END)) :]

    def _leave_out(self, count: int) -> None:
        """Count what is dropped as it is typed: the daemon sees that something is missing."""
        self._first += count
        self._resumed = self._first

    def _forget(self, count: int) -> None:
        count = max(0, min(count, len(self._kept)))
        self._kept = self._kept[count:]
        self._first += count
        self._sent = max(0, self._sent - count)
