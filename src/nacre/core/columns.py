"""How many columns text takes: wide characters two, combining marks none (UAX #11)."""

import unicodedata


def char_width(char: str) -> int:
    if char == "\u200d" or unicodedata.category(char) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def text_width(text: str) -> int:
    return sum(map(char_width, text))


def from_column(line: str, col: int) -> str:
    """Return what of a line begins at a column or after it."""
    at = 0
    for index, char in enumerate(line):
        width = char_width(char)
        if at >= col and width:
            return line[index:]
        at += width
    return ""
