"""What the items of send_keys are: keys by their names, or text to type.

Rule 1: an item is a key only if it wholly equals a name as it is written here, or a combination:
Ctrl+, Alt+, Shift+ in any case, or C-, M-, S- as capitals. `up` and `enter` are text.
Rule 2: who writes Ctrl+Foo means a key, so that is refused and not typed. `C-style` is a word.
"""

import re

from msgspec import Struct

from nacre.core.keys.names import KEY_NAMES, KeyPress
from nacre.late_pattern import late_pattern

# As the Terminal Tester's document writes them.
_NAMES = {
    **{name.capitalize(): name for name in KEY_NAMES},
    "PageUp": "pageup",
    "PageDown": "pagedown",
}
del _NAMES["Pageup"], _NAMES["Pagedown"]
_IN_ANY_CASE = {name.lower(): name for name in KEY_NAMES} | {"esc": "escape", "return": "enter"}

_PLUS = late_pattern(r"(ctrl|alt|shift)\+(\S*)", re.I)
_DASH = late_pattern(r"([CMS])-(\S+)")
_DASHES = {"C": "ctrl", "M": "alt", "S": "shift"}


class TypedText(Struct, frozen=True):
    text: str


Item = KeyPress | TypedText


class UnknownCombination(ValueError):
    def __init__(self, item: str, key: str) -> None:
        what = f"no key is called {key!r}" if key else "a key is missing after the last +"
        super().__init__(f"{item!r} is no combination of keys: {what}")


def parse_item(item: str, *, literal: bool = False) -> Item:
    """Raises UnknownCombination."""
    if literal:
        return TypedText(item)
    if (name := _NAMES.get(item)) is not None:
        return KeyPress(name)
    if _PLUS.fullmatch(item):
        return _combined_by_plus(item)
    return _combined_by_dash(item) or TypedText(item)


def _combined_by_plus(item: str) -> KeyPress:
    modifiers: list[str] = []
    key = item
    while len(key) > 1 and (found := _PLUS.fullmatch(key)):
        modifiers.append(found[1].lower())
        key = found[2]
    name = key if len(key) == 1 else _IN_ANY_CASE.get(key.lower())
    if name is None:
        raise UnknownCombination(item, key)
    return _press(name, modifiers)


def _combined_by_dash(item: str) -> KeyPress | None:
    modifiers: list[str] = []
    key = item
    while len(key) > 1 and (found := _DASH.fullmatch(key)):
        modifiers.append(_DASHES[found[1]])
        key = found[2]
    name = key if len(key) == 1 else _NAMES.get(key)
    return _press(name, modifiers) if modifiers and name is not None else None


def _press(key: str, modifiers: list[str]) -> KeyPress:
    if "ctrl" in modifiers and len(key) == 1 and key.isascii():
        key = key.lower()  # "Ctrl+C" is how the key is printed, not a capital letter
    return KeyPress(key, **dict.fromkeys(modifiers, True))


# --- text --------------------------------------------------------------------------------------

_KEYS_IN_TEXT = {"\n": KeyPress("enter"), "\r": KeyPress("enter"), "\t": KeyPress("tab")}
_PARTS = late_pattern(r"\r\n|[\r\n\t]|[^\r\n\t]+")


def parts_of(text: str) -> list[str | KeyPress]:
    """Part text into what is typed as it is, and its line ends and tabs, which are keys."""
    found = _PARTS.findall(text)
    return [_KEYS_IN_TEXT.get(part[0], part) for part in found]
