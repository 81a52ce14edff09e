"""Rank what a query may mean: commands of the catalog, and the machine's manual pages.

Rule: a score adds up how well each word of the query fits: a name more than a description, the
whole word more than its beginning, and a misspelt word less than either.
"""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from nacre.core.commands.entry import CommandEntry

_WORD = re.compile(r"[a-z0-9]+")
_FILLERS = frozenset(
    ("a", "an", "the", "of", "in", "to", "for", "all", "with", "and", "or", "my", "me", "is", "are")
)

_LONGEST, _MOST_WORDS = 1000, 20  # of a query; each word is compared with thousands

_NAME, _ALIAS, _TEXT, _ARGUMENT = 10, 8, 5, 2  # for a whole word
_BEGINS = 0.6  # of that, for a word that begins like it
_ALIKE = 0.4  # of that, for a misspelt one
_NEAR = 0.75  # from which on two words are alike: one letter in four may be wrong
_MANUAL = 0.5  # what is not in the catalog ranks below what is


class SearchHit(NamedTuple):
    name: str
    description: str
    score: int
    source: str  # "catalog" or "manual"
    refused: bool = False


class ManualPage(NamedTuple):
    name: str
    description: str


def words_of(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _FILLERS]


def wanted_words(query: str) -> list[str]:
    """Return the words of a query that say something."""
    query = query[:_LONGEST]
    return (words_of(query) or _WORD.findall(query.lower()))[:_MOST_WORDS]


def score_named(wanted: list[str], name: str, text: str) -> float:
    """Return how well something with a name and a description fits."""
    return _score(wanted, ((_NAME, [name.lower(), *words_of(name)]), (_TEXT, words_of(text))))


def search(
    query: str, entries: Iterable[CommandEntry], pages: Iterable[ManualPage], most: int
) -> list[SearchHit]:
    """Return the best of all, the best one first."""
    wanted = wanted_words(query)
    if not wanted:
        return []
    found = []
    known = set()
    for entry in entries:
        known |= {entry.name, *entry.aliases, entry.program}
        if score := round(_score_entry(wanted, entry)):
            found.append(SearchHit(entry.name, entry.description, score, "catalog", entry.refused))
    for page in pages:
        if page.name in known:
            continue
        fields = ((_NAME, [page.name.lower()]), (_TEXT, words_of(page.description)))
        if score := round(_MANUAL * _score(wanted, fields)):
            found.append(SearchHit(page.name, page.description, score, "manual"))
    found.sort(key=lambda one: (-one.score, one.refused, one.name))
    return found[:most]


def _score_entry(wanted: list[str], entry: CommandEntry) -> float:
    names = [entry.name.lower(), *words_of(entry.name)]
    aliases = [word for alias in entry.aliases for word in (alias, *words_of(alias))]
    arguments = [word for one in entry.args for word in words_of(f"{one.name} {one.description}")]
    return _score(
        wanted,
        (
            (_NAME, names),
            (_ALIAS, aliases),
            (_TEXT, words_of(entry.description)),
            (_ARGUMENT, arguments),
        ),
    )


def _score(wanted: list[str], fields: Iterable[tuple[int, list[str]]]) -> float:
    fields = list(fields)
    total = 0.0
    for word in wanted:
        total += max((weight * _fit(word, words) for weight, words in fields), default=0.0)
    return total


def _fit(word: str, words: Iterable[str]) -> float:
    best = 0.0
    for one in words:
        if one == word or one.rstrip("s") == word.rstrip("s") != "":
            return 1.0
        if len(word) >= 3 and len(one) >= 3 and (one.startswith(word) or word.startswith(one)):
            best = max(best, _BEGINS)
        elif best < _ALIKE and is_alike(word, one):
            best = _ALIKE
    return best


@lru_cache(maxsize=8192)
def is_alike(word: str, other: str) -> bool:
    """Return whether one may be the other, misspelt. Short words are like too many others."""
    if min(len(word), len(other)) < 5 or abs(len(word) - len(other)) > 2:
        return False
    matcher = SequenceMatcher(None, word, other, autojunk=False)
    return matcher.quick_ratio() >= _NEAR and matcher.ratio() >= _NEAR
