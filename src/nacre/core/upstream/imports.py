"""Servers from the files of other hosts: Claude Desktop, Claude Code, Cursor, VS Code.

Rule 1: what a host would expand becomes a variable here, and what it would take literally stays as
it is: Claude Desktop expands nothing, Claude Code ${X} and ${X:-d}, Cursor and VS Code ${env:X}.
Rule 2: what cannot be taken over is named with the reason; nothing is dropped silently.
"""

import json
import re
from typing import Any, Literal, NamedTuple

from nacre.core.upstream.servers import TableProblem, parse_table
from nacre.core.upstream.variables import literally

HostName = Literal["claude-desktop", "claude-code", "cursor", "vscode"]

# Keys of a server that have another name here, and keys that say nothing to us.
_RENAMED = {"type": "transport", "serverUrl": "url", "httpUrl": "url", "environment": "env"}
_OF_LOGIN = {
    "clientId": "client_id",
    "clientSecret": "client_secret",
    "callbackPort": "callback_port",
    "CLIENT_ID": "client_id",
    "CLIENT_SECRET": "client_secret",
}
_IGNORED = frozenset(
    (
        *("disabled", "envFile", "gallery", "version", "description", "autoApprove", "alwaysAllow"),
        *("dev", "timeout", "inputs", "icon", "name", "id"),
    )
)

_PLACE = re.compile(r"\$\{(?:(?P<kind>env|input|config):)?(?P<name>[^}:]+)(?P<rest>:-[^}]*)?\}")
_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])', re.DOTALL)


class ImportedServer(NamedTuple):
    name: str
    table: dict[str, Any]  # as it is written to the config
    notes: tuple[str, ...] = ()  # what a person has to do or know


class NotImported(NamedTuple):
    name: str
    why: str


class Imported(NamedTuple):
    servers: list[ImportedServer]
    left_out: list[NotImported]


def read_jsonc(text: str) -> Any:
    """Read JSON with comments and trailing commas. Raises ValueError."""
    bare = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
    bare = _TRAILING.sub(lambda found: found[0] if found[0][0] == '"' else "", bare)
    return json.loads(bare.lstrip("\ufeff"))


def host_of(path: str) -> HostName:
    """Return whose file this is, by its name; unknown ones are read as Claude Code's."""
    lower = path.replace("\\", "/").lower()
    if "claude_desktop_config" in lower:
        return "claude-desktop"
    if "/.cursor/" in lower or lower.startswith(".cursor/"):
        return "cursor"
    if "/.vscode/" in lower or "/code/user/" in lower or lower.startswith(".vscode/"):
        return "vscode"
    return "claude-code"


def import_servers(text: str, host: HostName, folder: str, home: str) -> Imported:
    """Read a host's file; `folder` stands for ${workspaceFolder}. Raises ValueError."""
    found = read_jsonc(text)
    if not isinstance(found, dict):
        raise ValueError("the file holds no JSON object")
    servers: Any = found.get("mcpServers", found.get("servers"))
    if servers is None and isinstance(mcp := found.get("mcp"), dict):  # VS Code's settings.json
        servers = mcp.get("servers")
    if not isinstance(servers, dict):
        raise ValueError("the file has neither mcpServers nor servers")
    outcome = Imported([], [])
    for name, entry in servers.items():
        try:
            outcome.servers.append(_import(name, entry, host, folder, home))
        except TableProblem as wrong:
            outcome.left_out.append(NotImported(name, f"{wrong.problem}; {wrong.fix}"))
    return outcome


def _import(name: str, entry: Any, host: HostName, folder: str, home: str) -> ImportedServer:
    if not isinstance(entry, dict):
        raise TableProblem("", "it is no object", "correct the file")
    notes: list[str] = []
    places = _Places(host, folder, home, notes)
    table: dict[str, Any] = {}
    for key, value in _flat(entry, notes).items():
        ours = str(_RENAMED.get(key, key))
        if key in _IGNORED:
            continue
        if ours == "transport" and value in ("streamable-http", "streamableHttp", "local"):
            value = "stdio" if value == "local" else "http"
        table[ours] = value if ours in ("transport", "command") else places.put(value)
    if entry.get("disabled") is True:
        table["enabled"] = False
    if isinstance(table.get("env"), dict):
        table["env"] = {one: value for one, value in table["env"].items() if value is not None}
    if "envFile" in entry:
        notes.append("its envFile is not read: put its variables into env")
    fitting = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")[:40]
    if fitting != name:
        notes.append(f"it was called {name!r}")
    parse_table(fitting, table)
    return ImportedServer(fitting, table, tuple(dict.fromkeys(notes)))


def _flat(entry: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return an entry with what it says of logins among its keys (Claude Code's and Cursor's)."""
    rest = {key: value for key, value in entry.items() if key not in ("oauth", "auth")}
    for inner in (entry.get("oauth"), entry.get("auth")):
        if isinstance(inner, dict):
            rest |= {_OF_LOGIN[key]: value for key, value in inner.items() if key in _OF_LOGIN}
            if others := [key for key in inner if key not in _OF_LOGIN]:
                notes.append(f"what it says of logins is not taken over: {', '.join(others)}")
    return rest


class _Places:
    """Turns what another host would fill in into what we do."""

    def __init__(self, host: HostName, folder: str, home: str, notes: list[str]) -> None:
        self._host = host
        self._folder = folder
        self._home = home
        self._notes = notes

    def put(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.put(one) for one in value]
        if isinstance(value, dict):
            return {name: self.put(one) for name, one in value.items()}
        return value

    def _text(self, text: str) -> str:
        if self._host == "claude-desktop":
            return literally(text)
        parts, at = [], 0
        for found in _PLACE.finditer(text):
            parts += [literally(text[at : found.start()]), self._place(found)]
            at = found.end()
        return "".join([*parts, literally(text[at:])])

    def _place(self, found: re.Match[str]) -> str:
        kind, name, rest = found["kind"], found["name"], found["rest"] or ""
        if self._host == "claude-code" and kind is None:
            return f"${{{name}{rest}}}"
        if kind == "env":
            return f"${{{name}{rest}}}"
        if kind == "input":
            variable = re.sub(r"\W+", "_", name).upper()
            self._notes.append(f"set the variable {variable}, which the other host asks for")
            return f"${{{variable}}}"
        if name in ("userHome", "workspaceFolder", "workspaceRoot"):
            return literally(self._home if name == "userHome" else self._folder)
        if name == "pathSeparator":
            return "/"
        problem = f"{found[0]} has no counterpart here"
        raise TableProblem("", problem, "write the value into the config")
