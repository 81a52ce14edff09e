"""Find out that a command does nothing but ask: `read`, with what it prints before and behind.

Behind ssh nothing else tells that a shell waits for a line: the local terminal is raw all the time,
and `read` prints nothing.

Rule: who may not be sure says nothing. Every part of the command must be one that takes no time.
"""

import shlex
from typing import Literal

Wanted = Literal["line", "key", "password"]

_PRINTS = frozenset(["echo", "printf", "print", ":", "true"])
_WITH_VALUE = frozenset("adipuNntk")  # options of read, in any shell, that take a word
_LONGEST = 400  # characters; nobody writes a longer question


def wanted_by(command: str) -> Wanted | None:
    """Return what the command waits for, as its first `read` says."""
    if len(command) > _LONGEST or any(sign in command for sign in "`\n<>"):
        return None
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.commenters, words.whitespace_split = "", True
    try:
        parts = _parts(list(words))
    except ValueError:  # an open quote
        return None
    reads = [part for part in parts or () if part[0] == "read"]
    if not reads or any(part[0] not in ("read", *_PRINTS) for part in parts or ()):
        return None
    return _wanted(reads[0][1:])


def _parts(words: list[str]) -> list[list[str]] | None:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in (";", "&&"):
            parts.append([])
        elif word and all(sign in "();<>|&" for sign in word):
            return None
        else:
            parts[-1].append(word)
    parts = parts if parts[-1] else parts[:-1]
    return parts if all(parts) else None


def _wanted(words: list[str]) -> Wanted | None:
    wanted: Wanted = "line"
    while words and words[0].startswith("-") and words[0] != "--":
        options, words = words[0][1:], words[1:]
        for at, option in enumerate(options):
            if option in "tu":
                return None  # it ends by itself, or reads something else
            if option in "nNkq":
                wanted = "key" if wanted == "line" else wanted
            elif option == "s":
                wanted = "password"
            if option in _WITH_VALUE:
                words = words[at == len(options) - 1 :]
                break
    return wanted
