"""Refuse what a caller's scope does not allow, and what its token no longer does.

Rule 1: a call ends with the token that it came by, whatever it waits for: nothing is typed for a
token that is revoked or has expired. The doors close connections; not every call ends with its own.
Rule 2: a token that another host of the cluster vouches for is that host's, and ends there.
"""

import asyncio
import time
from typing import Any, Protocol

from nacre.core.catalog.grant import Grant
from nacre.errors import Forbidden
from nacre.services.dispatch.call import Call, Onward


class GrantedTokens(Protocol):
    """The tokens that people made."""

    def granted_by(self, identifier: str) -> Grant | None:
        """Return what the token with this id allows now; None if it is none any more."""


class Authorise:
    def __init__(self, tokens: GrantedTokens | None = None) -> None:
        self._tokens = tokens
        self._open: dict[str, set[asyncio.Timeout]] = {}  # of calls, by their token

    async def __call__(self, call: Call, onward: Onward) -> Any:
        """Raises Forbidden."""
        needed, given = call.spec.scope_of(call.operation), call.caller.scope
        if given < needed:
            raise Forbidden(
                f"this needs the scope {needed.name.lower()}, but "
                f"this token has {given.name.lower()}"
            )
        if self._tokens is None or not call.caller.token or call.caller.via:
            return await onward(call)
        return await self._while_valid(self._tokens, call, onward)

    def end(self, token: str) -> None:
        """End the calls of a token that was revoked."""
        now = asyncio.get_running_loop().time()
        for validity in self._open.get(token, ()):
            validity.reschedule(now)

    async def _while_valid(self, tokens: GrantedTokens, call: Call, onward: Onward) -> Any:
        token = call.caller.token
        grant = tokens.granted_by(token)
        if grant is None:
            raise _void()
        ends = None
        if grant.expires is not None:
            ends = asyncio.get_running_loop().time() + grant.expires - time.time()
        try:
            async with asyncio.Timeout(ends) as validity:
                self._open.setdefault(token, set()).add(validity)
                return await onward(call)
        except TimeoutError as error:
            if not validity.expired():
                raise
            raise _void() from error
        finally:
            others = self._open[token]
            others.discard(validity)
            if not others:
                del self._open[token]


def _void() -> Forbidden:
    return Forbidden("the token was revoked or has expired", "use another")
