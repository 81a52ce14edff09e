"""What only one daemon can have: the lock, the socket, the port, the token, the state file."""

import fcntl
import json
import os
import secrets
import socket
from contextlib import suppress
from typing import Any

from nacre.client.lock import lock_within
from nacre.errors import DaemonRunning, Internal, InvalidInput
from nacre.settings.paths import Paths, SocketAddress

_PORT_TRIES = 100  # ports to try below the wanted one
_BACKLOG = 256  # connections that can wait while the daemon is loading


def take_lock(paths: Paths, *, patience: float) -> int:
    """Take the daemon's lock until this process ends; wait up to `patience` seconds for it.

    Raises DaemonRunning, which says who holds it.
    """
    descriptor = os.open(paths.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        lock_within(descriptor, fcntl.LOCK_EX, patience)
    except OSError:
        os.close(descriptor)
        holder = read_state(paths) or {}
        raise DaemonRunning(
            f"a daemon is already running (pid {holder.get('pid', 'unknown')}, "
            f"port {holder.get('port', 'unknown')}); use it, or stop it with 'nacre stop'"
        ) from None
    return descriptor


def listen_local(path: str) -> socket.socket:
    """Listen on the Unix socket. Replace an old one, which is safe because we hold the lock."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Never closed: from Python 3.13 on the loop uses the bound path again later.
    listener.bind(SocketAddress(path).__enter__())
    os.chmod(path, 0o600)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


def listen_loopback(port: int) -> socket.socket:
    """Listen on the port, or on the next free one below it. Raises Internal when there is none."""
    for candidate in [0] if port == 0 else range(port, max(1023, port - _PORT_TRIES), -1):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", candidate))
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            continue
        listener.setblocking(False)
        return listener
    raise Internal(f"no free port at or below {port}; set NACRE_PORT to another one")


def load_token(path: str, given: str | None) -> str:
    """Return the given token, else the one in the file, which is created if it is missing.

    Raises InvalidInput when others can read the file: then the token is no longer secret.
    """
    if given is not None:
        return given
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        if os.stat(path).st_mode & 0o077:
            raise InvalidInput(
                f"other users can read {path}; delete it, and a new token is created"
            ) from None
        with open(path, encoding="utf-8") as file:
            token = file.read().strip()
        if not token:
            raise InvalidInput(f"{path} is empty; delete it, and a new token is created") from None
        return token
    token = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(token + "\n")
    return token


def write_state(paths: Paths, state: dict[str, Any]) -> None:
    temporary = f"{paths.state_file}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(temporary, paths.state_file)


def read_state(paths: Paths) -> dict[str, Any] | None:
    try:
        with open(paths.state_file, encoding="utf-8") as file:
            state = json.load(file)
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None


def remove_state(paths: Paths) -> None:
    for path in (paths.state_file, paths.socket):
        with suppress(FileNotFoundError):
            os.unlink(path)
