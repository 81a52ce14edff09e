"""The operations on the daemon itself, and on its page for people."""

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation, unlisted
from nacre.core.operations.parameters import (
    SessionRef,
)
from nacre.core.operations.results import (
    Status,
    Success,
)


@operation("status", "GET /status", result=Status, scope=Scope.OBSERVE, idempotent=True)
class GetStatus(Operation, frozen=True, kw_only=True):
    """Get the daemon's process id, port, number of sessions and version."""


@operation("stop", "POST /stop", result=Success, scope=Scope.ADMIN, destructive=True)
class StopDaemon(Operation, frozen=True, kw_only=True):
    """Stop the daemon and all sessions."""


@operation("upgrade", "POST /upgrade", result=Success, scope=Scope.ADMIN)
class UpgradeDaemon(Operation, frozen=True, kw_only=True):
    """Replace the daemon with the version that is installed now. Sessions do not notice."""


class PageAddress(Result, frozen=True, kw_only=True):
    url: str  # the login code stands after #, a part that browsers neither send nor log
    expires_in: int  # seconds


@operation("open_page", "POST /page", result=PageAddress, scope=Scope.ADMIN)
class OpenPage(Operation, frozen=True, kw_only=True):
    """Return an address of the web page that logs one browser in, once; optionally at a session.

    For people alone: everyone who opens it can see and drive every session.
    """

    session: SessionRef | None = None


class MetricsText(Result, frozen=True, kw_only=True):
    text: str  # in Prometheus' format


@unlisted("get_metrics", scope=Scope.OBSERVE)
class GetMetrics(Operation, frozen=True, kw_only=True):
    """Return the daemon's metrics; the route /metrics asks for it."""
