"""The daemon, as the command line calls it: one request, one answer.

Rule 1: nothing here starts a daemon unless it is asked to.
Rule 2: a parameter that is None is not sent, so the operation's default applies.
Rule 3: if the daemon dies, only calls that read (`ask`) are repeated.
"""

import json
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from nacre.client.greeting import greeting, read_greeting, was_stopped
from nacre.client.start import (
    START_PATIENCE,
    connect,
    connect_or_start,
    connect_started,
)
from nacre.errors import DaemonRestarted, DaemonUnreachable, InvalidInput, NacreError
from nacre.settings.paths import Paths, find_paths
from nacre.wording import Hint, from_data

# A daemon that is starting answers late, with hundreds of sessions to recover; one that is stopped
# (SIGSTOP) or hung never does.
_GREETING_PATIENCE = 60.0  # seconds
_COMPLETION_PATIENCE = 1.0  # seconds; a shell that hangs at Tab is worse than no names


class AnsweredError(NacreError):
    """An error that the daemon answered with; code and details are the daemon's."""

    def __init__(self, error: dict[str, Any]) -> None:
        details = dict(error)
        self.code = details.pop("code")
        self.problem = details.pop("problem", "")
        if self.problem:
            self.parameters = tuple(details["parameters"])
        steps = map(from_data, details.pop("next", ()))
        super().__init__(details.pop("message"), *steps, **details)


class Client:
    def __init__(
        self,
        connection: socket.socket,
        *,
        paths: Paths | None = None,
        timeout: float | None = None,
        told: bool = True,
        values: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Greet the daemon as a person; `paths` say where to find the next one if it dies.

        `told`: what a person did in a session meanwhile is told, for a script may be an agent's.
        `values` are those of variables that upstream servers need.
        Raises DaemonUnreachable when it refuses us, DaemonRestarted when it died.
        """
        self._paths = paths
        self._timeout = timeout
        self._told = told
        self._values = values
        self._greet(connection)

    def _greet(self, connection: socket.socket) -> None:
        connection.settimeout(self._timeout or _GREETING_PATIENCE)
        self._connection = connection
        self._answers = connection.makefile("rb")
        try:
            more = {"values": dict(self._values)} if self._values else {}
            connection.sendall(
                greeting("call", person=True, own_words=True, told=self._told, **more)
            )
            read_greeting(self._answers.readline())
        except (OSError, DaemonUnreachable) as error:
            self.close()
            if isinstance(error, OSError):
                raise self.lost(error) from None
            raise
        connection.settimeout(self._timeout)

    @classmethod
    def open(
        cls,
        *,
        start: bool = False,
        timeout: float | None = None,
        told: bool = True,
        values: Mapping[str, str] = MappingProxyType({}),
    ) -> "Client":
        """Connect, to a new daemon if `start` and none runs. Raises DaemonUnreachable."""
        paths = find_paths()

        def reach() -> socket.socket:
            if start:
                return connect_or_start(paths)
            return connect(paths, patience=min(timeout or START_PATIENCE, START_PATIENCE))

        try:
            return cls(reach(), paths=paths, timeout=timeout, told=told, values=values)
        except DaemonRestarted:  # nothing was asked of it yet: the next one will do
            return cls(reach(), paths=paths, timeout=timeout, told=told, values=values)

    @classmethod
    def reach(cls, *, timeout: float | None = None) -> "Client | None":
        """Connect, or return None if no daemon is running. One that is being started is awaited.

        Raises DaemonUnreachable when the daemon refuses us, does not answer or cannot be reached.
        """
        paths = find_paths()

        def connected() -> "Client | None":
            connection = connect_started(paths, timeout or START_PATIENCE)
            return None if connection is None else cls(connection, paths=paths, timeout=timeout)

        try:
            return connected()
        except DaemonRestarted:  # its keeper has the next one, or it was just ending
            return connected()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def connection(self) -> socket.socket:
        return self._connection

    def close(self) -> None:
        self._answers.close()
        self._connection.close()

    def wait_until_gone(self) -> None:
        """Return when the connected daemon has exited."""
        with suppress(OSError):
            self._answers.read()

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the operation's result; a `handover` in it is also said on standard error.

        Raises AnsweredError with the daemon's code, DaemonUnreachable when it stops meanwhile, and
        DaemonRestarted when it dies, so that the operation may or may not have taken effect.
        """
        request = {"id": 1, "operation": operation, "params": params}
        try:
            with suppress(BrokenPipeError):  # what the daemon refuses it does not read to the end
                self._connection.sendall(encode_request(request))
            line = self._answers.readline()
        except OSError as error:
            raise self.lost(error) from None
        if not line.endswith(b"\n"):
            raise self.lost()
        answer = decode_answer(line)
        if "error" in answer:
            raise AnsweredError(answer["error"])
        result: dict[str, Any] = answer["result"]
        if "handover" in answer:
            result["handover"] = answer["handover"]
            print(f"nacre: {answer['told']}", file=sys.stderr)
        return {**result, "notice": answer["notice"]} if "notice" in answer else result

    def ask(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call an operation that only reads. If the daemon dies, ask the next one."""
        try:
            return self.call(operation, **params)
        except DaemonRestarted:
            if self._paths is None:
                raise
            self.close()
            self._greet(connect(self._paths, patience=START_PATIENCE))
            return self.call(operation, **params)

    def lost(self, error: OSError | None = None) -> DaemonUnreachable:
        """Return what a lost connection means: it was stopped, died, or does not answer."""
        if error is not None and not isinstance(error, ConnectionError):
            return DaemonUnreachable(
                f"the daemon does not answer: {error}; try again, or end it with 'nacre stop'"
            )
        if was_stopped(self._paths or find_paths()):
            return DaemonUnreachable(
                "the daemon was stopped before it answered; 'nacre new' starts another"
            )
        return DaemonRestarted(
            "the daemon was restarted before it answered; the sessions are still running: try again"
        )


def encode_request(request: dict[str, Any]) -> bytes:
    try:
        return json.dumps(request, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        # The shell passed bytes that are not UTF-8 (os.fsdecode made surrogates of them).
        raise InvalidInput("an argument is not valid UTF-8; check its spelling") from None


def decode_answer(line: bytes) -> dict[str, Any]:
    # A hook for each object takes time, and few answers have hints.
    answer: dict[str, Any] = json.loads(line, object_hook=_hint if b'"next":' in line else None)
    return answer


def _hint(found: dict[str, Any]) -> Any:
    """Return an object as a Hint if the daemon sent it as text and steps; others as they are."""
    if found.keys() != {"text", "next"}:
        return found
    return Hint(found["text"], *map(from_data, found["next"]))


def complete_sessions(**_: object) -> list[str]:
    """Return the names of the sessions for shell completion; nothing if anything goes wrong."""
    with suppress(NacreError, OSError), Client.open(timeout=_COMPLETION_PATIENCE) as client:
        return [session["name"] for session in client.ask("list_sessions")["sessions"]]
    return []
