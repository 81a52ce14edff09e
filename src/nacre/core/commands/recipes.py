"""Recipes: what people ask for in words, and the line that does it.

A recipe has one or more phrases. A phrase's words must stand in the query, in this order, but for
those that say nothing ("the", "show"), and its slots take what stands in their place: `{k}` in
"find all {k:kind} files". A word with ! must be there, whatever it says.

Rule 1: a recipe never guesses: a query that no phrase covers has no line. A word may be misspelt,
but not one that some phrase has: "compare" is no typo of "compress", nor "decode" of "encode".
Rule 2: what fills a slot is quoted for a shell when it stands in a line.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

import msgspec

from nacre.core.commands.searching import is_alike
from nacre.errors import InvalidInput

# What is longer is no request that a phrase covers; to compare takes time with each word.
_LONGEST, _MOST_WORDS = 1000, 40

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_BRACED = re.compile(r"\{\{|\}\}|\{(\w+)\}")  # {{ and }} are braces themselves
# A word of a query; quotes keep several together.
_TOKEN = re.compile(r'"[^"]*"|\'[^\']*\'|[^\s"\']+')
_FILLERS = frozenset(
    (
        *("a", "an", "the", "all", "every", "of", "in", "to", "for", "please", "me", "my", "this"),
        *("that", "which", "is", "are", "and", "do", "does", "i", "can", "how", "on", "with", "by"),
        *("from", "it", "its", "be", "was", "were", "what", "show", "list", "display", "print"),
        *("get", "give", "tell", "find", "see", "want", "view", "there", "at", "some", "any"),
        *(
            "named",
            "called",
            "am",
            "current",
            "here",
            "folder",
            "directory",
            "file",
            "files",
            "than",
        ),
    )
)
# Words that stand for others in a query.
_SAME = {
    "folders": "folder", "directories": "folder", "directory": "folder", "dir": "folder",
    "dirs": "folder", "file": "files", "biggest": "largest", "big": "large", "huge": "large",
    "locate": "find", "look": "find", "delete": "remove", "erase": "remove",
    "newest": "latest", "recent": "latest", "recently": "latest", "processes": "process",
    "programs": "process", "make": "create", "display": "show", "print": "show", "view": "show",
    "see": "show",  "lines": "line", "words": "word",
    "characters": "character", "chars": "character", "commits": "commit", "branches": "branch",
    "ram": "memory", "storage": "disk", "sizes": "size", "changed": "modified",
    "changes": "modified", "edited": "modified", "duplicates": "duplicate",
    "duplicated": "duplicate", "repeated": "duplicate", "copies": "duplicate",
    "archives": "archive", "unpack": "extract", "hidden": "hidden", "rename": "move",
    "checksums": "checksum", "hash": "checksum", "containing": "contain", "contains": "contain",
    "including": "contain", "matching": "contain", "begins": "begin", "starts": "begin",
    "starting": "begin", "ends": "end", "ending": "end",
}  # fmt: skip

# Slots that take few words say more of a query than those that take any.
_CHOOSY = frozenset(("number", "kind", "size", "tarball", "zipped"))

# Words that are no names where a name could stand: "disk usage of each folder", "the first column".
_NO_NAMES = frozenset(
    (
        *("each", "these", "those", "everything", "something", "text", "string", "stdin"),
        *("delete", "remove", "create", "make", "copy", "move", "compress", "extract", "count"),
        *("first", "second", "third", "last", "number", "lines", "words", "between"),
        *("folders", "directories", "subfolders", "subdirectories", "recursively"),
    )
)

# What a kind of files is called, and how their names end.
_KINDS = {
    "python": "py", "javascript": "js", "typescript": "ts", "markdown": "md", "text": "txt",
    "json": "json", "yaml": "yaml", "yml": "yml", "toml": "toml", "rust": "rs", "go": "go",
    "java": "java", "c": "c", "cpp": "cpp", "c++": "cpp", "header": "h", "html": "html",
    "css": "css", "shell": "sh", "bash": "sh", "ruby": "rb", "php": "php", "perl": "pl",
    "sql": "sql", "csv": "csv", "xml": "xml", "log": "log", "logs": "log", "image": "png",
    "png": "png", "jpeg": "jpg", "jpg": "jpg", "pdf": "pdf", "zip": "zip", "tar": "tar",
    "lua": "lua", "kotlin": "kt", "swift": "swift", "config": "conf", "conf": "conf",
    "txt": "txt", "md": "md", "py": "py", "js": "js", "ts": "ts", "rs": "rs", "sh": "sh",
    "svg": "svg", "gif": "gif", "ini": "ini", "scala": "scala", "notebook": "ipynb",
}  # fmt: skip

# Slots that take a file by how its name ends.
_ENDINGS = {"tarball": r"\.(tar(\.\w+)?|tgz|tbz2?|txz)$", "zipped": r"\.zip$"}


class RecipeTry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A query, and what must come of it."""

    query: str
    command: str


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    phrases: tuple[str, ...]
    command: str
    explanation: str
    tool: str = ""  # the command of the catalog that does the same, with `args`
    args: Mapping[str, Any] = msgspec.field(default_factory=dict)
    tries: tuple[RecipeTry, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    command: str
    explanation: str
    tool: str
    args: dict[str, Any]


def recipes_from(data: Any, source: str) -> tuple[Recipe, ...]:
    """Read what TOML has parsed. Raises InvalidInput."""
    try:
        found = msgspec.convert(data.get("recipe", []), tuple[Recipe, ...])
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{source}: {error}", "correct the recipe") from error
    for recipe in found:
        texts = (recipe.command, recipe.explanation, *map(str, recipe.args.values()))
        used = {name for text in texts for name, _ in _SLOT.findall(text)}
        for phrase in recipe.phrases:
            if missing := used - {name for name, _ in _SLOT.findall(phrase)}:
                raise InvalidInput(f"{source}: {phrase!r} has no slot {missing.pop()}")
    return found


def suggest(query: str, recipes: Iterable[Recipe]) -> Suggestion | None:
    """Return the line of the recipe that says most of the query; None if none covers it."""
    tokens = _TOKEN.findall(query.strip().rstrip("?.! ")) if len(query) <= _LONGEST else []
    if not tokens or len(tokens) > _MOST_WORDS:
        return None
    recipes = tuple(recipes)
    known = frozenset(
        word.removeprefix("!")
        for recipe in recipes
        for phrase in recipe.phrases
        for word in phrase.split()
    )
    best: tuple[float, Recipe, dict[str, str]] | None = None
    for recipe in recipes:
        for phrase in recipe.phrases:
            fit = _match(phrase, tokens, known)
            if fit is not None and (best is None or fit.score > best[0]):
                best = (fit.score, recipe, dict(fit.slots))
    if best is None:
        return None
    _, recipe, slots = best
    return Suggestion(
        _filled(recipe.command, slots, quoted=True),
        _filled(recipe.explanation, slots),
        recipe.tool,
        {name: _filled_value(value, slots) for name, value in recipe.args.items()},
    )


class _Fit(NamedTuple):
    """How far a phrase fits so far."""

    score: float = 0.0
    slots: tuple[tuple[str, str], ...] = ()
    telling: int = 0  # words that say something, and slots that take few words
    said: int = 0  # fillers that both have
    unsaid: int = 0  # fillers of the phrase that the query lacks
    vague: int = 0  # slots that took a word that may be anything
    led: bool = True  # the phrase's word before this place stands in the query, too

    @property
    def holds(self) -> bool:
        """Whether it is more than a chance: else "make me a horse" would make a file."""
        if self.telling:
            return True
        if not self.slots:
            return not self.unsaid
        return not self.vague or (not self.unsaid and self.said >= _ENOUGH)


_ENOUGH = 3  # words of a phrase that together say something, though none does alone


def _match(phrase: str, tokens: list[str], known: frozenset[str]) -> _Fit | None:
    """Walk phrase and query from left to right; fillers may be missing on either side.

    `known` are the words of all phrases: none of them is a misspelt other.
    """
    pattern = phrase.split()
    best: dict[tuple[int, int], _Fit] = {(0, 0): _Fit()}
    for at in range(len(pattern) + 1):
        for seen in range(len(tokens) + 1):
            fit = best.get((at, seen))
            if fit is None:
                continue
            if seen < len(tokens) and _is_filler(tokens[seen]):
                _keep(best, (at, seen + 1), fit._replace(score=fit.score - 0.1))
            if at == len(pattern):
                continue
            if _is_filler(pattern[at]):  # not one that must be there: !file
                less = fit._replace(score=fit.score - 0.05, unsaid=fit.unsaid + 1, led=False)
                _keep(best, (at + 1, seen), less)
            if seen == len(tokens):
                continue
            if (
                _SLOT.fullmatch(pattern[at])
                and ":kind" not in pattern[at]
                and _is_kind(tokens, seen)
            ):
                continue
            if (more := _next(fit, pattern[at], tokens[seen], known)) is not None:
                _keep(best, (at + 1, seen + 1), more)
    found = best.get((len(pattern), len(tokens)))
    return found if found is not None and found.holds else None


def _next(fit: _Fit, word: str, token: str, known: frozenset[str]) -> _Fit | None:
    """Return the fit with one more word of each; None if they are not the same."""
    if slot := _SLOT.fullmatch(word):
        value = _slot_value(slot[2] or "", token)
        if value is None:
            return None
        slots = (*fit.slots, (slot[1], value))
        if slot[2] in _CHOOSY:
            told = fit.telling + 1
            return fit._replace(score=fit.score + 0.7, slots=slots, telling=told, led=True)
        if _is_telling(token):
            return fit._replace(score=fit.score + 0.5, slots=slots, led=True)
        if not fit.led:  # "python packages" is not "python files in packages"
            return None
        return fit._replace(score=fit.score + 0.5, slots=slots, vague=fit.vague + 1)
    bare = word.removeprefix("!")
    same = _same(bare, token, known)
    if not same:
        return None
    if _is_filler(bare):
        return fit._replace(score=fit.score + 0.3 * same, said=fit.said + 1, led=True)
    return fit._replace(score=fit.score + same, telling=fit.telling + 1, led=True)


def _is_kind(tokens: list[str], at: int) -> bool:
    """Whether a word says a kind of files, and is no name: "move all txt files"."""
    after = tokens[at + 1].lower() if at + 1 < len(tokens) else ""
    return after in ("file", "files") and tokens[at].lower() in _KINDS


def _is_telling(token: str) -> bool:
    """Whether a word can only be a name: of a file, or one in quotes."""
    return bool(re.search(r"[./_\d\"']", token))


def _keep(best: dict[tuple[int, int], _Fit], key: tuple[int, int], fit: _Fit) -> None:
    if key not in best or best[key].score < fit.score:
        best[key] = fit


def _same(word: str, token: str, known: frozenset[str]) -> float:
    given = token.lower().strip(",:;")
    if given == word:
        return 1.0
    if _SAME.get(given, given) == _SAME.get(word, word) or given.rstrip("s") == word.rstrip("s"):
        return 0.9
    return 0.6 if given not in known and is_alike(word, given) else 0.0


def _is_filler(word: str) -> bool:
    return word.lower().strip(",") in _FILLERS


def _slot_value(kind: str, token: str) -> str | None:
    """Return what a slot of this kind takes of a word; None: it is no such thing."""
    bare = token.strip("\"'") if token[:1] in "\"'" else token.rstrip(",")
    if not bare or any(ord(one) < 32 for one in bare):
        return None
    if token[:1] not in "\"'" and _is_filler(token):
        return None
    if kind in _ENDINGS:
        return bare if re.search(_ENDINGS[kind], bare) else None
    if kind != "kind" and token[:1] not in "\"'" and bare.lower() in _NO_NAMES:
        return None
    if kind == "file":
        kind, bare = "path", bare if _is_telling(token) else ""
        if not bare:
            return None
    if kind == "plain":  # stands inside a script of sed's
        return bare if re.fullmatch(r"[\w-]+", bare, re.ASCII) else None
    if kind == "number":
        return bare if bare.isdigit() else None
    if kind == "kind":
        return _KINDS.get(bare.lower().lstrip("*.")) or (
            bare[1:] if re.fullmatch(r"\.\w+", bare) else None
        )
    if kind == "size":
        found = re.fullmatch(r"(\d+)\s*([kmg])i?b?", bare.lower())
        return f"{found[1]}{found[2].upper() if found[2] != 'k' else 'k'}" if found else None
    if kind == "path":
        return bare if not bare.startswith("-") else f"./{bare}"
    return bare if not bare.startswith("-") else None


def _filled(text: str, slots: Mapping[str, str], *, quoted: bool = False) -> str:
    def fill(found: "re.Match[str]") -> str:
        if found[1] is None:
            return found[0][0]
        value = slots[found[1]]
        if not quoted:
            return value
        # Inside quotes of the recipe itself ('*.{kind}') a value stands without its own.
        if text[: found.start()].count("'") % 2:
            return value.replace("'", "'\\''")
        return quote(value)

    return _BRACED.sub(fill, text)


def _filled_value(value: Any, slots: Mapping[str, str]) -> Any:
    if not isinstance(value, str):
        return value
    filled = _filled(value, slots)
    return int(filled) if _SLOT.fullmatch(value) and filled.isdigit() else filled
