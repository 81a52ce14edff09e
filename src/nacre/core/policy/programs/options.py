"""The options that a program may be given: what is not listed is not allowed.

A list of what is forbidden would have to know every option of every version, and GNU's programs
take every abbreviation of a long one. So a rule can list what is harmless instead:

    -laR        letters, which may stand in one group
    -n=         a letter with a value, glued to it or the next word
    --color     a long option; with a value behind = too
    --lines=    a long option with a value, behind = or the next word
    -name       behind +: a long option with one dash (+-name, +-type=)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from nacre.core.policy.words import Word


@dataclass(slots=True)
class Permitted:
    letters: set[str] = field(default_factory=set)
    valued: set[str] = field(default_factory=set)  # letters
    long: set[str] = field(default_factory=set)
    long_valued: set[str] = field(default_factory=set)


@cache
def permitted(options: tuple[str, ...]) -> Permitted:
    found = Permitted()
    for one in options:
        valued, name = one.endswith("="), one.rstrip("=").lstrip("+")
        if one.startswith(("--", "+")):
            (found.long_valued if valued else found.long).add(name)
        else:
            (found.valued if valued else found.letters).update(name[1:])
    return found


def operands(words: Sequence[Word], options: tuple[str, ...]) -> list[Word] | None:
    """Return the words that are no options' own; None: an option is none of these."""
    known = permitted(options)
    found: list[Word] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        text = word.text
        if text == "--":
            return [*found, *words[index:]]
        if text is None or word.globs or not text.startswith("-") or text == "-":
            if word.may_be_option and not word.raw.startswith("<("):  # that is a path in /dev
                return None
            found.append(word)
            continue
        step = _words_of(text, known)
        if step is None:
            return None
        index += step
    return found


def _words_of(text: str, known: Permitted) -> int | None:
    """Return how many further words an option takes; None: it is not allowed."""
    name, equals, _ = text.partition("=")
    if name in known.long:
        return 0
    if name in known.long_valued:
        return 0 if equals else 1
    if text.startswith("--"):
        return None
    for index, letter in enumerate(text[1:], 1):
        if letter in known.valued:
            return 0 if index + 1 < len(text) else 1
        if letter not in known.letters:
            return None
    return 0
