"""Standard input of `nacre run`, for the command that runs in the session.

The session's shell opens it itself, through /proc: bytes pass as they are, their end is seen, and
what the command does not read stays where it is.

Rule 1: it is passed on when something is there (a pipe with data, a file), or when --stdin says so.
An open pipe without data is mostly one that a script has left open; nothing is read from it.
Rule 2: where it cannot be passed on (after ssh, in a REPL, in a sandbox), the command is not run.
"""

import fcntl
import os
import stat
import struct
import termios

from nacre.client.calls import Client
from nacre.core.shell.dialects import SHELLS
from nacre.errors import InvalidInput

_STARTING = 2000  # milliseconds for a shell that was just started to show its prompt
_LEAVE_OUT = "leave it out with --no-stdin"


def with_standard_input(session: str, command: str, *, wanted: bool | None) -> str:
    """Return the command line that reads our standard input, if it has any.

    Raises InvalidInput if it cannot be passed on.
    """
    if wanted is False or not _is_there(wanted=wanted is True):
        return command
    with Client.open() as client:
        shell = _shell_of(client, session)
    path = f"/proc/{os.getpid()}/fd/0"
    if not os.path.exists(path):
        raise InvalidInput("standard input cannot be passed on without /proc", _LEAVE_OUT)
    begin, end = ("begin;", "end") if shell == "fish" else ("{", "}")
    return f"{begin} {command}\n{end} < {path}"


def _is_there(*, wanted: bool) -> bool:
    """Raises InvalidInput if it is asked for and cannot be had."""
    try:
        kind = os.fstat(0)
    except OSError:  # it is closed
        return False
    if stat.S_ISFIFO(kind.st_mode):
        return wanted or _bytes_ready() > 0
    if stat.S_ISREG(kind.st_mode):
        return os.lseek(0, 0, os.SEEK_CUR) == 0 and (wanted or kind.st_size > 0)
    if wanted:
        raise InvalidInput("--stdin passes a pipe or a file on", "for keys use nacre attach")
    return False


def _bytes_ready() -> int:
    (count,) = struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, bytes(4)))
    return int(count)


def _shell_of(client: Client, session: str) -> str:
    """Return the shell that reads commands in a session. Raises InvalidInput."""
    listed = client.ask("list_sessions")["sessions"]
    found = [one for one in listed if session in (one["name"], one["session_id"], str(one["port"]))]
    if found and found[0].get("sandbox", "off") != "off":
        raise InvalidInput("standard input cannot be passed into a sandbox", _LEAVE_OUT)
    awaited = client.ask(
        "wait_for", session=session, state=["prompt", "needs_input"], timeout_ms=_STARTING
    )
    state = awaited.get("state") or client.ask("get_status", session=session)["state"]
    program = str(state.get("program") or (found[0]["shell"] if found else ""))
    program = os.path.basename(program)
    if state["state"] != "prompt" or program not in SHELLS:
        raise InvalidInput(
            f"standard input can be passed only to a command of a shell on this machine; "
            f"{session!r} is not at such a prompt",
            _LEAVE_OUT,
        )
    return program
