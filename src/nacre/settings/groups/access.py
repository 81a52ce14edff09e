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
