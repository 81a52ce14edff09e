"""The MCP server of one selection: its tools, prompts and resources, and how errors look.

Rule 1: bad parameters, unknown sessions and limits are JSON-RPC errors; what ran and failed is a
result with isError. errors.WIRE says which is which.
Rule 2: nothing but these two leaves a handler: the SDK would put an exception's text on the wire.
Rule 3: what is advertised is what is done: of lists only that of the resources changes.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from nacre import __version__
from nacre.core.caller import Caller
from nacre.doors.mcp.prompts import get_prompt, list_prompts
from nacre.doors.mcp.resources import Resources
from nacre.doors.mcp.subscriptions import Subscriptions
from nacre.doors.mcp.toolsets import Selection, add_handover, shape_failure, shape_result
from nacre.errors import WIRE, Internal, InvalidInput, NacreError
from nacre.services.dispatch import Dispatch

_log = logging.getLogger("nacre.mcp")

_METHOD_NOT_FOUND, _INVALID_PARAMS, _INTERNAL_ERROR = -32601, -32602, -32603

_MOST_WRONG = 3  # things told of one request: the first says it, the rest often follows from it

_INSTRUCTIONS = {
    "terminal": "{p}create_session starts a session (a shell, or any program), {p}run_command "
    "types a command and returns the screen at its end, {p}send_input types keys into whatever "
    "runs there (end a line with \\r; \\u0003 is Ctrl+C), {p}get_screen and {p}get_scrollback "
    "read it, {p}await_quiesce waits.",
    "shell": "{p}start_session starts a shell, {p}run runs a command and returns its output and "
    "exit code, {p}send types a line into whatever runs there, {p}send_key presses a key (ctrl+c), "
    "{p}read and {p}get_status tell what is there.",
    "extra": "{p}wait_for waits for text, a state or an end; {p}read_run reads a long output; "
    "{p}screenshot shows a session as a picture; {p}screen_at an earlier screen; "
    "{p}export_recording writes an asciicast.",
}

Context = ServerRequestContext[Any, Any]


class _Server(Server[Any]):
    """The SDK's server; it would advertise either all lists as changing or none."""

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        told = super().get_capabilities(
            NotificationOptions(resources_changed=True),
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
        told.prompts = types.PromptsCapability(list_changed=False)
        told.tools = types.ToolsCapability(list_changed=False)
        return told


def build_server(
    dispatch: Dispatch, subscriptions: Subscriptions, selection: Selection
) -> Server[Any]:
    """Make the SDK's server for these tools; the caller stands in each request's context."""
    server = _Server(
        "nacre",
        version=__version__,
        title="nacre",
        instructions=_instructions(selection),
    )
    server.middleware.append(_explain)
    _add_tools(server, dispatch, selection)
    _add_prompts(server, selection)
    _add_resources(server, Resources(dispatch, selection.prefix), subscriptions)
    return server


async def _explain(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say what is wrong with a request that the SDK refuses without a word about it."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'params'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)[:_MOST_WRONG]
        )
        raise _as_protocol_error(
            InvalidInput(f"the parameters of {ctx.method} do not fit: {wrong}")
        ) from error
    except MCPError as error:
        if (error.error.code, error.error.data) != (_INVALID_PARAMS, ""):
            raise
        raise _as_protocol_error(
            InvalidInput(f"{ctx.method} came before the handshake; send initialize first")
        ) from error


def _add_tools(server: Server[Any], dispatch: Dispatch, selection: Selection) -> None:
    tools = selection.tools()
    listing = types.ListToolsResult(
        tools=[types.Tool.model_validate(tool.as_wire(), by_name=False) for tool in tools.values()]
    )

    async def list_tools(
        ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listing

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Any:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(
                _METHOD_NOT_FOUND,
                f"no tool named {params.name!r}; there are {', '.join(tools)}",
                {"code": "UNKNOWN_OPERATION"},
            )
        try:
            caller = _caller(ctx)
            operation = tool.parse(params.arguments or {})
            shaped = shape_result(await dispatch(caller, operation))
            if (handover := dispatch.handover(caller, operation)) is not None:
                add_handover(shaped, *handover)
            return shaped
        except NacreError as error:
            return _failure_or_raise(error)
        except Exception as error:
            _log.exception("tool failed outside its operation", extra={"tool": params.name})
            raise _as_protocol_error(
                Internal("unexpected error; the daemon's log says why")
            ) from error

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)


def _add_prompts(server: Server[Any], selection: Selection) -> None:
    async def list_all(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        return list_prompts(selection)

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> types.Result:
        with _as_protocol_errors("prompts/get"):
            return get_prompt(selection, params.name)

    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_all)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)


def _add_resources(server: Server[Any], resources: Resources, subscriptions: Subscriptions) -> None:
    async def list_all(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        with _as_protocol_errors("resources/list"):
            await subscriptions.expect_list(ctx)
            return await resources.list(_caller(ctx))

    async def templates(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        return resources.templates()

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> types.Result:
        with _as_protocol_errors("resources/read"):
            return await resources.read(_caller(ctx), params.uri)

    async def subscribe(ctx: Context, params: types.SubscribeRequestParams) -> types.Result:
        with _as_protocol_errors("resources/subscribe"):
            await subscriptions.subscribe(ctx, _caller(ctx), resources, params.uri)
            return types.EmptyResult()

    async def unsubscribe(ctx: Context, params: types.UnsubscribeRequestParams) -> types.Result:
        subscriptions.unsubscribe(ctx, params.uri)
        return types.EmptyResult()

    async def listen(ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.Result:
        with _as_protocol_errors("subscriptions/listen"):
            return await subscriptions.listen(ctx, _caller(ctx), resources, params.notifications)

    add = server.add_request_handler
    add("resources/list", types.PaginatedRequestParams, list_all)
    add("resources/templates/list", types.PaginatedRequestParams, templates)
    add("resources/read", types.ReadResourceRequestParams, read)
    add("resources/subscribe", types.SubscribeRequestParams, subscribe)
    add("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    add("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)


@contextmanager
def _as_protocol_errors(method: str) -> Iterator[None]:
    try:
        yield
    except NacreError as error:
        raise _as_protocol_error(error) from error
    except Exception as error:
        _log.exception("request failed", extra={"method": method})
        raise _as_protocol_error(Internal("unexpected error; the daemon's log says why")) from error


def _instructions(selection: Selection) -> str:
    parts = [_INSTRUCTIONS[toolset].format(p=selection.prefix) for toolset in selection.toolsets]
    return " ".join(
        [
            "nacre gives you real terminals.",
            *parts,
            "Sessions keep their state between calls; one is called by its name, id or port.",
        ]
    )


def _caller(ctx: Context) -> Caller:
    """HTTP puts the caller on each request, the bridge's socket on the connection."""
    if ctx.request is not None:
        caller = ctx.request.scope["nacre.caller"]
        assert isinstance(caller, Caller)
        return caller
    assert isinstance(ctx.lifespan_context, Caller)
    return ctx.lifespan_context


def _failure_or_raise(error: NacreError) -> dict[str, Any]:
    if WIRE[error.code].jsonrpc is None:
        return shape_failure(error.as_dict())
    raise _as_protocol_error(error) from error


def _as_protocol_error(error: NacreError) -> MCPError:
    number = WIRE[error.code].jsonrpc or _INTERNAL_ERROR
    return MCPError(number, error.message, error.as_dict())
