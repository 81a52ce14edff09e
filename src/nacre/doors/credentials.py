"""What proves who may come in over TCP: the token, a page's key, tickets and login codes.

Rule 1: this file reads no clock of its own: one is handed in.
Rule 2: a page's key is not stored. It is a nonce and its HMAC under the token (RFC 2104), so that
it outlives the daemon, and is void as soon as the token is another.
Rule 3: what is good once is looked up by its hash, everything else compared in constant time: how
long a refusal takes tells nothing about the secret.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from nacre.config import Settings

_TICKETS = 1000  # unused at once; beyond it the oldest is void
_CODES = 100  # the same; a person asks for them one by one

_GUESS_SPAN = 60.0  # seconds in which `max_wrong_tokens` are looked at

_LABEL = b"nacre page key 1\0"  # no other use of the token makes the same HMAC

ValueT = TypeVar("ValueT")


class Holder(Enum):
    """Whose a credential is."""

    SCRIPT = "script"  # has the token: a program, an agent's host
    PAGE = "page"  # was let in by a person


class OneTime(Generic[ValueT]):
    """Secrets that are good once and for a while, each with what it stands for."""

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
        """Return what a secret stands for; None when it is unknown, used or too old."""
        expires, value = self._issued.pop(_digest(secret), (0.0, None))
        return value if self._clock() < expires else None


class Credentials:
    """All that is good for coming in; `clock` counts seconds."""

    def __init__(self, token: str, clock: Callable[[], float], settings: Settings) -> None:
        self._token = token.encode()
        self._clock = clock
        self.ticket_lifetime = settings.ticket_lifetime
        self._tickets: OneTime[Holder] = OneTime(settings.ticket_lifetime, _TICKETS, clock)
        self._codes: OneTime[Callable[[], None]] = OneTime(settings.code_lifetime, _CODES, clock)
        self._max_wrong = settings.max_wrong_tokens
        self._wrong: list[float] = []  # when tokens were wrong at a login

    def holder(self, bearer: str) -> Holder | None:
        """Tell whose token or key this is; None when it is neither."""
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
        """Make a code; `used` is called when somebody comes in by it."""
        return self._codes.issue(used)

    def redeem_code(self, code: str) -> bool:
        """Never refused for others' wrong ones: a code is random and cannot be found by trying."""
        used = self._codes.redeem(code)
        if used is not None:
            used()
        return used is not None

    # --- logging in by token ---------------------------------------------------------------

    def seconds_to_wait(self) -> float:
        """Return how long no token is looked at, after too many wrong ones; mostly 0."""
        start = self._clock() - _GUESS_SPAN
        self._wrong = [moment for moment in self._wrong if moment > start]
        if len(self._wrong) < self._max_wrong:
            return 0.0
        return self._wrong[0] - start

    def log_in(self, token: str) -> bool:
        """Tell whether this is the token, and count it when it is not."""
        if self.is_token(token):
            return True
        self._wrong.append(self._clock())
        return False


def _digest(secret: str) -> bytes:
    return hashlib.sha256(_bytes(secret)).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
