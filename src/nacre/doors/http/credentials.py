"""The credentials over TCP: the token, a page's key, tickets and login codes.

Rule 1: this file reads no clock; the caller passes one.
Rule 2: a page's key is not stored. It is a nonce and its HMAC under the token (RFC 2104), so it
outlives the daemon and becomes invalid when the token changes.
Rule 3: one-time secrets are looked up by their hash, all others compared in constant time, so the
time of a refusal reveals nothing about the secret.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from nacre.settings.table import Settings

_TICKETS = 1000  # unused at the same time; with more, the oldest becomes invalid
_CODES = 100  # the same; a person asks for them one by one

_GUESS_SPAN = 60.0  # seconds in which `max_wrong_tokens` are checked

_LABEL = b"nacre page key 1\0"  # so that no other use of the token gives the same HMAC

ValueT = TypeVar("ValueT")


class Holder(Enum):
    """Who holds a credential."""

    SCRIPT = "script"  # has the token: a program, an agent's host
    PAGE = "page"  # a browser that a person logged in


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
    """All credentials of one daemon; `clock` counts seconds."""

    def __init__(self, token: str, clock: Callable[[], float], settings: Settings) -> None:
        self._token = token.encode()
        self._clock = clock
        self.ticket_lifetime = settings.ticket_lifetime
        self._tickets: OneTime[Holder] = OneTime(settings.ticket_lifetime, _TICKETS, clock)
        self._codes: OneTime[Callable[[], None]] = OneTime(settings.code_lifetime, _CODES, clock)
        self._max_wrong = settings.max_wrong_tokens
        self.wrong_token_delay = settings.wrong_token_delay
        self._wrong: list[float] = []  # when tokens were wrong at a login
        self._wrong_bearers: list[float] = []  # and in requests; kept apart, or else a program with
        # an old token would keep people from logging in

    def holder(self, bearer: str) -> Holder | None:
        """Return who holds this token or key; None if it is neither."""
        if self.is_token(bearer):
            return Holder.SCRIPT
        nonce, _, proof = bearer.partition(".")
        known = hmac.compare_digest(_bytes(proof), self._proof(nonce).encode())
        return Holder.PAGE if known else None

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(_bytes(given), self._token)

    def new_key(self) -> str:
        nonce = secrets.token_urlsafe(16)
        return f"{nonce}.{self._proof(nonce)}"

    def _proof(self, nonce: str) -> str:
        return hmac.new(self._token, _LABEL + _bytes(nonce), hashlib.sha256).hexdigest()

    # --- what is good once -----------------------------------------------------------------

    def new_ticket(self, holder: Holder) -> str:
        return self._tickets.issue(holder)

    def redeem_ticket(self, ticket: str) -> Holder | None:
        return self._tickets.redeem(ticket)

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

    def log_in(self, token: str) -> bool:
        """Return whether this is the token; count it if it is not."""
        if self.is_token(token):
            return True
        self._wrong.append(self._clock())
        return False


def _digest(secret: str) -> bytes:
    return hashlib.sha256(_bytes(secret)).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
