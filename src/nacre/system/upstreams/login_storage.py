"""A login's file as the official client's storage of tokens. It loads the MCP library.

Rule: with the tokens goes what is needed to renew them in another process: when they end, and what
the servers said of themselves.
"""

import time
from typing import TYPE_CHECKING

from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

from nacre.system.upstreams.logins import KeptLogin, LoginFile

if TYPE_CHECKING:
    from mcp.client.auth.oauth2 import OAuthContext
    from pydantic import BaseModel


class LoginStorage:
    def __init__(self, file: LoginFile, *, fresh: bool = False) -> None:
        """`fresh`: forget what is there: a login anew registers anew, for another redirect."""
        self._file = file
        self._kept = KeptLogin() if fresh else file.read() or KeptLogin()
        self.context: OAuthContext | None = None  # whose discoveries are kept

    async def get_tokens(self) -> OAuthToken | None:
        return OAuthToken.model_validate(self._kept.tokens) if self._kept.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Raises OSError."""
        kept = self._kept
        kept.tokens = _as_dict(tokens)
        kept.expires_at = None if tokens.expires_in is None else time.time() + tokens.expires_in
        if self.context is not None:
            if (issuer := self.context.oauth_metadata) is not None:
                kept.issuer = _as_dict(issuer)
            if (resource := self.context.protected_resource_metadata) is not None:
                kept.resource = _as_dict(resource)
        self._file.write(kept)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        found = self._kept.client
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._kept.client = _as_dict(client_info)

    def note_wanted(self, scope: str) -> None:
        """Keep what the server wants beyond what was granted. Raises OSError."""
        wanted = [*self._kept.wanted.split(), *scope.split()]
        self._kept.wanted = " ".join(dict.fromkeys(wanted))
        self._file.write(self._kept)

    def restore(self, context: "OAuthContext") -> None:
        """Put in what the library does not ask for: without it, it could not renew a token."""
        context.token_expiry_time = self._kept.expires_at
        if self._kept.issuer:
            context.oauth_metadata = OAuthMetadata.model_validate(self._kept.issuer)
        if self._kept.resource:
            found = ProtectedResourceMetadata.model_validate(self._kept.resource)
            context.protected_resource_metadata = found


def _as_dict(model: "BaseModel") -> "dict[str, object]":
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
