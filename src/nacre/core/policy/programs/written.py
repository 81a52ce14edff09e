"""What a line writes, as far as its text tells, and whether it matters to what then runs it.

Rule: what is not known to be harmless matters: a build, a test or a checker after it asks.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nacre.core.policy.known.plain_code import is_plain_source
from nacre.core.policy.programs.checkers import only_looks_at
from nacre.core.policy.resolved import Resolved
from nacre.core.policy.words import Program, Redirect, Word

# echo and printf make other signs of these.
_SPELLED = re.compile(r"\\[^nt]")


class Written(NamedTuple):
    at: int  # where in the line
    begin: int  # of the command that writes
    paths: tuple[str, ...] = ()  # none: it is not known what all it writes
    text: str | None = None  # all that it writes, if that is known


def text_of(redirect: Redirect, resolved: Resolved) -> str | None:
    """Return what a redirection writes: the document of its cat, or the words of its echo."""
    for program in resolved.programs:
        if program.at != redirect.begin:
            continue
        words = [word.text for word in program.arguments]
        if program.argv() == ("cat",):
            told = [
                one
                for one in resolved.redirects
                if one.begin == redirect.begin and one.operator.startswith("<")
            ]
            return told[0].target.text if [one.operator for one in told] == ["<<"] else None
        if program.name in ("echo", "printf") and None not in words:
            text = " ".join(word or "" for word in words)
            return None if _SPELLED.search(text) else text
    return None


def script_of(program: Program, paths: Sequence[Word]) -> str | None:
    """Return what sed puts into the sources of the project."""
    if program.name != "sed":
        return None
    return " ".join(word.shown for word in program.arguments if word not in paths)


def is_no_matter(program: Program, written: Written) -> bool:
    """Return whether a program that runs what a line writes does nothing with it but plain work."""
    if not written.paths:
        return False
    if only_looks_at(program, written.paths):
        return True
    text = written.text
    return text is not None and all(is_plain_source(path, text) for path in written.paths)
