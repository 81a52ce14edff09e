"""The operations on tokens.

Rule: only people make, list and revoke them. An agent that could would get around its own limits,
or make itself a person.
"""

from collections.abc import Callable
from typing import Protocol

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import Success
from nacre.core.operations.safety.tokens import (
    CreateToken,
    ListTokens,
    RevokeToken,
    TokenFacts,
    TokenList,
    TokenMade,
)
from nacre.errors import Forbidden
from nacre.services.audit.audit import Audit
from nacre.services.dispatch.handlers import Handlers
from nacre.system.tokens import StoredToken, TokenStore


class EndConnections(Protocol):
    def __call__(self, token: str) -> None:
        """Close the connections that were opened with this token, by its id."""


class Tokens:
    def __init__(
        self, store: TokenStore, end_connections: EndConnections, audit: Audit | None = None
    ) -> None:
        self._store = store
        self._end_connections: Callable[[str], None] = end_connections
        self._audit = audit

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(CreateToken, self.create)
            .on(ListTokens, self.list)
            .on(RevokeToken, self.revoke)
        )

    async def create(self, caller: Caller, request: CreateToken) -> TokenMade:
        _require_person(caller)
        token, stored = self._store.create(
            scope=request.scope,
            name=request.name,
            sessions=request.session_names,
            person=request.person,
            lifetime=request.ttl,
        )
        self._note(caller, "created", stored)
        return TokenMade(token=token, facts=_facts(stored))

    async def list(self, caller: Caller, request: ListTokens) -> TokenList:
        _require_person(caller)
        return TokenList(tokens=[_facts(stored) for stored in self._store.all()])

    async def revoke(self, caller: Caller, request: RevokeToken) -> Success:
        _require_person(caller)
        known = {stored.id for stored in self._store.all()}
        try:
            stored = self._store.revoke(request.token)
        finally:
            # Also if the file could not be written: it is void from now on.
            for gone in known - {stored.id for stored in self._store.all()}:
                self._end_connections(gone)
        self._note(caller, "revoked", stored)
        return Success()

    def _note(self, caller: Caller, event: str, stored: StoredToken) -> None:
        if self._audit is not None:
            fields = {"event": event, "id": stored.id, "name": stored.name, "scope": stored.scope}
            limits = {"sessions": stored.sessions, "person": stored.person}
            self._audit.record("token", None, caller, {**fields, **limits})


def _require_person(caller: Caller) -> None:
    if not caller.person:
        raise Forbidden(
            "only people make and revoke tokens, not programs", "ask a person to run 'nacre token'"
        )


def _facts(stored: StoredToken) -> TokenFacts:
    return TokenFacts(
        id=stored.id,
        name=stored.name,
        scope=stored.scope,
        person=stored.person,
        created=stored.created,
        expires=stored.expires,
        sessions=stored.sessions,
    )
