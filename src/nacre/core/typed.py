"""What a terminal sends when a person types, as keys.

Rule 1: nothing is lost or made up: the raws of what is returned, in a row, are the input.
Rule 2: names are the DOM's (Enter, ArrowUp, "a"), a space is " ". A character that shift makes is
that character: "A" is no "a" with shift, whatever protocol it came by.
Rule 3: a paste is one item, and so is a mouse report. What is no press (replies, focus reports, a
key that was let go of) or not known is one item without a key.
Rule 4: ESC begins most sequences and is a key as well. At the end of a chunk it is the key, at
once: terminals write a sequence in one piece, and a person must not wait for Escape.

Sources: xterm ctlseqs, "PC-Style Function Keys", "VT220-Style Function Keys", "Alt and Meta Keys",
"Bracketed Paste Mode", "Mouse Tracking"; kitty, "Comprehensive keyboard handling in terminals".
"""

import re
from typing import NamedTuple


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
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_TOKEN = re.compile(
    rb"(?P<paste>\x1b\[200~.*?(?:\x1b\[201~|\Z))"
    # SGR 1006, urxvt's 1015, and the first protocol: three bytes, also when they are no text.
    rb"|(?P<mouse>\x1b\[<[\d;]*[Mm]|\x1b\[\d+;\d+;\d+M|\x1b\[M[\x20-\xff]{3})"
    rb"|(?P<console>\x1b\[\[[A-E])"  # F1 to F5 of the Linux console
    rb"|(?P<csi>\x1b?\x1b\[[0-?]*[ -/]*[@-~])"
    rb"|(?P<ss3>\x1b?\x1bO[\d;]*[ A-FHIMP-SXj-y])"
    # Replies: OSC (colours), DCS (DECRQSS, XTGETTCAP, XTVERSION), APC (kitty's graphics).
    rb"|(?P<string>\x1b(?:\]\d+;[^\x07\x1b]*(?:\x07|\x1b\\)|(?:P[\d;]*[!$+>|]|_G)[^\x1b]*\x1b\\))"
    rb"|(?P<alt>\x1b(?!\x1b)%(char)b)"
    rb"|(?P<char>%(char)b)"
    rb"|(?P<no_text>.)" % {b"char": _CHARACTER},
    re.DOTALL,
)
_UNFINISHED = re.compile(
    rb"(?:\x1b?\x1b(?:\[[0-?]*[ -/]*|\[\[|\[M[\x20-\xff]{0,2}|O[\d;]*)"
    rb"|\x1b(?:\]\d+(?:;[^\x07\x1b]*\x1b?)?|(?:P[\d;]*[!$+>|]|_G)[^\x1b]*\x1b?)"
    rb"|\x1b?(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})"
    rb")\Z"
)
# Bytes of a sequence that does not end; the longest real ones are colour replies of 30 bytes.
_MOST_HELD = 1024
# Bytes of a paste that are held until its end comes; a longer one is handed on in parts.
_MOST_PASTED = 1 << 20

_FINALS = {
    "A": "ArrowUp",
    "B": "ArrowDown",
    "C": "ArrowRight",
    "D": "ArrowLeft",
    "F": "End",
    "H": "Home",
    "P": "F1",
    "Q": "F2",
    "R": "F3",
    "S": "F4",
}
_KEYPAD = {"I": "Tab", "M": "Enter", "X": "=", " ": " ", "E": None}
_KEYPAD |= {chr(code): chr(code - 0x40) for code in range(ord("j"), ord("y") + 1)}
_TILDES = {1: "Home", 2: "Insert", 3: "Delete", 4: "End", 5: "PageUp", 6: "PageDown"}
_TILDES |= {7: "Home", 8: "End"}
_TILDES |= dict(zip((11, 12, 13, 14, 15), (f"F{n}" for n in range(1, 6)), strict=True))
_TILDES |= dict(zip((17, 18, 19, 20, 21), (f"F{n}" for n in range(6, 11)), strict=True))
_TILDES |= dict(zip((23, 24, 25, 26, 28, 29), (f"F{n}" for n in range(11, 17)), strict=True))
_TILDES |= dict(zip((31, 32, 33, 34), (f"F{n}" for n in range(17, 21)), strict=True))
_MODIFIED_OTHER = 27  # CSI 27 ; modifiers ; code ~ (modifyOtherKeys)

_CONTROLS = {"\r": "Enter", "\t": "Tab", "\x1b": "Escape", "\x7f": "Backspace"}
# kitty, "Functional key definitions": the private use area.
_KITTY = {57376 + n: f"F{13 + n}" for n in range(12)}
_KITTY |= {57399 + n: str(n) for n in range(10)}
_KITTY |= dict(
    enumerate(
        (
            *(".", "/", "*", "-", "+", "Enter", "=", ","),
            *("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown"),
            *("Home", "End", "Insert", "Delete"),
        ),
        57409,
    )
)
_PRIVATE_USE = range(0xE000, 0xF900)
_RELEASED = 3  # kitty's event types: 1 pressed, 2 repeated

# By bit (xterm counts them from one; kitty's: caps lock 64 and num lock 128 are no modifiers here).
_MODIFIERS = (("ctrl", 4), ("alt", 2), ("shift", 1), ("super", 8), ("hyper", 16), ("meta", 32))
_ALT, _CTRL, _SHIFT = 2, 4, 1


def parse_typed(data: bytes) -> list[TypedKey]:
    """Return what was typed; data that ends within a sequence ends there for good."""
    return [_typed(found) for found in _TOKEN.finditer(data)]


class TypedStream:
    """What is typed bit by bit: a sequence that is not whole waits for the next chunk."""

    def __init__(self) -> None:
        self._held = b""
        self._pasting = False  # within a paste whose begin was handed on

    @property
    def held(self) -> bytes:
        """What waits for its rest."""
        return self._held

    def feed(self, data: bytes) -> list[TypedKey]:
        if not self._held and data in (b"\x1b[", b"\x1bO"):
            return parse_typed(data)  # Alt and the key; see rule 4
        data, self._held = self._held + data, b""
        keys: list[TypedKey] = []
        at = 0
        while at < len(data):
            if self._pasting or data.startswith(_PASTE_BEGIN, at):
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
        """Return what still waits; nothing more comes."""
        held, self._held = self._held, b""
        if self._pasting:
            self._pasting = False
            return [TypedKey(held, PASTE)] if held else []
        return parse_typed(held)

    def _paste(self, data: bytes, at: int, keys: list[TypedKey]) -> int:
        end = data.find(_PASTE_END, at)
        if end >= 0:
            self._pasting = False
            keys.append(TypedKey(data[at : end + len(_PASTE_END)], PASTE))
            return end + len(_PASTE_END)
        if not self._pasting and len(data) - at <= _MOST_PASTED:
            self._held = data[at:]
            return len(data)
        self._pasting = True
        keep = _begun(data[at:], _PASTE_END)
        if part := data[at : len(data) - keep]:
            keys.append(TypedKey(part, PASTE))
        self._held = data[len(data) - keep :]
        return len(data)


def _begun(data: bytes, end: bytes) -> int:
    """Return how many of the last bytes may be the begin of an end."""
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
        return _named(raw, raw[1:].decode(), _ALT)
    if kind in ("csi", "ss3"):
        bare = raw.removeprefix(b"\x1b") if raw.startswith(b"\x1b\x1b") else raw
        read = _csi if kind == "csi" else _ss3
        key, bits = read(bare[2:].decode())
        return _with(raw, key, bits | (_ALT if bare != raw else 0))
    return TypedKey(raw, None)  # a reply, or bytes that are no text


def _named(raw: bytes, char: str, bits: int = 0) -> TypedKey:
    """A character, or the key that a control character is of (ECMA-48 C0)."""
    if char in _CONTROLS:
        return _with(raw, _CONTROLS[char], bits)
    if char >= " ":
        return _with(raw, char, bits)
    return _with(raw, " " if char == "\0" else chr(ord(char) + 0x40).lower(), bits | _CTRL)


def _with(raw: bytes, key: str | None, bits: int) -> TypedKey:
    if key is None:
        return TypedKey(raw, None)
    return TypedKey(raw, key, tuple(name for name, bit in _MODIFIERS if bits & bit))


def _ss3(text: str) -> tuple[str | None, int]:
    final = text[-1]
    # Some terminals put the modifiers here as well: SS3 5 P, SS3 1 ; 5 P.
    number = text[:-1].rpartition(";")[2]
    bits = max(0, int(number or 1) - 1)
    return _FINALS.get(final) or _KEYPAD.get(final), bits


def _csi(text: str) -> tuple[str | None, int]:
    final = text[-1]
    try:
        numbers = [[int(part or 0) for part in field.split(":")] for field in text[:-1].split(";")]
    except ValueError:  # a private sequence, or one with intermediates: a reply
        return None, 0
    bits, event = _modifiers(numbers)
    if event == _RELEASED:
        return None, 0
    first = numbers[0][0]
    if final == "u":
        return _by_code(first, bits, numbers) if text != "u" else (None, 0)
    if final == "~" and first == _MODIFIED_OTHER and len(numbers) == 3:
        return _by_code(numbers[2][0], bits, [])
    if final == "~" and len(numbers) <= 2:
        return _TILDES.get(first), bits
    if final == "Z" and len(numbers) <= 2:
        return "Tab", bits | _SHIFT
    if first > 1 or len(numbers) > 2:  # a report: CSI 5 ; 1 R is where the cursor is
        return None, 0
    return _FINALS.get(final), bits


def _modifiers(numbers: list[list[int]]) -> tuple[int, int]:
    """Return the modifiers' bits, and kitty's event type."""
    if len(numbers) < 2:
        return 0, 1
    field = numbers[1]
    return max(0, field[0] - 1), field[1] if len(field) > 1 else 1


def _by_code(code: int, bits: int, numbers: list[list[int]]) -> tuple[str | None, int]:
    """Name a key by its code point: kitty's are without shift, xterm's with."""
    if code in _KITTY:
        return _KITTY[code], bits
    if code in _PRIVATE_USE or not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return None, 0  # media keys, modifiers alone
    char = chr(code)
    if char in _CONTROLS:
        return _CONTROLS[char], bits
    if char < " ":
        return None, 0
    alternates = [*(numbers[0] if numbers else []), 0, 0, 0]
    held = bits & 0x3F
    if held == _SHIFT:
        return _shifted(char, alternates[1]), bits & ~_SHIFT
    if held & _CTRL:
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
