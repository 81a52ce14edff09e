"""The servers of config.toml: read when the file has changed, written with its comments kept.

Rule 1: a file that is no TOML at the moment (somebody writes it) takes nothing away: the servers
stay as they were read last, and the problem is told.
Rule 2: only the tables of servers are ever written, and a file that would not be read again as it
was meant is not written at all.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from nacre.core.upstream.servers import SECTION, Configured, TableProblem, parse_table, read_servers
from nacre.errors import InvalidInput, UpstreamNotFound

_Signature = tuple[int, int, int]


class ServerFile:
    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""  # why the file cannot be read, if it cannot
        self._signature: _Signature | None = None
        self._servers: dict[str, Configured] = {}

    def read(self) -> dict[str, Configured]:
        """Return the servers as they are now; the same object until the file has changed."""
        signature = _sign(self.path)
        if signature == self._signature:
            return self._servers
        self._signature = signature
        try:
            self._servers = read_servers(_text(self.path), self.path)
            self.problem = ""
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            self.problem = f"cannot read {self.path}: {error}; correct the file"
        return self._servers

    # --- writing ---------------------------------------------------------------------------

    def put(self, name: str, table: Mapping[str, Any], *, replace: bool = False) -> None:
        """Add a server. Raises InvalidInput for a wrong table, or for a name that is taken."""
        try:
            parse_table(name, dict(table))
        except TableProblem as wrong:
            raise InvalidInput(wrong.problem, wrong.fix) from wrong

        def add(servers: Any) -> None:
            import tomlkit

            if name in servers and not replace:
                raise InvalidInput(
                    f"there is a server {name!r} already", "remove it first, or use another name"
                )
            made = servers.get(name)
            if not isinstance(made, dict):
                servers.pop(name, None)
                made = tomlkit.table()
                servers.add(name, made)
            # What stays as it is keeps its place and its comments.
            for key in [key for key in made if key not in table]:
                del made[key]
            behind = _take_end(made)
            for key, value in table.items():
                if key in made and made[key] == value:
                    continue
                if isinstance(value, Mapping):
                    inline = tomlkit.inline_table()
                    inline.update(value)
                    made[key] = inline
                else:
                    made[key] = value
            behind()

        self._change(add, {name})

    def remove(self, name: str) -> None:
        """Raises UpstreamNotFound."""

        def take(servers: Any) -> None:
            if name not in servers:
                raise UpstreamNotFound(f"no upstream server named {name!r}")
            del servers[name]

        self._change(take, set())

    def enable(self, name: str, *, enabled: bool) -> None:
        """Raises UpstreamNotFound."""

        def switch(servers: Any) -> None:
            if name not in servers:
                raise UpstreamNotFound(f"no upstream server named {name!r}")
            servers[name]["enabled"] = enabled

        self._change(switch, {name})

    def _change(self, change: Callable[[Any], None], expected: set[str]) -> None:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            before = _text(self.path)
            document = tomlkit.parse(before)
        except (OSError, UnicodeDecodeError, TOMLKitError) as error:
            raise InvalidInput(f"cannot read {self.path}: {error}", "correct the file") from error
        if SECTION not in document:
            document.add(SECTION, tomlkit.table(is_super_table=True))
        servers: Any = document[SECTION]
        if not isinstance(servers, dict):
            raise InvalidInput(f"{self.path}: {SECTION} is no table", "correct the file")
        change(servers)
        after = tomlkit.dumps(document)
        if before and not before.endswith("\n") and after.startswith(before):
            after = f"{before}\n{after[len(before) :]}"
        try:
            written = tomllib.loads(after)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(
                f"the change cannot be written to {self.path}: {error}", "change the file by hand"
            ) from error
        others = {key: value for key, value in tomllib.loads(before).items() if key != SECTION}
        if others != {key: value for key, value in written.items() if key != SECTION} or (
            expected - written.get(SECTION, {}).keys()
        ):
            raise InvalidInput(
                f"the change cannot be written to {self.path}", "change the file by hand"
            )
        _write(self.path, after)


def _take_end(table: Any) -> Callable[[], None]:
    """Take off what stands behind a table's last key, such as a comment on the next table; return
    what puts it back, behind the keys that were added meanwhile.
    """
    from tomlkit.items import Table

    if not isinstance(table, Table):
        return lambda: None
    body, end = table.value.body, []
    while body and body[-1][0] is None:
        end.append(body.pop())
    return lambda: body.extend(reversed(end))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _write(path: str, text: str) -> None:
    """Replace the file, also one that is a link; its mode stays, a new one is the user's alone."""
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode & 0o777
    except FileNotFoundError:
        mode = 0o600
    new = f"{real}.new"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
    os.replace(new, real)


def _sign(path: str) -> _Signature:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
