"""Which part of a session's output may reach a viewer's own terminal.

Rule 1: the engine answers queries (DA, DSR, DECRQM …). A viewer's terminal must not answer too,
because its answer would be typed into the session.
Rule 2: a program controls its session, not the viewer's machine: no clipboard, no window sizes, no
erasing of the viewer's scrollback, no lasting colours. Strings (OSC, DCS, APC) pass only if they
are known to be titles, or links to http and https.
Rule 3: a switch between the screens, or a reset, is not passed on; the viewer gets a snapshot.
Rule 4: what changes the order of text, or carries text that nobody sees, is left out
(core/text/unseen.py).
Rule 5: the result never ends within a sequence or a character, so a snapshot may follow at any
time.
"""

import re

from nacre.core.text.unseen import FLAG, ends_flag, for_eyes_utf8
from nacre.late_pattern import late_pattern

_ESC = b"\x1b"
# Bytes of an unfinished string; a longer one is an image or similar and is left out.
_MOST_HELD = 1 << 16

# RIS; DECCOLM and the alternate screens (xterm ctlseqs, modes 3, 47, 1047, 1049) in any list.
_SWITCH = late_pattern(rb"\x1bc|\x1b\[\?(?:[0-9]*;)*(?:3|47|1047|1049)(?:;[0-9]*)*[hl]")

_LEFT_OUT = late_pattern(
    rb"\x1b\[[<-?]?[0-9;:]*(?:[cntx]|\$p|\*y)"  # DA, DSR, XTWINOPS, DECREQTPARM, DECRQM, DECRQCRA
    rb"|\x1b\[>[0-9;]*q|\x1b\[\?u|\x1b\[\?[0-9;]*S"  # XTVERSION, kitty's flags, graphics
    rb"|\x1b\[\??3J"  # erases the scrollback
    # all strings but titles (OSC 0, 1, 2), and links (OSC 8) to web pages or that end one
    rb"|\x1b\](?!(?:[012];|8;[^;\x07\x1b]*;(?:(?i:https?)://|[\x07\x1b])))[^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\|(?=[\x1b\x18\x1a]))"
    rb"|\x1b[PX^_][^\x1b\x18\x1a]*(?:\x1b\\|(?=[\x1b\x18\x1a]))"
    rb"|\x1bZ|\x05|\xc2[\x80-\x9f]"  # DECID, ENQ, controls of eight bits
)
_TITLE = late_pattern(rb"\x1b\][012];[^\x07\x1b\x18\x1a]*")
_IN_TITLE = late_pattern(rb"[\x00-\x06\x08-\x17\x19\x1c-\x1f\x7f]")  # no title has such controls
_UNFINISHED = late_pattern(
    rb"\x1b(?:\[[0-?]*[ -/]*|[ -/]*|\][^\x07\x1b\x18\x1a]*\x1b?|[PX^_][^\x1b\x18\x1a]*\x1b?)\Z"
)
_UNFINISHED_CHARACTER = late_pattern(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_STRING_END = {
    True: late_pattern(rb"\x07|\x1b\\?|[\x18\x1a]"),
    False: late_pattern(rb"\x1b\\?|[\x18\x1a]"),
}


class Passage:
    def __init__(self, *, switches: bool = False) -> None:
        """`switches`: the output may use the viewer's whole terminal, so rule 3 does not apply."""
        self._switches = switches
        self._held = b""
        self._flagged = False  # it ended in a flag, of which more may come
        self._skipping: bool | None = None  # inside a string that is left out; True: it is an OSC

    def pass_on(self, data: bytes) -> bytes | None:
        """Return what a viewer may get of the next output; None if it needs a snapshot."""
        if self._skipping is not None:
            data = self._skip(data, of_osc=self._skipping)
        elif self._held:
            data, self._held = self._held + data, b""
        data = self._hold_back(data)
        if not self._switches and _ESC in data and _SWITCH.search(data):
            return None
        if _ESC in data or b"\x05" in data or b"\xc2" in data:
            data = _TITLE.sub(_without_controls, _LEFT_OUT.sub(b"", data))
        if data.isascii():
            self._flagged = self._flagged and not data
            return data
        shown = for_eyes_utf8(FLAG + data)[len(FLAG) :] if self._flagged else for_eyes_utf8(data)
        self._flagged = ends_flag(FLAG + data if self._flagged else data)
        return shown

    def _hold_back(self, data: bytes) -> bytes:
        keep = _unfinished(data)
        if not keep:
            return data
        data, self._held = data[:-keep], data[-keep:]
        if keep > _MOST_HELD:
            self._skipping, self._held = self._held[1:2] == b"]", b""
        return data

    def _skip(self, data: bytes, *, of_osc: bool) -> bytes:
        end = _STRING_END[of_osc].search(data)
        if end is None:
            return b""
        self._skipping = None
        # An ESC that is not part of the terminator begins the next sequence.
        return data[end.start() if end[0] == _ESC else end.end() :]


def _without_controls(title: re.Match[bytes]) -> bytes:
    return title[0][:1] + _IN_TITLE.sub(b"", title[0][1:])


def _unfinished(data: bytes) -> int:
    """Return how many bytes at the end belong to an incomplete sequence or character."""
    at = data.rfind(_ESC)
    if at >= 0:
        if at == len(data) - 1:  # perhaps the first half of a string's terminator
            before = data.rfind(_ESC, 0, at)
            if before >= 0 and _UNFINISHED.match(data, before):
                return len(data) - before
        if _UNFINISHED.match(data, at):
            return len(data) - at
    found = _UNFINISHED_CHARACTER.search(data, max(0, len(data) - 3))
    return len(data) - found.start() if found else 0
