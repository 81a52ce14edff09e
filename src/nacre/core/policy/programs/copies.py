"""Files with keys that are copied or packed: the new name may no longer tell what they hold.

Rule: a copy under a name that tells it (.env.backup), or into a folder of the project under its
own, is none of these: who reads it there is asked.
"""

import re
from collections.abc import Iterator, Sequence

from nacre.core.policy.known.key_files import holds_keys
from nacre.core.policy.words import Program, Word

_COPYING = frozenset(("cp", "mv", "ln", "link", "install", "rsync", "scp"))
_PACKING = frozenset(("tar", "bsdtar", "zip", "7z", "7za", "7zz", "ar", "pax"))
_UNPACKS = re.compile(r"-?[A-Za-z]*[tx][A-Za-z]*|--(?:list|extract|get)|[lept]")  # or only lists


def disguised_keys(program: Program) -> Iterator[str]:
    """Yield the files with keys that a program puts under a name that does not tell it."""
    words = [word for word in program.arguments if not word.shown.startswith("-")]
    if program.name in _PACKING and words:
        if program.name == "zip" or not _UNPACKS.fullmatch(program.arguments[0].shown):
            yield from (word.shown for word in words if holds_keys(word.shown))
    elif program.name in _COPYING and len(words) > 1:
        sources, target = _ends(program, words)
        if not _keeps_its_name(target):
            yield from (word.shown for word in sources if holds_keys(word.shown))


def _ends(program: Program, words: Sequence[Word]) -> tuple[Sequence[Word], str]:
    """Return what is copied and where to; -t names the folder before them."""
    for before, word in zip(program.arguments, program.arguments[1:], strict=False):
        if before.shown in ("-t", "--target-directory"):
            return [one for one in words if one is not word], f"{word.shown}/"
    return words[:-1], words[-1].shown


def _keeps_its_name(target: str) -> bool:
    if target.startswith(("/", "~")):
        return False  # others may read there
    folder = target.endswith("/") or target.rpartition("/")[2] in (".", "..")
    return holds_keys(target) or folder
