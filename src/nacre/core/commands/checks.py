"""What is refused before a command runs, in this order: blacklist, whitelist, characters, paths.

Rule 1: a message begins with the sentence that the document of these commands has for it.
Rule 2: the blacklist is rules of the policy (core/policy/presets/commands.toml): a program behind a
wrapper (env, xargs, sh -c) is found as it is in a line.
Rule 3: paths are compared as whole components of the real path, so that neither a link into /etc
nor a folder that is called /etcetera is mistaken.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename, dirname, join
from typing import Any

from nacre.core.commands.arguments import Bound
from nacre.core.commands.book import is_listed
from nacre.core.commands.entry import BLACKLIST, CommandArgument, CommandEntry
from nacre.core.policy.decide import Policy, decide_argv
from nacre.core.policy.paths import BLOCKED, DISKS, Where, is_below, matches
from nacre.core.policy.rules import RuleFile
from nacre.errors import Forbidden

# As the document prints them; and what ends a line or a text.
METACHARACTERS = frozenset(";|&$`<>(){}[]*?~!#")
_ENDS = frozenset("\n\r\0")

__all__ = ["BLACKLIST", "METACHARACTERS", "Checks", "blacklisted"]

_ANY = "*"  # an ending that may be any (CommandArgument.also)
_INTO = "dest"  # the argument that says where something is put

_TEXTS = ("path", "pattern", "text", "name")

# What to use instead of a command that is refused.
_INSTEAD = {
    "rm": "delete files with myrm (delete_file), folders that are empty with rmdir",
    "kill": "end a command of your own with kill and its job (%1), or cancel its execution",
    "killall": "cancel an execution of your own by its id",
    "pkill": "cancel an execution of your own by its id",
}


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks with what the settings say; `where` is the caller's context."""

    rules: RuleFile
    whitelist: frozenset[str] = frozenset()  # empty: every command that is not refused
    allow_patterns: bool = False
    private: tuple[str, ...] = field(default=())  # nacre's own folders, as real paths
    links_in: Callable[[str], Iterable[str]] = lambda folder: ()  # names of a folder's links

    def check_name(self, entry: CommandEntry, called: str) -> None:
        """Raises Forbidden for what is blacklisted or not in the whitelist."""
        if entry.refused:
            raise blacklisted(called)
        if not is_listed(entry, self.whitelist):
            raise Forbidden(
                f"Command '{called}' is not in the whitelist",
                "commands_whitelist names those that may run",
                check="whitelist",
            )

    def check_given(self, entry: CommandEntry, given: Mapping[str, Any]) -> None:
        """Raises Forbidden for a metacharacter in what should be a number, a switch or a choice.

        Else it would be told that it is no number, and `5\\n` would even be one.
        """
        for name, value in given.items():
            argument = entry.argument(name)
            if argument is None or argument.type in _TEXTS:
                continue
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, str):
                    self._check_characters(argument, one, free=False)

    def check_values(self, entry: CommandEntry, bound: Iterable[Bound], where: Where) -> None:
        """Raises Forbidden for a metacharacter, or a path that leads where nobody may go."""
        bound = list(bound)
        for argument, values in bound:
            if argument.type not in _TEXTS:
                continue
            free = argument.type == "pattern" and self.allow_patterns
            for value in values:
                self._check_characters(argument, value, free=free)
        recursive = entry.recursive == "always" or any(
            argument.name == entry.recursive for argument, _ in bound
        )
        paths = [one for argument, values in bound if argument.type == "path" for one in values]
        if recursive and not paths:
            paths = ["."]  # where it begins by itself
        for path in paths:
            self.check_path(path, where, recursive=recursive)
        for argument, values in bound:
            for value in values if argument.also else ():
                for path in self._opened_too(argument, value, where):
                    self.check_path(path, where)
        into = [one for arg, values in bound if arg.name == _INTO for one in values]
        for path in into:
            # In a folder the name is the source's: a link of that name would be written through.
            for name in {basename(one.rstrip("/")) for one in paths} - {"", "."}:
                self.check_path(join(path, name), where)

    def _opened_too(self, argument: CommandArgument, path: str, where: Where) -> list[str]:
        """Return what a program opens beside this path; of any name, what lies there as a link."""
        found = [path + ending for ending in argument.also if ending != _ANY]
        if _ANY in argument.also and (folder := where.path(dirname(path) or ".")) is not None:
            start = basename(path)
            names = (one for one in self.links_in(folder) if one.startswith(start))
            found += [join(dirname(path), one) for one in names]
        return found

    def _check_characters(self, argument: CommandArgument, value: str, *, free: bool) -> None:
        never = _ENDS.union(argument.without)
        bad = [one for one in value if one in never or (not free and one in METACHARACTERS)]
        if not bad:
            return
        raise Forbidden(
            f"Invalid characters in argument: {argument.name} has {_shown(bad)}",
            "leave them out, or pass the text as standard input",
            check="characters",
        )

    def check_path(self, text: str, where: Where, *, recursive: bool = False) -> str:
        """Return where a path leads. Raises Forbidden for what is blocked."""
        if ".." in text.split("/"):
            raise _dangerous(f"'..' in {text!r}", "write the path without '..'")
        path = where.path(text)
        if path is None:
            raise _dangerous(f"where {text!r} leads is not known", "use an absolute path")
        if where.is_blocked(path) or any(matches(path, disk) for disk in DISKS):
            lead = f"{text!r} is {path!r}, which" if path != text else f"{text!r}"
            raise _dangerous(f"{lead} is not for commands", "work in folders of your own")
        if recursive:
            for blocked in (*BLOCKED, *self.private, *where.secrets):
                if is_below(blocked, (path,)):
                    raise _dangerous(f"{blocked!r} is below {path!r}", "name a folder below it")
        return path

    def check_program(self, called: str, argv: Sequence[str], policy: Policy, where: Where) -> None:
        """Raises Forbidden if these words run a blacklisted program, also behind another one."""
        for words in (argv, _split_apart(argv)):
            if decide_argv(words, policy, where).verdict == "deny":
                raise blacklisted(called)


def blacklisted(name: str) -> Forbidden:
    steps = (_INSTEAD[name],) if name in _INSTEAD else ("use another command",)
    return Forbidden(
        f"Command '{name}' is blacklisted for security reasons", *steps, check="blacklist"
    )


def _split_apart(argv: Sequence[str]) -> list[str]:
    """Return the words with those apart that env takes as one text (env -S 'rm x', env(1))."""
    if basename(argv[0]) != "env":
        return list(argv)
    plain: list[str] = []
    for index, word in enumerate(argv[1:], 1):
        option = word.removeprefix("--split-string=").removeprefix("--split-string")
        if word.startswith("-") and "S" in word and not word.startswith("--"):
            option = word.partition("S")[2]
        if option != word:
            text = option or " ".join(argv[index + 1 : index + 2])
            rest = argv[index + 1 :] if option else argv[index + 2 :]
            return [*argv[:1], *plain, *text.split(), *rest]
        plain.append(word)
    return list(argv)


def _dangerous(why: str, step: str) -> Forbidden:
    return Forbidden(f"Path contains dangerous pattern: {why}", step, check="path")


def _shown(characters: Iterable[str]) -> str:
    names = {"\n": "a newline", "\r": "a carriage return", "\0": "a NUL"}
    return ", ".join(dict.fromkeys(names.get(one, one) for one in characters))
