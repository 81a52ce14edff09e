"""The keys that `nacre attach` keeps for itself, in all the codes that terminals have for them."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from nacre.core.keys import UnknownKey, parse_key
from nacre.errors import InvalidInput

_SHIFT, _CTRL = 1, 4  # of the modifiers in kitty's and xterm's codes, which count from one
_LOCKS = 64 | 128  # caps lock and num lock are modifiers in kitty's


# xterm's modifyOtherKeys; kitty's CSI u, and CSI ~ which it has in common with xterm.
_CODE = (
    rb"\x1b\[27;(?P<held2>\d+);(?P<code2>\d+)~"
    rb"|\x1b\[(?P<code>\d+)(?::\d*)*;(?P<held>\d+)(?::[12])?(?:;[\d:]*)?(?P<end>[u~])"
)
# Terminals make one control character of these (VT100 knew no other way to type it), and the codes
# above tell them apart: _ is Shift and - on most keyboards.
_TWINS = {"_": [("/", _CTRL), ("-", _CTRL | _SHIFT), ("_", _CTRL | _SHIFT)]}


class OwnKey:
    def __init__(
        self, name: str, presses: Iterable[tuple[int, int, str]], other: bytes | None = None
    ) -> None:
        """`presses` are code, modifiers and end of a sequence; `other` matches what is no such."""
        self.name = name
        self._presses = set(presses)
        self._codes = re.compile(_CODE if other is None else _CODE + b"|" + other)

    @classmethod
    def parse(cls, name: str, use: str = "detach key") -> "OwnKey":
        """Return Ctrl and a character.

        Raises InvalidInput for a key that has no control character of its own.
        """
        try:
            press = parse_key(name)
        except UnknownKey as error:
            raise InvalidInput(str(error)) from None
        key = press.key
        fits = press.ctrl and not (press.alt or press.shift or press.super) and len(key) == 1
        # Ctrl+I, J, M and [ are Tab, Enter and Escape.
        if not fits or not "@" < key.upper() <= "_" or key in "ijm[":
            raise InvalidInput(
                f"{name!r} cannot be the {use}; take ctrl and a letter or one of ] \\ ^ _, "
                "but not ctrl+i, j, m or [, which are Tab, Enter and Escape"
            )
        presses = [(ord(one), held, "u") for one, held in [(key, _CTRL), *_TWINS.get(key, ())]]
        control = bytes([ord(key.upper()) & 0x1F])  # ECMA-48 C0
        return cls(f"Ctrl+{key.upper()}", presses, re.escape(control))

    def split(self, typed: bytes) -> tuple[bytes, bytes | None]:
        """Return what was typed before the key and after it; None when it was not pressed."""
        for found in self._codes.finditer(typed):
            if found.lastgroup is None or self._is_in(found):
                return typed[: found.start()], typed[found.end() :]
        return typed, None

    def _is_in(self, found: "re.Match[bytes]") -> bool:
        code, held = found["code"] or found["code2"], found["held"] or found["held2"]
        end = (found["end"] or b"u").decode()
        return (int(code), (int(held) - 1) & ~_LOCKS, end) in self._presses


# xterm ctlseqs, "VT220-Style Function Keys"; kitty's is the same, but for the keypad's own.
SHIFT_PAGE_UP = OwnKey("Shift+PageUp", [(5, _SHIFT, "~"), (57421, _SHIFT, "u")])
# SGR 1006: what our own wish for the mouse makes terminals report (core/wheel.py).
MOUSE_REPORT = OwnKey("the mouse", [], rb"\x1b\[<\d+;\d+;\d+[Mm]")
_BEGUN_REPORT = re.compile(rb"\x1b\[<[\d;]{0,20}\Z")


def part_report(typed: bytes) -> tuple[bytes, bytes]:
    """Return what was typed, and the begin of a mouse report whose rest is to come."""
    found = _BEGUN_REPORT.search(typed)
    at = found.start() if found else len(typed)
    return typed[:at], typed[at:]


class Pressed(NamedTuple):
    """What was typed, parted at the first of our own keys."""

    before: bytes
    key: OwnKey | None
    raw: bytes
    after: bytes


def first_pressed(keys: Iterable[OwnKey], typed: bytes) -> Pressed:
    first = Pressed(typed, None, b"", b"")
    for key in keys:
        before, after = key.split(typed)
        if after is not None and len(before) < len(first.before):
            first = Pressed(before, key, typed[len(before) : len(typed) - len(after)], after)
    return first
