"""Contexts: where a caller's commands run, with which variables, and what it has run so far.

Rule 1: a context belongs to a connection, or to a name that the caller gave it, never to two
owners.
Rule 2: programs get an environment by an allow-list, and what the context exported. A variable that
changes what other programs do (core/policy/variables.py) cannot be exported.
Rule 3: what callers are shown of it is safe: no variable whose name or value looks like a secret.
"""

import os
import re
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from nacre.core.policy.paths import Where
from nacre.core.policy.variables import is_harmless
from nacre.core.policy.words import Assignment, literal
from nacre.errors import Forbidden, InvalidInput
from nacre.services.catalog.audit import user_name
from nacre.services.catalog.execution import Execution
from nacre.system.links import lead

_INHERITED = re.compile(r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_RUNTIME_DIR")
_SHOWN = re.compile(r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|PWD")
# No program may ask, page or colour: nobody sees it.
_QUIET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
# Files that programs of the catalog read (file shows what it does not understand), what the C
# library does for debugging, and our own.
_READ_BY_PROGRAMS = re.compile(
    r"MAGIC|TZDIR|NLSPATH|TEXTDOMAIN.*|GETCONF_DIR|RES_OPTIONS|LOCALDOMAIN|GLIBC_.*|MALLOC_.*"
    r"|SSH_AUTH_SOCK|NACRE_.*"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE|CREDENTIAL|AUTH|COOKIE|SESSION|_KEY$",
    re.IGNORECASE,
)
# Texts that are keys by their form: those of the larger services, and JSON web tokens.
_SECRET_VALUE = re.compile(
    r"gh[pousr]_\w{20}|github_pat_|sk-[\w-]{16}|AKIA[0-9A-Z]{12}|xox[abpr]-|eyJ[\w-]{10,}\.|-----BEGIN"
    r"|glpat-|AIza[\w-]{20}|://[^/\s:]+:[^/\s@]+@"
)
_HIDDEN = "[redacted]"


@dataclass(slots=True)
class CommandContext:
    key: str
    cwd: str
    exported: dict[str, str] = field(default_factory=dict)
    history: "deque[str]" = field(default_factory=deque)
    jobs: dict[int, Execution] = field(default_factory=dict)
    ended: bool = False
    _numbers: int = 0
    _counted: int = 0  # entries of the history, with those that were dropped

    def where(self, home: str, private: tuple[str, ...]) -> Where:
        return Where(self.cwd, home=home, private=private, real=lead)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return what programs get; `given` is the caller's own environment, or the daemon's."""
        inherited = {name: value for name, value in given.items() if _INHERITED.fullmatch(name)}
        return {**inherited, **_QUIET, "PWD": self.cwd, **self.exported}

    def shown(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that may be shown to anybody."""
        names = {**given, "PWD": self.cwd}
        safe = {name: value for name, value in names.items() if _SHOWN.fullmatch(name)}
        own = {name: value for name, value in self.exported.items() if not _SECRET.search(name)}
        both = {**safe, **own}
        return {
            name: value for name, value in sorted(both.items()) if not _SECRET_VALUE.search(value)
        }

    def export(self, name: str, value: str) -> None:
        """Raises InvalidInput for what is no name, Forbidden for a variable that does harm."""
        if not _VARIABLE.fullmatch(name):
            raise InvalidInput(f"{name!r} is no name of a variable", "use letters, digits and _")
        if _READ_BY_PROGRAMS.fullmatch(name) or not is_harmless(Assignment(name, literal(value))):
            raise Forbidden(
                f"{name} changes what other programs do, and cannot be exported",
                "use another variable",
                check="variable",
            )
        self.exported[name] = value

    def note(self, line: str, most: int) -> None:
        self.history.append(line)
        self._counted += 1
        while len(self.history) > most:
            self.history.popleft()

    def numbered(self) -> list[tuple[int, str]]:
        first = self._counted - len(self.history) + 1
        return [(first + index, line) for index, line in enumerate(self.history)]

    def add_job(self, execution: Execution) -> int:
        self._numbers = self._numbers + 1 if self.jobs else 1
        self.jobs[self._numbers] = execution
        return self._numbers

    def forget_jobs(self) -> None:
        """Drop those that have ended."""
        for number, job in list(self.jobs.items()):
            if job.done.is_set():
                del self.jobs[number]


class Contexts:
    """All contexts, the longest unused first; with too many, that one is forgotten."""

    def __init__(self, most: int, start: str, private: tuple[str, ...]) -> None:
        """`start` is where contexts begin whose callers have no folder of their own."""
        self._most = most
        self._start = start
        self.home = os.path.expanduser("~")
        self.private = private
        self._known: OrderedDict[str, CommandContext] = OrderedDict()

    def get(self, key: str, cwd: str | None) -> CommandContext:
        """Return a context; a new one begins in the first folder that commands may read."""
        context = self._known.get(key)
        if context is None:
            context = self._known[key] = self.alone(key, cwd)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return context

    def alone(self, key: str, cwd: str | None) -> CommandContext:
        """Return a context that nobody else will get."""
        for folder in (cwd, self._start, self.home):
            if folder and os.path.isdir(folder) and self._is_open(folder):
                return CommandContext(key, os.path.realpath(folder))
        return CommandContext(key, "/")

    def _is_open(self, folder: str) -> bool:
        where = Where(folder, home=self.home, private=self.private)
        return not where.is_blocked(os.path.realpath(folder))

    def end(self, key: str) -> None:
        if context := self._known.pop(key, None):
            context.ended = True


def without_secret(command: str, words: list[str]) -> list[str]:
    """Return a command's words as history and logs have them: export's without a secret's value."""
    if command != "export" or not words:
        return words
    name, equals, value = words[0].partition("=")
    values = [value, *words[1:]] if equals else words[1:]
    if _SECRET.search(name) or any(map(_SECRET_VALUE.search, values)):
        return [f"{name}={_HIDDEN}"] if equals else [name, *(_HIDDEN for _ in values)]
    return words


def describe(context: CommandContext, given: Mapping[str, str], most: int) -> dict[str, object]:
    """Return the document's object: cwd, user, history, env."""
    return {
        "cwd": context.cwd,
        "user": user_name(),
        "history": list(context.history)[-most:],
        "env": context.shown(given),
    }
