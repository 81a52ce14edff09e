"""The book of commands: all entries by their names and aliases.

Rule 1: a name stands for one command. A user's entry takes the place of a shipped one of that name;
an alias never hides a name.
Rule 2: with a whitelist no other command may run. To search is no running: it stays.
Rule 3: nobody lifts the blacklist. A user's entry with such a name, or whose program is such a one,
is left out, and `warnings` says so.
"""

import difflib
from collections.abc import Iterable, Iterator

from nacre.core.commands.entry import BLACKLIST, SEARCH, CommandEntry
from nacre.errors import CommandNotFound


class CommandBook:
    def __init__(
        self,
        shipped: Iterable[CommandEntry],
        users: Iterable[CommandEntry] = (),
        whitelist: frozenset[str] = frozenset(),
    ) -> None:
        """`whitelist` are names and aliases; empty: every command that is not refused may run."""
        self.warnings: list[str] = []
        self._whitelist = whitelist
        self._by_name: dict[str, CommandEntry] = {entry.name: entry for entry in shipped}
        for entry in users:
            if problem := _lifts(entry):
                self.warnings.append(f"the command {entry.name} is left out: {problem}")
                continue
            self._by_name[entry.name] = entry
        self._by_alias: dict[str, CommandEntry] = {}
        for entry in self._by_name.values():
            for alias in entry.aliases:
                self._add_alias(alias, entry)
        self.warnings += [
            f"commands_whitelist names {name!r}, which is no command"
            for name in sorted(whitelist)
            if self.find(name) is None
        ]

    def _add_alias(self, alias: str, entry: CommandEntry) -> None:
        other = self._by_name.get(alias) or self._by_alias.get(alias)
        if other is not None and other is not entry:
            self.warnings.append(f"{alias} stays {other.name}, and is no alias of {entry.name}")
        else:
            self._by_alias[alias] = entry

    def __iter__(self) -> Iterator[CommandEntry]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def runnable(self) -> list[CommandEntry]:
        """Return those that are not refused."""
        return [entry for entry in self if self.may_run(entry)]

    def listed(self) -> list[CommandEntry]:
        """Return what a list of tools has: those, and the blacklist where there is no whitelist."""
        return [one for one in self if self.may_run(one) or (one.refused and not self._whitelist)]

    def may_run(self, entry: CommandEntry) -> bool:
        return not entry.refused and is_listed(entry, self._whitelist)

    def find(self, name: str) -> CommandEntry | None:
        return self._by_name.get(name) or self._by_alias.get(name)

    def get(self, name: str) -> CommandEntry:
        """Raises CommandNotFound, which suggests the nearest names."""
        found = self.find(name)
        if found is None:
            near = difflib.get_close_matches(name, [*self._by_name, *self._by_alias], n=3)
            step = f"did you mean {' or '.join(near)}?" if near else "search for what it does"
            raise CommandNotFound(f"there is no command {name!r}", step)
        return found


def whitelist_of(text: str | None) -> frozenset[str]:
    """Return the names of the setting commands_whitelist."""
    return frozenset(filter(None, (one.strip() for one in (text or "").split(","))))


def is_listed(entry: CommandEntry, whitelist: frozenset[str]) -> bool:
    """Return whether a whitelist has a command, under any of its names."""
    return not whitelist or entry.name == SEARCH or bool(whitelist & {entry.name, *entry.aliases})


def _lifts(entry: CommandEntry) -> str | None:
    """Return why an entry would let a blacklisted program run; None: it does not."""
    if entry.name in BLACKLIST:
        return "this name is blacklisted"
    if taken := [alias for alias in entry.aliases if alias in BLACKLIST]:
        return f"its alias {taken[0]} is blacklisted"
    program = entry.program.rsplit("/", 1)[-1]
    return f"its program {program} is blacklisted" if program in BLACKLIST else None
