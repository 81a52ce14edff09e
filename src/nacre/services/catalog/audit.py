"""What is written down of each command that ran or was refused: once, and never twice.

Rule 1: the keys are a contract that scripts count by: timestamp, user, command, args, status
(success, failed, denied), exit_code, execution_time_ms, all at the top level.
Rule 2: a line is one write, and the file is opened for each: it may be moved away at any time.
Rule 3: no secret that is known stands in it (docs/secrets.md).
Rule 4: a log that cannot be written fails no command; the daemon's own log says so, once.
"""

import logging
import os
import pwd
import time
from collections.abc import Callable
from functools import cache
from typing import Literal, Protocol

import msgspec

from nacre.core.text.redaction import Redaction, SecretValues

_log = logging.getLogger("nacre.audit")

AuditStatus = Literal["success", "failed", "denied"]


class AuditedExecution(msgspec.Struct, frozen=True, kw_only=True):
    timestamp: str  # 2025-01-15T10:30:45Z
    user: str
    command: str
    args: list[str]
    status: AuditStatus
    exit_code: int | None
    execution_time_ms: int


class ExecutionAudit(Protocol):
    def record(self, execution: AuditedExecution) -> None:
        """Take note of what became of a command. It never raises."""


class AuditFile:
    """The document's log: one line of JSON for each; without a path, none."""

    def __init__(
        self,
        path: str | None,
        redaction: Callable[[], Redaction] = lambda: Redaction(SecretValues()),
    ) -> None:
        """`redaction` is what takes secrets out of it."""
        self._redaction = redaction
        self._path = None if path is None else os.path.abspath(os.path.expanduser(path))
        self._failed = False

    def record(self, execution: AuditedExecution) -> None:
        if self._path is None:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        text = self._redaction().text
        execution = msgspec.structs.replace(
            execution,
            command=text(execution.command),
            args=[text(one) for one in execution.args],
        )
        try:
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, msgspec.json.encode(execution) + b"\n")
            finally:
                os.close(descriptor)
        except OSError as error:
            if not self._failed:
                extra = {"path": self._path, "reason": error.strerror}
                _log.error("the log of executions cannot be written", extra=extra)
            self._failed = True
        else:
            self._failed = False


def audited(
    command: str,
    args: list[str],
    status: AuditStatus,
    *,
    exit_code: int | None = None,
    milliseconds: int = 0,
) -> AuditedExecution:
    return AuditedExecution(
        timestamp=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        user=user_name(),
        command=command,
        args=args,
        status=status,
        exit_code=exit_code,
        execution_time_ms=milliseconds,
    )


@cache
def user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
