"""What only one daemon can have: the lock, the socket, the port, the token, the state file."""

import errno
import json
import logging
import os
import re
import secrets
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nacre.client.lock import acquire, holders, holders_of_gone
from nacre.client.start import connect
from nacre.errors import DaemonRunning, DaemonUnreachable, Internal, InvalidInput
from nacre.settings.paths import Paths, SocketAddress
from nacre.settings.table import Settings
from nacre.system.private_files import private

if TYPE_CHECKING:
    import ssl

_log = logging.getLogger("nacre.daemon")

_BETWEEN = 0.25  # seconds between looks whether the one who holds the lock takes connections
# As long as the setting `token` asks for, and no longer than one header can be.
_SHORTEST_TOKEN, _LONGEST_TOKEN = 16, 4096
_TOKEN = re.compile(rb"[\x21-\x7e]{%d,%d}" % (_SHORTEST_TOKEN, _LONGEST_TOKEN))
_DELETE_TOKEN = "delete it, and a new token is created"  # noqa: S105  # a sentence

_PORT_TRIES = 100  # ports to try below the wanted one
_BACKLOG = 256  # connections that can wait while the daemon is loading


def take_lock(paths: Paths, *, patience: float, successor: bool = False) -> int:
    """Take the daemon's lock until this process ends; wait up to `patience` seconds for it.

    A `successor` has the keeper of an earlier daemon, and with it that daemon's lock.
    Raises DaemonRunning, which says who holds it and how to reach it.
    """
    until = time.monotonic() + patience
    while True:
        left = max(0.0, min(until - time.monotonic(), _BETWEEN))
        # A daemon whose folder was just deleted or renamed has locked that, and makes it again.
        if not successor and _is_new(paths) and holders_of_gone(paths):
            time.sleep(left)  # no event tells us: it may make the folder at any moment
        elif (lock := acquire(paths, patience=left)) is not None:
            return lock
        # A daemon whose socket was deleted makes it again: then there is nobody to wait for.
        if time.monotonic() >= until or _answers(paths):
            raise DaemonRunning(
                f"a daemon is already running ({_whereabouts(paths)}); use it, or stop it with "
                "'nacre stop'"
            )


def _is_new(paths: Paths) -> bool:
    """Return whether the state folder may just have been made: nothing of a daemon is in it."""
    return not (os.path.lexists(paths.token_file) or os.path.lexists(paths.state_file))


def _answers(paths: Paths) -> bool:
    try:
        connect(paths).close()
    except DaemonUnreachable:
        return False
    return True


def _whereabouts(paths: Paths) -> str:
    known = read_state(paths) or {}
    if (found := holders(paths) or holders_of_gone(paths)) and known.get("pid") not in found:
        known = {"pid": found[-1]}  # the file is of an earlier daemon: the disk was full
    pid = known.get("pid", "unknown")
    return (
        f"pid {pid}, port {known.get('port', 'unknown')}, socket {known.get('socket', 'unknown')}"
    )


def listen_local(path: str) -> socket.socket:
    """Listen on the Unix socket. Replace an old one, which is safe because we hold the lock."""
    if os.path.isdir(path) and not os.path.islink(path):
        put_aside(path)
    with suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Never closed: from Python 3.13 on the loop uses the bound path again later.
    listener.bind(SocketAddress(path).__enter__())
    os.chmod(path, 0o600)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


def make_way(folder: str) -> None:
    """Put aside what is no folder and stands in the place of one."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        put_aside(folder)


def put_aside(path: str) -> None:
    """Rename what stands where something of ours belongs; it may be somebody's, so it stays."""
    os.rename(path, f"{path}.aside-{os.getpid()}-{time.time_ns()}")


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


def listen_beyond(host: str, port: int) -> socket.socket:
    """Listen on another address than loopback. Raises InvalidInput when that is not possible."""
    import ipaddress  # few serve other machines

    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise InvalidInput(f"host is no address: {host!r}; give one such as 0.0.0.0") from None
    if address.is_loopback:
        raise InvalidInput("host is for other machines; the daemon serves loopback without it")
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise InvalidInput(f"cannot listen on {host} port {port}: {error.strerror}") from error
    listener.setblocking(False)
    return listener


def load_tls(settings: Settings, *, any_token: bool) -> "ssl.SSLContext":
    """Return what secures connections beyond loopback.

    Raises InvalidInput without a certificate and its key, and without a token that somebody knows.
    """
    import ssl  # it takes 20 ms, and few serve other machines

    if settings.tls_cert is None or settings.tls_key is None:
        raise InvalidInput(
            f"host is {settings.host}, which others can reach: set tls_cert and tls_key too, or "
            "leave host out and forward the port by ssh"
        )
    if not any_token:
        raise InvalidInput(
            f"host is {settings.host}, which others can reach: make a token first, with 'nacre "
            "token create' while host is not set, or set one (token)"
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2

    def ask_nobody() -> str:
        raise InvalidInput(
            f"the TLS key {settings.tls_key} has a passphrase, and nobody is there to type it when "
            "the daemon starts again: store it without one, for you alone (chmod 600)"
        )

    try:
        for path in (settings.tls_cert, settings.tls_key):
            with open(path, "rb"):  # or the library would not say which one
                pass
        if os.stat(settings.tls_key).st_mode & 0o077:
            raise InvalidInput(f"other users can read {settings.tls_key}; chmod 600 it")
        context.load_cert_chain(settings.tls_cert, settings.tls_key, ask_nobody)
    except ssl.SSLError as error:
        raise InvalidInput(
            f"the TLS certificate {settings.tls_cert} or its key {settings.tls_key} cannot be "
            f"used: {error.strerror or error}"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{error.filename} cannot be read: {error.strerror}") from error
    return context


def listen_ndjson(port: int) -> list[socket.socket]:
    """Listen on this port of 127.0.0.1 and, where there is one, of ::1. Raises Internal."""
    found: list[socket.socket] = []
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            # With its protocol named, else asyncio takes it for another and lets Nagle hold answers
            # back for 40 ms.
            listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        except OSError:  # no IPv6
            continue
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # inherited (tcp(7))
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRNOTAVAIL and found:
                continue  # IPv6 is there, but has no loopback
            for one in found:
                one.close()
            raise Internal(
                f"port {port} of the NDJSON door cannot be used: {error.strerror}; set "
                "NACRE_NDJSON_PORT to another one"
            ) from error
        listener.setblocking(False)
        found.append(listener)
        port = listener.getsockname()[1]  # with 0, the second takes the same
    return found


def load_token(path: str, given: str | None) -> str:
    """Return the given token, else the one in the file, which is created if it is missing.

    If it cannot be created (a full or read-only disk), the token is known to nobody: then the TCP
    doors open only to codes of the page, and the Unix socket needs no token.
    Raises InvalidInput when others can read the file, so that the token is no longer secret, and
    when there is no token in it.
    """
    if given is not None:
        return given
    token = secrets.token_urlsafe(32)
    try:
        store_token(path, token)
    except FileExistsError:
        return _token_in(path)
    return token


def store_token(path: str, token: str) -> None:
    """Write a new token file; a full or read-only disk is logged. Raises FileExistsError."""
    try:
        with open(path, "x", encoding="ascii", opener=private) as file:
            file.write(token + "\n")
    except FileExistsError:
        raise
    except OSError as error:
        _log.warning(
            "the token cannot be stored, so that programs cannot use it: make space, then restart "
            "the daemon",
            extra={"path": path, "error": str(error)},
        )
        with suppress(OSError):
            os.unlink(path)  # half a token would keep the next daemon from starting


def _token_in(path: str) -> str:
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            token = file.read(_LONGEST_TOKEN + 1).strip()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}; {_DELETE_TOKEN}") from error
    if mode & 0o077:
        raise InvalidInput(f"other users can read {path}; {_DELETE_TOKEN}")
    if not token:
        raise InvalidInput(f"{path} is empty; {_DELETE_TOKEN}")
    if not _TOKEN.fullmatch(token):
        raise InvalidInput(
            f"{path} holds no token: it must be one line of {_SHORTEST_TOKEN} to {_LONGEST_TOKEN} "
            f"visible ASCII characters without spaces; {_DELETE_TOKEN}"
        )
    return token.decode("ascii")


def write_state(paths: Paths, state: dict[str, Any]) -> bool:
    """Write where the daemon is, and return whether that worked: it only informs."""
    temporary = f"{paths.state_file}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8", opener=private) as file:
            json.dump(state, file)
        os.replace(temporary, paths.state_file)
    except OSError as error:
        _log.warning(
            "the state file cannot be written; clients find the socket without it",
            extra={"path": paths.state_file, "error": str(error)},
        )
        for stale in (temporary, paths.state_file):
            with suppress(OSError):
                os.unlink(stale)
        return False
    return True


def read_state(paths: Paths) -> dict[str, Any] | None:
    try:
        with open(paths.state_file, encoding="utf-8") as file:
            state = json.load(file)
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None


def remove_state(paths: Paths) -> None:
    for path in (paths.state_file, paths.socket):
        with suppress(OSError):
            os.unlink(path)
