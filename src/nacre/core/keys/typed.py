"""What a terminal sends when a person types, as keys.

Rule 1: nothing is lost or added: the `raw` of all items together is the input.
Rule 2: names are the DOM's (Enter, ArrowUp, "a"), a space is " ". A character typed with shift is
that character: "A" is not "a" with shift, in any protocol.
Rule 3: a paste is one item, and so is a mouse report. Anything that is not a press (replies, focus
reports, a released key) or unknown is one item without a key.
Rule 4: ESC begins most sequences, but is also a key. At the end of a chunk it is the key, at once:
terminals write a sequence in one piece, and Escape must work without delay.

The codes and their sources are in sequences.py. Alt is ESC and the key: xterm ctlseqs, "Alt and
Meta Keys".
"""

import re
from typing import NamedTuple

from nacre.core.keys.sequences import (
    ALT,
    BYTE_REPORT,
    CTRL,
    FINALS,
    HYPER,
    KEY_RELEASED,
    KEYPAD,
    KITTY_KEYS,
    META,
    MODIFIED_OTHER,
    PASTE_BEGIN,
    PASTE_END,
    SGR_BEGUN,
    SHIFT,
    SUPER,
    TILDES,
    URXVT_REPORT,
    without_groups,
)
from nacre.late_pattern import late_pattern


class TypedKey(NamedTuple):
    raw: bytes
    key: str | None
    modifiers: tuple[str, ...] = ()  # of ctrl, alt, shift, super, hyper, meta, in this order


PASTE, MOUSE = "Paste", "Mouse"

_CHARACTER = (
    rb"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})"
)
_TOKEN = late_pattern(
    rb"(?P<paste>%(begin)b.*?(?:%(end)b|\Z))"
    rb"|(?P<mouse>%(sgr)b[Mm]|%(urxvt)b|%(bytes)b)"
    rb"|(?P<console>\x1b\[\[[A-E])"  # F1 to F5 of the Linux console
    rb"|(?P<csi>\x1b?\x1b\[[0-?]*[ -/]*[@-~])"
    rb"|(?P<ss3>\x1b?\x1bO[\d;]*[ A-FHIMP-SXj-y])"
    # Replies: OSC (colours), DCS (DECRQSS, XTGETTCAP, XTVERSION), APC (kitty's graphics).
    rb"|(?P<string>\x1b(?:\]\d+;[^\x07\x1b]*(?:\x07|\x1b\\)|(?:P[\d;]*[!$+>|]|_G)[^\x1b]*\x1b\\))"
    rb"|(?P<alt>\x1b(?!\x1b)%(char)b)"
    rb"|(?P<char>%(char)b)"
    rb"|(?P<no_text>.)"
    % {
        b"begin": re.escape(PASTE_BEGIN),
        b"end": re.escape(PASTE_END),
        b"sgr": SGR_BEGUN,
        b"urxvt": without_groups(URXVT_REPORT),
        b"bytes": without_groups(BYTE_REPORT),
        b"char": _CHARACTER,
    },
    re.DOTALL,
)
_UNFINISHED = late_pattern(
    rb"(?:\x1b?\x1b(?:\[[0-?]*[ -/]*|\[\[|\[M[\x20-\xff]{0,2}|O[\d;]*)"
    rb"|\x1b(?:\]\d+(?:;[^\x07\x1b]*\x1b?)?|(?:P[\d;]*[!$+>|]|_G)[^\x1b]*\x1b?)"
    rb"|\x1b?(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})"
    rb")\Z"
)
# Most bytes of an unfinished sequence; the longest real ones are colour replies of 30 bytes.
_MOST_HELD = 1024
# Bytes of a paste that are held until its end; a longer one is returned in parts.
_MOST_PASTED = 1 << 20

_CONTROLS = {"\r": "Enter", "\t": "Tab", "\x1b": "Escape", "\x7f": "Backspace"}
_PRIVATE_USE = range(0xE000, 0xF900)

# Their names, in this order.
_MODIFIERS = (
    *(("ctrl", CTRL), ("alt", ALT), ("shift", SHIFT)),
    *(("super", SUPER), ("hyper", HYPER), ("meta", META)),
)


def parse_typed(data: bytes) -> list[TypedKey]:
    """Return what was typed; nothing follows, even if the data ends within a sequence."""
    return [_typed(found) for found in _TOKEN.finditer(data)]


class TypedStream:
    """Input in chunks: an incomplete sequence waits for the next chunk."""

    def __init__(self) -> None:
        self._held = b""
        self._pasting = False  # inside a paste whose beginning was already returned

    @property
    def held(self) -> bytes:
        """The bytes of an incomplete sequence."""
        return self._held

    def feed(self, data: bytes) -> list[TypedKey]:
        if not self._held and data in (b"\x1b[", b"\x1bO"):
            return parse_typed(data)  # Alt and the key; see rule 4
        data, self._held = self._held + data, b""
        keys: list[TypedKey] = []
        at = 0
        while at < len(data):
            if self._pasting or data.startswith(PASTE_BEGIN, at):
                at = self._paste(data, at, keys)
            elif (found := _UNFINISHED.match(data, at)) and len(found[0]) <= _MOST_HELD:
                self._held, at = found[0], len(data)
            else:
                whole = _TOKEN.match(data, at)
                assert whole is not None
                keys.append(_typed(whole))
                at = whole.end()
        return keys

    def flush(self) -> list[TypedKey]:
        """Return the held bytes, because nothing more comes."""
        held, self._held = self._held, b""
        if self._pasting:
            self._pasting = False
            return [TypedKey(held, PASTE)] if held else []
        return parse_typed(held)

    def _paste(self, data: bytes, at: int, keys: list[TypedKey]) -> int:
        end = data.find(PASTE_END, at)
        if end >= 0:
            self._pasting = False
            keys.append(TypedKey(data[at : end + len(PASTE_END)], PASTE))
            return end + len(PASTE_END)
        if not self._pasting and len(data) - at <= _MOST_PASTED:
            self._held = data[at:]
            return len(data)
        self._pasting = True
        keep = _begun(data[at:], PASTE_END)
        if part := data[at : len(data) - keep]:
            keys.append(TypedKey(part, PASTE))
        self._held = data[len(data) - keep :]
        return len(data)


def _begun(data: bytes, end: bytes) -> int:
    """Return how many of the last bytes may be the beginning of the terminator."""
    return next((n for n in range(len(end) - 1, 0, -1) if data.endswith(end[:n])), 0)


def _typed(found: "re.Match[bytes]") -> TypedKey:
    raw, kind = found[0], found.lastgroup
    if kind == "paste":
        return TypedKey(raw, PASTE)
    if kind == "mouse":
        return TypedKey(raw, MOUSE)
    if kind == "console":
        return TypedKey(raw, f"F{raw[-1] - ord('A') + 1}")
    if kind == "char":
        return _named(raw, raw.decode())
    if kind == "alt":
        return _named(raw, raw[1:].decode(), ALT)
    if kind in ("csi", "ss3"):
        bare = raw.removeprefix(b"\x1b") if raw.startswith(b"\x1b\x1b") else raw
        read = _csi if kind == "csi" else _ss3
        key, bits = read(bare[2:].decode())
        return _with(raw, key, bits | (ALT if bare != raw else 0))
    return TypedKey(raw, None)  # a reply, or bytes that are not text


def _named(raw: bytes, char: str, bits: int = 0) -> TypedKey:
    """Return a character, or the key of a control character (ECMA-48 C0)."""
    if char in _CONTROLS:
        return _with(raw, _CONTROLS[char], bits)
    if char >= " ":
        return _with(raw, char, bits)
    return _with(raw, " " if char == "\0" else chr(ord(char) + 0x40).lower(), bits | CTRL)


def _with(raw: bytes, key: str | None, bits: int) -> TypedKey:
    if key is None:
        return TypedKey(raw, None)
    return TypedKey(raw, key, tuple(name for name, bit in _MODIFIERS if bits & bit))


def _ss3(text: str) -> tuple[str | None, int]:
    final = text[-1]
    # Some terminals put the modifiers here as well: SS3 5 P, SS3 1 ; 5 P.
    number = text[:-1].rpartition(";")[2]
    bits = max(0, int(number or 1) - 1)
    return FINALS.get(final) or KEYPAD.get(final), bits


def _csi(text: str) -> tuple[str | None, int]:
    final = text[-1]
    try:
        numbers = [[int(part or 0) for part in field.split(":")] for field in text[:-1].split(";")]
    except ValueError:  # a private sequence, or one with intermediates: a reply
        return None, 0
    bits, event = _modifiers(numbers)
    if event == KEY_RELEASED:
        return None, 0
    first = numbers[0][0]
    if final == "u":
        return _by_code(first, bits, numbers) if text != "u" else (None, 0)
    if final == "~" and first == MODIFIED_OTHER and len(numbers) == 3:
        return _by_code(numbers[2][0], bits, [])
    if final == "~" and len(numbers) <= 2:
        return TILDES.get(first), bits
    if final == "Z" and len(numbers) <= 2:
        return "Tab", bits | SHIFT
    if first > 1 or len(numbers) > 2:  # a report: CSI 5 ; 1 R is where the cursor is
        return None, 0
    return FINALS.get(final), bits


def _modifiers(numbers: list[list[int]]) -> tuple[int, int]:
    """Return the modifiers' bits, and kitty's event type."""
    if len(numbers) < 2:
        return 0, 1
    field = numbers[1]
    return max(0, field[0] - 1), field[1] if len(field) > 1 else 1


def _by_code(code: int, bits: int, numbers: list[list[int]]) -> tuple[str | None, int]:
    """Name a key by its code point: kitty's are without shift, xterm's with."""
    if code in KITTY_KEYS:
        return KITTY_KEYS[code], bits
    if code in _PRIVATE_USE or not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return None, 0  # media keys, modifiers alone
    char = chr(code)
    if char in _CONTROLS:
        return _CONTROLS[char], bits
    if char < " ":
        return None, 0
    alternates = [*(numbers[0] if numbers else []), 0, 0, 0]
    held = bits & 0x3F
    if held == SHIFT:
        return _shifted(char, alternates[1]), bits & ~SHIFT
    if held & CTRL:
        # A shortcut is the key of the US layout, where the layout in use has other letters.
        base = alternates[2]
        if not char.isascii() and 0x20 < base < 0x7F:
            char = chr(base)
        char = char.lower()
    return char, bits


def _shifted(char: str, alternate: int) -> str:
    if 0x20 < alternate < 0xD800:
        return chr(alternate)
    upper = char.upper()
    return upper if len(upper) == 1 else char
