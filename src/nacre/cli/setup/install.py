"""Write our entry into a host's own file.

Rule 1: what else is in the file stays. A file that cannot be read for sure (comments in JSON, say)
is not touched, and the person is told what to paste.
Rule 2: the file as it was is kept beside it, once (FILE.before-nacre).
"""

import json
import os
import shutil
import tomllib

from nacre.cli.setup.hosts import NAME, HostProgram
from nacre.errors import InvalidInput


def install(host: HostProgram, path: str, command: str, args: list[str]) -> bool:
    """Add or replace our entry; return whether anything changed. Raises InvalidInput."""
    before = _read(path)
    after = (_with_toml if host.form == "toml" else _with_json)(host, path, before, command, args)
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


def _with_json(host: HostProgram, path: str, before: str, command: str, args: list[str]) -> str:
    try:
        data = json.loads(before) if before.strip() else {}
    except (ValueError, RecursionError):
        data = None
    servers = data.setdefault(host.table, {}) if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(servers, dict):
        raise InvalidInput(
            f"{path} is no plain JSON (it may have comments), so it is left alone",
            f"add this to it yourself:\n{host.text(command, args)}",
        )
    if servers.get(NAME) == host.entry(command, args):
        return before
    servers[NAME] = host.entry(command, args)
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _with_toml(host: HostProgram, path: str, before: str, command: str, args: list[str]) -> str:
    import tomlkit

    try:
        document = tomlkit.parse(before)
        wanted = tomllib.loads(host.text(command, args))[host.table][NAME]
        if document.get(host.table, {}).get(NAME) == wanted:
            return before
        servers = document.setdefault(host.table, tomlkit.table(is_super_table=True))
        servers[NAME] = wanted
    except (tomlkit.exceptions.TOMLKitError, AttributeError, TypeError) as error:
        raise InvalidInput(
            f"{path} cannot be changed: {error}",
            f"add this to it yourself:\n{host.text(command, args)}",
        ) from None
    return tomlkit.dumps(document)


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
