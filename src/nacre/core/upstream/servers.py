"""The tables [mcp_servers.NAME] of config.toml: what they may hold, and what is wrong with one.

Rule 1: a wrong table is that server's problem alone. It names the file, the line and what to write.
Rule 2: a table is kept as it was written, with the names of variables; `resolve` puts the values in
for one caller, and its result is never shown.
"""

import difflib
import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from nacre.core.upstream.variables import UnsetVariables, expand, is_well_formed, names_in

TransportName = Literal["stdio", "sse", "http"]
TRANSPORTS: tuple[TransportName, ...] = ("stdio", "sse", "http")

SECTION = "mcp_servers"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
NAME_RULE = "a server's name has up to 40 letters, digits, _ and -, and begins with no _ or -"


@dataclass(frozen=True, slots=True)
class ServerTable:
    """One server as it was configured."""

    name: str
    transport: TransportName
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    enabled: bool = True
    start_timeout: float | None = None  # seconds; None: as the setting says
    call_timeout: float | None = None
    enabled_tools: tuple[str, ...] = ()  # patterns; none: all
    disabled_tools: tuple[str, ...] = ()
    client_id: str = ""  # of a client that is registered for logins; "": each login registers
    client_secret: str = ""
    callback_port: int = 0  # that the browser is sent back to; 0: any that is free

    @property
    def target(self) -> str:
        """What it runs or connects to, as it was written; a password in an address is left out."""
        if self.command:
            return " ".join((self.command, *self.args))
        return without_password(self.url)

    @property
    def variables(self) -> set[str]:
        """The names of the variables that it refers to."""
        texts = (*self.args, *self.env.values(), *self.headers.values(), self.url, self.cwd)
        return set().union(*map(names_in, texts))

    @property
    def fingerprint(self) -> str:
        """Which server this is, for what is kept of it: the same until its table says otherwise."""
        parts = (self.command, self.args, sorted(self.env.items()), self.cwd, self.url)
        more = (sorted(self.headers.items()), self.transport)
        return hashlib.sha256(msgspec.json.encode((*parts, *more))).hexdigest()[:32]

    def offers(self, tool: str) -> bool:
        """Return whether its filters let a tool through; what is disabled wins."""
        if any(fnmatchcase(tool, pattern) for pattern in self.disabled_tools):
            return False
        return not self.enabled_tools or any(fnmatchcase(tool, one) for one in self.enabled_tools)

    def resolve(self, values: Mapping[str, str], home: str) -> "ResolvedServer":
        """Put the caller's values in. Raises UnsetVariables, which names all that are missing."""
        missing: list[str] = []

        def put(text: str) -> str:
            try:
                return expand(text, values)
            except UnsetVariables as unset:
                missing.extend(unset.names)
                return ""

        cwd = put(self.cwd) or home
        if cwd == "~" or cwd.startswith("~/"):
            cwd = home + cwd[1:]
        resolved = ResolvedServer(
            command=self.command,
            args=tuple(map(put, self.args)),
            env=tuple(sorted((name, put(value)) for name, value in self.env.items())),
            cwd=cwd,
            url=put(self.url),
            headers=tuple(sorted((name, put(value)) for name, value in self.headers.items())),
        )
        if missing:
            raise UnsetVariables(missing)
        return resolved


class ResolvedServer(NamedTuple):
    """A server with one caller's values in it: who has the same may share a connection."""

    command: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    cwd: str
    url: str
    headers: tuple[tuple[str, str], ...]
    path: str = ""  # the caller's PATH, by which a command is found

    def __repr__(self) -> str:
        return "ResolvedServer(…)"  # it holds secrets: not even by accident in a log


class WrongTable(NamedTuple):
    """A server whose table is wrong: what is wrong, where, and what to write."""

    name: str
    file: str
    line: int
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.problem}; {self.fix}"


Configured = ServerTable | WrongTable


def read_servers(text: str, file: str) -> dict[str, Configured]:
    """Read all servers of a config. Raises tomllib.TOMLDecodeError for a file that is no TOML."""
    tables = tomllib.loads(text).get(SECTION, {})
    if not isinstance(tables, dict):
        fix = f"write a table [{SECTION}.NAME] for each server"
        wrong = WrongTable(SECTION, file, line_of(text, "", ""), f"{SECTION} is no table", fix)
        return {SECTION: wrong}
    return {name: _read(name, table, text, file) for name, table in tables.items()}


def _read(name: str, table: Any, text: str, file: str) -> Configured:
    try:
        return parse_table(name, table)
    except TableProblem as wrong:
        return WrongTable(name, file, line_of(text, name, wrong.key), wrong.problem, wrong.fix)


class TableProblem(Exception):
    """What is wrong with a table, and the key that it is about."""

    def __init__(self, key: str, problem: str, fix: str) -> None:
        super().__init__(f"{problem}; {fix}")
        self.key = key
        self.problem = problem
        self.fix = fix


def parse_table(name: str, table: Any) -> ServerTable:
    """Check one table. Raises TableProblem."""
    if not _NAME.fullmatch(name):
        raise TableProblem("", f"{name!r} cannot be a server's name", NAME_RULE)
    if not isinstance(table, dict):
        raise TableProblem("", f"{name} is no table", f"write [{SECTION}.{name}] with its keys")
    read = {key: _field(key, value) for key, value in table.items()}
    command, url = read.get("command", ""), read.get("url", "")
    transport = read.get("transport") or ("http" if url and not command else "stdio")
    if transport == "stdio":
        if not command:
            fix = 'add command = "…", or url = "…" for a server that already runs'
            raise TableProblem("transport", "there is no command to run", fix)
        if url:
            raise TableProblem("url", "a server has a command or a url, not both", "remove one")
    else:
        if command:
            fix = 'remove it, or write transport = "stdio"'
            raise TableProblem("command", f"transport {transport} takes no command", fix)
        if not url:
            raise TableProblem(
                "transport", "there is no url to connect to", 'add url = "https://…"'
            )
    for key in ("client_id", "client_secret", "callback_port"):
        if key in read and transport == "stdio":
            raise TableProblem(key, f"{key} is for logins, and a program takes none", "remove it")
    if "client_secret" in read and not read.get("client_id"):
        raise TableProblem("client_secret", "there is no client_id", 'add client_id = "…"')
    return ServerTable(**{**read, "name": name, "transport": transport})


def _field(key: str, value: Any) -> Any:
    check = _CHECKS.get(key)
    if check is None:
        near = difflib.get_close_matches(key, _CHECKS, n=1)
        fix = f"did you mean {near[0]}?" if near else f"there are {', '.join(_CHECKS)}"
        raise TableProblem(key, f"there is no key {key!r}", fix)
    return check(key, value)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or (key in ("command", "url") and not value.strip()):
        raise TableProblem(key, f"{key} must be a text", f'write {key} = "…"')
    return _formed(key, value)


def _url(key: str, value: Any) -> str:
    found = _text(key, value)
    scheme = urlsplit(found).scheme
    if not found.startswith("$") and scheme not in ("http", "https"):
        raise TableProblem(key, "the url is none of http", 'write url = "https://…"')
    return found


def _formed(key: str, value: str) -> str:
    if "\0" in value:
        raise TableProblem(key, f"{key} has a NUL in it", "remove it")
    if key != "command" and not is_well_formed(value):
        fix = "write $NAME, ${NAME} or ${NAME:-default}, and $$ for a dollar"
        raise TableProblem(key, f"{key} has a ${{ that begins no variable", fix)
    return value


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise TableProblem(key, f"{key} must be a list of texts", f'write {key} = ["…", "…"]')
    return tuple(_formed(key, one) for one in value)


def _map(key: str, value: Any) -> dict[str, str]:
    fix = f'write {key} = {{ NAME = "value" }}'
    if not isinstance(value, dict):
        raise TableProblem(key, f"{key} must be a table of texts", fix)
    found: dict[str, str] = {}
    for name, one in value.items():
        if isinstance(one, bool):
            one = str(one).lower()
        elif isinstance(one, int | float):
            one = str(one)
        if not isinstance(one, str):
            raise TableProblem(key, f"{key}.{name} must be a text", fix)
        if not name or "=" in name or "\0" in name:
            raise TableProblem(key, f"{name!r} cannot be a name in {key}", fix)
        found[name] = _formed(key, one)
    return found


def _transport(key: str, value: Any) -> str:
    if value == "streamable-http":  # what other hosts call it
        return "http"
    if value not in TRANSPORTS:
        fix = f"write one of {', '.join(TRANSPORTS)}"
        raise TableProblem(key, f"there is no transport {value!r}", fix)
    return str(value)


def _switch(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TableProblem(key, f"{key} must be true or false", f"write {key} = true")
    return value


def _seconds(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 86_400:
        raise TableProblem(key, f"{key} must be a number of seconds", f"write {key} = 30")
    return float(value)


def _port(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65_535:
        raise TableProblem(key, f"{key} must be a port", f"write {key} = 8765")
    return value


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "command": _text,
    "args": _texts,
    "env": _map,
    "cwd": _text,
    "url": _url,
    "headers": _map,
    "transport": _transport,
    "enabled": _switch,
    "start_timeout": _seconds,
    "call_timeout": _seconds,
    "enabled_tools": _texts,
    "disabled_tools": _texts,
    "client_id": _text,
    "client_secret": _text,
    "callback_port": _port,
}
assert set(_CHECKS) == {one.name for one in fields(ServerTable)} - {"name"}


def line_of(text: str, name: str, key: str) -> int:
    """Return the line, from 1 on, of a server's key; else of its table, or of all servers."""
    escaped = re.escape(name)
    own = rf'(?:{escaped}|"{escaped}"|\'{escaped}\')'
    table = re.compile(rf"\s*\[\s*{SECTION}\s*\.\s*{own}\s*(?:\.\s*(?P<sub>[\w-]+))?[^\]]*\]")
    inline = re.compile(rf"\s*(?:{SECTION}\s*\.\s*)?{own}\s*[.=]")
    wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]") if key else None
    header = section = 0
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            found = table.match(line)
            inside = found is not None
            if found is not None and (key == found["sub"] or (not header and not found["sub"])):
                header = number
                if key and key == found["sub"]:
                    return number
            if not section and SECTION in line:
                section = number
        elif inside and wanted is not None and wanted.match(line):
            return number
        elif not header and name and inline.match(line):
            header = number
    return header or section or 1


def without_password(url: str) -> str:
    """Return an address without the user's name and password that may stand in it."""
    head, at, tail = url.rpartition("@")
    scheme, slashes, _ = head.partition("//")
    return (
        f"{scheme}{slashes}{tail}" if at and slashes and "/" not in head[len(scheme) + 2 :] else url
    )
