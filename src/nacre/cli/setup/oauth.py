"""One login by the official SDK's OAuth flow, with what that does not do by itself.

Rule 1: a person who asks for a login gets one, also at a server that refuses nothing before a tool
is called: its first answer is then taken for a refusal.
Rule 2: what a server has refused to the last login for want of a right (a scope) is asked for, with
all that was granted then (SEP-2350).
Rule 3: servers of revision 2025-03-26 have their metadata at the root of their own origin, whatever
path their issuer has; such an issuer is taken if it is of that very origin.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
)
from pydantic import AnyHttpUrl, AnyUrl

from nacre.system.upstreams.login_storage import LoginStorage

_METADATA = "/.well-known/oauth-authorization-server"
_BASIC, _POST = "client_secret_basic", "client_secret_post"


class PersonsLogin(OAuthClientProvider):
    def __init__(
        self,
        url: str,
        redirect: str,
        storage: LoginStorage,
        ask: Callable[[str], Awaitable[None]],
        answer: Callable[[], Awaitable[AuthorizationCodeResult]],
        *,
        scope: str | None,
        client_url: str | None,
    ) -> None:
        """`scope`: rights to ask for beside those that the server names. `client_url`: a client
        metadata document. Raises ValueError for one that is no https address with a path.
        """
        metadata = OAuthClientMetadata(
            redirect_uris=[AnyUrl(redirect)],
            client_name="nacre",
            token_endpoint_auth_method="none",  # noqa: S106  # we keep no secret
        )
        super().__init__(url, metadata, storage, ask, answer, client_metadata_url=client_url)
        storage.context = self.context
        self._insists = False  # take an answer that refuses nothing for a refusal
        self.insisted = False
        self.asked = False  # whether a person was
        self._scope = scope
        self._issuer: AnyHttpUrl | None = None  # the one that rule 3 is about
        self._registered: OAuthClientInformationFull | None = None

    def insist(self) -> None:
        """Log in though the server has refused nothing."""
        self._insists = self.insisted = True

    def use_client(self, client_id: str, secret: str) -> None:
        """Be a client that was registered beforehand."""
        self._registered = OAuthClientInformationFull(
            client_id=client_id,
            client_secret=secret or None,
            redirect_uris=self.context.client_metadata.redirect_uris,
            token_endpoint_auth_method=_BASIC if secret else "none",
        )

    async def _initialize(self) -> None:
        await super()._initialize()
        if self._registered is not None:
            self.context.client_info = self._registered
            await self.context.storage.set_client_info(self._registered)

    async def _perform_authorization_code_grant(self) -> tuple[str, str]:
        context = self.context
        context.client_metadata.scope = union_scopes(context.client_metadata.scope, self._scope)
        if self._registered is not None and self._registered.client_secret:
            offered = context.oauth_metadata and (
                context.oauth_metadata.token_endpoint_auth_methods_supported
            )
            if offered and _BASIC not in offered and _POST in offered:
                self._registered.token_endpoint_auth_method = _POST
                await context.storage.set_client_info(self._registered)
        self.asked = True
        return await super()._perform_authorization_code_grant()

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = super()._auth_flow(request)
        try:
            sent = await anext(flow)
            while True:
                answer = yield sent
                if sent is request and self._insists and answer.status_code != 401:
                    self._insists = False
                    answer = httpx2.Response(401, request=request)
                elif sent.url.path.startswith(_METADATA) and answer.status_code == 200:
                    answer = await self._of_this_origin(answer)
                sent = await flow.asend(answer)
                if self._issuer is not None and self.context.oauth_metadata is not None:
                    self.context.oauth_metadata.issuer = self._issuer
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    async def _of_this_origin(self, answer: httpx2.Response) -> httpx2.Response:
        """Return metadata that names the server's origin, where it has a path of that origin."""
        if self.context.auth_server_url is not None:  # the server names its authorization server
            return answer
        await answer.aread()
        try:
            told: Any = answer.json()
            issuer = urlsplit(str(told["issuer"]))
        except (ValueError, TypeError, KeyError):
            return answer
        own = urlsplit(self.context.server_url)
        if (issuer.scheme, issuer.netloc) != (own.scheme, own.netloc) or issuer.path in ("", "/"):
            return answer
        self._issuer = AnyHttpUrl(str(told["issuer"]))
        told["issuer"] = f"{own.scheme}://{own.netloc}"
        return httpx2.Response(200, json=told, request=answer.request)
