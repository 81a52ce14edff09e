"""A word of a shell line: what the program will get, as far as the text alone tells."""

import re
from dataclasses import dataclass
from typing import NamedTuple

# They change the folder of what follows.
FOLDER_COMMANDS = frozenset(("cd", "pushd", "popd", "chdir"))
_GLOB = re.compile(r"(?<!\\)[*?\[]")


class Word(NamedTuple):
    """`text` is what the program gets; None: only the shell knows, when it runs.

    A home (`~`, `$HOME`) stands as `~` at the beginning of a text.
    """

    text: str | None
    raw: str  # as it is written
    lead: str = ""  # how a word begins whose rest is unknown
    globs: bool = False  # the shell replaces it by the files that match
    guess: str = ""  # what an unknown word will be, if nothing is redefined: enough to forbid it

    @property
    def may_be_option(self) -> bool:
        """Whether the program may take it for an option, with which nobody can reckon."""
        if self.text is None:
            return not self.lead or self.lead.startswith("-")
        # What a pattern without any letter of its own matches is anybody's file.
        return self.globs and not self.text.strip("*?[]!")

    @property
    def shown(self) -> str:
        return self.raw if self.text is None else self.text


class Assignment(NamedTuple):
    name: str
    value: Word


class Reach(NamedTuple):
    """A cd holds up to `until`; then its shell is `back` where it was, or nobody knows where."""

    until: int | None = None  # None: to the end of the line
    back: bool = False
    repeats: bool = False  # it may run again, from where it has led


NO_END = Reach()


class SimpleCommand(NamedTuple):
    """A program or builtin with its words; no words: assignments alone."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    at: int = 0  # where in the line it begins
    reach: Reach = NO_END  # of a cd
    fed: bool = False  # its input is names of files within the workspace


class Feed(NamedTuple):
    """What a command prints goes to those that begin in this part of the line."""

    words: tuple[Word, ...]  # the command; of a here-string: echo and its text
    begin: int
    end: int


class Redirect(NamedTuple):
    operator: str
    target: Word
    at: int
    begin: int  # where the command begins that it belongs to

    @property
    def writes(self) -> bool:
        return ">" in self.operator and not self.duplicates

    @property
    def duplicates(self) -> bool:
        """Whether it only joins descriptors (2>&1, >&-)."""
        text = self.target.text or ""
        return self.operator in (">&", "<&") and (text.isdigit() or text in ("-", ""))


@dataclass(slots=True)
class Program:
    """One program that a line runs, found directly or behind wrappers."""

    name: str  # without its folder
    words: tuple[Word, ...]  # the name as it is written first
    via: tuple[str, ...] = ()  # the wrappers that it was found behind
    at: int = 0
    reach: Reach = NO_END  # of a cd

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]

    def argv(self) -> tuple[str, ...]:
        return tuple(word.shown for word in self.words)


UNKNOWN = Word(None, "…")


def literal(text: str) -> Word:
    return Word(text, text)


def has_glob(text: str) -> bool:
    return bool(_GLOB.search(text))
