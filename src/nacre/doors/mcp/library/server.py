"""The official MCP library's server of one selection, over the handlers of ours.

Rule 1: what goes out has the shape of the revision that the client speaks: the library sees to it.
Rule 2: only what is done is advertised: of the lists, only that of the resources changes.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.doors.mcp.elicitation import CREATE, answer_of, form_of, offers
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.prompts import get_prompt
from nacre.doors.mcp.resources import Resources
from nacre.doors.mcp.server import (
    CallTool,
    ProtocolError,
    as_protocol_error,
    build_call_tool,
    caller_of,
    unexpected,
)
from nacre.doors.mcp.standing import MODERN_REVISIONS, SERVER, Standing
from nacre.doors.mcp.toolsets import Selection
from nacre.doors.mcp.words import ToolWords
from nacre.errors import InvalidInput, NacreError
from nacre.services.dispatch.asking import asked_by
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings
from nacre.wording import Words

_log = logging.getLogger("nacre.mcp")

_INVALID_PARAMS = -32602

_APPROVAL = "approval"  # the key of a question, and of its answer
_MOST_WRONG = 3  # problems reported for one request; more often follow from the first

Context = ServerRequestContext[Any, Any]


class _Server(Server[Any]):
    """The SDK's server, which by itself advertises either all lists as changing or none."""

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
        told.logging = None  # a level is taken, but there is no log for clients
        return told


def build_server(
    dispatch: Dispatch, subscriptions: Subscriptions, selection: Selection, settings: Settings
) -> Server[Any]:
    """Make the SDK's server for these tools; the caller is in each request's context."""
    standing = Standing(selection)
    server = _Server(
        SERVER["name"],
        version=SERVER["version"],
        title=SERVER["title"],
        instructions=standing.instructions,
    )
    server.middleware.append(_explain)
    words = ToolWords(selection.tools())
    call_tool = build_call_tool(dispatch, selection, words, settings)
    _add_tools(server, standing, call_tool, settings)
    _add_prompts(server, selection, standing, words)
    resources = Resources(dispatch, selection.prefix, words)
    _add_resources(server, resources, subscriptions, standing, words)
    return server


async def _explain(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say what is wrong with a request that the SDK refuses without a reason."""
    try:
        return await call_next(ctx)
    except ProtocolError as error:
        raise MCPError(error.code, error.message, error.data) from error
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'params'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)[:_MOST_WRONG]
        )
        raise _as_mcp_error(
            InvalidInput(f"the parameters of {ctx.method} do not fit: {wrong}")
        ) from error
    except MCPError as error:
        if (error.error.code, error.error.data) != (_INVALID_PARAMS, ""):
            raise
        raise _as_mcp_error(
            InvalidInput(f"{ctx.method} came before the handshake", "send initialize first")
        ) from error


def _as_mcp_error(error: NacreError) -> MCPError:
    told = as_protocol_error(error)
    return MCPError(told.code, told.message, told.data)


def _offers_forms(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and offers(
        capabilities.model_dump(by_alias=True, exclude_none=True)
    )


async def _ask_person(ctx: Context, approval: Approval) -> Answer | None:
    """Let the host ask its user; None when they gave no answer."""
    form = form_of(approval)
    try:
        given = await ctx.session.elicit_form(
            form["message"], form["requestedSchema"], ctx.request_id
        )
    except (MCPError, ValidationError, RuntimeError):  # it cannot, whatever it said before
        _log.warning("a host offers elicitation, but does not take it", exc_info=True)
        return None
    return answer_of(given.model_dump(by_alias=True, exclude_none=True), approval)


async def _call_in_rounds(
    ctx: Context, params: types.CallToolRequestParams, call_tool: CallTool
) -> Any:
    """Answer with the question, in place of the result; the client repeats the call with an answer.

    So it is since revision 2026-07-28, where servers make no requests (InputRequiredResult).
    """
    asked: asyncio.Future[Approval] = asyncio.get_running_loop().create_future()
    given = (params.input_responses or {}).get(_APPROVAL)

    async def ask(approval: Approval) -> Answer | None:
        if given is not None and approval.id == params.request_state:
            return answer_of(given.model_dump(by_alias=True, exclude_none=True), approval)
        if not asked.done():
            asked.set_result(approval)
        await asyncio.get_running_loop().create_future()  # this call ends before that
        return None

    with asked_by(ask):
        call = asyncio.ensure_future(call_tool(ctx, params))
    try:
        await asyncio.wait((call, asked), return_when=asyncio.FIRST_COMPLETED)
        if call.done():
            return call.result()
        approval = asked.result()
        request = types.ElicitRequest.model_validate(
            {"method": CREATE, "params": {"mode": "form", **form_of(approval)}}
        )
        return types.InputRequiredResult(
            input_requests={_APPROVAL: request}, request_state=approval.id
        )
    finally:
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call


def _may_elicit(ctx: Context, settings: Settings) -> bool:
    """Tell whether its answers are a person's: over HTTP whoever has the token could give them."""
    believed = settings.elicitation_http or caller_of(ctx).pid is not None
    return settings.elicitation and believed and _offers_forms(ctx)


def _add_tools(
    server: Server[Any], standing: Standing, call_tool: CallTool, settings: Settings
) -> None:
    listing = types.ListToolsResult.model_validate(standing.tools(), by_name=False)

    async def list_tools(
        ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listing

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Any:
        if not _may_elicit(ctx, settings):
            return await call_tool(ctx, params)
        if ctx.protocol_version in MODERN_REVISIONS:
            return await _call_in_rounds(ctx, params, call_tool)
        with asked_by(partial(_ask_person, ctx)):
            return await call_tool(ctx, params)

    async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.Result:
        # Hosts set one without asking whether there is a log; an error would stop some of them.
        return types.EmptyResult()

    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)


def _add_prompts(
    server: Server[Any], selection: Selection, standing: Standing, words: Words
) -> None:
    listing = types.ListPromptsResult.model_validate(standing.prompts(), by_name=False)

    async def list_all(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        return listing

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> types.Result:
        with _as_protocol_errors("prompts/get", words):
            found = get_prompt(selection, params.name)
            return types.GetPromptResult.model_validate(found, by_name=False)

    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_all)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)


def _add_resources(
    server: Server[Any],
    resources: Resources,
    subscriptions: Subscriptions,
    standing: Standing,
    words: Words,
) -> None:
    listing = types.ListResourceTemplatesResult.model_validate(
        standing.resource_templates(), by_name=False
    )

    async def list_all(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        with _as_protocol_errors("resources/list", words):
            await subscriptions.expect_list(ctx)
            found = await resources.list(caller_of(ctx))
            return types.ListResourcesResult.model_validate(found, by_name=False)

    async def templates(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        return listing

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> types.Result:
        with _as_protocol_errors("resources/read", words):
            found = await resources.read(caller_of(ctx), params.uri)
            return types.ReadResourceResult.model_validate(found, by_name=False)

    async def subscribe(ctx: Context, params: types.SubscribeRequestParams) -> types.Result:
        with _as_protocol_errors("resources/subscribe", words):
            await subscriptions.subscribe(ctx, caller_of(ctx), resources, params.uri)
            return types.EmptyResult()

    async def unsubscribe(ctx: Context, params: types.UnsubscribeRequestParams) -> types.Result:
        subscriptions.unsubscribe(ctx, params.uri)
        return types.EmptyResult()

    async def listen(ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.Result:
        with _as_protocol_errors("subscriptions/listen", words):
            return await subscriptions.listen(ctx, caller_of(ctx), resources, params.notifications)

    add = server.add_request_handler
    add("resources/list", types.PaginatedRequestParams, list_all)
    add("resources/templates/list", types.PaginatedRequestParams, templates)
    add("resources/read", types.ReadResourceRequestParams, read)
    add("resources/subscribe", types.SubscribeRequestParams, subscribe)
    add("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    add("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)


@contextmanager
def _as_protocol_errors(method: str, words: Words) -> Iterator[None]:
    try:
        yield
    except NacreError as error:
        raise as_protocol_error(error, words) from error
    except Exception as error:
        _log.exception("request failed", extra={"method": method})
        raise as_protocol_error(unexpected()) from error
