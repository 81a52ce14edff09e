"""What a caller can ask of the page for people: its address, for one browser."""

from nacre.core.caller import Scope
from nacre.core.catalog import Operation, Result, operation
from nacre.core.parameters import SessionRef


class PageAddress(Result, frozen=True, kw_only=True):
    url: str  # the code that lets a browser in stands behind #, which no browser sends or logs
    expires_in: int  # seconds


@operation("open_page", "POST /page", result=PageAddress, scope=Scope.ADMIN)
class OpenPage(Operation, frozen=True, kw_only=True):
    """Return the page's address with a code that lets one browser in, once; with a session, there.

    For a person: whoever opens it sees and drives every session.
    """

    session: SessionRef | None = None
