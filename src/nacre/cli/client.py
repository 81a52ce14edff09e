"""The daemon, as the command line calls it: one request, one answer.

Rule 1: nothing here starts a daemon unless it is asked to.
Rule 2: a parameter that is None is not given: the default is the operation's.
"""

import json
import socket
from contextlib import suppress
from typing import Any

from nacre.cli.bridge import greeting, read_greeting
from nacre.cli.start import connect, connect_or_start
from nacre.errors import DaemonUnreachable, InvalidInput, NacreError
from nacre.paths import find_paths

_COMPLETION_PATIENCE = 1.0  # seconds; a shell that hangs at Tab is worse than no names


class AnsweredError(NacreError):
    """An error that the daemon answered with; code and details are the daemon's."""

    def __init__(self, error: dict[str, Any]) -> None:
        details = dict(error)
        self.code = details.pop("code")
        super().__init__(details.pop("message"), **details)


class Client:
    def __init__(self, connection: socket.socket, *, timeout: float | None = None) -> None:
        """Greet the daemon as a person. Raises DaemonUnreachable when it refuses us."""
        connection.settimeout(timeout)
        self._connection = connection
        self._answers = connection.makefile("rb")
        try:
            connection.sendall(greeting("call", person=True))
            read_greeting(self._answers.readline())
        except (OSError, DaemonUnreachable) as error:
            self.close()
            if isinstance(error, OSError):
                raise DaemonUnreachable(f"the daemon does not answer: {error}; try again") from None
            raise

    @classmethod
    def open(cls, *, start: bool = False, timeout: float | None = None) -> "Client":
        """Connect, to a new daemon if `start` and none runs. Raises DaemonUnreachable."""
        reach = connect_or_start if start else connect
        return cls(reach(find_paths()), timeout=timeout)

    @classmethod
    def reach(cls, *, timeout: float | None = None) -> "Client | None":
        """Return None when no daemon runs.

        Raises DaemonUnreachable when one runs that refuses us or does not answer.
        """
        try:
            connection = connect(find_paths())
        except DaemonUnreachable:
            return None
        return cls(connection, timeout=timeout)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._answers.close()
        self._connection.close()

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the operation's result.

        Raises AnsweredError with the daemon's code, and DaemonUnreachable when it goes meanwhile.
        """
        request = {"id": 1, "operation": operation, "params": params}
        try:
            self._connection.sendall(_encode(request))
            line = self._answers.readline()
        except OSError as error:
            raise DaemonUnreachable(f"the daemon does not answer: {error}; try again") from None
        if not line.endswith(b"\n"):
            raise DaemonUnreachable("the daemon went away before it answered; try again")
        answer = json.loads(line)
        if "error" in answer:
            raise AnsweredError(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result


def _encode(request: dict[str, Any]) -> bytes:
    try:
        return json.dumps(request, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        # The shell handed us bytes that are no UTF-8 (os.fsdecode made surrogates of them).
        raise InvalidInput("an argument is not valid UTF-8; check its spelling") from None


def complete_sessions(**_: object) -> list[str]:
    """Name the sessions for a shell's completion; nothing when anything is wrong."""
    with suppress(NacreError, OSError), Client.open(timeout=_COMPLETION_PATIENCE) as client:
        return [session["name"] for session in client.call("list_sessions")["sessions"]]
    return []
