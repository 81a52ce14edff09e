"""The first lines between a client and the daemon: who we are, in which folder, which version.

Rule 1: the stdio bridge loads this file at every start, so it imports almost nothing.
Rule 2: the daemon's side of it is doors/local/socket.py.
"""

import os
import socket
import sys

from nacre import __version__
from nacre.errors import DaemonRestarted, DaemonUnreachable
from nacre.settings.paths import Paths

PROTOCOL = 1  # increased when older clients can no longer understand the socket

# Environment variables of a client that its sessions get too.
ENVIRONMENT = (
    *("PATH", "SHELL", "EDITOR", "VISUAL", "TZ", "SSH_AUTH_SOCK"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_SHLVL"),
    *("PYTHONPATH", "LD_LIBRARY_PATH", "NODE_PATH"),
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "GOFLAGS"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE"),
    *("LC_MONETARY", "LC_MESSAGES", "LC_PAPER", "LC_NAME", "LC_ADDRESS", "LC_TELEPHONE"),
    *("LC_MEASUREMENT", "LC_IDENTIFICATION"),
)

# Where a program's own libraries are. A person who set these meant their commands; an AI host has
# them from its own packaging, and they would break what the agent runs.
_NOT_OF_HOSTS = ("PYTHONPATH", "LD_LIBRARY_PATH", "NODE_PATH")

_CHUNK = 65536


def greeting(door: str, **more: object) -> bytes:
    """Return the first line to the daemon: who we are and in which folder."""
    import json

    try:
        cwd = _text(os.getcwd())
    except FileNotFoundError:  # the folder is gone
        cwd = None
    hello = {
        "nacre": PROTOCOL,
        "door": door,
        "version": __version__,
        "cwd": cwd,
        "env": {
            name: os.environ[name]
            for name in ENVIRONMENT
            if _text(os.environ.get(name)) is not None
            and not (door == "mcp" and name in _NOT_OF_HOSTS)
        },
        **more,
    }
    return json.dumps(hello).encode() + b"\n"


def _text(value: "str | None") -> "str | None":
    """Return text that JSON can hold: bytes that are not UTF-8 are left out."""
    try:
        (value or "").encode()
    except UnicodeEncodeError:
        return None
    return value


def check_greeting(line: bytes) -> str:
    """Return the daemon's version.

    Raises DaemonRestarted when it died instead of answering, DaemonUnreachable when it refuses us.
    """
    import json

    if not line.endswith(b"\n"):
        raise DaemonRestarted("the daemon closed the connection; try again")
    try:
        answer = json.loads(line)
    except ValueError:
        raise DaemonUnreachable("what answers at the socket is not a nacre daemon") from None
    if error := answer.get("error"):
        refused = DaemonUnreachable(error["message"])
        if answer.get("nacre") == PROTOCOL:  # it understood us, and what we asked for is wrong
            refused.code = error["code"]
        raise refused
    version: str = answer["version"]
    return version


def read_greeting(line: bytes) -> None:
    """Check the daemon's answer; print a warning if its version differs.

    Raises as check_greeting does.
    """
    if (version := check_greeting(line)) != __version__:
        print(
            f"nacre: the daemon runs version {version}, this is {__version__}; "
            "'nacre stop' ends the old one, the next call starts the new one",
            file=sys.stderr,
        )


def was_stopped(paths: Paths) -> bool:
    """Return whether a daemon that closed its connections was stopped on purpose.

    A daemon that stops removes its state file and its socket before it closes its connections; one
    that was killed leaves them behind. Each of them alone may have been deleted by others.
    """
    return not (os.path.exists(paths.state_file) or os.path.exists(paths.socket))


def read_line(connection: socket.socket) -> tuple[bytes, bytes]:
    """Return the first line, which is incomplete if the daemon died, and what came after it."""
    head = b""
    while b"\n" not in head:
        try:
            part = connection.recv(_CHUNK)
        except ConnectionError:
            break
        if not part:
            break
        head += part
    line, end, rest = head.partition(b"\n")
    return line + end, rest
