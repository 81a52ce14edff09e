"""Requests that go to a server behind us, each with what its client can be asked meanwhile.

Rule: as with calls of tools (asked_calls.py), a client of the 2026 revision is asked in the answer
to its request, which is then held and goes on with the next one; older ones are asked by a request.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from nacre.doors.mcp.library.asking import ask_person, may_elicit, relay_of
from nacre.doors.mcp.library.rounds import HeldCall, HeldCalls
from nacre.doors.mcp.standing import MODERN_REVISIONS
from nacre.services.dispatch.asking import asked_by
from nacre.services.dispatch.forwarding.relay import relayed_by
from nacre.settings.table import Settings

Context = ServerRequestContext[Any, Any]


class AskedRequests:
    """How requests that go to a server behind us reach their host."""

    def __init__(self, settings: Settings, held: HeldCalls) -> None:
        self._settings = settings
        self._held = held

    async def asked(
        self,
        ctx: Context,
        params: types.InputResponseRequestParams,
        do: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        """Do what is asked for, with the context it is given, and ask the host meanwhile; or take
        up where the same request was. Raises InvalidInput, LimitReached as HeldCalls does.
        """
        elicits = may_elicit(ctx, self._settings)
        if ctx.protocol_version not in MODERN_REVISIONS:
            asking = partial(ask_person, ctx) if elicits else None
            with asked_by(asking), relayed_by(relay_of(ctx)):
                return await do(ctx)
        found = self._held.find(params)
        if found is None:
            found = HeldCall(ctx, params)
            person = found.ask_person if elicits else None
            with asked_by(person), relayed_by(relay_of(ctx, found)):
                found.task = asyncio.ensure_future(do(found))
        return await self._held.wait(found, ctx)
