"""The tools of one selection as MCP calls them, and how errors look.

Rule 1: an operation that failed or was refused is a result with isError. Only in toolset `terminal`
are bad parameters, unknown sessions and limits JSON-RPC errors; errors.WIRE says which is which.
Rule 2: a handler returns or raises nothing else: the SDK would put an exception's text on the wire.
Rule 3: no MCP library in here: a call is answered while that is still being loaded (late.py), and
without its cost. library/server.py is the other half.
"""

import logging
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import Any, Protocol

from msgspec import structs

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation
from nacre.core.catalog.limits import limits_of
from nacre.core.operations.upstream import CallUpstreamTool, UpstreamAnswer
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.progress import progress_told, tells
from nacre.doors.mcp.resources import scheme_of
from nacre.doors.mcp.tools.answers import shape_answer, shape_failure
from nacre.doors.mcp.tools.tool import Tool
from nacre.doors.mcp.upstream.addresses import with_our_links
from nacre.doors.mcp.words import ToolWords
from nacre.errors import WIRE, NacreError, UnknownOperation, UpstreamFailed
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.forwarding.relay import Relay, relay_of_call, relayed_by
from nacre.services.dispatch.log import unexpected
from nacre.settings.table import Settings
from nacre.wording import Words

_log = logging.getLogger("nacre.mcp")

_INTERNAL_ERROR = -32603

_CLIENTS_WAIT = 60  # seconds: the official TypeScript SDK's default for a call

UNNAMED = "unknown"  # the name of a client whose handshake an earlier daemon had

_NO_TOOLS = ToolWords({})  # for errors about a whole request


class Context(Protocol):
    """What a handler is told of a request, by the library or by the connection itself."""

    @property
    def request(self) -> Any: ...  # over HTTP

    @property
    def lifespan_context(self) -> Any: ...  # else: the caller

    @property
    def meta(self) -> Any: ...  # what the request says of itself: progress_token, if it has one

    @property
    def session(self) -> Any: ...  # whom report_progress tells


class ToolCall(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> dict[str, Any] | None: ...


CallTool = Callable[[Context, ToolCall], Awaitable[Any]]


class ProtocolError(Exception):
    """What the caller is told as a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def _unknown_tool(name: str, known: list[str]) -> UnknownOperation:
    likely = get_close_matches(name, known, n=1)
    meant = f"did you mean {likely[0]}? " if likely else ""
    return UnknownOperation(f"no tool named {name!r}", f"{meant}there are {', '.join(known)}")


def build_call_tool(dispatch: Dispatch, offers: Offers, settings: Settings) -> CallTool:
    """Return what answers tools/call with what is offered then. It raises ProtocolError."""
    prefix = offers.selection.prefix
    scheme = scheme_of(prefix)
    most = settings.max_result_chars
    before: tuple[Caller, Caller] | None = None  # the last one, and the same with its patience

    def patient(caller: Caller, patience: float | None) -> Caller:
        nonlocal before
        if before is None or before[0] is not caller or before[1].patience != patience:
            before = caller, structs.replace(caller, patience=patience, prefix=prefix)
        return before[1]

    async def call_tool(ctx: Context, params: ToolCall) -> Any:
        offer = offers.now
        tool = offer.find(params.name)
        if tool is None:
            raise as_protocol_error(_unknown_tool(params.name, list(offer.tools)))
        words = offer.words
        try:
            operation = tool.parse(params.arguments or {})
            wanted = (ctx.meta or {}).get("progress_token") is not None
            patience = _patience(operation, settings, progress=wanted)
            caller = patient(caller_of(ctx), patience)
            if isinstance(operation, CallUpstreamTool):
                told = ctx.session.report_progress if wanted else None
                relay = structs.replace(relay_of_call() or Relay(), progress=told)
                with relayed_by(relay):
                    answer = await dispatch.ask(caller, operation)
                shaped = shape_answer(answer, words, most, scheme)
                return _linked(shaped, answer.result, f"{scheme}://")
            if not (wanted and tells(operation)):
                answer = await dispatch.ask(caller, operation)
                return shape_answer(answer, words, most, scheme)
            interval = settings.progress_interval
            async with progress_told(ctx.session, dispatch, caller, operation, interval):
                answer = await dispatch.ask(caller, operation)
            return shape_answer(answer, words, most, scheme)
        except NacreError as error:
            return _failure_or_raise(error, offer.words_about[params.name], tool)
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
            failure = unexpected(_log, "tool failed outside its operation", tool=params.name)
            return _failure_or_raise(failure, offer.words_about[params.name], tool)

    return call_tool


def _linked(shaped: dict[str, Any], result: Any, root: str) -> dict[str, Any]:
    """Return a server's result whose links lead to our resources, where the server has some."""
    if isinstance(result, UpstreamAnswer) and result.server is not None:
        shaped["content"] = with_our_links(shaped["content"], root, result.server)
    return shaped


def caller_of(ctx: Context) -> Caller:
    """HTTP puts the caller on each request, the bridge's socket on the connection."""
    if ctx.request is not None:
        caller = ctx.request.scope["nacre.caller"]
        assert isinstance(caller, Caller)
        said = getattr(ctx.session, "client_params", None)
        if said is None or said.client_info.name == UNNAMED:
            return caller  # it is known by its User-Agent
        name = f"{said.client_info.name} {said.client_info.version}".strip()
        return structs.replace(caller, client=name)
    assert isinstance(ctx.lifespan_context, Caller)
    return ctx.lifespan_context


def _patience(operation: Operation, settings: Settings, *, progress: bool) -> float | None:
    """Return how long the client waits for the answer, as far as it can be known.

    Who asks for more than other clients wait, and for progress, is taken by their word.
    """
    longer = getattr(operation, "wait", 0) > _CLIENTS_WAIT or any(
        getattr(operation, limit.parameter) > _CLIENTS_WAIT * 1000
        for limit in limits_of(type(operation))
        if limit.deadline
    )
    return None if progress and longer else settings.answer_within or None


def _failure_or_raise(error: NacreError, words: Words, tool: Tool) -> dict[str, Any]:
    own = isinstance(error, UpstreamFailed)
    if not own and (WIRE[error.code].jsonrpc is None or not tool.raises):
        return shape_failure(words.error(error), words, as_text=tool.plain)
    raise as_protocol_error(error, words) from error


def as_protocol_error(error: NacreError, words: Words = _NO_TOOLS) -> ProtocolError:
    if isinstance(error, UpstreamFailed):  # a server's own error stays what it is
        own = error.details["upstream"]
        return ProtocolError(own["code"], own["message"], own.get("data"))
    told = words.error(error)
    return ProtocolError(WIRE[error.code].jsonrpc or _INTERNAL_ERROR, told["message"], told)
