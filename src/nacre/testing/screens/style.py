"""The style that a test expects of a text: colours by name or number, and attributes.

Rule: what is not named may be anything. `default` is the terminal's own colour.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from nacre.core.screen.screen import COLOR_NAMES, Color, Rgb, Span

_COLORS = ("fg", "bg", "underline_color")
_SWITCHES = (
    *("bold", "faint", "italic", "underline", "strikethrough", "overline"),
    *("inverse", "invisible", "blink"),
)
STYLE_WORDS = (*_COLORS, *_SWITCHES)
_OTHER_NAMES = {"gray": "bright_black", "grey": "bright_black", "default": None, "none": None}
_HEX = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", re.I)


@dataclass(frozen=True)
class ExpectedStyle:
    wanted: tuple[tuple[str, Any], ...]

    @classmethod
    def parse(cls, given: Mapping[str, Any] | str) -> "ExpectedStyle":
        """Build it from {fg: red, bold: true}, or words: "bold red". Raises ValueError."""
        if isinstance(given, str):
            given = _by_words(given)
        if not given:
            raise ValueError("a style is empty; give a colour or an attribute, as fg: red")
        return cls(tuple((name, _value(name, value)) for name, value in given.items()))

    def problem(self, span: Span) -> str | None:
        """Return what is different, in words; None if it fits."""
        for name, value in self.wanted:
            if (found := getattr(span, name)) != value:
                return f"{name} is {shown(found)}, not {shown(value)}"
        return None

    def __str__(self) -> str:
        return ", ".join(f"{name} {shown(value)}" for name, value in self.wanted)


def style_words(span: Span) -> str:
    """Return a span's style as words; empty for plain text."""
    values = [(name, getattr(span, name)) for name in STYLE_WORDS]
    return " ".join(
        name if value is True else f"{name}={shown(value)}" for name, value in values if value
    )


def shown(value: Any) -> str:
    if isinstance(value, Rgb):
        return f"#{value.r:02x}{value.g:02x}{value.b:02x}"
    return {None: "default", True: "on", False: "off"}.get(value, str(value))


def _by_words(text: str) -> dict[str, Any]:
    """Read "bold red on blue"."""
    given: dict[str, Any] = {}
    words = text.split()
    for index, word in enumerate(words):
        if word in _SWITCHES:
            given[word] = True
        elif word != "on":
            given["bg" if index and words[index - 1] == "on" else "fg"] = word
    return given


def _value(name: str, value: Any) -> Any:
    if name not in STYLE_WORDS:
        raise ValueError(f"no style is called {name!r}{did_you_mean(name, STYLE_WORDS)}")
    if name in _SWITCHES:
        if not isinstance(value, bool):
            raise ValueError(f"{name} is true or false, not {value!r}")
        return value
    return _color(name, value)


def _color(name: str, value: Any) -> Color | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return COLOR_NAMES[value] if value < len(COLOR_NAMES) else f"color{value}"
    if value is None:
        return None
    if isinstance(value, str):
        if found := _HEX.fullmatch(value):
            return Rgb(*(int(part, 16) for part in found.groups()))
        plain = value.lower().replace("-", "_")
        if plain in _OTHER_NAMES:
            return _OTHER_NAMES[plain]
        if plain in COLOR_NAMES:
            return plain
        if (number := re.fullmatch(r"color(\d{1,3})", plain)) and int(number[1]) <= 255:
            return _color(name, int(number[1]))
    raise ValueError(
        f"{name} {value!r} is no colour{did_you_mean(str(value), COLOR_NAMES)}; a colour is a "
        "name as red or bright_red, a number from 0 to 255, #rrggbb, or default"
    )


def did_you_mean(word: str, words: tuple[str, ...] | list[str]) -> str:
    near = get_close_matches(word, words, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
