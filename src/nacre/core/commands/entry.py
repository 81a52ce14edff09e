"""A command of the catalog: what it is for, what it takes, and how that becomes a program's words.

Rule 1: an entry is data. Nothing of it passes a shell: a program gets its words as they are.
Rule 2: arguments become words in the order in which they are listed.
Rule 3: what a caller gives can never become an option. Where the program knows `--`, that stands
before the first positional argument, and all options before it; else a positional argument that
begins with `-` is refused, and a path gets `./`.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from nacre.errors import InvalidInput

Group = Literal["session", "files", "system", "assistant", "user"]
Risk = Literal["read", "write", "delete", "refused"]
# files: those of its path arguments, to read; folder: where it works, and its paths' folders, to
# write to; repository: the git repository that it runs in, to read.
Confinement = Literal["", "files", "folder", "repository"]
Kind = Literal["path", "pattern", "text", "name", "integer", "number", "switch", "choice"]

# As MCP hosts take names of tools: ^[A-Za-z0-9_-]{1,64}$, with room for a prefix of 32.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
# The tools' own parameter beside the command's arguments.
RESERVED = frozenset(("context", "stdin", "dry_run"))

SEARCH = "search_commands"  # tells what there is, and runs nothing

# Commands that never run: the document's 13.
BLACKLIST = (
    *("sudo", "su", "rm", "chmod", "chown", "chgrp", "kill", "killall"),
    *("pkill", "reboot", "shutdown", "halt", "init"),
)

_PATHS = frozenset(("path", "file", "files", "directory", "dir", "folder", "source", "dest"))


class CommandArgument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    type: Kind = "text"
    description: str = ""
    required: bool = False
    many: bool = False  # a list of them, or one
    option: str = ""  # the option that it follows; one that ends with = has it in the same word
    names: tuple[str, ...] = ()  # other names that callers know it by
    words: Mapping[str, str] = msgspec.field(default_factory=dict)  # a choice → the word for it
    without: str = ""  # characters that it cannot have, whatever the settings say
    # Endings of further files that the program opens, beside the path that it is given (gzip's .gz,
    # the pieces of split); * is any.
    also: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    default: str | None = None

    @property
    def positional(self) -> bool:
        return not self.option and not self.words

    def schema(self, *, plain: bool = False) -> dict[str, Any]:
        """Return its JSON schema; `plain` has the type of one, and `many` where a list is taken."""
        one: dict[str, Any] = {"type": _JSON_TYPES.get(self.type, "string")}
        if self.words:
            one["enum"] = list(self.words)
        if self.least is not None:
            one["minimum"] = self.least
        if self.most is not None:
            one["maximum"] = self.most
        if self.many and not plain:
            one = {"anyOf": [one, {"type": "array", "items": one}]}
        if self.default is not None:
            one["default"] = self.default
        if self.many and plain:
            one["many"] = True
        return {**one, "description": self.description or self.name.replace("_", " ")}


_JSON_TYPES = {"integer": "integer", "number": "number", "switch": "boolean"}


class CommandExample(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    args: Mapping[str, Any]
    line: str  # the words that come of it, as a shell would quote them
    about: str = ""


class CommandEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    description: str
    group: Group = "user"
    aliases: tuple[str, ...] = ()
    program: str = ""  # none: it acts on the caller's context (services/catalog/builtins.py)
    fixed: tuple[str, ...] = ()  # words before all others
    separator: bool = False  # the program takes what follows `--` for no option
    recursive: str = ""  # "always", or the switch with which it goes into folders
    risk: Risk = "read"
    args: tuple[CommandArgument, ...] = ()
    examples: tuple[CommandExample, ...] = ()
    confined: Confinement = ""  # what alone it is shown, in a sandbox
    # What a confined program of this name (awk is gawk, mawk …) gets before all other words. One
    # that is named here runs without a sandbox where none can be had; others do not.
    fixed_for: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    # Choices with which it does not run without a sandbox even so.
    enclosed_only: tuple[str, ...] = ()
    trusted: bool = False  # shipped: its program may be one that callers cannot name

    @property
    def refused(self) -> bool:
        return self.risk == "refused"

    @property
    def builtin(self) -> bool:
        return not self.program and not self.refused

    def argument(self, name: str) -> CommandArgument | None:
        return next((one for one in self.args if name == one.name or name in one.names), None)

    def schema(self, *, plain: bool = False) -> dict[str, Any]:
        """Return the JSON schema of its arguments."""
        found: dict[str, Any] = {
            "type": "object",
            "properties": {one.name: one.schema(plain=plain) for one in self.args},
        }
        if required := [one.name for one in self.args if one.required]:
            found["required"] = required
        return found

    def as_listed(self) -> dict[str, Any]:
        """Return what list_tools tells of it: the document's fields first, and plain types."""
        told: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "schema": self.schema(plain=True),
            "aliases": list(self.aliases),
            "group": self.group,
            "risk": self.risk,
        }
        if self.refused:
            told["refused"] = True
        if self.examples:
            told["examples"] = [dict(one.args) for one in self.examples]
        return told


def entries_from(data: Any, source: str, *, trusted: bool = False) -> tuple[CommandEntry, ...]:
    """Read a file of commands that TOML or JSON has parsed. Raises InvalidInput with the fault.

    A command's `args` may be the names alone: they are then all required, in this order. The list
    may stand alone or as `command` or `commands`.
    """
    if isinstance(data, dict):
        data = data.get("command", data.get("commands", []))
    if not isinstance(data, list):
        raise InvalidInput(f"{source}: there is no list of commands", "correct the file")
    found = []
    for given in data:
        try:
            entry = msgspec.convert(_spelled_out(given), CommandEntry)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"{source}: {error}", "correct the command") from error
        if problem := _misfit(entry, trusted=trusted):
            raise InvalidInput(f"{source}: {entry.name}: {problem}", "correct the command")
        found.append(msgspec.structs.replace(entry, trusted=trusted))
    return tuple(found)


def _spelled_out(given: Any) -> Any:
    """Return an entry whose arguments are all objects, and which names its program."""
    if not isinstance(given, dict):
        return given
    args = given.get("args", [])
    if isinstance(args, list):
        args = [_named(one) if isinstance(one, str) else one for one in args]
    filled = {**given, "args": args}
    if given.get("group", "user") == "user" and given.get("risk") != "refused":
        filled.setdefault("program", given.get("name", ""))
    return filled


def _named(name: str) -> dict[str, Any]:
    kind = "path" if name in _PATHS else "pattern" if name == "pattern" else "text"
    return {"name": name, "type": kind, "required": True}


def _misfit(entry: CommandEntry, *, trusted: bool) -> str | None:
    for name in (entry.name, *entry.aliases):
        if not _NAME.fullmatch(name):
            return f"{name!r} cannot be a name: up to 32 letters, digits, _ and -"
    if not trusted and entry.trusted:
        return "trusted is not for files of users"
    if not trusted and entry.builtin:
        return "program is missing"
    known: set[str] = set()
    behind = False  # a positional argument stands before it
    for argument in entry.args:
        for name in (argument.name, *argument.names):
            if name in RESERVED:
                return f"an argument cannot be named {name}: the call has that itself"
            if name in known:
                return f"two arguments are named {name}"
            known.add(name)
        if argument.type == "switch" and not argument.option:
            return f"the switch {argument.name} needs its option"
        if (argument.type == "choice") != bool(argument.words):
            return f"{argument.name}: a choice has its words, and nothing else has them"
        if argument.also and argument.type != "path":
            return f"{argument.name}: also is for a path"
        if entry.separator and behind and not argument.positional:
            return f"the option {argument.name} stands behind a positional argument"
        behind = behind or argument.positional
    if entry.fixed_for and not entry.confined:
        return "fixed_for is for a command that is confined"
    if not trusted and entry.fixed_for:
        return "fixed_for is not for files of users"
    if entry.recursive not in ("", "always") and entry.recursive not in known:
        return f"recursive names no argument: {entry.recursive}"
    return None
