"""Rules: which programs may run, which ask first, which never run.

A rule carries its own examples, and is refused when they do not come out as it says: a rule that
does not do what its author believes is worse than none.

Rule 1: the strictest rule that matches wins, whatever file it is from: deny, ask, allow.
Rule 2: a rule says for all of a program's words what they must be. What it does not know (a
variable) may be what the rule excludes, and then an allowing rule does not match, a forbidding one
does as far as it can be seen.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import msgspec

from nacre.core.policy.checks import CHECKS, FILES
from nacre.core.policy.options import operands
from nacre.core.policy.paths import DISKS, Where
from nacre.core.policy.verdicts import STRICTNESS, Verdict
from nacre.core.policy.words import Program, Word
from nacre.errors import InvalidInput

_MOST_WORDS = 200  # of a program that is allowed: each is compared with many patterns


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule of a file. All that it names must hold."""

    verdict: Verdict
    # The program and the words after it; a list stands for any one of its words.
    pattern: tuple[str | tuple[str, ...], ...] = ()
    justification: str = ""  # for who is refused or must ask: what to do instead
    flags: tuple[str, ...] = ()  # it has one of these options: r, R, recursive
    any: tuple[str, ...] = ()  # an argument is like one of these patterns
    unless: tuple[str, ...] = ()  # no argument is like one of these patterns
    only: tuple[str, ...] = ()  # every further argument is like one of these patterns
    paths: tuple[str, ...] = ()  # one of its paths is like these; @vital, @disk
    folder: tuple[str, ...] = ()  # the folder that it runs in is like these; @vital
    last: bool = False  # of its paths only the last one counts: where it copies to
    writes_to: tuple[str, ...] = ()  # a redirection writes there; then there is no pattern
    tool: str = ""  # an upstream tool's name, or a pattern of them; then there is no pattern
    arguments: str = ""  # of that tool: exactly these, as JSON; an approval that was saved
    check: str = ""  # a test of its own (checks.py)
    options: tuple[str, ...] = ()  # it has no other options than these (options.py)
    most: int | None = None  # it has at most so many words that are no options
    values: tuple[str, ...] = ()  # options whose next word is a text, whatever it is
    known: bool = False  # every word must be known: what a variable holds would leave the machine
    runs: bool = False  # it runs code that lies in the workspace
    writes: bool = False  # its paths are written to
    speaks: bool = False  # its words are only printed: they are no paths
    line: str = ""  # exactly this line, whatever it holds: an approval that was saved
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        if self.line:
            return "line"
        if self.tool:
            return f"{self.tool} {self.arguments}".rstrip()
        if self.writes_to:
            return "> " + "|".join(self.writes_to[:3])
        words = [word if isinstance(word, str) else "|".join(word[:4]) for word in self.pattern]
        return " ".join((*words, *(f"-{flag}" for flag in self.flags[:1]), *self.any[:1]))


class ProgramOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program's options that stand before its first word, so that patterns begin behind them."""

    name: str
    flags: tuple[str, ...] = ()
    values: tuple[str, ...] = ()  # each takes the next word


class RuleFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...] = ()
    program: tuple[ProgramOptions, ...] = ()


def rules_from(data: Mapping[str, Any], source: str) -> RuleFile:
    """Read a file of rules that TOML has parsed. Raises InvalidInput with the fault."""
    try:
        found = msgspec.convert(data, RuleFile)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{source}: {error}", "correct the rule") from error
    for rule in found.rule:
        kinds = [bool(rule.pattern), bool(rule.writes_to), bool(rule.tool), bool(rule.line)]
        if sum(kinds) != 1:
            raise InvalidInput(
                f"{source}: a rule has one of pattern, writes_to, tool and line", "correct the rule"
            )
        if rule.arguments:
            _require_arguments(rule, source)
        if rule.check and rule.check not in CHECKS:
            raise InvalidInput(f"{source}: there is no check {rule.check!r}", "correct the rule")
    return found


def _require_arguments(rule: Rule, source: str) -> None:
    """Raises InvalidInput for arguments that are no JSON object, or those of nothing."""
    try:
        held = json.loads(rule.arguments)
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict) or not rule.tool:
        raise InvalidInput(
            f"{source}: arguments are those of a tool, as a JSON object in quotes",
            """write tool = "mcp_…" and arguments = '{"name": "value"}'""",
        )


def written_arguments(arguments: Mapping[str, Any]) -> str:
    """Return arguments as rules hold them: equal ones are equal texts."""
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _has_arguments(rule: Rule, arguments: Mapping[str, Any] | None) -> bool:
    """Return whether a rule for a tool covers these arguments; None: they are not known."""
    if not rule.arguments:
        return True
    if arguments is None:
        return rule.verdict != "allow"
    return written_arguments(json.loads(rule.arguments)) == written_arguments(arguments)


@dataclass(slots=True)
class RuleBook:
    """The rules of all files, by the program that they begin with."""

    _by_name: dict[str, list[Rule]] = field(default_factory=dict)
    _writing: list[Rule] = field(default_factory=list)
    _tools: list[Rule] = field(default_factory=list)
    _lines: dict[str, Rule] = field(default_factory=dict)
    _options: dict[str, ProgramOptions] = field(default_factory=dict)

    def add(self, file: RuleFile) -> None:
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
        return strictest(rule for rule in self._writing if _is_like(path, rule.writes_to))

    def allows_some(self, name: str) -> bool:
        """Return whether a program is allowed with some words."""
        return any(rule.verdict == "allow" for rule in self._by_name.get(name, ()))

    def for_program(self, program: Program, where: Where) -> Rule | None:
        rules = self._by_name.get(program.name, ())
        everywhere = self._by_name.get("*", ())
        if not rules and not everywhere:
            return None
        words = self._words_after_options(program)
        found = [rule for rule in (*rules, *everywhere) if _holds(rule, words, where)]
        if any(rule.folder for rule in found):
            places = _folders(program, where)
            found = [rule for rule in found if not rule.folder or _is_in(places, rule, where)]
        return strictest(found) if found else None

    def places_of_code(self, program: Program) -> Sequence[Word]:
        """Return the words that say where the code is which a program runs (npm --prefix X)."""
        options = self._options.get(program.name)
        if options is None:
            return ()
        words = program.arguments
        after = [word for before, word in pairwise(words) if before.text in options.values]
        for word in words:
            name, equals, value = (word.text or "").partition("=")
            if equals and name in options.values:
                after.append(Word(value, value))
        return after

    def _words_after_options(self, program: Program) -> Sequence[Word]:
        options = self._options.get(program.name)
        words = program.arguments
        if options is None:
            return words
        index = 0
        while index < len(words):
            text = words[index].text
            if text in options.flags:
                index += 1
            elif text in options.values:
                index += 2
            elif text is not None and text.split("=")[0] in options.values and "=" in text:
                index += 1
            else:
                break
        return words[index:]


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
    return any(_is_path(place, rule.folder, where) for place in places)


def strictest(rules: Iterable[Rule]) -> Rule | None:
    return max(rules, key=lambda rule: STRICTNESS[rule.verdict], default=None)


def _holds(rule: Rule, words: Sequence[Word], where: Where) -> bool:
    """Return whether a rule is about these words, which follow the program's name."""
    following = rule.pattern[1:]
    if len(words) < len(following):
        return False
    for wanted, word in zip(following, words, strict=False):
        if word.text is None or word.globs:
            return False
        if word.text not in ((wanted,) if isinstance(wanted, str) else wanted):
            return False
    rest = words[len(following) :]
    if rule.verdict == "allow":
        return _allows(rule, rest)
    return _forbids(rule, rest, where)


def _allows(rule: Rule, rest: Sequence[Word]) -> bool:
    if len(rest) > _MOST_WORDS:
        return False
    if rule.options or rule.most is not None:
        others = operands(rest, rule.options)
        if others is None or (rule.most is not None and len(others) > rule.most):
            return False
    rest = without_texts(rest, rule.values)
    if not rule.speaks and any(_sends_unknown(word) for word in rest):
        return False
    if rule.known and any(word.text is None for word in rest):
        return False
    if rule.unless:
        for word in rest:
            if _may_be_like(word, rule.unless):
                return False
            if _has_letter(word.text, rule.unless):
                return False
    if rule.only and not all(
        word.text is not None and _is_like(word.text, rule.only) for word in rest
    ):
        return False
    if rule.any and not any(
        word.text is not None and _is_like(word.text, rule.any) for word in rest
    ):
        return False
    return not rule.check or CHECKS[rule.check](rest)


_LOCAL = re.compile(r"\w+://(?:localhost|127\.0\.0\.1|\[::1\])[:/]")


def _sends_unknown(word: Word) -> bool:
    """Return whether an address has something in it that would leave the machine with it."""
    return word.text is None and "://" in word.raw and not _LOCAL.search(word.raw)


def without_texts(words: Sequence[Word], options: Sequence[str]) -> Sequence[Word]:
    """Leave out what stands behind an option that takes a text (git commit -m TEXT)."""
    if not options:
        return words
    return [
        word
        for index, word in enumerate(words)
        if not index or words[index - 1].text not in options
    ]


def paths_of(rule: Rule, words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    """Return which words of a program may be paths, and whether it writes to them."""
    words = without_texts(words, rule.values)
    if rule.check in FILES:
        return FILES[rule.check](words)
    return words, rule.writes


def _forbids(rule: Rule, rest: Sequence[Word], where: Where) -> bool:
    texts = [_as_far_as_known(word) for word in rest]
    if rule.flags and not any(has_flag(text, rule.flags) for text in texts):
        return False
    if rule.any and not any(_is_like(text, rule.any) for text in texts):
        return False
    if rule.unless and any(_is_like(text, rule.unless) for text in texts):
        return False
    if rule.only and not all(_is_like(text, rule.only) for text in texts):
        return False
    places = [text for text in texts if not text.startswith("-")][-1:] if rule.last else texts
    if rule.paths and not any(_is_path(text, rule.paths, where) for text in places):
        return False
    return not rule.check or CHECKS[rule.check](rest)


def _as_far_as_known(word: Word) -> str:
    return word.text if word.text is not None else word.guess or word.lead


def has_flag(text: str, flags: Sequence[str]) -> bool:
    """Return whether a word has one of these options: a letter in a group, or a long name."""
    if text.startswith("--"):
        name = text[2:].split("=")[0]
        return bool(name) and any(len(flag) > 1 and flag.startswith(name) for flag in flags)
    return text.startswith("-") and any(len(flag) == 1 and flag in text[1:] for flag in flags)


# Letters that take their value glued to them: -DskipTests, -Wextra, -Iinclude.
_GLUED = frozenset("DPXWILf")


def _has_letter(text: str | None, unless: Sequence[str]) -> bool:
    """Return whether an excluded option (-f) is in a group (-xzf), or has its value glued to it."""
    if text is None or len(text) < 3 or text[0] != "-" or text[1] == "-":
        return False
    group = text[1:].isalpha() and not (len(text) > 4 and text[1] in _GLUED)
    letters = text[1:] if group else text[1]
    return any(
        len(one) in (2, 3) and one[0] == "-" and one[1].isalnum() and one[2:] in ("", "*")
        and one[1] in letters
        for one in unless
    )  # fmt: skip


def _may_be_like(word: Word, patterns: Sequence[str]) -> bool:
    """Return whether a word is, or may turn out to be, like one of these patterns."""
    if word.text is not None:
        return word.may_be_option or _is_like(word.text, patterns)
    if not word.lead:
        return True
    for pattern in patterns:
        begin = pattern.split("*")[0]
        if not begin and word.lead.startswith("-"):
            continue  # an option's value, such as -j$(nproc)
        if begin.startswith(word.lead) or word.lead.startswith(begin):
            return True
    return False


def _is_like(text: str, patterns: Sequence[str]) -> bool:
    for pattern in patterns:
        if pattern == "@disk":
            if _is_like(text, DISKS):
                return True
        elif text == pattern or fnmatchcase(text, pattern):
            return True
        elif pattern.startswith("--") and text.startswith("--"):
            # GNU's programs take every beginning of a long option for it.
            name = text.partition("=")[0]
            if len(name) > 2 and pattern.rstrip("*=").startswith(name):
                return True
    return False


def _is_path(text: str, patterns: Sequence[str], where: Where) -> bool:
    if not text or text.startswith("-"):
        return False
    if text.startswith("of="):  # dd's
        patterns = [pattern[3:] for pattern in patterns if pattern.startswith("of=")]
        text = text[3:]
    path = where.path(text)
    if path is None:
        return False
    for pattern in patterns:
        if pattern == "@vital":
            if where.is_vital(path):
                return True
        elif _is_like(path, (pattern,)):
            return True
    return False
