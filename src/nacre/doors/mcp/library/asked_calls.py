"""The tools of a server of the library: their list, and how a call may ask its client meanwhile.

Rule: a client of the 2026 revision is asked in the answer to its call, which is then held and goes
on with the next one (rounds.py). Older ones are asked by a request of ours.
"""

import asyncio
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.core.operations.upstream import GatherUpstreamTools
from nacre.doors.mcp.library.asked_requests import AskedRequests
from nacre.doors.mcp.library.asking import (
    ask_model,
    ask_person,
    capabilities,
    may_elicit,
)
from nacre.doors.mcp.library.failures import as_protocol_errors
from nacre.doors.mcp.library.rounds import HeldCall, HeldCalls, Round, goes_on
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.offer import Offer, Offers
from nacre.doors.mcp.sampling import offers_sampling
from nacre.doors.mcp.server import CallTool, caller_of
from nacre.doors.mcp.standing import MODERN_REVISIONS
from nacre.doors.mcp.tools.toolsets import UPSTREAM
from nacre.services.dispatch.asking import asked_by
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.sampling import sampled_by
from nacre.settings.table import Settings

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams


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


class AskedCalls:
    """Calls of tools, each with what its client can be asked."""

    def __init__(
        self, offers: Offers, call_tool: CallTool, settings: Settings, held: HeldCalls
    ) -> None:
        self._offers = offers
        self._call_tool = call_tool
        self._settings = settings
        self._held = held
        self._questions = AskedRequests(settings, held)

    async def call(self, ctx: Context, params: Params) -> Any:
        tool = self._offers.now.find(params.name)
        if tool is None or tool.toolset != UPSTREAM:
            return await self._asked(ctx, params)
        with as_protocol_errors("tools/call", self._offers.now.words):
            return await self._questions.asked(
                ctx, params, lambda its: self._call_tool(its, params)
            )

    async def _asked(self, ctx: Context, params: Params) -> Any:
        elicits = may_elicit(ctx, self._settings)
        samples = self._settings.sampling and offers_sampling(capabilities(ctx))
        if not (elicits or samples):
            return await self._call_tool(ctx, params)
        if ctx.protocol_version in MODERN_REVISIONS:
            return await self._in_rounds(ctx, params, elicits=elicits, samples=samples)
        ask, sample = partial(ask_person, ctx), partial(ask_model, ctx)
        with asked_by(ask if elicits else None), sampled_by(sample if samples else None):
            return await self._call_tool(ctx, params)

    async def _in_rounds(
        self, ctx: Context, params: Params, *, elicits: bool, samples: bool
    ) -> Any:
        """The policy asks before anything is done, a program when something is: see rounds.py."""
        held = self._held
        if goes_on(params):
            with as_protocol_errors("tools/call", self._offers.now.words):
                found = held.find(params)
                assert found is not None  # it has a state
                return await held.wait(found, ctx)
        one, going = Round(params), HeldCall(ctx, params)

        async def ask(approval: Approval) -> Answer | None:
            again = approval.kind == "command" and not going.was_held
            return await (one if again else going).ask_person(approval)

        sampling = one.ask_model if samples else None
        with asked_by(ask if elicits else None), sampled_by(sampling):
            going.task = asyncio.ensure_future(self._call_tool(going, params))
        return await one.answer(held.wait(going, ctx))


def add_tools(
    server: Server[Any],
    dispatch: Dispatch,
    offers: Offers,
    subscriptions: Subscriptions,
    calls: AskedCalls,
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

    async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.Result:
        # Hosts set one without asking whether there is a log; an error would stop some of them.
        return types.EmptyResult()

    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, calls.call)
