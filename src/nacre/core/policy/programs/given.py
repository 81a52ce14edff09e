"""The options that a program was given, by what is known of them (presets/options.toml).

Rule 1: of a program that is allowed by `names`, a short option that the table does not have asks.
Rule 2: what an option writes to is judged as a redirection is, and what it loads is the project's.

One line of the table is about a program, or a program and its first words, and lists:

    -laR        letters, which may stand in one group
    -n=         a letter with a value, glued to it or the next word
    -U?         a letter whose value, if it has one, is glued to it
    -o>         a letter with a value that is written to
    -c<         a letter with a value that is loaded: code, or what says which code is
    -D#         a letter with NAME=value, and the name is judged as a long option's is
    -m:         a letter with a text, whatever it is
    -s=ort,ours a letter with a value that is one of these
    +-ldflags%  an option with options of another program
    --file<     a long option, with the same signs behind it
    +-name=     a long option with one dash; `*` stands for any end of it (+-Wno-*)
    +-exec;     behind it stands a command up to `;` or `+`
    --          behind it stand words of somebody else
    |           its own options end at its first word that is none
    *           no option of it writes, runs or sends anything, or they are judged elsewhere
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from nacre.core.policy.known.option_names import is_harmless_property
from nacre.core.policy.words import Word

_KINDS = "=?><#:;%"
_GIVEN = re.compile(r"(-{1,2}[\w-]+=)([\w,.:-]+)")
# What every program is believed to mean by these: quiet, verbose, help, version, jobs.
_USUAL = "-qvhV -j?"
_NUMBER = re.compile(r"-\d+")
# What is loaded from there is not the project's.
_ELSEWHERE = re.compile(r"(?:^|[=:,\"' \[])(?:/|~|\.\./|\w+://|\w+@)|/\.\./")
# A long option by whose name its value is a file or folder that is written.
_WRITES = re.compile(
    r"--(?:[\w-]*[-_])?(?:out|output|outputs|outfile|outdir|outputdir|outputfile|dest|destination|log"
    r"|logfile|junit|junitxml|xml|reports?|dump|save|trace|profile|target|cache|temp|record|results?"
    r"|artifacts?|write|export|emit|coverage|site|dist)(?:[-_](?:file|dir|directory|folder|path|to"
    r"|location))?|--\w+report|--basetemp"
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
# What is told to load from there, or to send there.
_ADDRESS = re.compile(r"(?!file:|\w+://(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$))\w+://")
# What stands behind them is nothing that they work on, or an operand of its own.
_NO_PATH = re.compile(
    r"--(?:no|ignore|exclude|skip|extend-exclude)\b"
    r"|--(?:all|cached|check|color|diff|fix|list-different|name-only|quiet|recursive|staged|stat"
    r"|strict|verbose|write)$"
)


class OptionValue(NamedTuple):
    """A value that an option was given."""

    kind: str  # the sign of the table; `=` if nothing more is known
    value: Word


@dataclass(frozen=True, slots=True)
class KnownOptions:
    """What is known of a program's options."""

    letters: Mapping[str, str] = field(default_factory=dict)  # by what kind of value they take
    long: Mapping[str, str] = field(default_factory=dict)
    patterns: tuple[tuple[str, str], ...] = ()  # of long ones
    dashes: bool = False  # behind -- stand words of somebody else
    ends: bool = False  # at the first word that is no option
    all: bool = False

    def kind_of(self, name: str) -> str | None:
        """Return the kind of a long option; None: it is not known."""
        kind = self.long.get(name)
        if kind is None:
            for like, found in self.patterns:
                # -Wl,-rpath,x is one option, -Wl,-rpath,x,-plugin,y are two.
                if fnmatchcase(name, like) and name.count(",") == like.count(","):
                    return found
        return kind


@lru_cache(maxsize=1024)
def known_options(text: str) -> KnownOptions:
    """Read a line of the table."""
    letters: dict[str, str] = {}
    long: dict[str, str] = {}
    patterns: list[tuple[str, str]] = []
    signs = set()
    for item in f"{_USUAL} {text}".split():
        if item in ("--", "|", "*"):
            signs.add(item)
            continue
        if (listed := _GIVEN.fullmatch(item)) is not None:
            item, kind = listed[1], f"={listed[2]}"
        else:
            kind = item[-1] if item[-1] in _KINDS else ""
        name = item.rstrip(_KINDS).removeprefix("+")
        if not item.startswith(("+", "--")):
            letters.update(dict.fromkeys(name[1:], kind))
        elif "*" in name:
            patterns.append((name, kind))
        else:
            long[name] = kind
    return KnownOptions(letters, long, tuple(patterns), "--" in signs, "|" in signs, "*" in signs)


class OptionTable:
    """What is known of the options of all programs."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, lines: Mapping[str, str]) -> None:
        """Add what a file knows; what is known already stays known."""
        for names, line in lines.items():
            for name in names.split(","):
                before = self._lines.get(name.strip(), "")
                self._lines[name.strip()] = f"{before} {line}".strip()

    def of(self, name: str, words: Sequence[Word]) -> KnownOptions:
        """Return what is known of a program that is given these words."""
        for texts in _tools([name, *(word.text or "" for word in words[:8])]):
            for count in (3, 2, 1):
                line = self._lines.get(" ".join(texts[:count])) if len(texts) >= count else None
                if line is not None:
                    return known_options(line)
        return known_options("")


_FETCHING = frozenset(("npx", "bunx", "pnpx", "uvx"))
_RUNNERS = frozenset(
    ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "bundle", "npm", "pnpm", "yarn", "bun")
)
# Who runs a project's scripts by their names, which may be those of other programs (ls, test).
_SCRIPTED = frozenset(("npm", "pnpm", "yarn", "bun"))
_TOOLS_OF_SCRIPTS = frozenset(
    (
        *(
            "tsc",
            "vue-tsc",
            "eslint",
            "prettier",
            "jest",
            "vitest",
            "mocha",
            "playwright",
            "cypress",
        ),
        *("stylelint", "webpack", "vite", "astro", "svelte-check", "nuxt", "next", "rollup", "nx"),
        *("turbo", "lerna", "ava", "tap", "karma", "typedoc", "knip", "depcheck", "tailwindcss"),
        *(
            "postcss",
            "swc",
            "babel",
            "markdownlint",
            "cspell",
            "commitlint",
            "ng",
            "esbuild",
            "sass",
        ),
        *("storybook", "tsup", "madge", "biome", "oxlint"),
    )
)


def _tools(texts: list[str]) -> list[list[str]]:
    """Return the words of the tool that others run (npx jest, python -m pytest), then of those."""
    found = [texts]
    while (texts := _behind_runner(texts)) is not found[0]:
        found.insert(0, texts)
    return found


def _behind_runner(texts: list[str]) -> list[str]:
    if len(texts) < 2:
        return texts
    first, second = texts[:2]
    if first.startswith("python") and first != "python":
        return ["python", *texts[1:]]
    if first in _FETCHING or first in ("nyc", "c8") or first.startswith("python3"):
        return texts[1:]
    if first == "cargo" and second.startswith("+"):
        return [first, *texts[2:]]
    if first == "php" and "/" in second:
        return [second.rpartition("/")[2], *texts[2:]]
    if len(texts) > 2 and first in _RUNNERS and second in ("run", "exec", "dlx", "run-script"):
        behind = texts[3:] if texts[2] == "--" else texts[2:]
        script = first in _SCRIPTED and second.startswith("run")
        return texts if script and behind[:1] and behind[0] not in _TOOLS_OF_SCRIPTS else behind
    if first == "yarn" and second == "workspace":
        return texts[3:]
    if first in _SCRIPTED and second in _TOOLS_OF_SCRIPTS:
        return texts[1:]
    if first in ("python", "py") and second == "-m":
        return texts[2:]
    if texts[:3] == ["coverage", "run", "-m"]:
        return texts[3:]
    return texts


class Read(NamedTuple):
    """The options among some words."""

    given: list[OptionValue]  # the values of short ones, and of long ones that are in the table
    own: Sequence[Word]  # the words that are not somebody else's
    operands: Sequence[Word]  # those of them that are no option's, unless it is a long one's
    letters: str  # of the short ones
    known: bool  # none of the short ones is unknown


def read_options(words: Sequence[Word], known: KnownOptions, texts: Sequence[str] = ()) -> Read:
    """Read the options that a program was given; behind those of `texts` stands a text."""
    given: list[OptionValue] = []
    operands: list[Word] = []
    letters, sure = "", True
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        text = word.text if word.text is not None else word.lead
        if word.may_be_option and not word.lead:
            sure = False
            continue
        if not text.startswith("-") or text == "-":
            before = words[index - 2].text or "" if index > 1 else ""
            if not before.startswith("--") or "=" in before or _NO_PATH.match(before):
                operands.append(word)
            if known.ends:
                return Read(given, words[: index - 1], operands, letters, sure)
            continue
        if text == "--" and known.dashes:
            return Read(given, words[: index - 1], operands, letters, sure)
        if text in texts:
            index += 1
            continue
        kind, glued = _option(text, known)
        if not text.startswith("--") and known.kind_of(text.partition("=")[0]) is None:
            letters += text[1 : len(text) - len(glued or "")]
        if kind is None or (word.text is None and kind in ("", "<", ">", "#")):
            sure = False
        elif kind == ";":
            sure = sure and glued is None
            while index < len(words) and words[index].text not in (";", "+"):
                index += 1
        elif glued is not None:
            given.append(
                OptionValue(kind, Word(None if word.text is None else glued, glued, glued))
            )
        elif kind not in ("", "?") and word.text is not None:
            given.append(OptionValue(kind, words[index] if index < len(words) else Word("", "")))
            index += 1
    return Read(given, words, operands, letters, sure)


def are_harmless(read: Read) -> bool:
    """Return whether all short options are known, and what they are told is harmless."""
    return read.known and all(_is_fine(given) for given in read.given)


class NamedPath(NamedTuple):
    """A path that an option was given."""

    value: Word
    written: bool  # else nobody knows what it is for


def told_by(words: Sequence[Word], known: KnownOptions, *, runs: bool) -> Iterator[NamedPath]:
    """Yield what options write to, and what else they are given; short ones if it runs code."""
    if known.all:
        return
    read = read_options(words, known)
    for given in read.given:
        if given.kind == ">":
            yield NamedPath(given.value, written=True)
        elif given.kind == "#":
            named, _, value = (given.value.text or "").partition("=")
            yield NamedPath(Word(value, value), _is_written(f"--{named}"))
        elif given.kind == "=" and (runs or "=" in (given.value.text or "")):
            yield NamedPath(given.value, written=False)
    for index, word in enumerate(read.own):
        text = word.text if word.text is not None else word.lead
        name, equals, value = text.partition("=")
        if not text.startswith("--") or _NO_PATH.match(name) or known.kind_of(name) is not None:
            continue
        written = _is_written(name)
        if equals:
            yield NamedPath(
                word._replace(text=None if word.text is None else value, lead=value), written
            )
        elif index + 1 < len(read.own):
            yield NamedPath(read.own[index + 1], written)


def _is_written(name: str) -> bool:
    """Return whether a long option's value is a file or folder that is written, by its name."""
    return _WRITES.fullmatch(_HUMP.sub("-", name).lower()) is not None


def _is_fine(given: OptionValue) -> bool:
    text = given.value.text if given.value.text is not None else given.value.lead
    if given.kind == ":":
        return True
    if given.kind[1:]:
        return text in given.kind[1:].split(",")
    if given.kind == "%":
        return bool(text) and not _ELSEWHERE.search(text)
    if given.kind == "#":
        name, _, value = text.removeprefix(":").partition("=")
        return given.value.text is not None and is_harmless_property(name, value)
    if _ADDRESS.match(text) is not None:
        return False
    if given.kind == "<" and (given.value.text is None or _ELSEWHERE.search(text)):
        return False
    # A value that looks like an option may be one.
    return not text.startswith("-") or text == "-" or _NUMBER.match(text) is not None


def _option(text: str, known: KnownOptions) -> tuple[str | None, str | None]:
    """Return the kind of an option's value, and the value if it is glued to it.

    No kind: it is not known. A long one that is not in the table is judged by its name elsewhere.
    """
    name, equals, value = text.partition("=")
    kind = known.kind_of(name)
    if kind is not None:
        return kind, value if equals else None
    if text.startswith("--") or _NUMBER.fullmatch(text):
        return "", None
    for index, letter in enumerate(text[1:], 1):
        kind = known.letters.get(letter)
        if kind is None:
            return None, None
        if kind:
            glued = text[index + 1 :].removeprefix("=")
            return kind, glued or None
    return "", None
