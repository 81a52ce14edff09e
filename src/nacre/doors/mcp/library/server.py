"""The official MCP library's server of one selection, over the handlers of ours.

Rule 1: what goes out has the shape of the revision that the client speaks: the library sees to it.
Rule 2: only what is done is advertised: of the lists, that of the resources changes, that of the
tools where commands or those of upstream servers are among them, that of the prompts with these.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from nacre.core.catalog.caller import Caller
from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.core.operations.upstream import (
    GatherUpstreamTools,
    GetUpstreamPrompt,
    UpstreamMessages,
)
from nacre.doors.mcp.elicitation import CREATE, answer_of, form_of, limited, offers
from nacre.doors.mcp.library.rounds import HeldCall, HeldCalls, Round, goes_on
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.offer import Offer, Offers
from nacre.doors.mcp.prompts import get_prompt
from nacre.doors.mcp.resources import Resources, scheme_of
from nacre.doors.mcp.sampling import CREATE_MESSAGE, message_of, offers_sampling, sampled_of
from nacre.doors.mcp.server import (
    CallTool,
    ProtocolError,
    as_protocol_error,
    build_call_tool,
    caller_of,
)
from nacre.doors.mcp.standing import MODERN_REVISIONS, SERVER
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.tools.toolsets import UPSTREAM
from nacre.doors.mcp.upstream.addresses import with_our_links
from nacre.errors import InvalidInput, NacreError
from nacre.services.dispatch.asking import asked_by
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.forwarding.relay import Ask, Relay, relayed_by
from nacre.services.dispatch.log import unexpected
from nacre.services.dispatch.sampling import ModelPrompt, Sampled, sampled_by
from nacre.settings.table import Settings
from nacre.wording import Words

_log = logging.getLogger("nacre.mcp")

_INVALID_PARAMS = -32602

_MOST_WRONG = 3  # problems reported for one request; more often follow from the first

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
    server.middleware.append(_explain)
    call_tool = build_call_tool(dispatch, offers, settings)
    _add_tools(server, dispatch, offers, subscriptions, call_tool, settings, held)
    _add_prompts(server, dispatch, offers, subscriptions, words)
    resources = Resources(dispatch, selection.prefix, words, selection.upstream)
    _add_resources(server, resources, subscriptions, offers, words)
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


def _capabilities(ctx: Context) -> dict[str, Any]:
    found = ctx.session.client_capabilities
    return {} if found is None else found.model_dump(by_alias=True, exclude_none=True)


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


async def _ask_model(ctx: Context, prompt: ModelPrompt) -> Sampled | None:
    """Let the host ask its model; None when it gave no answer."""
    params = types.CreateMessageRequestParams.model_validate(message_of(prompt))
    request = types.CreateMessageRequest(params=params)
    try:
        related = ServerMessageMetadata(related_request_id=ctx.request_id)
        given = await ctx.session.send_request(request, types.CreateMessageResult, metadata=related)
    except (MCPError, ValidationError, RuntimeError):  # its user may have said no
        _log.info("a host's model did not answer", exc_info=True)
        return None
    return sampled_of(given.model_dump(by_alias=True, exclude_none=True))


def _may_elicit(ctx: Context, settings: Settings) -> bool:
    """Tell whether its answers are a person's: over HTTP whoever has the token could give them."""
    believed = settings.elicitation_http or caller_of(ctx).pid is not None
    return settings.elicitation and believed and offers(_capabilities(ctx))


class _ToolList:
    """The list of tools in the library's shape, made once for each offer."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers
        self._of: Offer | None = None
        self._list = types.ListToolsResult(tools=[])

    def now(self) -> types.ListToolsResult:
        if self._of is not (offer := self._offers.now):
            self._of = offer
            found = offer.standing.tools()
            self._list = types.ListToolsResult.model_validate(found, by_name=False)
        return self._list


def _relay_of(ctx: Context, held: HeldCall | None = None) -> Relay:
    """Return what the client takes of servers behind us: requests, or questions of a held call."""
    offered = _capabilities(ctx)
    elicit: Ask = partial(_forward, ctx, CREATE) if held is None else held.elicit
    sample: Ask = partial(_forward, ctx, CREATE_MESSAGE) if held is None else held.sample
    return Relay(
        elicit=limited(offered, elicit) if offers(offered) else None,
        sample=sample if offers_sampling(offered) else None,
    )


async def _forward(ctx: Context, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Ask the client what a server behind us asks; None when it gave no answer."""
    body = {"method": method, "params": dict(params)}
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    send = ctx.session.send_request
    try:
        answer: types.Result
        if method == CREATE:
            elicit = types.ElicitRequest.model_validate(body, by_name=False)
            answer = await send(elicit, types.ElicitResult, metadata=related)
        else:
            create = types.CreateMessageRequest.model_validate(body, by_name=False)
            answer = await send(create, types.CreateMessageResult, metadata=related)
    except (MCPError, ValidationError, RuntimeError):
        _log.info("a host did not answer a question of an upstream", exc_info=True)
        return None
    found: dict[str, Any] = answer.model_dump(by_alias=True, exclude_none=True, mode="json")
    return found


def _add_tools(
    server: Server[Any],
    dispatch: Dispatch,
    offers: Offers,
    subscriptions: Subscriptions,
    call_tool: CallTool,
    settings: Settings,
    held: HeldCalls,
) -> None:
    listing = _ToolList(offers)
    listing.now()  # before the first client waits for it

    async def list_tools(
        ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        if ctx.request is not None:  # the bridge's connection tells by itself (lines/lists.py)
            await subscriptions.expect_tools(ctx, offers.selection)
        if offers.selection.upstream is not None:
            await dispatch(caller_of(ctx), GatherUpstreamTools())
        return listing.now()

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Any:
        tool = offers.now.tools.get(params.name)
        if tool is not None and tool.toolset == UPSTREAM:
            if ctx.protocol_version in MODERN_REVISIONS:
                return await hold(ctx, params)
            with relayed_by(_relay_of(ctx)):
                return await asked(ctx, params)
        return await asked(ctx, params)

    async def hold(ctx: Context, params: types.CallToolRequestParams) -> Any:
        with _as_protocol_errors("tools/call", offers.now.words):
            found = held.find(params)
            if found is None:
                found = HeldCall(ctx, params)
                asking = found.ask_person if _may_elicit(ctx, settings) else None
                with asked_by(asking), relayed_by(_relay_of(ctx, found)):
                    found.task = asyncio.ensure_future(call_tool(found, params))
            return await held.wait(found, ctx)

    async def asked(ctx: Context, params: types.CallToolRequestParams) -> Any:
        elicits = _may_elicit(ctx, settings)
        samples = settings.sampling and offers_sampling(_capabilities(ctx))
        if not (elicits or samples):
            return await call_tool(ctx, params)
        if ctx.protocol_version in MODERN_REVISIONS:
            return await in_rounds(ctx, params, elicits=elicits, samples=samples)
        ask, sample = partial(_ask_person, ctx), partial(_ask_model, ctx)
        with asked_by(ask if elicits else None), sampled_by(sample if samples else None):
            return await call_tool(ctx, params)

    async def in_rounds(
        ctx: Context, params: types.CallToolRequestParams, *, elicits: bool, samples: bool
    ) -> Any:
        """The policy asks before anything is done, a program when something is: see rounds.py."""
        if goes_on(params):
            with _as_protocol_errors("tools/call", offers.now.words):
                found = held.find(params)
                assert found is not None  # it has a state
                return await held.wait(found, ctx)
        one, going = Round(params), HeldCall(ctx, params)

        async def ask(approval: Approval) -> Answer | None:
            again = approval.kind == "command" and not going.was_held
            return await (one if again else going).ask_person(approval)

        sampling = one.ask_model if samples else None
        with asked_by(ask if elicits else None), sampled_by(sampling):
            going.task = asyncio.ensure_future(call_tool(going, params))
        return await one.answer(held.wait(going, ctx))

    async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.Result:
        # Hosts set one without asking whether there is a log; an error would stop some of them.
        return types.EmptyResult()

    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)


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
        with _as_protocol_errors("prompts/get", words):
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
        with _as_protocol_errors("resources/list", words):
            await subscriptions.expect_list(ctx, offers.selection)
            found = await resources.list(caller_of(ctx))
            return types.ListResourcesResult.model_validate(found, by_name=False)

    async def templates(ctx: Context, params: types.PaginatedRequestParams) -> types.Result:
        await resources.gather(caller_of(ctx))
        found = offers.now.standing.resource_templates()
        return types.ListResourceTemplatesResult.model_validate(found, by_name=False)

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
            wanted, caller = params.notifications, caller_of(ctx)
            return await subscriptions.listen(ctx, caller, resources, wanted, offers.selection)

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
    except (ProtocolError, MCPError):
        raise
    except Exception as error:
        raise as_protocol_error(unexpected(_log, "request failed", method=method)) from error
