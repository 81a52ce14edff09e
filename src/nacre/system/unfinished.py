"""What runs now, written down for the next daemon: it ends what a killed one left behind.

Rule 1: the file is in the runtime folder, which does not outlive the machine's start.
Rule 2: it is opened for each line: the folder may be deleted and made again (presence.py).
Rule 3: a file that cannot be written fails nothing; what it lacks is found by nobody.
"""

import logging
import os

import msgspec

_log = logging.getLogger("nacre.catalog")

_MOST_LINES = 1000  # then it is written anew


class UnfinishedCommand(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    owner: str
    tool: str  # as called
    name: str
    words: list[str]
    cookie: str  # what its processes are known by


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    began: UnfinishedCommand | None = None
    ended: str | None = None


class Unfinished:
    def __init__(self, path: str | None) -> None:
        """Without a path nothing is written down."""
        self._path = path
        self._running: dict[str, UnfinishedCommand] = {}
        self._lines = 0
        self._failed = False

    def is_left(self) -> bool:
        """Return whether an earlier daemon has left something; cheap."""
        try:
            return self._path is not None and os.stat(self._path).st_size > 0
        except OSError:
            return False

    def take(self) -> list[UnfinishedCommand]:
        """Return what an earlier daemon has left. It stays written down until it has ended."""
        if self._path is None or not self.is_left():
            return []
        try:
            with open(self._path, "rb") as file:
                lines = file.read().splitlines()
        except OSError:
            return []
        found: dict[str, UnfinishedCommand] = {}
        for line in lines:
            try:
                said = msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError:
                continue  # the last one, cut by the end
            if said.began is not None:
                found[said.began.id] = said.began
            elif said.ended is not None:
                found.pop(said.ended, None)
        self._running.update(found)
        self._write_all()
        return list(found.values())

    def began(self, command: UnfinishedCommand) -> None:
        self._running[command.id] = command
        self._add(_Line(began=command))

    def ended(self, identifier: str) -> None:
        if self._running.pop(identifier, None) is None:
            return
        if self._running and self._lines < _MOST_LINES:
            self._add(_Line(ended=identifier))
        else:
            self._write_all()

    def _add(self, line: _Line) -> None:
        self._lines += 1
        self._write(msgspec.json.encode(line) + b"\n", os.O_APPEND)

    def _write_all(self) -> None:
        self._lines = len(self._running)
        lines = (msgspec.json.encode(_Line(began=one)) + b"\n" for one in self._running.values())
        self._write(b"".join(lines), os.O_TRUNC)

    def _write(self, data: bytes, how: int) -> None:
        if self._path is None:
            return
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how, 0o600)
            try:
                os.write(descriptor, data)
            finally:
                os.close(descriptor)
        except OSError as error:
            if not self._failed:
                _log.warning("what runs cannot be written down", extra={"reason": error.strerror})
            self._failed = True
        else:
            self._failed = False
