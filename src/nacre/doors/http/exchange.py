"""One HTTP request and its answer: how a route calls an operation and shows its result."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nacre.core.catalog.catalog import Operation, Result
from nacre.doors.http.words import words_for
from nacre.errors import InvalidInput, NacreError, http_status
from nacre.services.dispatch.call import HandedOver
from nacre.services.dispatch.dispatch import Dispatch
from nacre.wording import OPERATIONS, Words

AnswerT = TypeVar("AnswerT")
Build = Callable[[Request], Awaitable[Operation]]
Shape = Callable[[Result], Response]

_CLIENT_GONE = 499  # nginx's number; nobody reads it


def route(
    dispatch: Dispatch,
    path: str,
    build: Build,
    shape: Shape | None = None,
    *,
    words: Words,
) -> Route:
    """Make a route: `build` reads the operation from a request, `shape` shows its result.

    `words` is how the door words errors and hints.
    """
    method, _, pattern = path.partition(" ")

    async def endpoint(request: Request) -> Response:
        caller = request.scope["nacre.caller"]
        own_words = words_for(caller, words)
        try:
            call = dispatch.ask(caller, await build(request))
            answer = await while_connected(request, call)
        except NacreError as error:
            return error_answer(error, own_words)
        if answer is None:
            return Response(status_code=_CLIENT_GONE)
        response = shape(answer.result) if shape else json_answer(answer.result, own_words)
        if answer.notices:
            response = _with_notice(response, "; ".join(answer.notices))
        return response if answer.told is None else _with_handover(response, answer.told)

    return Route(pattern, endpoint, methods=[method])


def _with_notice(response: Response, notice: str) -> Response:
    """Add what is to be said of the request itself: to a JSON object, else as a header."""
    if response.media_type == "application/json":
        shown = msgspec.json.decode(response.body)
        if isinstance(shown, dict):
            return json_answer({**shown, "notice": notice})
    response.headers["Nacre-Notice"] = _as_header(notice)
    return response


def _with_handover(response: Response, told: HandedOver) -> Response:
    """Add what a person did meanwhile: to a JSON object as `handover`, else as a header."""
    if response.media_type == "application/json":
        shown = msgspec.json.decode(response.body)
        if isinstance(shown, dict):
            # The result of `control` has such a field already, with the same hand-over.
            return json_answer({**shown, "handover": shown.get("handover") or told.as_dict()})
    response.headers["Nacre-Handover"] = _as_header(told.handover.in_words(told.session))
    return response


def _as_header(words: str) -> str:
    # A header can hold only Latin-1 (RFC 9110, section 5.5).
    return " ".join(words.encode("ascii", "replace").decode().split())


def as_status(word: str) -> Shape:
    """Add SILC's `status` to a result."""

    def shape(result: Result) -> Response:
        shown: dict[str, Any] = msgspec.to_builtins(result, enc_hook=OPERATIONS.encode)
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
    """Return the parameters in a body; none if it is empty.

    Raises InvalidInput when it is not a JSON object.
    """
    if not data.strip():
        return {}
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the body is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise InvalidInput("the body is not a JSON object", "send one with the parameters")
    return found


def json_answer(content: object, words: Words = OPERATIONS, status: int = 200) -> Response:
    body = msgspec.json.encode(content, enc_hook=words.encode)
    return Response(body, status, media_type="application/json")


def error_answer(error: NacreError, words: Words) -> Response:
    return json_answer({"error": words.error(error)}, words, http_status(error.code))


async def while_connected(request: Request, call: Coroutine[Any, Any, AnswerT]) -> AnswerT | None:
    """Run a call, and cancel it when its client disconnects: a wait may be long.

    Returns None if it was cancelled.
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
