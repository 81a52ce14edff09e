"""Requests to a remote server with the tokens of a login, which a person made before.

Rule 1: nobody is asked here: a token is used, and renewed when it has ended or is refused. Where
that does not help, the refusal goes to whoever connects, who says how to log in. A call that needs
more rights than were granted is refused, too; what it needs is kept for the next login.
Rule 2: of one server there is one of these, for all connections: a token may be renewed only once.
"""

from collections.abc import AsyncGenerator
from contextlib import suppress

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth, extract_scope_from_www_auth
from mcp.shared.auth import OAuthClientMetadata

from nacre.system.upstreams.login_storage import LoginStorage
from nacre.system.upstreams.logins import LoginFile

_REVISION = "mcp-protocol-version"


def lacking_scope(answer: httpx2.Response) -> str | None:
    """Return the rights that a request was refused for; None if it was not for that."""
    if answer.status_code != 403:
        return None
    if extract_field_from_www_auth(answer, "error") != "insufficient_scope":
        return None
    return extract_scope_from_www_auth(answer) or ""


class StoredLogin(OAuthClientProvider):
    def __init__(self, url: str, file: LoginFile) -> None:
        self._storage = LoginStorage(file)
        # It never asks anybody, so there is nowhere to be sent back to.
        metadata = OAuthClientMetadata(redirect_uris=None, client_name="nacre")
        super().__init__(url, metadata, self._storage)
        self._storage.context = self.context

    async def _initialize(self) -> None:
        await super()._initialize()
        self._storage.restore(self.context)

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        context = self.context
        async with context.lock:
            if not self._initialized:
                await self._initialize()
            context.protocol_version = request.headers.get(_REVISION)
            if not context.is_token_valid() and context.can_refresh_token():
                renewed = yield await self._refresh_token()
                await self._handle_refresh_response(renewed)
            used = context.current_tokens
        self._add_auth_header(request)
        # Not under the lock: an answer may take as long as its call.
        answer = yield request
        if (scope := lacking_scope(answer)) is not None:
            with suppress(OSError):  # the login then asks for what it asked for before
                self._storage.note_wanted(scope)
        if answer.status_code != 401:
            return
        async with context.lock:
            if context.current_tokens is used:  # else another request has renewed it meanwhile
                if not context.can_refresh_token():
                    return
                renewed = yield await self._refresh_token()
                await self._handle_refresh_response(renewed)
        if context.current_tokens is not None:
            self._add_auth_header(request)
            yield request
