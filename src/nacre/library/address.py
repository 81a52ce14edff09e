"""Where a daemon is: in this user's folders, in a home of its own, or at an address.

Rule 1: without an address, a daemon is started if none runs, as the command line does.
Rule 2: a token is sent to its address alone, never written anywhere.
"""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, urlsplit

from nacre.client.missing_socket import made_again
from nacre.client.start import START_PATIENCE, connect, connect_or_start
from nacre.errors import DaemonUnreachable, InvalidInput
from nacre.settings.paths import Paths, find_paths


@dataclass(frozen=True, slots=True)
class WebAddress:
    """A daemon's socket for programs (/ws/json), and the token that opens it."""

    url: str
    token: str

    def raw(self, session: str | int) -> "WebAddress":
        """Return the address of the bytes of a session's terminal."""
        return replace(self, url=f"{self.url.removesuffix('json')}raw/{quote(str(session))}")

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True, slots=True)
class LocalAddress:
    """A daemon on this machine, by its Unix socket."""

    home: str | None = None  # NACRE_HOME; None: as the environment says
    start: bool = True
    environ: Mapping[str, str] | None = None  # in place of ours, for a daemon that is started

    def connect(self) -> socket.socket:
        """Raises DaemonUnreachable."""
        env = self._environment()
        if self.start:
            return connect_or_start(self.paths, env)
        return connect(self.paths, patience=START_PATIENCE)

    @property
    def paths(self) -> Paths:
        return find_paths(self._environment())

    def _environment(self) -> dict[str, str]:
        env = dict(os.environ if self.environ is None else self.environ)
        if self.home is not None:
            env["NACRE_HOME"] = os.path.abspath(self.home)
        return env

    def web(self, url: str) -> WebAddress:
        """Return the same daemon's address for events. Raises DaemonUnreachable."""
        path = self.paths.token_file
        try:
            token = made_again(self.paths, lambda: _read(path), START_PATIENCE)
        except OSError as error:
            raise DaemonUnreachable(
                f"the daemon's token cannot be read: {path}: {error.strerror}"
            ) from error
        if token is None:
            raise DaemonUnreachable(f"the daemon's token is missing: {path}; is it running?")
        return WebAddress(socket_url(url), token)


def _read(path: str) -> str | None:
    """Return a token; None if its file is missing."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return None


Address = LocalAddress | WebAddress


def address_of(
    url: str | None, token: str | None, home: str | os.PathLike[str] | None, *, start: bool
) -> Address:
    """Raises InvalidInput for a url without token, a token without url, or both url and home."""
    if url is None:
        if token is not None:
            raise InvalidInput("a token needs a url", "give the daemon's address as url")
        return LocalAddress(None if home is None else os.fspath(home), start)
    if home is not None:
        raise InvalidInput("url and home name two daemons", "give one of them")
    if not token:
        raise InvalidInput("a url needs a token", "'nacre status' says where it is")
    return WebAddress(socket_url(url), token)


def socket_url(url: str) -> str:
    parts = urlsplit(url)
    schemes = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
    if parts.scheme not in schemes or not parts.netloc:
        raise InvalidInput(
            f"{url!r} is no address of a daemon", "it begins with http:// or https://"
        )
    return f"{schemes[parts.scheme]}://{parts.netloc}/ws/json"
