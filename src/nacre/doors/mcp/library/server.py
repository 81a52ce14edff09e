"""The official MCP library's server of one selection, over the handlers of ours.

Rule 1: what goes out has the shape of the revision that the client speaks: the library sees to it.
Rule 2: only what is done is advertised: of the lists, that of the resources changes, that of the
tools where commands or those of upstream servers are among them, that of the prompts with these.
"""

import logging
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server

from nacre.core.catalog.caller import Caller
from nacre.core.operations.upstream import (
    GatherUpstreamTools,
    GetUpstreamPrompt,
    UpstreamMessages,
)
from nacre.doors.mcp.library.asked_calls import AskedCalls, add_tools
from nacre.doors.mcp.library.failures import as_protocol_errors, explain
from nacre.doors.mcp.library.rounds import HeldCalls
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.prompts import get_prompt
from nacre.doors.mcp.resources import Resources, scheme_of
from nacre.doors.mcp.server import (
    build_call_tool,
    caller_of,
)
from nacre.doors.mcp.standing import SERVER
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.upstream.addresses import with_our_links
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings
from nacre.wording import Words

_log = logging.getLogger("nacre.mcp")


Context = ServerRequestContext[Any, Any]


class _Server(Server[Any]):
    """The SDK's server, which by itself advertises either all lists as changing or none."""

    changes = False  # its list of tools
    changes_prompts = False

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
        told.prompts = types.PromptsCapability(list_changed=self.changes_prompts)
        told.tools = types.ToolsCapability(list_changed=self.changes)
        told.logging = None  # a level is taken, but there is no log for clients
        return told


def build_server(
    dispatch: Dispatch,
    subscriptions: Subscriptions,
    selection: Selection,
    settings: Settings,
    held: HeldCalls,
) -> Server[Any]:
    """Make the SDK's server for these tools; the caller is in each request's context."""
    offers = Offers(selection)
    standing, words = offers.now.standing, offers.now.words
    server = _Server(
        SERVER["name"],
        version=SERVER["version"],
        title=SERVER["title"],
        instructions=standing.instructions,
    )
    server.changes = selection.changes
    server.changes_prompts = selection.upstream is not None
    server.middleware.append(explain)
    call_tool = build_call_tool(dispatch, offers, settings)
    calls = AskedCalls(offers, call_tool, settings, held)
    add_tools(server, dispatch, offers, subscriptions, calls)
    _add_prompts(server, dispatch, offers, subscriptions, words)
    resources = Resources(dispatch, selection.prefix, words, selection.upstream)
    _add_resources(server, resources, subscriptions, offers, words)
    return server


def _add_prompts(
    server: Server[Any],
    dispatch: Dispatch,
    offers: Offers,
    subscriptions: Subscriptions,
    words: Words,
) -> None:
    selection = offers.selection

    async def list_all(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        if selection.upstream is not None:
            if ctx.request is not None:  # the bridge's connection tells by itself (lines/lists.py)
                await subscriptions.expect_prompts(ctx, selection)
            await dispatch(caller_of(ctx), GatherUpstreamTools())
        found = offers.now.standing.prompts()
        return types.ListPromptsResult.model_validate(found, by_name=False)

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> types.Result:
        with as_protocol_errors("prompts/get", words):
            found = await _upstream_prompt(dispatch, selection, caller_of(ctx), params)
            if found is None:
                found = get_prompt(selection, params.name)
            return types.GetPromptResult.model_validate(found, by_name=False)

    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_all)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)


async def _upstream_prompt(
    dispatch: Dispatch, selection: Selection, caller: Caller, params: types.GetPromptRequestParams
) -> dict[str, Any] | None:
    """Return a prompt of a server behind us; None for what is none."""
    named = selection.upstream and selection.upstream.prompt(selection.prefix, params.name)
    if not named:
        return None
    server, prompt = named
    request = GetUpstreamPrompt(server=server, prompt=prompt, arguments=params.arguments)
    told = await dispatch(caller, request)
    assert isinstance(told, UpstreamMessages)
    root = f"{scheme_of(selection.prefix)}://"
    messages = [
        {**one, "content": with_our_links([one["content"]], root, server)[0]}
        for one in told.content.get("messages", ())
    ]
    return {**told.content, "messages": messages}


def _add_resources(
    server: Server[Any],
    resources: Resources,
    subscriptions: Subscriptions,
    offers: Offers,
    words: Words,
) -> None:
    async def list_all(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        with as_protocol_errors("resources/list", words):
            await subscriptions.expect_list(ctx, offers.selection)
            found = await resources.list(caller_of(ctx))
            return types.ListResourcesResult.model_validate(found, by_name=False)

    async def templates(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        await resources.gather(caller_of(ctx))
        found = offers.now.standing.resource_templates()
        return types.ListResourceTemplatesResult.model_validate(found, by_name=False)

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> types.Result:
        with as_protocol_errors("resources/read", words):
            found = await resources.read(caller_of(ctx), params.uri)
            return types.ReadResourceResult.model_validate(found, by_name=False)

    async def subscribe(ctx: Context, params: types.SubscribeRequestParams) -> types.Result:
        with as_protocol_errors("resources/subscribe", words):
            await subscriptions.subscribe(ctx, caller_of(ctx), resources, params.uri)
            return types.EmptyResult()

    async def unsubscribe(ctx: Context, params: types.UnsubscribeRequestParams) -> types.Result:
        subscriptions.unsubscribe(ctx, params.uri)
        return types.EmptyResult()

    async def listen(ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.Result:
        with as_protocol_errors("subscriptions/listen", words):
            wanted, caller = params.notifications, caller_of(ctx)
            return await subscriptions.listen(ctx, caller, resources, wanted, offers.selection)

    add = server.add_request_handler
    add("resources/list", types.PaginatedRequestParams, list_all)
    add("resources/templates/list", types.PaginatedRequestParams, templates)
    add("resources/read", types.ReadResourceRequestParams, read)
    add("resources/subscribe", types.SubscribeRequestParams, subscribe)
    add("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    add("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)
