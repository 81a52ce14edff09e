"""The operations on tokens: what programs and other machines come in with. For people alone."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation
from nacre.core.operations.results import Success

ScopeName = Literal["observe", "drive", "admin"]
_LONGEST = 10 * 366 * 86400  # seconds; nobody remembers longer what a token is for


class TokenFacts(Result, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a token. The token itself is not kept."""

    id: str
    name: str
    scope: str
    person: bool
    created: float  # seconds since the epoch
    expires: float | None = None  # the same
    sessions: list[str] | None = None


class TokenMade(Result, frozen=True, kw_only=True):
    token: str  # shown once
    facts: TokenFacts


class TokenList(Result, frozen=True, kw_only=True):
    tokens: list[TokenFacts]


@operation("create_token", "POST /tokens", result=TokenMade, scope=Scope.ADMIN)
class CreateToken(Operation, frozen=True, kw_only=True):
    """Make a token for a program or another machine. Only people can; it is shown once."""

    scope: Annotated[
        ScopeName,
        Meta(description="What its holder may do: each scope includes the ones before it."),
    ]
    name: Annotated[str, Meta(max_length=64, description="What it is for.")] = ""
    session_names: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=64)]],
            Meta(
                min_length=1,
                max_length=100,
                description="Names of the only sessions that its holder sees.",
            ),
        ]
        | None
    ) = None
    ttl: (
        Annotated[float, Meta(gt=0, le=_LONGEST, description="Seconds until it expires.")] | None
    ) = None
    person: Annotated[
        bool,
        Meta(description="Its holder is a person: they can log in on the web page, and take over."),
    ] = False


@operation("list_tokens", "GET /tokens", result=TokenList, scope=Scope.ADMIN, idempotent=True)
class ListTokens(Operation, frozen=True, kw_only=True):
    """List the tokens that were made: what each allows, and until when."""


@operation(
    "revoke_token",
    "POST /tokens/{token}/revoke",
    result=Success,
    scope=Scope.ADMIN,
    destructive=True,
)
class RevokeToken(Operation, frozen=True, kw_only=True):
    """Revoke a token, by its id or name. It is void at once, and its connections are closed."""

    token: Annotated[str, Meta(min_length=1, max_length=64, description="Its id or name.")]
