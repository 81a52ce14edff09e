"""Key names: how callers name a key, and the press that it stands for.

Rule: this file knows only names. The bytes of a press depend on the terminal's modes; the engine
encodes them (core/terminal/keyboard.py).
"""

import re

from msgspec import Struct

from nacre.late_pattern import late_pattern

KEY_NAMES: tuple[str, ...] = (
    "enter",
    "escape",
    "tab",
    "backspace",
    "delete",
    "insert",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "space",
    *(f"f{number}" for number in range(1, 25)),
)

# Other spellings: DOM key names, tmux's and Emacs's. Compared without case, spaces, "-" and "_".
_ALIASES = {
    "return": "enter",
    "esc": "escape",
    "del": "delete",
    "ins": "insert",
    "arrowup": "up",
    "arrowdown": "down",
    "arrowleft": "left",
    "arrowright": "right",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "spacebar": "space",
    **{name: name for name in KEY_NAMES},
}

_MODIFIERS = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "alt": "alt",
    "meta": "alt",
    "option": "alt",
    "shift": "shift",
    "super": "super",
    "cmd": "super",
    "command": "super",
}
_SHORT_MODIFIERS = {"c": "ctrl", "m": "alt", "s": "shift"}

# The rest takes at least one character, so that "ctrl++" and "C--" are a modifier and a sign.
_PREFIX = late_pattern(rf"\s*(?:({'|'.join(_MODIFIERS)})\s*[+-]|([cms])-)\s*(.+)", re.I | re.S)

# Control characters are the keys that make them (ECMA-48 C0).
_CONTROLS = {"\r": "enter", "\n": "enter", "\t": "tab", "\x1b": "escape", "\b": "backspace"}
_CONTROLS |= {"\x7f": "backspace", " ": "space"}


class KeyPress(Struct, frozen=True):
    key: str  # of KEY_NAMES, or one character
    ctrl: bool = False
    alt: bool = False
    shift: bool = False
    super: bool = False


class UnknownKey(ValueError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"no key named {name!r}; a key is one character or one of {', '.join(KEY_NAMES[:15])} "
            "and f1 to f24, with modifiers as in ctrl+c, alt+x, shift+tab or C-M-Left"
        )


def parse_key(name: str) -> KeyPress:
    """Read a key's name in any case; raises UnknownKey."""
    modifiers: set[str] = set()
    rest = name
    while len(rest) > 1 and (match := _PREFIX.fullmatch(rest)):
        long, short, rest = match.groups()
        modifiers.add(_MODIFIERS[long.lower()] if long else _SHORT_MODIFIERS[short.lower()])
    key = _canonical(rest)
    if key is None:
        raise UnknownKey(name)
    if len(key) == 1 and key < " ":  # a raw control character: the letter that makes it, with ctrl
        key = "space" if key == "\0" else chr(ord(key) + 0x40).lower()
        modifiers.add("ctrl")
    if "ctrl" in modifiers and len(key) == 1 and key.isascii():
        key = key.lower()  # "Ctrl+C" is how the key is printed, not a capital letter
    return KeyPress(key, **dict.fromkeys(modifiers, True))


def _canonical(text: str) -> str | None:
    if len(text) == 1:
        return _CONTROLS.get(text, text)
    return _ALIASES.get(re.sub(r"[\s_-]", "", text).lower())
