"""/metrics: what Prometheus asks for, with a token of any scope."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nacre.core.catalog.catalog import Operation, Result
from nacre.core.catalog.metering import CONTENT_TYPE
from nacre.core.operations.daemon import GetMetrics, MetricsText
from nacre.doors.http.exchange import route
from nacre.doors.rest.words import ROUTES
from nacre.services.dispatch.dispatch import Dispatch

PATH = "/metrics"


def metrics_route(dispatch: Dispatch) -> Route:
    async def build(request: Request) -> Operation:
        return GetMetrics()

    def shape(result: Result) -> Response:
        assert isinstance(result, MetricsText)
        return Response(result.text, headers={"Content-Type": CONTENT_TYPE})

    return route(dispatch, f"GET {PATH}", build, shape, words=ROUTES)
