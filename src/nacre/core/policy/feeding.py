"""What a deleting program gets through a pipe: find / | xargs rm, echo / | xargs rm -rf.

Rule: this only forbids. What a pipe brings is never known well enough to allow anything by it.
"""

from collections.abc import Iterator

from nacre.core.policy.checks import is_unnarrowed
from nacre.core.policy.resolved import Resolved
from nacre.core.policy.words import Feed, Program, Word, literal

_DELETING = frozenset(("rm", "shred", "unlink", "srm", "rimraf", "trash", "mv", "chmod", "chown"))
# Behind them is another list than what was printed.
_NARROWING = frozenset(
    ("grep", "egrep", "fgrep", "rg", "head", "tail", "awk", "gawk", "sed", "cut", "fzf", "comm")
)
_RECURSIVE = literal("-r"), literal("-R")


def fed_programs(resolved: Resolved) -> Iterator[Program]:
    """Yield the deleting programs of a line with the words that they may get from others."""
    for feed in resolved.feeds:
        given = _told_by(feed)
        if not given:
            continue
        inside = [one for one in resolved.programs if feed.begin <= one.at < feed.end]
        if any(one.name in _NARROWING for one in inside):
            continue
        for program in inside:
            if program.name in _DELETING and _takes_more(program):
                # What find lists one by one is gone with all that is in it.
                flags = _RECURSIVE if feed.words[0].text == "find" else ()
                words = (*program.words, *flags, *given)
                yield Program(program.name, words, program.via, program.at, program.reach)


def _told_by(feed: Feed) -> list[Word]:
    """Return the paths that a command prints: all of find's, the words of echo and ls."""
    name, *words = feed.words
    if name.text == "find":
        if not is_unnarrowed(words):
            return []
        end = next((at for at, one in enumerate(words) if one.shown[:1] in "-!("), len(words))
        return words[:end]
    found = [word for word in words if not word.shown.startswith("-")]
    if name.text == "printf":
        return [literal(one) for word in found for one in _lines(word.text or "") if one]
    if name.text == "ls" and not any("d" in word.shown for word in words if word not in found):
        return []  # names alone, and nobody knows in which folder they are used
    return [one for word in found for one in map(literal, (word.text or "").split())]


def _lines(text: str) -> list[str]:
    return text.replace("\\n", " ").replace("\\0", " ").split()


def _takes_more(program: Program) -> bool:
    """Return whether it gets words that are not in the line."""
    return any(word.text is None for word in program.arguments)
