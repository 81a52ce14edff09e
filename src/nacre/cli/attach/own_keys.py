"""The keys that `nacre attach` keeps for itself, in all the codes that terminals have for them."""

import re
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from nacre.core.keys.names import UnknownKey, parse_key
from nacre.core.keys.sequences import (
    CODED_KEY,
    CTRL,
    KEYPAD_PAGE_UP,
    LOCKS,
    MODIFIED_KEY,
    SGR_BEGUN,
    SGR_REPORT,
    SHIFT,
    without_groups,
)
from nacre.errors import InvalidInput

# Shells, editors and job control use Ctrl with all letters. Of the other control characters, Ctrl+]
# and Ctrl+^ are taken, and Ctrl+\ frees captured keys, so this one is left. It means undo in
# readline and Emacs, which is also Ctrl+X Ctrl+U and Ctrl+X u.
LOOK_BACK = "ctrl+_"
# Only while the policy asks something; else it is the program's (yank in readline).
APPROVE = "ctrl+y"

_CODE = MODIFIED_KEY + b"|" + CODED_KEY
# Terminals send one control character for all of these (on a VT100 there was no other way to type
# it), but the longer codes tell them apart: _ is Shift and - on most keyboards.
_TWINS = {"_": [("/", CTRL), ("-", CTRL | SHIFT), ("_", CTRL | SHIFT)]}


class OwnKey:
    def __init__(
        self, name: str, presses: Iterable[tuple[int, int, str]], other: bytes | None = None
    ) -> None:
        """`presses` are code, modifiers and final byte of a sequence; `other` matches the rest."""
        self.name = name
        self._presses = set(presses)
        self._codes = re.compile(_CODE if other is None else _CODE + b"|" + other)

    @classmethod
    def parse(cls, name: str, use: str = "detach key") -> "OwnKey":
        """Return Ctrl and a character.

        Raises InvalidInput for a key without its own control character.
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
                f"{name!r} cannot be the {use}; use ctrl and a letter or one of ] \\ ^ _, "
                "but not ctrl+i, j, m or [, which are Tab, Enter and Escape"
            )
        presses = [(ord(one), held, "u") for one, held in [(key, CTRL), *_TWINS.get(key, ())]]
        control = bytes([ord(key.upper()) & 0x1F])  # ECMA-48 C0
        return cls(f"Ctrl+{key.upper()}", presses, re.escape(control))

    def split(self, typed: bytes) -> tuple[bytes, bytes | None]:
        """Return what was typed before and after the key; None if it was not pressed."""
        for found in self._codes.finditer(typed):
            if found.lastgroup is None or self._is_in(found):
                return typed[: found.start()], typed[found.end() :]
        return typed, None

    def _is_in(self, found: "re.Match[bytes]") -> bool:
        code, held = found["code"] or found["code2"], found["held"] or found["held2"]
        end = (found["end"] or b"u").decode()
        return (int(code), (int(held) - 1) & ~LOCKS, end) in self._presses


# xterm ctlseqs, "VT220-Style Function Keys"; kitty's is the same, but for the keypad's own.
SHIFT_PAGE_UP = OwnKey("Shift+PageUp", [(5, SHIFT, "~"), (KEYPAD_PAGE_UP, SHIFT, "u")])
# SGR 1006: the mouse reports that we asked the terminal for (core/keys/wheel.py).
MOUSE_REPORT = OwnKey("the mouse", [], without_groups(SGR_REPORT))
_BEGUN_REPORT = re.compile(SGR_BEGUN + rb"\Z")
_LONGEST_BEGUN = 23  # bytes; a report is shorter


def part_report(typed: bytes) -> tuple[bytes, bytes]:
    """Return what was typed, and the beginning of a mouse report that is not complete yet."""
    found = _BEGUN_REPORT.search(typed)
    at = found.start() if found and len(found[0]) <= _LONGEST_BEGUN else len(typed)
    return typed[:at], typed[at:]


class OwnKeyPress(NamedTuple):
    """What was typed, split at the first of our own keys."""

    before: bytes
    key: OwnKey | None
    raw: bytes
    after: bytes


def first_pressed(keys: Iterable[OwnKey], typed: bytes) -> OwnKeyPress:
    first = OwnKeyPress(typed, None, b"", b"")
    for key in keys:
        before, after = key.split(typed)
        if after is not None and len(before) < len(first.before):
            first = OwnKeyPress(before, key, typed[len(before) : len(typed) - len(after)], after)
    return first


class OwnKeys(NamedTuple):
    """The keys that do not reach the session."""

    detach: OwnKey
    control: OwnKey
    look_back: OwnKey | None  # None: the default key is used for another one
    approve: OwnKey | None = None  # the same

    @classmethod
    def parse(
        cls, detach: str, control: str, look_back: str | None = None, approve: str | None = None
    ) -> "OwnKeys":
        """Raises InvalidInput."""
        uses = {
            "detach": OwnKey.parse(detach),
            "control": OwnKey.parse(control, "control key"),
            "look-back": OwnKey.parse(look_back or LOOK_BACK, "look-back key"),
            "approve": OwnKey.parse(approve or APPROVE, "approve key"),
        }
        taken = {uses[use].name for use in ("detach", "control")}
        if look_back is None and uses["look-back"].name in taken:
            del uses["look-back"]
        taken |= {uses["look-back"].name} if "look-back" in uses else set()
        if approve is None and uses["approve"].name in taken:
            del uses["approve"]
        for (one, key), (other, again) in combinations(uses.items(), 2):
            if key.name == again.name:
                raise InvalidInput(f"{key.name} cannot be both the {one} and the {other} key")
        return cls(uses["detach"], uses["control"], uses.get("look-back"), uses.get("approve"))
