"""The lock and the sockets of a daemon: those of the daemon before it, or new ones.

Rule: what is new goes to the keeper at once, so that the next daemon finds it there.
"""

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from nacre.client.lock import is_lock_of
from nacre.settings.paths import Paths
from nacre.settings.table import Settings
from nacre.system.endpoints import (
    listen_beyond,
    listen_local,
    listen_loopback,
    listen_ndjson,
    load_tls,
    take_lock,
)
from nacre.system.keeper.client import Keeping
from nacre.system.tokens import TokenStore

if TYPE_CHECKING:
    import ssl


_EVERYWHERE = (None, "0.0.0.0", "::")  # noqa: S104  # no address of ours, but all of them


class Listeners(Struct, frozen=True):
    """The sockets that a daemon listens on."""

    local: socket.socket
    loopback: socket.socket
    ndjson: list[socket.socket]  # none if that door is off
    beyond: "tuple[socket.socket, ssl.SSLContext] | None"  # what other machines reach

    @property
    def port(self) -> int:
        """The port of the HTTP door."""
        number: int = self.loopback.getsockname()[1]
        return number

    @property
    def ndjson_port(self) -> int | None:
        return self.ndjson[0].getsockname()[1] if self.ndjson else None

    @property
    def of_http(self) -> list[socket.socket]:
        return [self.loopback, *(() if self.beyond is None else (self.beyond[0],))]

    def beyond_url(self, settings: Settings) -> str:
        """Return the address for other machines; empty if there is none, or only they know it."""
        names = [
            name for given in (settings.host_names or "").split(",") if (name := given.strip())
        ]
        if self.beyond is None or not (names or settings.host not in _EVERYWHERE):
            return ""
        name = names[0] if names else settings.host or ""
        port = self.beyond[0].getsockname()[1]
        return f"https://{f'[{name}]' if ':' in name else name}:{port}"

    def keep(self, keeping: Keeping) -> None:
        """Give them to a keeper that took another one's place; the local one may have changed."""
        keeping.keep("loopback", self.loopback.fileno())
        if self.beyond is not None:
            keeping.keep("beyond", self.beyond[0].fileno())
        for index, listener in enumerate(self.ndjson):
            keeping.keep(f"ndjson/{index}", listener.fileno())


def lock_home(keeping: Keeping, kept: dict[str, int], paths: Paths, *, patience: float) -> int:
    """Return the lock that an earlier daemon took, if its folder still exists, or take it.

    Raises DaemonRunning when another daemon holds it for longer than `patience` seconds.
    """
    if (kept_lock := kept.pop("lock", None)) is not None:
        if is_lock_of(paths, kept_lock):
            return kept_lock
        os.close(kept_lock)
    lock = take_lock(paths, patience=patience, successor=kept_lock is not None)
    keeping.keep("lock", lock)
    return lock


def listen(
    settings: Settings, paths: Paths, keeping: Keeping, kept: dict[str, int], tokens: TokenStore
) -> Listeners:
    """Listen where the settings say. What an earlier daemon kept is taken out of `kept`.

    Raises InvalidInput if listening for other machines is unsafe, Internal if a port is taken.
    """
    beyond = _beyond(settings, keeping, kept, tokens)
    local = _listener(keeping, kept, "local", lambda: listen_local(paths.socket))
    loopback = _listener(keeping, kept, "loopback", lambda: listen_loopback(settings.port))
    return Listeners(local, loopback, _ndjson(settings, keeping, kept), beyond)


def _listener(
    keeping: Keeping, kept: dict[str, int], key: str, listen: Callable[[], socket.socket]
) -> socket.socket:
    """Use the socket that an earlier daemon listened on, or listen on a new one."""
    if (descriptor := kept.pop(key, None)) is not None:
        return socket.socket(fileno=descriptor)
    listener = listen()
    keeping.keep(key, listener.fileno())
    return listener


def _beyond(
    settings: Settings, keeping: Keeping, kept: dict[str, int], tokens: TokenStore
) -> "tuple[socket.socket, ssl.SSLContext] | None":
    """Listen for other machines, if the settings say so. Raises InvalidInput if that is unsafe."""
    if settings.host is None:
        if (descriptor := kept.pop("beyond", None)) is not None:
            os.close(descriptor)
            keeping.drop("beyond")
        return None
    known = settings.token is not None or bool(tokens.all())
    context = load_tls(settings, any_token=known)
    host, port = settings.host, settings.host_port
    return _listener(keeping, kept, "beyond", lambda: listen_beyond(host, port)), context


def _ndjson(settings: Settings, keeping: Keeping, kept: dict[str, int]) -> list[socket.socket]:
    """Return the sockets of the NDJSON door, those of an earlier daemon first; none if it is off.

    Raises Internal when the port is taken.
    """
    found = [socket.socket(fileno=kept.pop(key)) for key in sorted(kept) if key[:7] == "ndjson/"]
    if not settings.ndjson_enabled:
        for listener in found:
            listener.close()
        keeping.drop("ndjson/")
        return []
    found = found or listen_ndjson(settings.ndjson_port)
    for index, listener in enumerate(found):
        keeping.keep(f"ndjson/{index}", listener.fileno())
    return found
