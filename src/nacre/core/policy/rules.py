"""Rules: which programs may run, which ask first, which never run.

A rule carries its own examples, and is refused when they do not come out as it says: a rule that
does not do what its author believes is worse than none.

Rule 1: the strictest rule that matches wins, whatever file it is from: deny, ask, allow.
Rule 2: a rule says for all of a program's words what they must be. What it does not know (a
variable) may be what the rule excludes, and then an allowing rule does not match, a forbidding one
does as far as it can be seen.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.core.policy.checks import CHECKS
from nacre.core.policy.verdicts import Verdict
from nacre.errors import InvalidInput


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
    options: tuple[str, ...] = ()  # it has no other options than these (programs/options.py)
    most: int | None = None  # it has at most so many words that are no options
    # Its short options are in the table (programs/given.py), and its long ones are there too or
    # known by the words of their names (option_names.py).
    names: bool = False
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

    name: str  # `docker compose`: options behind that word
    flags: tuple[str, ...] = ()
    names: bool = False  # its long options are known by the words of their names (option_names.py)
    values: tuple[str, ...] = ()  # each takes the next word
    # Of an option that takes the next word, what that may be: {"-c" = ["user.*"]}.
    given: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class RuleFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...] = ()
    program: tuple[ProgramOptions, ...] = ()
    options: Mapping[str, str] = msgspec.field(
        default_factory=dict
    )  # harmless ones (programs/given.py)


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
