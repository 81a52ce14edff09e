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


# The grammar's parser goes back and forth in what it does not understand, in time that grows with
# the square of it: 16 KB of `)` took 1.4 s. So the signs of long lines are counted first.
_LONG = 1000  # bytes
_MOST_SIGNS = 400
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_SIGNS = re.compile(r"[()|&;<>{}\[\]`$\\!#=\"'\x00-\x1f]")
_DOCUMENT = re.compile(r"<<-?[ \t]*['\"]?(\w+)")


def is_too_dense(line: str) -> bool:
    """Return whether a line has so many signs of the shell's that it is not parsed."""
    if len(line) < _LONG:
        return False
    document = _DOCUMENT.search(line)
    if document is not None:
        end = line.find(f"\n{document.group(1)}", document.end())
        line = line[: document.start()] + line[end:] if end > 0 else line
    return len(_SIGNS.findall(_QUOTED.sub("", line))) > _MOST_SIGNS


MOST_ROUGH = 500  # commands that are guessed of a line that is not understood


def rough_commands(line: str) -> Iterator[SimpleCommand]:
    at = 0
    for segment in _ENDS.split(line):
        words = [_QUOTES.sub("", word) for word in segment.split()]
        while words and (words[0] in _KEYWORDS or _ASSIGNED.match(words[0])):
            del words[0]
        if words:
            yield SimpleCommand(tuple(literal(word) for word in words), (), at)
        at += len(segment) + 1
