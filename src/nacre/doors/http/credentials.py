"""The credentials over TCP: the token, tokens that people made, a page's key, tickets and codes.

Rule 1: this file reads no clock; the caller passes one.
Rule 2: a page's key is not stored. It is a nonce and its HMAC (RFC 2104) under a secret that is for
this alone, so it outlives the daemon, and who has the token cannot make one: agents have it, and a
key is a person's. A key that a person's token was exchanged for is void when that token is.
Rule 3: one-time secrets are looked up by their hash, all others compared in constant time, so the
time of a refusal reveals nothing about the secret.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from msgspec.structs import replace

from nacre.core.catalog.grant import Grant
from nacre.doors.http.token_use import TokenUse
from nacre.settings.table import Settings

_TICKETS = 1000  # unused at the same time; with more, the oldest becomes invalid
_CODES = 100  # the same; a person asks for them one by one

_GUESS_SPAN = 60.0  # seconds in which `max_wrong_tokens` are checked

_LABEL = b"nacre page key 2\0"  # so that no other use of the secret gives the same HMAC

ValueT = TypeVar("ValueT")


SCRIPT = Grant()  # who has the daemon's token: a program, an agent's host
PAGE = Grant(person=True)  # a browser that a person logged in, by a code


class TokenBook(Protocol):
    """The tokens that people made."""

    def grant(self, bearer: str) -> Grant | None:
        """Return what a token allows; None if it is none, was revoked or is too old."""

    def granted_by(self, identifier: str) -> Grant | None:
        """Return what the token with this id allows now."""


class NoTokens:
    """A book without tokens."""

    def grant(self, bearer: str) -> Grant | None:
        return None

    def granted_by(self, identifier: str) -> Grant | None:
        return None


class OneTime(Generic[ValueT]):
    """Secrets that are valid once and for a limited time, each with its value."""

    def __init__(self, lifetime: float, capacity: int, clock: Callable[[], float]) -> None:
        self._lifetime = lifetime
        self._capacity = capacity
        self._clock = clock
        self._issued: dict[bytes, tuple[float, ValueT]] = {}  # the oldest first

    def issue(self, value: ValueT) -> str:
        while len(self._issued) >= self._capacity:
            del self._issued[next(iter(self._issued))]
        secret = secrets.token_urlsafe(24)
        self._issued[_digest(secret)] = (self._clock() + self._lifetime, value)
        return secret

    def redeem(self, secret: str) -> ValueT | None:
        """Return the value of a secret; None if it is unknown, used or too old."""
        expires, value = self._issued.pop(_digest(secret), (0.0, None))
        return value if self._clock() < expires else None


class Credentials:
    """All credentials of one daemon.

    `clock` counts seconds, `page_key` is what pages' keys are made of.
    """

    def __init__(
        self,
        token: str,
        clock: Callable[[], float],
        settings: Settings,
        *,
        page_key: bytes,
        tokens: TokenBook | None = None,
    ) -> None:
        self._token = token.encode()
        self._page_key = page_key
        self._tokens = tokens or NoTokens()
        self.use = TokenUse(clock, settings.token_rate)
        self.when_login: Callable[[Grant | None, str], None] = _nothing  # who came in, and by what
        self._clock = clock
        self.ticket_lifetime = settings.ticket_lifetime
        self._tickets: OneTime[Grant] = OneTime(settings.ticket_lifetime, _TICKETS, clock)
        self._codes: OneTime[Callable[[], None]] = OneTime(settings.code_lifetime, _CODES, clock)
        self._max_wrong = settings.max_wrong_tokens
        self.wrong_token_delay = settings.wrong_token_delay
        self._wrong: list[float] = []  # when tokens were wrong at a login
        self._wrong_bearers: list[float] = []  # and in requests; kept apart, or else a program with
        # an old token would keep people from logging in

    def grant(self, bearer: str) -> Grant | None:
        """Return what this token or key allows; None if it is neither."""
        if self.is_token(bearer):
            return SCRIPT
        if (made := self._tokens.grant(bearer)) is not None:
            return made
        nonce, _, proof = bearer.partition(".")
        if not hmac.compare_digest(_bytes(proof), self._proof(nonce).encode()):
            return None
        _, _, token = nonce.partition("~")
        return self._tokens.granted_by(token) if token else PAGE

    def hold(self, grant: Grant, task: "asyncio.Task[Any]") -> Callable[[], None]:
        """End a connection's task with the token that it came by; returns what forgets it."""
        if not grant.token:
            return lambda: None
        seconds = None if grant.expires is None else grant.expires - time.time()
        return self.use.hold(grant.token, task, seconds)

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(_bytes(given), self._token)

    def new_key(self, grant: Grant = PAGE) -> str:
        """Return a key for a person's page, which allows what they came with."""
        assert grant.person
        nonce = secrets.token_urlsafe(16) + (f"~{grant.token}" if grant.token else "")
        return f"{nonce}.{self._proof(nonce)}"

    def _proof(self, nonce: str) -> str:
        return hmac.new(self._page_key, _LABEL + _bytes(nonce), hashlib.sha256).hexdigest()

    # --- what is good once -----------------------------------------------------------------

    def new_ticket(self, grant: Grant) -> str:
        return self._tickets.issue(grant)

    def redeem_ticket(self, ticket: str) -> Grant | None:
        """Return what a ticket allows. It is void when the token is that it was given for."""
        grant = self._tickets.redeem(ticket)
        if grant is None or not grant.token:
            return grant
        now = self._tokens.granted_by(grant.token)
        return now and replace(now, person=grant.person)

    def new_code(self, used: Callable[[], None] = lambda: None) -> str:
        """Make a code; `used` is called when somebody logs in with it."""
        return self._codes.issue(used)

    def redeem_code(self, code: str) -> bool:
        """Check a code. There is no limit of attempts: codes cannot be guessed."""
        used = self._codes.redeem(code)
        if used is not None:
            used()
        return used is not None

    # --- logging in by token ---------------------------------------------------------------

    def seconds_to_wait(self) -> float:
        """Return for how long no token is checked, after too many wrong ones; mostly 0."""
        start = self._clock() - _GUESS_SPAN
        self._wrong = [moment for moment in self._wrong if moment > start]
        if len(self._wrong) < self._max_wrong:
            return 0.0
        return self._wrong[0] - start

    def note_wrong(self) -> bool:
        """Note a wrong token in a request; return whether there were too many lately."""
        now = self._clock()
        self._wrong_bearers = [
            moment for moment in self._wrong_bearers if moment > now - _GUESS_SPAN
        ]
        if len(self._wrong_bearers) >= self._max_wrong:
            return True
        self._wrong_bearers.append(now)
        return False

    def log_in(self, token: str) -> Grant | None:
        """Return what this token allows; None, and counted, if it is none."""
        grant = SCRIPT if self.is_token(token) else self._tokens.grant(token)
        if grant is None:
            self._wrong.append(self._clock())
        return grant


def _nothing(grant: Grant | None, by: str) -> None:
    return None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(_bytes(secret)).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
