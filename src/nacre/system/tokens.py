"""The tokens that people made, on disk.

Rule 1: only a hash of a token is stored. It is random, so a plain hash is enough: nobody can guess
what it was made from (NIST SP 800-63B, 5.1.2.2, asks for more only of secrets that people choose).
Rule 2: the file is replaced as a whole, and is for its owner alone.
Rule 3: what is revoked or too old is nobody's from that moment on.
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress

import msgspec

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.grant import Grant
from nacre.errors import InvalidInput, LimitReached
from nacre.system.private_files import private, replace_private

_log = logging.getLogger("nacre.tokens")

_PREFIX = "nacre"  # so that a token is known for one, in a log or a leaked file
_TOKEN = re.compile(rf"{_PREFIX}_([0-9a-f]{{8}})_([A-Za-z0-9_-]{{43}})")
_SECRET_BYTES = 32


class StoredToken(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    digest: str  # SHA-256 of its secret part
    scope: str
    sessions: list[str] | None = None
    person: bool = False
    created: float  # seconds since the epoch
    expires: float | None = None

    def grant(self) -> Grant:
        sessions = None if self.sessions is None else frozenset(self.sessions)
        scope = Scope[self.scope.upper()]
        return Grant(scope, self.person, sessions, self.id, self.name, self.expires)


class TokenStore:
    """`clock` counts seconds since the epoch."""

    def __init__(self, path: str, clock: Callable[[], float], most: int) -> None:
        """Raises InvalidInput for a file that others can read, or that is none of ours."""
        self._path = path
        self._clock = clock
        self._most = most
        self._tokens = {token.id: token for token in _read(path)}

    def all(self) -> list[StoredToken]:
        """Return the tokens that can be used, the oldest first."""
        now = self._clock()
        return [one for one in self._tokens.values() if one.expires is None or one.expires > now]

    def create(
        self,
        *,
        scope: str,
        name: str,
        sessions: list[str] | None,
        person: bool,
        lifetime: float | None,
    ) -> tuple[str, StoredToken]:
        """Return a new token, which is stored nowhere, and what is stored of it.

        Raises LimitReached, and Internal when it cannot be stored.
        """
        kept = {one.id: one for one in self.all()}
        if len(kept) >= self._most:
            raise LimitReached(f"there are {self._most} tokens (max_tokens)", "revoke one of them")
        identifier, secret = secrets.token_hex(4), secrets.token_urlsafe(_SECRET_BYTES)
        now = self._clock()
        stored = StoredToken(
            id=identifier,
            name=name,
            digest=_digest(secret),
            scope=scope,
            sessions=sessions,
            person=person,
            created=now,
            expires=None if lifetime is None else now + lifetime,
        )
        self._replace({**kept, identifier: stored})
        return f"{_PREFIX}_{identifier}_{secret}", stored

    def revoke(self, reference: str) -> StoredToken:
        """Remove a token, by its id or name. Raises InvalidInput, and Internal as `create`.

        From here on it is nobody's, even if the file cannot be written.
        """
        found = [one for one in self.all() if reference in (one.id, one.name)]
        if len(found) != 1:
            told = "several tokens have the name" if found else "there is no token"
            raise InvalidInput(f"{told} {reference!r}", "name one by its id")
        kept = {one.id: one for one in self.all() if one.id != found[0].id}
        self._tokens = kept
        self._replace(kept)
        return found[0]

    def grant(self, bearer: str) -> Grant | None:
        """Return what a token allows; None if it is none, was revoked or is too old."""
        parts = _TOKEN.fullmatch(bearer)
        if parts is None:
            return None
        found = self.granted_by(parts[1])
        digest = self._tokens[parts[1]].digest if found else ""
        return found if hmac.compare_digest(_digest(parts[2]), digest) else None

    def granted_by(self, identifier: str) -> Grant | None:
        """Return what the token with this id allows now."""
        stored = self._tokens.get(identifier)
        if stored is None or (stored.expires is not None and stored.expires <= self._clock()):
            return None
        return stored.grant()

    def _replace(self, tokens: dict[str, StoredToken]) -> None:
        content = msgspec.json.format(msgspec.json.encode(list(tokens.values()))) + b"\n"
        replace_private(self._path, content, "the tokens")
        self._tokens = tokens


def load_page_key(path: str) -> bytes:
    """Return the secret under which pages get their keys; it is made if it is missing.

    Not the token: whoever has that could make a person's key. If it cannot be stored, it is
    forgotten with the daemon, and people log in again.
    Raises InvalidInput when others can read it.
    """
    with suppress(FileNotFoundError):
        key = _private_bytes(path).strip()
        if len(key) >= _SECRET_BYTES:
            return key
    key = secrets.token_urlsafe(_SECRET_BYTES).encode()
    try:
        with open(path, "wb", opener=private) as file:
            file.write(key + b"\n")
    except OSError as error:
        _log.warning("the key of the page cannot be stored", extra={"error": str(error)})
    return key


def _read(path: str) -> list[StoredToken]:
    try:
        data = _private_bytes(path)
    except FileNotFoundError:
        return []
    try:
        return msgspec.json.decode(data, type=list[StoredToken])
    except msgspec.DecodeError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}; delete it, and make new tokens"
        ) from error


def _private_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise InvalidInput(f"other users can read {path}; delete it")
        return file.read()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
