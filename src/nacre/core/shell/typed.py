"""What an input is that somebody wants typed: lines of commands, or keys for a program.

Rule 1: nothing here changes what is typed but the two characters of a DOS line end, which are one
Enter.
Rule 2: who may not be sure says keys: they are typed as they are, and nothing is added to them.
"""

import re

from nacre.late_pattern import late_pattern

_LINE_END = late_pattern(r"\r\n|\r|\n")
_ENTERS = ("\r", "\n")

# A control character or an escape sequence (ECMA-48 5.4; SS3 for F1 to F4).
_KEY = r"(?:\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1bO.|\x1b[^\[O]|[\x00-\x1f\x7f])"
_KEYS = late_pattern(f"{_KEY}+", re.DOTALL)
_KEYS_AT_END = late_pattern(f"{_KEY}\\Z", re.DOTALL)

# Of an editor or a pager: a count and a command of one letter, a doubled letter, ZZ and ZQ.
_EDITOR_KEYS = late_pattern(r"\d*(?:(\w)\1|ZQ|g\w|\W|\w)|\d+%?")
_EDITOR_LINE = tuple(":/?&!|-+@")  # what a command line in them begins with


def lines_of(text: str) -> list[str]:
    """Return the lines, each with the Enter that ends it; the last may have none.

    Enters behind the first one at the end are left out: they would type empty lines.
    """
    lines: list[str] = []
    at = 0
    for end in _LINE_END.finditer(text):
        lines.append(text[at : end.start()] + ("\r" if end.group() == "\r\n" else end.group()))
        at = end.end()
    if at < len(text) or not lines:
        lines.append(text[at:])
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return lines


def ends_with_enter(text: str) -> bool:
    return text.endswith(_ENTERS)


def ends_with_key(text: str) -> bool:
    """Whether it ends with Ctrl+D or another key that is no character: no Enter belongs there."""
    ends = _KEYS_AT_END.search(text)
    return ends is not None and ends.group() != "\t"


def is_keys(text: str) -> bool:
    """Whether it is a single key, or nothing but control characters and escape sequences."""
    if not text or text in _ENTERS:
        return False
    return len(text) == 1 or _KEYS.fullmatch(text.rstrip("\r\n") or "x") is not None


def is_command(text: str) -> bool:
    """Whether it is clearly a command for a shell, and none for an editor or a pager."""
    if is_keys(text) or "\x1b" in text:
        return False
    line = text.strip()
    if not line or line.startswith(_EDITOR_LINE) or any(char < " " for char in line):
        return False
    return _EDITOR_KEYS.fullmatch(line) is None


def has_tab(text: str) -> bool:
    """Whether a line has a tab within it, where a line editor would complete."""
    return any("\t" in line.rstrip("\t") for line in text.splitlines())


def is_empty(line: str) -> bool:
    """Whether a shell runs nothing for a line: it is blank or a comment."""
    return not line.strip() or line.lstrip().startswith("#")
