"""Files of commands: those that nacre ships, and the user's commands.toml or commands.json.

Rule 1: a user's file that cannot be read, or that has a wrong entry, adds nothing: what is wrong is
told, and the shipped commands stay.
Rule 2: a file is read again when it has changed. That is looked at when somebody asks for commands
(two calls of stat), and at once while somebody wants to hear of it (inotify).
"""

import asyncio
import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

from nacre.client.folder_events import nearest
from nacre.core.commands.book import CommandBook
from nacre.core.commands.entry import BLACKLIST, CommandEntry, entries_from
from nacre.core.commands.recipes import Recipe, recipes_from
from nacre.core.commands.searching import ManualPage
from nacre.errors import InvalidInput
from nacre.system.folder_watch import FolderWatch

USER_FILES = ("commands.toml", "commands.json")  # beside config.toml
_SHIPPED = ("session", "files", "text", "system", "refused")
_BIN = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")
_MANUAL_TIME = 10.0  # seconds for apropos; it reads an index


@cache
def shipped_commands() -> tuple[CommandEntry, ...]:
    found: list[CommandEntry] = []
    for name in _SHIPPED:
        found += entries_from(_shipped(name), f"{name}.toml", trusted=True)
    return tuple(found)


@cache
def shipped_recipes() -> tuple[Recipe, ...]:
    return recipes_from(_shipped("recipes"), "recipes.toml")


def _shipped(name: str) -> dict[str, Any]:
    folder = resources.files("nacre.core.commands") / "shipped"
    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))


def read_commands(path: str) -> tuple[CommandEntry, ...]:
    """Read one file of a user's. Raises InvalidInput."""
    try:
        with open(path, "rb") as file:
            data = json.load(file) if path.endswith(".json") else tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"cannot read {path}: {error}", "correct the file") from error
    return entries_from(data, path)


class CommandFiles:
    """The book of commands as the files are now, and who hears when it has become another."""

    def __init__(self, config: str | None, whitelist: frozenset[str] = frozenset()) -> None:
        self._whitelist = whitelist
        self._paths = [] if config is None else [os.path.join(config, one) for one in USER_FILES]
        self._seen: tuple[Any, ...] | None = None
        self._book: CommandBook | None = None
        self._listeners: dict[object, Callable[[], None]] = {}
        self._watch: FolderWatch | None = None

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call this whenever the book has become another; return what ends that."""
        key = object()
        self._listeners[key] = listener
        if self._watch is None and self._paths:
            self._watch = FolderWatch(asyncio.get_running_loop(), self._look)
            self._watch_folders()
            self.book()  # what changed before nobody heard of, and nobody needs to

        def end() -> None:
            self._listeners.pop(key, None)
            if not self._listeners:
                self.close()

        return end

    def close(self) -> None:
        """Watch no longer."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _look(self) -> None:
        self._watch_folders()
        self.book()

    def _watch_folders(self) -> None:
        """Watch the folder, or the one that it will be made in; and where a link leads."""
        assert self._watch is not None
        folders = {os.path.dirname(one) for one in self._paths}
        folders |= {os.path.dirname(os.path.realpath(one)) for one in self._paths}
        self._watch.folders(any_change={nearest(one) for one in folders})

    def book(self) -> CommandBook:
        seen = tuple(map(_stamp, self._paths))
        if self._book is None or seen != self._seen:
            changed = self._book is not None
            self._seen, self._book = seen, self._read()
            if changed:
                for listener in list(self._listeners.values()):
                    listener()
        return self._book

    def _read(self) -> CommandBook:
        users: list[CommandEntry] = []
        problems = []
        for path in self._paths:
            if os.path.exists(path):
                try:
                    users += read_commands(path)
                except InvalidInput as error:
                    problems.append(str(error))
        book = CommandBook(shipped_commands(), users, self._whitelist)
        book.warnings += problems
        return book


def blacklisted_twin(program: str) -> str | None:
    """Return the blacklisted program that a file is under another name, by a hard link.

    Not of the system's own folders: there one file may be many programs (busybox).
    """
    if os.path.dirname(program) in _BIN:
        return None
    try:
        found = os.stat(program)
    except OSError:
        return None
    for name in BLACKLIST:
        for folder in _BIN:
            with suppress(OSError):
                known = os.stat(os.path.join(folder, name))
                if (known.st_dev, known.st_ino) == (found.st_dev, found.st_ino):
                    return name
    return None


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def manual_pages() -> tuple[ManualPage, ...]:
    """Return what the machine's manual says of its programs; nothing where there is no index."""
    try:
        done = subprocess.run(
            ["apropos", "--sections=1,8", "."],
            capture_output=True,
            text=True,
            check=False,
            timeout=_MANUAL_TIME,
            stdin=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()
    return tuple(parse_manual(done.stdout))


def parse_manual(text: str) -> list[ManualPage]:
    """Parse lines as `ls (1)  - list directory contents`."""
    found: dict[str, ManualPage] = {}
    for line in text.splitlines():
        name, bracket, rest = line.partition(" (")
        _, dash, description = rest.partition(" - ")
        if bracket and dash and name.strip():
            page = ManualPage(name.strip(), description.strip())
            found.setdefault(page.name, page)
    return list(found.values())
