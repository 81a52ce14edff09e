"""Where the words of a program lead beyond what its rule allows.

Rule: it does not matter who writes. What an option writes to, or a git makes, is judged as the
target of a redirection is; and code lies in the workspace, not in scratch.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from nacre.core.policy.known.fetched import fetches, is_code, named_by_address
from nacre.core.policy.matching import paths_of
from nacre.core.policy.paths import Where, is_below, starts_by_itself
from nacre.core.policy.programs.traits import (
    changes_files,
    makes_files,
    paths_in,
    runs_more_than_hooks,
)
from nacre.core.policy.resolved import Resolved
from nacre.core.policy.rulebook import RuleBook
from nacre.core.policy.rules import Rule
from nacre.core.policy.way import Way
from nacre.core.policy.words import Program

# They make a repository, or need none.
_NO_REPOSITORY = frozenset(("clone", "init", "ls-remote", "version", "--version", "help", "--help"))
_SHARED = ("/dev/shm",)  # noqa: S108  # to compare with
_BETWEEN = re.compile(r"[\s,:;=\"']+")  # the parts of what an option is told


def strays(program: Program, rule: Rule, rules: RuleBook, where: Where) -> Iterator[str]:
    """Yield why a program that a rule allows must be asked about."""
    yield from _options(program, rule, rules, where)
    if program.name == "git":
        yield from _repository(program, where)
    if makes_files(program):
        yield from _made(program, where)
    if rule.runs:
        yield from _code(program, rules, where)


def why_not(path: str, text: str) -> str:
    if starts_by_itself(path):
        return f"what runs by itself: {text}"
    return f"outside of the workspace: {text}"


def _options(program: Program, rule: Rule, rules: RuleBook, where: Where) -> Iterator[str]:
    runs = rule.runs and runs_more_than_hooks(program)
    for word, written in rules.told_by(program, runs=runs):
        if word.text is None and not word.lead:
            if written:
                yield f"where {program.name} writes is known only when it runs"
            continue
        for text in paths_in(word):
            path = where.path(text)
            parts = _BETWEEN.split(text)
            if any(where.asks_for(part) for part in parts if part[:1] == "/"):
                yield f"{text} names a folder of the system's"
            starts = any(starts_by_itself(f"/{part}") for part in parts if "." in part)
            if starts or (written and (path is None or not where.may_write(path))):
                yield f"{program.name} would write {why_not(path or '', text)}"
            elif runs and not written and _any_in_scratch((text, *parts), where):
                yield _in_scratch(program)


def _repository(program: Program, where: Where) -> Iterator[str]:
    """A repository has its own settings, which name programs that git runs (fsmonitor, pagers)."""
    words = program.arguments
    if any(word.text in _NO_REPOSITORY for word in words[:4]):
        return
    told = [after for before, after in pairwise(words) if before.text == "-C"]
    folders = [where.path(word.text) for word in told if word.text is not None] or [where.folder]
    if any(
        folder is not None and (where.is_in_scratch(folder) or is_below(folder, _SHARED))
        for folder in folders
    ):
        yield "git runs what a repository's own settings say, and anybody may have put it there"


def _made(program: Program, where: Where) -> Iterator[str]:
    for word in program.arguments:
        path = None if word.text is None else where.path(word.text)
        if path is not None and (starts_by_itself(path) or starts_by_itself(f"{path}/x")):
            yield f"{program.name} would write {why_not(path, word.raw)}"


def _code(program: Program, rules: RuleBook, where: Where) -> Iterator[str]:
    if program.name != "git" and where.is_in_scratch():
        yield _in_scratch(program)
    if runs_more_than_hooks(program):
        for word in rules.operands_of(program):
            path = None if word.text is None else where.path(word.text)
            if path is None:
                continue
            if "/.git/" in f"{path}/" or (changes_files(program) and starts_by_itself(path)):
                yield f"{program.name} would write {why_not(path, word.raw)}"
            elif where.is_in_scratch(path):
                yield _in_scratch(program)
    for word in rules.places_of_code(program):
        path = None if word.text is None else where.path(word.text)
        if path is None or ((word.text or "")[:1] in ("/", "~") and not where.is_own(path)):
            yield f"{program.name} would run what is outside of the workspace"


def fetched(resolved: Resolved, rules: RuleBook, way: Way) -> Iterator[str]:
    """Yield why code that a line fetches into the workspace must be asked about."""
    fetching = [program for program in resolved.programs if fetches(program)]
    for at, text in _targets(resolved, rules, fetching, way) if fetching else ():
        where = way.at(at)
        path = where.path(text)
        if path is not None and is_code(path) and not where.is_in_scratch(path):
            yield f"{text} would be code that nobody has seen"


def _targets(
    resolved: Resolved, rules: RuleBook, fetching: Sequence[Program], way: Way
) -> Iterator[tuple[int, str]]:
    """Yield where it may go: by an option, by a redirection, and by tee."""
    for program in fetching:
        rule = rules.for_program(program, way.at(program.at))
        if rule is not None and rule.verdict == "allow":
            for word in paths_of(rule, program.arguments)[0]:
                yield program.at, word.text or word.lead
        if program.name == "curl":
            yield from ((program.at, name) for name in named_by_address(program.arguments))
    first = fetching[0].at
    for redirect in resolved.redirects:
        if redirect.writes and redirect.begin >= first:
            yield redirect.at, redirect.target.text or redirect.target.lead
    for program in resolved.programs:
        if program.name in ("tee", "sponge") and program.at > first:
            yield from ((program.at, word.text or word.lead) for word in program.arguments)


def _any_in_scratch(texts: Sequence[str], where: Where) -> bool:
    paths = (where.path(text) for text in texts if text[:1] == "/")
    return any(path is not None and where.is_in_scratch(path) for path in paths)


def _in_scratch(program: Program) -> str:
    return f"{program.name} may run what anybody has put into scratch"
