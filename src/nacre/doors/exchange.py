"""One HTTP request and its answer: how a route asks for an operation and shows what came of it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nacre.core.catalog import Operation, Result
from nacre.errors import WIRE, InvalidInput, NacreError
from nacre.services.dispatch import Dispatch

Build = Callable[[Request], Awaitable[Operation]]
Shape = Callable[[Result], Response]

_CLIENT_GONE = 499  # nginx's number for it; nobody is there to read it


def route(dispatch: Dispatch, path: str, build: Build, shape: Shape | None = None) -> Route:
    """Make a route of an operation: `build` reads it from a request, `shape` shows its result."""
    method, _, pattern = path.partition(" ")

    async def endpoint(request: Request) -> Response:
        try:
            call = dispatch(request.scope["nacre.caller"], await build(request))
            result = await while_connected(request, call)
        except NacreError as error:
            return error_answer(error)
        if result is None:
            return Response(status_code=_CLIENT_GONE)
        return shape(result) if shape else json_answer(result)

    return Route(pattern, endpoint, methods=[method])


def as_status(word: str) -> Shape:
    """Show a result together with SILC's word for what was done."""

    def shape(result: Result) -> Response:
        shown: dict[str, Any] = msgspec.to_builtins(result)
        return json_answer({"status": word, **shown})

    return shape


async def read_body(request: Request, limit: int) -> bytes:
    """Raises InvalidInput as soon as the body is over the limit."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > limit:
            raise InvalidInput(f"the body is over {limit} bytes (max_message_bytes)")
    return bytes(data)


def decode_object(data: bytes) -> dict[str, Any]:
    """Return the parameters in a body; none when it is empty.

    Raises InvalidInput when it is not a JSON object.
    """
    if not data.strip():
        return {}
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the body is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise InvalidInput("the body must be a JSON object with the parameters")
    return found


def json_answer(content: object) -> Response:
    return Response(msgspec.json.encode(content), media_type="application/json")


def error_answer(error: NacreError) -> Response:
    body = msgspec.json.encode({"error": error.as_dict()})
    return Response(body, WIRE[error.code].http, media_type="application/json")


async def while_connected(request: Request, call: Coroutine[Any, Any, Result]) -> Result | None:
    """Give up a call whose client is gone: a wait may be long, and nobody would read its end.

    Returns None then.
    """
    running = asyncio.create_task(call)
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone = True
        running.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await running
    except asyncio.CancelledError:
        if gone:
            return None
        raise
    finally:
        watching.cancel()
