"""The values of the variables that the tables of upstream servers refer to, and of no others.

Rule: whoever starts `nacre mcp`, `nacre upstream` or a chat hands them to the daemon with its
greeting; so each caller acts with its own tokens, and the daemon's environment has none of them.
"""

import os

from nacre.late_pattern import late_pattern
from nacre.settings.paths import Paths

_VARIABLE = late_pattern(r"\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*))")
_SECTION = "mcp_servers"

NEW_VALUES = "notifications/nacre/values"  # of a bridge to its daemon, and of nobody else


def referenced_values(paths: Paths) -> "dict[str, str]":
    """Return them; none where there is no config, or it cannot be read: the daemon says so."""
    try:
        with open(paths.config_file, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    if _SECTION.encode() not in data or b"$" not in data:
        return {}
    import tomllib  # not before there is something to read with it

    try:
        tables = tomllib.loads(data.decode()).get(_SECTION)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
    names = {
        found[1] or found[2]
        for text in _texts(tables)
        for found in _VARIABLE.finditer(text)
        if found[1] or found[2]
    }
    return {name: os.environ[name] for name in sorted(names) if _is_text(os.environ.get(name))}


class WatchedValues:
    """The values, and what is told when the config names others: an edit needs no restart."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._sign = self._look()
        self.now = referenced_values(paths)

    def news(self) -> bytes:
        """Return a line for the daemon if the values are others by now; else nothing."""
        sign = self._look()
        if sign == self._sign:
            return b""
        self._sign = sign
        values = referenced_values(self._paths)
        if values == self.now:
            return b""
        import json

        self.now = values
        told = {"jsonrpc": "2.0", "method": NEW_VALUES, "params": {"values": values}}
        return json.dumps(told).encode() + b"\n"

    def _look(self) -> "tuple[int, int, int]":
        try:
            found = os.stat(self._paths.config_file)
        except OSError:
            return (0, 0, 0)
        return (found.st_mtime_ns, found.st_size, found.st_ino)


def _texts(value: object) -> "list[str]":
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


def _is_text(value: "str | None") -> bool:
    """Return whether JSON can hold it: bytes that are not UTF-8 are left out."""
    try:
        return value is not None and bool(value.encode()) | (value == "")
    except UnicodeEncodeError:
        return False
