"""The daemon, as the command line calls it: one request, one answer.

Rule 1: nothing here starts a daemon unless it is asked to.
Rule 2: a parameter that is None is not given: the default is the operation's.
Rule 3: when the daemon dies meanwhile, only what reads (`ask`) is asked again by itself.
"""

import json
import socket
from contextlib import suppress
from typing import Any

from nacre.cli.bridge import greeting, read_greeting, was_stopped
from nacre.cli.start import connect, connect_or_start
from nacre.errors import DaemonRestarted, DaemonUnreachable, InvalidInput, NacreError
from nacre.paths import Paths, find_paths

_COMPLETION_PATIENCE = 1.0  # seconds; a shell that hangs at Tab is worse than no names


class AnsweredError(NacreError):
    """An error that the daemon answered with; code and details are the daemon's."""

    def __init__(self, error: dict[str, Any]) -> None:
        details = dict(error)
        self.code = details.pop("code")
        super().__init__(details.pop("message"), **details)


class Client:
    def __init__(
        self,
        connection: socket.socket,
        *,
        paths: Paths | None = None,
        timeout: float | None = None,
    ) -> None:
        """Greet the daemon as a person; `paths` are where the next one is found when it dies.

        Raises DaemonUnreachable when it refuses us, DaemonRestarted when it died.
        """
        self._paths = paths
        self._timeout = timeout
        self._greet(connection)

    def _greet(self, connection: socket.socket) -> None:
        connection.settimeout(self._timeout)
        self._connection = connection
        self._answers = connection.makefile("rb")
        try:
            connection.sendall(greeting("call", person=True))
            read_greeting(self._answers.readline())
        except (OSError, DaemonUnreachable) as error:
            self.close()
            if isinstance(error, OSError):
                raise self._lost(error) from None
            raise

    @classmethod
    def open(cls, *, start: bool = False, timeout: float | None = None) -> "Client":
        """Connect, to a new daemon if `start` and none runs. Raises DaemonUnreachable."""
        reach = connect_or_start if start else connect
        paths = find_paths()
        try:
            return cls(reach(paths), paths=paths, timeout=timeout)
        except DaemonRestarted:  # nothing was asked of it yet: the next one will do
            return cls(reach(paths), paths=paths, timeout=timeout)

    @classmethod
    def reach(cls, *, timeout: float | None = None) -> "Client | None":
        """Return None when no daemon runs.

        Raises DaemonUnreachable when one runs that refuses us or does not answer.
        """
        paths = find_paths()
        try:
            connection = connect(paths)
        except DaemonUnreachable:
            return None
        try:
            return cls(connection, paths=paths, timeout=timeout)
        except DaemonRestarted:
            return cls(connect(paths), paths=paths, timeout=timeout)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._answers.close()
        self._connection.close()

    def wait_until_gone(self) -> None:
        """Return when the daemon that was connected to has gone."""
        with suppress(OSError):
            self._answers.read()

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the operation's result.

        Raises AnsweredError with the daemon's code, DaemonUnreachable when it goes meanwhile, and
        DaemonRestarted when it died, so that the operation may or may not have been carried out.
        """
        request = {"id": 1, "operation": operation, "params": params}
        try:
            self._connection.sendall(_encode(request))
            line = self._answers.readline()
        except OSError as error:
            raise self._lost(error) from None
        if not line.endswith(b"\n"):
            raise self._lost()
        answer = json.loads(line)
        if "error" in answer:
            raise AnsweredError(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def ask(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call an operation that only reads: the next daemon is asked when this one dies."""
        try:
            return self.call(operation, **params)
        except DaemonRestarted:
            if self._paths is None:
                raise
            self.close()
            self._greet(connect(self._paths))
            return self.call(operation, **params)

    def _lost(self, error: OSError | None = None) -> DaemonUnreachable:
        if error is not None and not isinstance(error, ConnectionError):
            return DaemonUnreachable(f"the daemon does not answer: {error}; try again")
        if was_stopped(self._paths or find_paths()):
            return DaemonUnreachable(
                "the daemon was stopped before it answered; 'nacre new' starts another"
            )
        return DaemonRestarted(
            "the daemon was restarted before it answered; the sessions go on: try again"
        )


def _encode(request: dict[str, Any]) -> bytes:
    try:
        return json.dumps(request, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        # The shell handed us bytes that are no UTF-8 (os.fsdecode made surrogates of them).
        raise InvalidInput("an argument is not valid UTF-8; check its spelling") from None


def complete_sessions(**_: object) -> list[str]:
    """Name the sessions for a shell's completion; nothing when anything is wrong."""
    with suppress(NacreError, OSError), Client.open(timeout=_COMPLETION_PATIENCE) as client:
        return [session["name"] for session in client.ask("list_sessions")["sessions"]]
    return []
