"""The rules of all files, by the program that they begin with: which one decides?

Rule: the strictest rule that matches wins, whatever file it is from: deny, ask, allow.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from typing import Any

from nacre.core.policy.matching import holds, is_like, is_path
from nacre.core.policy.paths import Where
from nacre.core.policy.programs.given import NamedPath, OptionTable, read_options, told_by
from nacre.core.policy.rules import ProgramOptions, Rule, RuleFile, written_arguments
from nacre.core.policy.verdicts import STRICTNESS
from nacre.core.policy.words import Program, Word


@dataclass(slots=True)
class RuleBook:
    """The rules of all files, by the program that they begin with."""

    _by_name: dict[str, list[Rule]] = field(default_factory=dict)
    _writing: list[Rule] = field(default_factory=list)
    _tools: list[Rule] = field(default_factory=list)
    _lines: dict[str, Rule] = field(default_factory=dict)
    _options: dict[str, ProgramOptions] = field(default_factory=dict)
    _table: OptionTable = field(default_factory=OptionTable)

    def add(self, file: RuleFile) -> None:
        self._table.add(file.options)
        for options in file.program:
            self._options[options.name] = options
        for rule in file.rule:
            if rule.line:
                self._lines[rule.line] = rule
            elif rule.tool:
                self._tools.append(rule)
            elif rule.writes_to:
                self._writing.append(rule)
            else:
                first = rule.pattern[0]
                for name in (first,) if isinstance(first, str) else first:
                    self._by_name.setdefault(name, []).append(rule)

    def knows(self, name: str) -> bool:
        """Return whether there may be a rule about a program; one for a line may be about any."""
        return name in self._by_name or "*" in self._by_name or bool(self._lines)

    def is_about(self, name: str) -> bool:
        """Return whether a rule names this program."""
        return name in self._by_name

    def for_line(self, line: str) -> Rule | None:
        return self._lines.get(line)

    def for_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Rule | None:
        return strictest(
            rule
            for rule in self._tools
            if fnmatchcase(name, rule.tool) and _has_arguments(rule, arguments)
        )

    def for_target(self, path: str) -> Rule | None:
        """Return the rule for a file that a redirection writes to."""
        return strictest(rule for rule in self._writing if is_like(path, rule.writes_to))

    def allows_some(self, name: str) -> bool:
        """Return whether a program is allowed with some words."""
        return any(rule.verdict == "allow" for rule in self._by_name.get(name, ()))

    def for_program(self, program: Program, where: Where) -> Rule | None:
        rules = self._by_name.get(program.name, ())
        everywhere = self._by_name.get("*", ())
        if not rules and not everywhere:
            return None
        words = self._words_after_options(program)
        known = cache(lambda: self._table.of(program.name, words))
        found = [rule for rule in (*rules, *everywhere) if holds(rule, words, where, known)]
        if any(rule.folder for rule in found):
            places = _folders(program, where)
            found = [rule for rule in found if not rule.folder or _is_in(places, rule, where)]
        return strictest(found) if found else None

    def told_by(self, program: Program, *, runs: bool) -> Iterator[NamedPath]:
        """Yield the paths that a program's options are given, as far as they are known."""
        words = self._words_after_options(program)
        return told_by(words, self._table.of(program.name, words), runs=runs)

    def operands_of(self, program: Program) -> Sequence[Word]:
        """Return a program's words that are no options, and values of which nothing is known."""
        words = self._words_after_options(program)
        read = read_options(words, self._table.of(program.name, words))
        return [*read.operands, *(given.value for given in read.given if given.kind in ("=", "?"))]

    def places_of_code(self, program: Program) -> Sequence[Word]:
        """Return the words that say where the code is which a program runs (npm --prefix X)."""
        words = program.arguments
        names = (program.name, f"{program.name} {words[0].text}" if words else "")
        values = {
            value for name in names if name in self._options for value in self._options[name].values
        }
        if not values:
            return ()
        after = [word for before, word in pairwise(words) if before.text in values]
        for word in words:
            name, equals, value = (word.text or "").partition("=")
            if equals and name in values:
                after.append(Word(value, value))
        return after

    def _words_after_options(self, program: Program) -> Sequence[Word]:
        words: Sequence[Word] = program.arguments
        if (options := self._options.get(program.name)) is not None:
            words = words[_after(words, options, 0) :]
        if words and (options := self._options.get(f"{program.name} {words[0].text}")) is not None:
            words = (words[0], *words[_after(words, options, 1) :])
        return words


def _after(words: Sequence[Word], options: ProgramOptions, index: int) -> int:
    """Return where the words begin that are none of a program's own options."""
    while index < len(words):
        text = words[index].text
        if text is None:
            break
        value = words[index + 1].text if index + 1 < len(words) else None
        given = value is not None and is_like(value, options.given.get(text, ()))
        if text in options.flags:
            index += 1
        elif given or text in options.values:
            index += 2
        elif "=" in text and text.split("=")[0] in options.values:
            index += 1
        else:
            break
    return index


def _folders(program: Program, where: Where) -> list[str]:
    """Return the folders that a program may run in: the line's own, or what -C says (git, make)."""
    words = program.arguments
    asked = [
        where.path(word.text)
        for before, word in pairwise(words)
        if before.text == "-C" and word.text is not None
    ]
    return [path for path in (asked or [where.folder]) if path is not None]


def _is_in(places: Sequence[str], rule: Rule, where: Where) -> bool:
    return any(is_path(place, rule.folder, where) for place in places)


def strictest(rules: Iterable[Rule]) -> Rule | None:
    return max(rules, key=lambda rule: STRICTNESS[rule.verdict], default=None)


def _has_arguments(rule: Rule, arguments: Mapping[str, Any] | None) -> bool:
    """Return whether a rule for a tool covers these arguments; None: they are not known."""
    if not rule.arguments:
        return True
    if arguments is None:
        return rule.verdict != "allow"
    return written_arguments(json.loads(rule.arguments)) == written_arguments(arguments)
