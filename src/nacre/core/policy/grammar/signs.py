"""What in the text of a line misleads its readers: people, or the grammar."""

import re
from collections.abc import Iterator
from typing import Literal

# Whose syntax the line is read with. `posix` is sh, dash, ksh and bash.
Syntax = Literal["posix", "zsh", "fish"]

_UNSEEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f\\x80-\\xa0\\xad\\u061c\\u115f\\u1160\\u1680\\u180e"
    "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0"
    "\\ufff0-\\ufffb\\U000e0000-\\U000e0fff\\ud800-\\udfff]"
)
_SPLICED = re.compile(r"(?<=\S)\\\n(?=\S)|\\\n#")


def odd_signs(line: str, syntax: Syntax) -> Iterator[str]:
    """Yield why the text of a line cannot be trusted, whatever a parser makes of it."""
    if _UNSEEN.search(line):
        yield "it has characters that nobody sees"
    if _SPLICED.search(line):
        yield "a line is continued within a word"
    if syntax == "fish" and re.search(r"\\'|'[^']*\\", line):
        yield "fish reads a backslash between quotes in its own way"
    if syntax == "fish" and re.search(r"(?<![$<>])\(|\{", line):
        yield "fish runs what stands in parentheses"
    if syntax == "fish" and re.search(r">\||(?:^|[\s;&|])set\s", line):
        yield "fish sets variables by set, and pipes by >|"
