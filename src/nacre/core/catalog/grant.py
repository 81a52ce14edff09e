"""What a credential allows: what its holder may do, where, and until when."""

from msgspec import Struct

from nacre.core.catalog.caller import Scope


class Grant(Struct, frozen=True):
    scope: Scope = Scope.ADMIN
    person: bool = False  # its holder is a human at a page, not a program
    sessions: frozenset[str] | None = None  # names; None: all of them
    token: str = ""  # the id of the token that it comes from; "" for the daemon's own
    token_name: str = ""
    expires: float | None = None  # seconds since the epoch
