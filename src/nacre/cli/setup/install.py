"""Write our entry into a host's own file.

Rule 1: what else is in the file stays. A file that cannot be read for sure (comments in JSON, say)
is not touched, and the person is told what to paste.
Rule 2: the file as it was is kept beside it, once (FILE.before-nacre).
"""

import json
import os
import re
import shutil
from typing import Any

from nacre.cli.setup.hosts import NAME, OWN_VARIABLE, HostProgram, StartCommand
from nacre.errors import InvalidInput

_INDENT = re.compile(r'\n([ \t]+)"')


def install(host: HostProgram, path: str, ours: StartCommand) -> bool:
    """Add or replace our entry; return whether anything changed. Raises InvalidInput."""
    before = _read(path)
    after = (_with_toml if host.form == "toml" else _with_json)(host, path, before, ours)
    if after == before:
        return False
    _write(path, before, after)
    return True


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from None


def _with_json(host: HostProgram, path: str, before: str, ours: StartCommand) -> str:
    try:
        data = json.loads(before) if before.strip() else {}
    except (ValueError, RecursionError):
        data = None
    servers = data.setdefault(host.table, {}) if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(servers, dict):
        raise InvalidInput(
            f"{path} is no plain JSON (it may have comments), so it is left alone",
            f"add this to it yourself:\n{host.text(ours)}",
        )
    there = servers.get(NAME)
    servers[NAME] = _merged(there, host.entry(ours))
    if servers[NAME] == there:
        return before
    indent = _INDENT.search(before)
    return json.dumps(data, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _merged(there: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """Return our entry with what the person has added to it: a time-out, a variable."""
    if not isinstance(there, dict) or "command" not in there:
        return entry
    known = there["env"] if isinstance(there.get("env"), dict) else {}
    theirs = {name: value for name, value in known.items() if name != OWN_VARIABLE}
    env = {**theirs, **entry.get("env", {})}
    kept = {name: value for name, value in there.items() if name != "env"}
    return {**kept, **entry, **({"env": env} if env else {})}


def _with_toml(host: HostProgram, path: str, before: str, ours: StartCommand) -> str:
    import tomlkit

    try:
        document = tomlkit.parse(before)
        there = document.get(host.table, {}).get(NAME)
        there = there.unwrap() if isinstance(there, tomlkit.items.Item) else there
        wanted = _merged(there, host.entry(ours))
        if there == wanted:
            return before
        servers = document.setdefault(host.table, tomlkit.table(is_super_table=True))
        if isinstance(there, dict) and "command" in there:
            _change(servers[NAME], there, wanted)
        else:
            servers[NAME] = wanted
    except (tomlkit.exceptions.TOMLKitError, AttributeError, TypeError) as error:
        raise InvalidInput(
            f"{path} cannot be changed: {error}",
            f"add this to it yourself:\n{host.text(ours)}",
        ) from None
    return tomlkit.dumps(document)


def _change(table: Any, there: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Touch only what differs, so that comments stay."""
    for name in there:
        if name not in wanted:
            del table[name]
    for name, value in wanted.items():
        if there.get(name) != value:
            table[name] = value


def _write(path: str, before: str, after: str) -> None:
    """Replace the file, whole or not at all; a link stays one."""
    path = os.path.realpath(path)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if before and not os.path.exists(f"{path}.before-nacre"):
            shutil.copy2(path, f"{path}.before-nacre")
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o600
        new = f"{path}.new-by-nacre"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
