"""Guess the commands of a line that the parser does not understand.

Rule: what is found here can only forbid a line, never allow it: such a line has a doubt already.
"""

import re
from collections.abc import Iterator

from nacre.core.policy.words import SimpleCommand, literal

_ENDS = re.compile(r"[;&|\n(){}`]|\$\(|<\(")
_QUOTES = re.compile(r"""["'\\]""")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_KEYWORDS = frozenset(
    (
        *("then", "do", "else", "if", "while", "until", "time", "!", "exec", "command"),
        *("builtin",),
    )
)


def rough_commands(line: str) -> Iterator[SimpleCommand]:
    at = 0
    for segment in _ENDS.split(line):
        words = [_QUOTES.sub("", word) for word in segment.split()]
        while words and (words[0] in _KEYWORDS or _ASSIGNED.match(words[0])):
            del words[0]
        if words:
            yield SimpleCommand(tuple(literal(word) for word in words), (), at)
        at += len(segment) + 1
