"""Where the daemon listens, and who may come in."""

from typing import Annotated

import msgspec
from msgspec import Meta


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True):
    port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description=(
                "TCP port of the daemon on loopback. If it is taken, the daemon uses the next "
                "free port below it, because 20000 and up belong to sessions. 0: any free port."
            ),
        ),
    ] = 19999
    host: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description=(
                    "Address of a network interface to serve over TLS, beside loopback: 0.0.0.0 "
                    "or :: for all of them. It needs tls_cert, tls_key, and a token that somebody "
                    "made or set. Session ports stay on loopback."
                ),
            ),
        ]
        | None
    ) = None
    host_port: Annotated[
        int, Meta(ge=0, le=65535, description="TCP port for host. 0: any free port.")
    ] = 19443
    host_names: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description=(
                    "Names by which clients reach host, separated by commas. The address itself "
                    "always works; other names are refused (DNS rebinding)."
                ),
            ),
        ]
        | None
    ) = None
    tls_cert: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description="File with the TLS certificate for host, and those that vouch for it "
                "(PEM).",
            ),
        ]
        | None
    ) = None
    tls_key: (
        Annotated[
            str,
            Meta(min_length=1, description="File with the key of tls_cert (PEM), for you alone."),
        ]
        | None
    ) = None
    token: (
        Annotated[
            str,
            Meta(
                min_length=16,
                description=(
                    "Bearer token for the TCP doors, instead of the one in the token file. It "
                    "needs at least 16 characters, so that it cannot be guessed."
                ),
            ),
        ]
        | None
    ) = None
    max_wrong_tokens: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description=(
                "Wrong tokens per minute after which the page's login checks none for a while, and "
                "requests with a wrong one are answered late. This makes even a token of 16 "
                "characters impossible to guess."
            ),
        ),
    ] = 20
    wrong_token_delay: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds after which a request with a wrong token is answered, if there were more "
                "than max_wrong_tokens within a minute. The right token is never kept waiting."
            ),
        ),
    ] = 1.0
    max_tokens: Annotated[
        int,
        Meta(
            ge=1,
            le=10000,
            description=(
                "Most tokens that people can make (nacre token create). Each request looks for its "
                "own, and a list that nobody reads any more hides what is still in use."
            ),
        ),
    ] = 100
    token_rate: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Requests per minute with one of these tokens, over HTTP; more are refused (429) "
                "until there is room again. What is sent over an open WebSocket is not counted. 0: "
                "no limit."
            ),
        ),
    ] = 6000
    ticket_lifetime: Annotated[
        int,
        Meta(
            ge=1,
            le=3600,
            description=(
                "Seconds that a WebSocket ticket is valid. It is short because a ticket is part "
                "of an address, which may be logged, and clients ask for one just before they use "
                "it."
            ),
        ),
    ] = 30
    code_lifetime: Annotated[
        int,
        Meta(
            ge=1,
            le=86400,
            description=(
                "Seconds that the address printed by `nacre web` can be used to log in. It is "
                "long enough for a person to find their browser."
            ),
        ),
    ] = 600
