"""The log of executions: one line of JSON for each command that ran or was refused.

Rule 1: its keys are a contract that scripts count by: timestamp, user, command, args, status
(success, failed, denied), exit_code, execution_time_ms, all at the top level.
Rule 2: exactly one line an execution or refusal, in one write, so that several writers of one file
do not mix their lines.
Rule 3: it is opened for each line: the file may be moved away at any time (logrotate).
"""

import json
import logging
import os
import pwd
import time
from collections.abc import Callable
from typing import Any, Literal

from nacre.core.text.redaction import Redaction, SecretValues

_log = logging.getLogger("nacre.audit")

ExecutionStatus = Literal["success", "failed", "denied"]


class ExecutionLog:
    def __init__(
        self, path: str, redaction: Callable[[], Redaction] = lambda: Redaction(SecretValues())
    ) -> None:
        """`redaction` is what takes secrets out of it."""
        self._redaction = redaction
        self.trouble = ""  # why the last line could not be written
        self._path = os.path.abspath(os.path.expanduser(path))
        self._user = _user_name()

    def add(
        self,
        line: str,
        status: ExecutionStatus,
        *,
        exit_code: int | None = None,
        duration_ms: int = 0,
    ) -> None:
        """Add what became of a command line. It never fails; `trouble` says if it could not."""
        hidden = self._redaction().text
        # Twice: a line may write a secret with quotes and backslashes in between.
        command, args = split_command(hidden(line))
        entry = {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "user": self._user,
            "command": hidden(command),
            "args": [hidden(one) for one in args],
            "status": status,
            "exit_code": exit_code,
            "execution_time_ms": duration_ms,
        }
        try:
            self._append(entry)
        except OSError as error:
            if not self.trouble:
                _log.error(
                    "the log of executions cannot be written",
                    extra={"path": self._path, "reason": error.strerror},
                )
            self.trouble = f"the log of executions {self._path} cannot be written: {error.strerror}"
        else:
            self.trouble = ""

    def _append(self, entry: dict[str, Any]) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o600)
        try:
            os.write(descriptor, json.dumps(entry).encode() + b"\n")
        finally:
            os.close(descriptor)


def split_command(line: str) -> tuple[str, list[str]]:
    """Return a line's first word and the others; by blanks where its quotes are not closed."""
    import shlex  # only where there is such a log

    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return (words[0], words[1:]) if words else ("", [])


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
