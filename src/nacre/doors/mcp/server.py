"""The MCP server of one selection of tools: lists them, calls them, maps errors.

Rule 1: bad parameters, unknown sessions and limits are JSON-RPC errors; what ran and failed is a
result with isError. errors.WIRE says which is which.
Rule 2: nothing but these two leaves a handler: the SDK would put an exception's text on the wire.
"""

import logging
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from nacre import __version__
from nacre.core.caller import Caller
from nacre.core.catalog import (
    parse_parameters,
)
from nacre.doors.mcp.toolsets import Selection, shape_failure, shape_result
from nacre.errors import WIRE, Internal, NacreError
from nacre.services.dispatch import Dispatch

_log = logging.getLogger("nacre.mcp")

_METHOD_NOT_FOUND = -32601

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


def build_server(dispatch: Dispatch, selection: Selection) -> Server[Any]:
    """Make the SDK's server for these tools; the caller stands in each request's context."""
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
            operation = parse_parameters(tool.spec.type, tool.arguments(params.arguments or {}))
            return shape_result(await dispatch(_caller(ctx), operation))
        except NacreError as error:
            return _failure_or_raise(error)
        except Exception as error:
            _log.exception("tool failed outside its operation", extra={"tool": params.name})
            raise _as_protocol_error(
                Internal("unexpected error; the daemon's log says why")
            ) from error

    return Server(
        "nacre",
        version=__version__,
        title="nacre",
        instructions=_instructions(selection),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


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
    number = WIRE[error.code].jsonrpc
    assert number is not None
    return MCPError(number, error.message, error.as_dict())
