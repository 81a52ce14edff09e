"""The bytes for a key press or a paste, in the terminal's current modes.

Rule 1: the engine's encoder knows the modes (DECCKM, kitty keyboard, modifyOtherKeys); this file
only says on which key of a US keyboard a character is.
Rule 2: a program that set no mode gets only classic codes. The engine has extended codes for a few
combinations without one (ctrl+i, shift+enter), but such a program would print them.
"""

from typing import Any

from nacre.core.keys.names import KeyPress
from nacre.core.keys.sequences import PASTE_BEGIN, PASTE_END, is_extended_key
from nacre.core.terminal.ghostty import check, create, ffi, lib, new

# GhosttyMods, by bit.
SHIFT, CTRL, ALT, SUPER = 1, 2, 4, 8

_NAMED = {
    "up": lib.GHOSTTY_KEY_ARROW_UP,
    "down": lib.GHOSTTY_KEY_ARROW_DOWN,
    "left": lib.GHOSTTY_KEY_ARROW_LEFT,
    "right": lib.GHOSTTY_KEY_ARROW_RIGHT,
    "pageup": lib.GHOSTTY_KEY_PAGE_UP,
    "pagedown": lib.GHOSTTY_KEY_PAGE_DOWN,
    **{
        name: getattr(lib, f"GHOSTTY_KEY_{name.upper()}")
        for name in (
            *("enter", "escape", "tab", "backspace", "delete", "insert", "home", "end", "space"),
            *(f"f{number}" for number in range(1, 25)),
        )
    },
}

_SIGNS = {
    "`": lib.GHOSTTY_KEY_BACKQUOTE,
    "\\": lib.GHOSTTY_KEY_BACKSLASH,
    "[": lib.GHOSTTY_KEY_BRACKET_LEFT,
    "]": lib.GHOSTTY_KEY_BRACKET_RIGHT,
    ",": lib.GHOSTTY_KEY_COMMA,
    "=": lib.GHOSTTY_KEY_EQUAL,
    "-": lib.GHOSTTY_KEY_MINUS,
    ".": lib.GHOSTTY_KEY_PERIOD,
    "'": lib.GHOSTTY_KEY_QUOTE,
    ";": lib.GHOSTTY_KEY_SEMICOLON,
    "/": lib.GHOSTTY_KEY_SLASH,
    **{digit: getattr(lib, f"GHOSTTY_KEY_DIGIT_{digit}") for digit in "0123456789"},
    **{
        letter: getattr(lib, f"GHOSTTY_KEY_{letter.upper()}")
        for letter in "abcdefghijklmnopqrstuvwxyz"
    },
}
_SHIFTED = dict(zip('~|{}<+_>":?)!@#$%^&*(', "`\\[],=-.';/0123456789", strict=True))

_CTRL_C = KeyPress("c", ctrl=True)
_PASTE_MARKERS = len(PASTE_BEGIN + PASTE_END)


class Keyboard:
    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._encoder = create("GhosttyKeyEncoder", lib.ghostty_key_encoder_new)
        self._event = create("GhosttyKeyEvent", lib.ghostty_key_event_new)
        self._buffer = new("char[]", 128)
        self._size = new("size_t *")

    def encode(self, press: KeyPress) -> bytes:
        lib.ghostty_key_encoder_setopt_from_terminal(self._encoder, self._handle)
        code = self._encode(press)
        if is_extended_key(code) and self._encode(_CTRL_C) == b"\x03":
            return _classic(press)
        return code

    def _encode(self, press: KeyPress) -> bytes:
        key, text, unshifted, shift = _on_us_keyboard(press)
        event = self._event
        mods = shift * SHIFT | press.ctrl * CTRL | press.alt * ALT | press.super * SUPER
        lib.ghostty_key_event_set_action(event, lib.GHOSTTY_KEY_ACTION_PRESS)
        lib.ghostty_key_event_set_key(event, key)
        lib.ghostty_key_event_set_mods(event, mods)
        lib.ghostty_key_event_set_consumed_mods(event, SHIFT if shift and text else 0)
        raw = text.encode(errors="replace")
        kept = new("char[]", raw)  # the event only points to it
        lib.ghostty_key_event_set_utf8(event, kept, len(raw))
        lib.ghostty_key_event_set_unshifted_codepoint(event, ord(unshifted) if unshifted else 0)
        encode = lib.ghostty_key_encoder_encode
        result = encode(self._encoder, event, self._buffer, len(self._buffer), self._size)
        lib.ghostty_key_event_set_utf8(event, ffi.NULL, 0)
        check(result, "encode a key")
        code: bytes = ffi.buffer(self._buffer, self._size[0])[:]
        return code

    def free(self) -> None:
        lib.ghostty_key_event_free(self._event)
        lib.ghostty_key_encoder_free(self._encoder)


def encode_paste(text: str, *, bracketed: bool) -> bytes:
    """Encode a paste. The engine blanks ESC and other controls, so no text ends its own paste."""
    # It turns each newline into a CR, so CR LF would become two, and it keeps an eight-bit CSI.
    raw = text.replace("\r\n", "\n").replace("\x9b", " ").encode(errors="replace")
    source = new("char[]", raw)
    target = new("char[]", len(raw) + _PASTE_MARKERS)
    size = new("size_t *")
    encode = lib.ghostty_paste_encode
    check(encode(source, len(raw), bracketed, target, len(target), size), "encode a paste")
    code: bytes = ffi.buffer(target, size[0])[:]
    return code


def _on_us_keyboard(press: KeyPress) -> tuple[int, str, str, bool]:
    """Return the key, its text, its character without shift, and whether shift is held."""
    name = press.key
    if name in _NAMED:
        text = " " if name == "space" else ""
        return _NAMED[name], text, text, press.shift
    if press.shift and name.upper() != name and len(name.upper()) == 1:
        name = name.upper()
    unshifted = _SHIFTED.get(name) or (name.lower() if len(name.lower()) == 1 else name)
    key = _SIGNS.get(unshifted, lib.GHOSTTY_KEY_UNIDENTIFIED)
    return key, name, unshifted, press.shift or unshifted != name


def _classic(press: KeyPress) -> bytes:
    """Return what a VT220 sends: control keeps the low five bits, other modifiers are lost."""
    named = {"enter": "\r", "escape": "\x1b", "tab": "\t", "backspace": "\x7f", "space": " "}
    text = named.get(press.key, press.key)
    if press.ctrl and len(text) == 1 and "@" <= text.upper() <= "_":
        text = chr(ord(text.upper()) & 0x1F)
    elif press.shift:
        text = text.upper()
    return (b"\x1b" if press.alt else b"") + text.encode(errors="replace")
