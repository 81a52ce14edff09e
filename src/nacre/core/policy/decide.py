"""The verdict on a line: may it run, must a person be asked, does it never run?

Rule 1: to allow takes a proof for the whole line; to deny takes one hit; the rest asks.
Rule 2: a parser is no boundary. What must not happen whatever is typed is the sandbox's.
Rule 3: the same line gets the same verdict, whichever door it came by.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from nacre.core.policy.feeding import fed_programs
from nacre.core.policy.grammar.listing import may_lead_up
from nacre.core.policy.grammar.signs import Syntax
from nacre.core.policy.keys import (
    SHOWING,
    file_of_names,
    is_key_file,
    names_secret,
    searched,
    shows_secret,
)
from nacre.core.policy.known.far import READING
from nacre.core.policy.matching import paths_of
from nacre.core.policy.paths import Where, starts_by_itself
from nacre.core.policy.programs.traits import (
    EMPTY_MAKERS,
    FORMATTERS,
    NOTHING,
    applies_patch,
    is_built,
    is_endless,
    is_installed,
    paths_in,
)
from nacre.core.policy.programs.written import Written, is_no_matter, script_of, text_of
from nacre.core.policy.resolved import Resolved
from nacre.core.policy.resolving import resolve_line, resolve_words
from nacre.core.policy.rulebook import RuleBook
from nacre.core.policy.rules import Rule
from nacre.core.policy.straying import fetched, strays, why_not
from nacre.core.policy.variables import is_harmless, tells_zsh
from nacre.core.policy.verdicts import STRICTNESS, Preset, Verdict
from nacre.core.policy.way import Way
from nacre.core.policy.words import FOLDER_COMMANDS, Program, Redirect, Word, literal

# What a preset says where no rule does: of a program, and of a line that nobody can prove.
_NO_RULE: dict[Preset, Verdict] = {"open": "allow", "guarded": "ask", "strict": "deny"}
_UNPROVEN: dict[Preset, Verdict] = {"open": "allow", "guarded": "ask", "strict": "ask"}

_SAYING = frozenset(("echo", "printf"))
# The word behind it is a file that is written, or a name.
_OUTPUT = "-o"
# To open a port of this machine tells whether anybody is there.
_LOOKS_IN = re.compile(r"/dev/tcp/(?:127\.0\.0\.1|localhost|::1)/\d+")


class Decision(NamedTuple):
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()  # all that it runs, as far as it is known
    rule: str | None = None  # the rule that decided it
    matched: tuple[str, ...] = ()  # all rules that were about it


@dataclass(frozen=True, slots=True)
class Policy:
    preset: Preset
    rules: RuleBook = field(default_factory=RuleBook)
    base: "Policy | None" = None  # without what the project's own files say, if there are any


def decide(line: str, policy: Policy, where: Where, syntax: Syntax = "posix") -> Decision:
    """Judge a line that a shell will read."""
    if not line.strip():
        return Decision("allow")
    resolved = _resolved(line, syntax)
    found = _Judge(policy, where, resolved, line, syntax).decide()
    if policy.base is None:
        return found
    return _stricter(found, _Judge(policy.base, where, resolved, line, syntax).decide())


@lru_cache(maxsize=256)
def _resolved(line: str, syntax: Syntax) -> Resolved:
    """Read a line once: who judges it only looks. Where it leads is asked anew each time."""
    return resolve_line(line, syntax)


def decide_argv(argv: Sequence[str], policy: Policy, where: Where) -> Decision:
    """Judge a program that is started without a shell."""
    resolved = resolve_words(tuple(literal(text) for text in argv))
    found = _Judge(policy, where, resolved, "").decide()
    if policy.base is None:
        return found
    return _stricter(found, _Judge(policy.base, where, resolved, "").decide())


def _stricter(found: Decision, base: Decision) -> Decision:
    """Return what a line comes to, which a project can allow only where no other rule is about it.

    Else it could say of a program that its first word belongs to an option, or that exactly this
    line is harmless.
    """
    stricter = STRICTNESS[base.verdict] > STRICTNESS[found.verdict]
    return base if stricter and base.rule is not None else found


def decide_tool(name: str, policy: Policy, arguments: Mapping[str, Any] | None = None) -> Decision:
    """Judge the call of an upstream server's tool; without arguments, of any call of it."""
    rule = policy.rules.for_tool(name, arguments)
    if rule is None:
        verdict = _NO_RULE[policy.preset]
        why = () if verdict == "allow" else (f"no rule names the tool {name}",)
        return Decision(verdict, why)
    return Decision(
        rule.verdict, (rule.justification,) if rule.justification else (), (), rule.title
    )


class _Finding(NamedTuple):
    verdict: Verdict
    why: str
    rule: str | None = None


class _Judge:
    def __init__(
        self,
        policy: Policy,
        where: Where,
        resolved: Resolved,
        line: str,
        syntax: Syntax = "posix",
    ) -> None:
        self._syntax = syntax
        self._policy = policy
        self._where = where
        self._way = Way(where)
        self._resolved = resolved
        self._line = line
        self._findings: list[_Finding] = []
        self._written: list[Written] = []
        self._run: list[tuple[int, Program]] = []  # where it runs code of the workspace
        self._matched: list[str] = []

    def decide(self) -> Decision:
        for program in self._resolved.programs:
            self._where = self._way.at(program.at)
            self._judge_program(program)
            if program.name in FOLDER_COMMANDS:
                self._way.follow(program)
        guarded = self._policy.preset != "open"
        if self._resolved.forks_itself is not None:
            name = self._resolved.forks_itself
            self._find("deny", f"{name} starts copies of itself without end", "fork bomb")
        if self._resolved.feeds:
            self._judge_fed()
        self._judge_redirects()
        if guarded:
            self._judge_searches()
            for why in fetched(self._resolved, self._policy.rules, self._way):
                self._find("ask", why)
            self._judge_assignments()
            self._judge_order()
        for why in self._resolved.doubts:
            self._find(_UNPROVEN[self._policy.preset], why)
        return self._decision()

    def _decision(self) -> Decision:
        saved = self._policy.rules.for_line(self._line) if self._line else None
        worst = max(self._findings, key=lambda one: STRICTNESS[one.verdict], default=None)
        commands = tuple(program.argv() for program in self._resolved.programs)
        verdict: Verdict = "allow" if worst is None else worst.verdict
        matched = tuple(self._matched)
        if saved is not None and verdict != "deny":
            return Decision(saved.verdict, (), commands, saved.title, (saved.title, *matched))
        if worst is None or verdict == "allow":
            return Decision("allow", (), commands, matched[0] if matched else None, matched)
        reasons = [one.why for one in self._findings if one.verdict == verdict]
        rule = next(
            (one.rule for one in self._findings if one.verdict == verdict and one.rule), None
        )
        return Decision(verdict, tuple(dict.fromkeys(reasons)), commands, rule, matched)

    def _find(self, verdict: Verdict, why: str, rule: str | None = None) -> None:
        self._findings.append(_Finding(verdict, why, rule))

    # --- programs --------------------------------------------------------------------------

    def _judge_program(self, program: Program) -> None:
        rule = self._policy.rules.for_program(program, self._where)
        if rule is not None:
            self._matched.append(rule.title)
        if rule is not None and rule.verdict != "allow":
            self._find(rule.verdict, _reason(program, rule), rule.title)
            return
        if self._policy.preset == "open" or self._is_function(program):
            return
        if rule is None:
            self._find(self._unlisted(program), _no_rule(program))
            return
        built = rule.check == "version" and is_built(program.words[0])
        if built:
            self._run.append((program.at, program))
        if not is_installed(program.words[0]) and (not built or self._where.is_in_scratch()):
            self._find(
                "ask", f"{program.words[0].shown} may be another program than {program.name}"
            )
            return
        if "ssh" in program.via and not self._only_reads(program, rule):
            self._find("ask", f"{program.name} may change another machine")
        if applies_patch(program):
            self._written.append(Written(program.at, program.at))
        if rule.runs and program.name != "git":  # no line writes its hooks unasked (paths.py)
            self._run.append((program.at, program))
        if not rule.speaks:
            self._judge_paths(program, rule)
        for word in file_of_names(program):
            self._judge_read(word)
        for why in strays(program, rule, self._policy.rules, self._where):
            self._find("ask", why)

    def _is_function(self, program: Program) -> bool:
        """Return whether the line's own function of that name runs, not behind `command`."""
        called = program.words[0].text == program.name and not program.via
        return called and program.name in self._resolved.functions

    def _judge_fed(self) -> None:
        for program in fed_programs(self._resolved):
            rule = self._policy.rules.for_program(program, self._way.at(program.at))
            if rule is not None and rule.verdict == "deny":
                self._matched.append(rule.title)
                self._find("deny", _reason(program, rule), rule.title)

    def _unlisted(self, program: Program) -> Verdict:
        unknown = any(word.text is None for word in program.arguments)
        if unknown and self._policy.rules.allows_some(program.name):
            return _UNPROVEN[self._policy.preset]
        return _NO_RULE[self._policy.preset]

    @staticmethod
    def _only_reads(program: Program, rule: Rule) -> bool:
        writes = paths_of(rule, program.arguments)[1]
        return program.name in READING and not rule.runs and not writes

    def _judge_paths(self, program: Program, rule: Rule) -> None:
        words, all_written = paths_of(rule, program.arguments)
        operands = any(not (word.text or "").startswith("-") for word in words)
        if all_written and operands and program.name not in EMPTY_MAKERS | FORMATTERS:
            self._note_written(program, words)
        before = ""
        for word in words:
            output, before = before == _OUTPUT, word.text or ""
            writes = all_written or output
            for text in paths_in(word):
                path = self._where.path(text)
                if path is None:
                    if writes or ".." in text.split("/"):
                        self._find("ask", f"where {text} leads is not known")
                elif self._where.asks_for(path, known=word.text is not None):
                    self._find("ask", f"{text} is in a folder of the system's")
                elif writes and not self._may_put_into(program, path):
                    self._find("ask", f"{program.name} would write {why_not(path, text)}")
                elif (
                    rule.runs
                    and text[0] in "/~"
                    and not self._where.may_write(path)
                    and (word.text == text or self._is_used_at_home(program, path))
                ):
                    self._find("ask", f"{program.name} would run what is outside of the workspace")
                elif self._leaves(text, path) and program.name not in FOLDER_COMMANDS:
                    self._find("ask", f"{text} leads out of the workspace")
            if names_secret(word):
                self._find("ask", f"{word.raw} may be where keys and passwords are")
            if all_written and may_lead_up(word):
                self._find("ask", f"where {program.name} writes is known only when it runs")

    def _note_written(self, program: Program, words: Sequence[Word]) -> None:
        paths = tuple(word.text or "" for word in words if not word.shown.startswith("-"))
        places = [self._where.path(path) for path in paths]
        if program.name == "cp":
            places = places[-1:]
        if places and all(place and self._where.keeps_no_code(place) for place in places):
            return
        self._written.append(Written(program.at, program.at, paths, script_of(program, words)))

    def _may_put_into(self, program: Program, path: str) -> bool:
        """Return whether it may write there, also if that is a folder; an empty one is harmless."""
        if not self._where.may_write(path):
            return False
        return program.name in EMPTY_MAKERS or not starts_by_itself(f"{path}/x")

    def _is_used_at_home(self, program: Program, path: str) -> bool:
        """Return whether an option's value lies in a home; configure only writes it down."""
        return program.name != "configure" and self._where.is_at_home(path)

    def _judge_searches(self) -> None:
        """Who reads all below a home reads its keys; others print what a variable holds."""
        for program, word in searched(self._resolved.programs):
            where = self._way.at(program.at)
            for text in paths_in(word):
                path = where.path(text)
                if path is not None and where.holds_secrets(path):
                    self._find("ask", f"{program.name} would read keys and passwords below {text}")

        for redirect in self._resolved.redirects:
            if redirect.operator == "<":
                self._where = self._way.at(redirect.at)
                self._judge_read(redirect.target)
        for program, text in shows_secret(self._resolved.programs):
            self._find("ask", f"{program.name} would show or pass on a key or password: {text}")

    def _judge_read(self, word: Word) -> None:
        """A file that is read without being an operand: by < or by xargs -a."""
        if is_key_file(word) or names_secret(word):
            self._find("ask", f"it would read keys and passwords in {word.raw}")
        text = word.text if word.text is not None else word.lead
        path = self._where.path(text) if text else None
        known = word.text is not None
        if path is not None and self._where.asks_for(path, known=known):
            self._find("ask", f"{word.raw} is in a folder of the system's")

    def _leaves(self, text: str, path: str) -> bool:
        """Return whether a path goes up and ends outside of the workspace."""
        workspace = self._where.workspace
        if ".." not in text.split("/") or workspace is None:
            return False
        return path != workspace and not path.startswith(workspace.rstrip("/") + "/")

    # --- what is around them ---------------------------------------------------------------

    def _judge_redirects(self) -> None:
        programs = self._resolved.programs
        silent = [program.at for program in programs if program.argv() in NOTHING]
        all_silent = len(silent) == len(programs)
        silent += self._fed_nothing()
        tees = any(program.name == "tee" for program in programs)
        if tees and silent and self._policy.preset != "open":
            self._find("ask", "tee would empty what it writes to")
        endless = [program.at for program in programs if is_endless(program)]
        if tees and endless and programs[0].at in endless:
            self._find(_UNPROVEN[self._policy.preset], "it would fill the disk")
        for redirect in self._resolved.redirects:
            text = redirect.target.text
            emptied = all_silent or redirect.begin in silent
            if redirect.writes and redirect.begin in endless and text != "/dev/null":
                self._find(_UNPROVEN[self._policy.preset], "it would fill the disk")
            if tees and text == "/dev/null" and redirect.operator == "<":
                self._find(_UNPROVEN[self._policy.preset], "tee would empty what it writes to")
            self._where = self._way.at(redirect.at)
            if redirect.duplicates or redirect.operator in ("<<", "<<<"):
                continue
            if text is None:
                if redirect.writes and self._policy.preset != "open":
                    self._find("ask", "where a redirection writes is known only when it runs")
                continue
            path = self._where.path(text)
            if redirect.writes and path is not None:
                rule = self._policy.rules.for_target(path)
                if rule is not None:
                    self._matched.append(rule.title)
                    self._find(
                        rule.verdict, rule.justification or f"it writes to {text}", rule.title
                    )
                    continue
            if self._policy.preset == "open":
                continue
            if _LOOKS_IN.fullmatch(text) and (emptied or redirect.operator == "<"):
                continue
            if path is None or text.startswith(("/dev/tcp/", "/dev/udp/")):
                self._find("ask", f"where {text} leads is not known")
            elif self._where.asks_for(path):
                self._find("ask", f"{text} is in a folder of the system's")
            elif self._leaves(text, path):
                self._find("ask", f"{text} leads out of the workspace")
            elif redirect.writes:
                self._judge_target(text, path, redirect, emptied=emptied)

    def _fed_nothing(self) -> list[int]:
        """Return where filters are told to read nothing: they print nothing either."""
        begins = {
            redirect.begin
            for redirect in self._resolved.redirects
            if redirect.operator == "<" and redirect.target.text == "/dev/null"
        }
        return [
            program.at
            for program in self._resolved.programs
            if program.at in begins and program.name in {*SHOWING, *FORMATTERS}
        ]

    def _judge_target(self, text: str, path: str, redirect: Redirect, *, emptied: bool) -> None:
        if not self._where.may_write(path):
            self._find("ask", f"it would write {why_not(path, text)}")
        elif path.startswith("/dev/"):
            return
        elif emptied or (redirect.operator == ">" and self._reads(path, redirect)):
            self._find("ask", f"it would empty {text}")
        elif not self._where.keeps_no_code(path):
            what = text_of(redirect, self._resolved)
            self._written.append(Written(redirect.at, redirect.begin, (path,), what))

    def _reads(self, path: str, redirect: Redirect) -> bool:
        """Return whether the commands that write to a file read it: the shell empties it first."""
        words = [
            one.target
            for one in self._resolved.redirects
            if one.operator == "<" and one.begin == redirect.begin
        ]
        for program in self._resolved.programs:
            if redirect.begin <= program.at < redirect.at and program.name not in _SAYING:
                words += program.arguments
        return any(word.text and self._where.path(word.text) == path for word in words)

    def _judge_assignments(self) -> None:
        for assignment in self._resolved.assignments:
            told = self._syntax == "zsh" and tells_zsh(assignment.name)
            if told or not is_harmless(assignment):
                self._find("ask", f"{assignment.name} changes what other programs do")

    def _judge_order(self) -> None:
        """What was just written may be what a build runs."""
        for at, program in self._run:
            for written in self._written:
                own = written.begin <= at < written.at  # it writes down what it prints itself
                if written.at >= at and (own or not self._resolved.repeats):
                    continue
                if is_no_matter(program, written):
                    continue
                self._find("ask", f"{program.name} may run what this line writes")
                return


def _reason(program: Program, rule: Rule) -> str:
    behind = f" (behind {' '.join(program.via)})" if program.via else ""
    if rule.justification:
        return f"{program.name}{behind}: {rule.justification}"
    word = "is forbidden" if rule.verdict == "deny" else "asks first"
    return f"{program.name}{behind} {word}"


def _no_rule(program: Program) -> str:
    behind = f" (behind {' '.join(program.via)})" if program.via else ""
    return f"no rule allows {program.name}{behind} with these words"
