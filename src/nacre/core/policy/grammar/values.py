"""What a line's own variables hold: DIR=build; mkdir "$DIR", and the rounds of a for.

Rule: a value counts only if nothing else in the line could have set it. The assignment stands at
the top of the line, where it always runs; its name is written nowhere else but behind a $; and no
builtin that sets variables by a name it is given (read, eval, printf -v) is there.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from tree_sitter import Node

from nacre.core.policy.grammar.listing import NAME
from nacre.core.policy.variables import is_harmless
from nacre.core.policy.words import Assignment, Word, has_glob

_PLAIN = re.compile(r"~?[\w./:@%+,=*?-]*")
_HOME = ("~", "$HOME", "${HOME}", '"$HOME', '"${HOME}')
_MOST_ROUNDS = 16  # of a for, and of those that are nested
# Builtins that set variables, and what makes a text a line.
SETTING = frozenset(
    (
        *("eval", "source", ".", "declare", "typeset", "local", "readonly", "unset", "getopts"),
        *("mapfile", "readarray", "let", "trap", "coproc", "read", "enable", "alias", "builtin"),
        *("command", "shopt", "set"),
    )
)
_SETS = re.compile(
    rb"\b(?:eval|source|declare|typeset|local|readonly|unset|getopts|mapfile|readarray|let|trap"
    rb"|coproc|enable|alias|shopt)\b|\bprintf\s+-|(?:^|[;&|({]|\b(?:then|do|else))\s*\.\s"
)
# The shell sets these itself.
_OWN = frozenset(
    (
        *("PWD", "OLDPWD", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "REPLY", "OPTARG"),
        *("OPTIND", "HOSTNAME", "DIRSTACK", "FUNCNAME", "GROUPS", "EPOCHSECONDS", "SRANDOM", "_"),
        *("COLUMNS", "LINES", "PIPESTATUS", "SHLVL", "EPOCHREALTIME", "HISTCMD", "OSTYPE"),
    )
)


class _Known(NamedTuple):
    values: tuple[Word, ...]
    begin: int  # where in the line it holds
    end: int


class Values:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._known: dict[str, _Known] = {}
        self._sets = bool(_SETS.search(data))

    def assigned(self, node: Node, assignment: Assignment) -> None:
        """Note an assignment, if it stands where it always runs."""
        if self._is_first(node) and self._is_sole(assignment.name):
            self._note(assignment.name, (assignment.value,), node.end_byte, len(self._data))

    def rounds(self, node: Node, name: str, values: tuple[Word, ...]) -> None:
        """Note what a for gives its variable."""
        body = next((child for child in node.named_children if child.type == "do_group"), None)
        if body is not None and self._is_sole(name):
            self._note(name, values, body.start_byte, body.end_byte)

    def lines(self, node: Node, name: str) -> None:
        """Note what a `while read` gets of the names that a program prints for it."""
        self.rounds(node, name, (Word(None, "$(…)", lead="./"),))

    def ways(self, node: Node) -> Iterator[Mapping[str, Word]]:
        """Yield what the variables hold here, once for each round; at least once."""
        here = {
            name: known.values
            for name, known in self._known.items()
            if known.begin <= node.start_byte < known.end
        }
        if not here:
            yield {}
            return
        text = node.text or b""
        used = {name: values for name, values in here.items() if name.encode() in text}
        rounds = 1
        for values in used.values():
            rounds *= len(values)
        if rounds > _MOST_ROUNDS:
            yield {}
            return
        for ones in product(*used.values()):
            yield dict(zip(used, ones, strict=True))

    def forget(self, builtin: str | None) -> bool:
        """Return whether a builtin may set what was already taken as known."""
        if builtin not in SETTING or builtin in ("read", "command", "builtin", "set"):
            return False
        had = bool(self._known)
        self._known.clear()
        self._sets = True
        return had

    def _note(self, name: str, values: tuple[Word, ...], begin: int, end: int) -> None:
        # What is no pattern where it is assigned is one where it is used without quotes.
        plain = all(_is_plain(one) or _is_list(one) or _is_name(one) for one in values)
        if values and plain and name not in _OWN and is_harmless(Assignment(name, values[0])):
            named = tuple(NAME if _is_name(value) else value for value in values)
            self._known[name] = _Known(named, begin, end)

    def _is_sole(self, name: str) -> bool:
        if self._sets:
            return False
        mentions = re.findall(rb"(?<![\w$])(?<!\w-)(?<!\$\{)%s(?!\w)" % name.encode(), self._data)
        return len(mentions) == 1

    def _is_first(self, node: Node) -> bool:
        """Return whether an assignment runs whatever happens: first in its part of the line."""
        at: Node | None = node
        while at is not None and at.type != "program":
            above, after = at.parent, at.next_sibling
            if after is not None and after.type not in (";", "\n", "&&", "variable_assignment"):
                return above is not None and above.type == "program" and after.is_named
            if above is None or above.type not in ("program", "list", "variable_assignments"):
                return False
            if above.type == "list" and above.children[0].id != at.id:
                return False
            at = above
        return at is not None


def _is_plain(value: Word) -> bool:
    return (
        bool(value.text)
        and value.text is not None
        and _PLAIN.fullmatch(value.text) is not None
        # A ~ that quotes keep is a name: it stands for the home only where it is a home.
        and (value.text[0] != "~" or value.raw.startswith(_HOME))
        and (value.globs or not has_glob(value.text))
    )


def _is_list(value: Word) -> bool:
    """Return whether it is what a program lists: $(git ls-files), or makes: $(mktemp -d)."""
    leads = value.lead in ("./", "/tmp/")  # noqa: S108  to compare with
    return value.text is None and leads and value.raw.startswith(("$(", '"$('))


def _is_name(value: Word) -> bool:
    """Return whether it is one name that a program prints: $(date +%F)."""
    return value.text is None and value.lead == NAME.text and value.raw.startswith(("$(", '"$('))
