"""The operations as REST below /api, one route each; openapi.py describes them.

Rule: routes and parameters come from the catalog; nothing is stated here a second time.
"""

import asyncio
from base64 import b64decode
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from nacre.core.catalog.catalog import Operation, Result, Spec, parse_parameters
from nacre.core.operations.all import CATALOG
from nacre.core.operations.results import PictureTaken
from nacre.doors.http.exchange import decode_object, read_body, route
from nacre.doors.http.guard import error_response
from nacre.doors.http.slashes import segments, shown_path
from nacre.doors.rest.openapi import PICTURES, describe, describe_as_page
from nacre.doors.rest.words import ROUTES
from nacre.errors import InvalidInput
from nacre.services.dispatch.dispatch import Dispatch

# The text in a picture comes from a program: if a browser shows it, nothing may run or load.
_PICTURE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

OPENAPI_PATH, DOCS_PATH = "/api/openapi.json", "/api/docs"


def build_routes(dispatch: Dispatch, *, max_body: int) -> list[Route]:
    routes = [_route(dispatch, spec, max_body) for spec in CATALOG.values()]
    pictures = [_picture_route(dispatch, form, max_body) for form in PICTURES]
    return [Route(OPENAPI_PATH, _openapi), Route(DOCS_PATH, _docs), *routes, *pictures]


async def _openapi(request: Request) -> Response:
    return JSONResponse(await _described())


async def _docs(request: Request) -> Response:
    return HTMLResponse(describe_as_page(await _described()))


async def _described() -> dict[str, Any]:
    """Describe the routes when somebody asks: it takes a tenth of a second, so not in the loop."""
    return await asyncio.to_thread(describe)


def _route(dispatch: Dispatch, spec: Spec, max_body: int) -> Route:
    method, _, path = spec.route.partition(" ")

    async def build(request: Request) -> Operation:
        return await _read(request, spec, max_body)

    return route(dispatch, f"{method} /api{path}", build, words=ROUTES)


def _picture_route(dispatch: Dispatch, form: str, max_body: int) -> Route:
    """Make the route that answers with the picture itself, not with JSON."""
    spec = CATALOG["screenshot"]
    method, _, path = spec.route.partition(" ")

    async def build(request: Request) -> Operation:
        request.path_params["format"] = form
        return await _read(request, spec, max_body)

    def shape(result: Result) -> Response:
        assert isinstance(result, PictureTaken)
        picture = b64decode(result.data) if form == "png" else result.data.encode()
        return Response(picture, media_type=PICTURES[form], headers=_PICTURE_HEADERS)

    return route(dispatch, f"{method} /api{path}.{form}", build, shape, words=ROUTES)


async def _read(request: Request, spec: Spec, max_body: int) -> Operation:
    """Collect the parameters from path, query and body; the path wins over the others."""
    query = dict(request.query_params)
    if request.method == "GET":
        return parse_parameters(spec.type, {**query, **segments(request.path_params)}, strict=False)
    if query:
        raise InvalidInput("this route takes no query", "put the parameters into the JSON body")
    body = decode_object(await read_body(request, max_body))
    return parse_parameters(spec.type, {**body, **segments(request.path_params)})


def not_found(request: Request, error: Exception) -> Response:
    return error_response(
        "UNKNOWN_OPERATION",
        f"no route {request.method} {shown_path(request.url.path)}; see {DOCS_PATH}",
        404,
    )


def wrong_method(request: Request, error: Exception) -> Response:
    return error_response(
        "UNKNOWN_OPERATION",
        f"{shown_path(request.url.path)} does not take {request.method}; see {DOCS_PATH}",
        405,
    )
