"""Prompts, resources and completion in the official library's shape: ours, and those of servers
behind us.

Rule: what goes to a server behind us may ask its host, as calls of tools may (asked_requests.py).
"""

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from nacre.core.catalog.caller import Caller
from nacre.core.operations.upstream import (
    CompleteUpstreamArgument,
    GatherUpstreamTools,
    GetUpstreamPrompt,
    UpstreamMessages,
)
from nacre.doors.mcp.library.asked_requests import AskedRequests, Context
from nacre.doors.mcp.library.failures import as_protocol_errors
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.prompts import get_prompt
from nacre.doors.mcp.resources import Resources, scheme_of
from nacre.doors.mcp.server import caller_of
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.upstream.addresses import with_our_links
from nacre.services.dispatch.dispatch import Dispatch
from nacre.wording import Words


def add_prompts(
    server: Server[Any],
    dispatch: Dispatch,
    offers: Offers,
    subscriptions: Subscriptions,
    questions: AskedRequests,
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

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        with as_protocol_errors("prompts/get", words):
            upstream = selection.upstream
            named = upstream and upstream.prompt(selection.prefix, params.name)
            if not named:
                return _prompt(get_prompt(selection, params.name))

            async def ask(its: Context) -> types.Result:
                return _prompt(await _behind(dispatch, selection, caller_of(its), *named, params))

            return await questions.asked(ctx, params, ask)

    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_all)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)


def _prompt(found: dict[str, Any]) -> types.GetPromptResult:
    return types.GetPromptResult.model_validate(found, by_name=False)


async def _behind(
    dispatch: Dispatch,
    selection: Selection,
    caller: Caller,
    server: str,
    prompt: str,
    params: types.GetPromptRequestParams,
) -> dict[str, Any]:
    """Return a prompt of a server behind us."""
    request = GetUpstreamPrompt(server=server, prompt=prompt, arguments=params.arguments)
    told = await dispatch(caller, request)
    assert isinstance(told, UpstreamMessages)
    root = f"{scheme_of(selection.prefix)}://"
    messages = [
        {**one, "content": with_our_links([one["content"]], root, server)[0]}
        for one in told.content.get("messages", ())
    ]
    return {**told.content, "messages": messages}


def add_completion(
    server: Server[Any], dispatch: Dispatch, resources: Resources, selection: Selection
) -> None:
    """Pass on what servers behind us say that an argument may be; ours have nothing to say."""

    def behind(ref: types.PromptReference | types.ResourceTemplateReference) -> tuple[str, str]:
        """Return server and name, or URI, as that knows it; "" for what is ours."""
        if isinstance(ref, types.ResourceTemplateReference):
            found = resources.parse_template(ref.uri)
            return ("", "") if found is None else found
        assert selection.upstream is not None
        named = selection.upstream.prompt(selection.prefix, ref.name)
        if named is None:
            get_prompt(selection, ref.name)  # raises where there is none
        return named or ("", "")

    async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.Result:
        with as_protocol_errors("completion/complete", resources.words):
            name, own = behind(params.ref)
            if not name:
                return _completion({})
            prompt = isinstance(params.ref, types.PromptReference)
            given = params.argument
            request = CompleteUpstreamArgument(
                server=name,
                ref={"type": params.ref.type, "name" if prompt else "uri": own},
                argument={"name": given.name, "value": given.value},
                context=params.context.model_dump(exclude_none=True) if params.context else None,
            )
            told = await dispatch(caller_of(ctx), request)
            assert isinstance(told, UpstreamMessages)
            return _completion(told.content)

    if selection.upstream is not None:
        server.add_request_handler("completion/complete", types.CompleteRequestParams, complete)


def _completion(found: dict[str, Any]) -> types.CompleteResult:
    return types.CompleteResult.model_validate(
        found or {"completion": {"values": []}}, by_name=False
    )


def add_resources(
    server: Server[Any],
    resources: Resources,
    subscriptions: Subscriptions,
    offers: Offers,
    questions: AskedRequests,
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

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        async def ask(its: Context) -> types.Result:
            found = await resources.read(caller_of(its), params.uri)
            return types.ReadResourceResult.model_validate(found, by_name=False)

        with as_protocol_errors("resources/read", words):
            if resources.parse(params.uri).upstream is None:
                return await ask(ctx)
            return await questions.asked(ctx, params, ask)

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
