"""How a client of the library is asked: its person, its model, or what a server behind us asks.

Rule: a client that does not answer is no error: who asked goes on without.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.doors.mcp.elicitation import CREATE, answer_of, form_of, limited, offers
from nacre.doors.mcp.library.rounds import HeldCall
from nacre.doors.mcp.sampling import CREATE_MESSAGE, message_of, offers_sampling, sampled_of
from nacre.doors.mcp.server import caller_of
from nacre.services.dispatch.forwarding.relay import Ask, Relay
from nacre.services.dispatch.sampling import ModelPrompt, Sampled
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.mcp")

Context = ServerRequestContext[Any, Any]


def capabilities(ctx: Context) -> dict[str, Any]:
    found = ctx.session.client_capabilities
    return {} if found is None else found.model_dump(by_alias=True, exclude_none=True)


async def ask_person(ctx: Context, approval: Approval) -> Answer | None:
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


async def ask_model(ctx: Context, prompt: ModelPrompt) -> Sampled | None:
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


def may_elicit(ctx: Context, settings: Settings) -> bool:
    """Tell whether its answers are a person's: over HTTP whoever has the token could give them."""
    believed = settings.elicitation_http or caller_of(ctx).pid is not None
    return settings.elicitation and believed and offers(capabilities(ctx))


def relay_of(ctx: Context, held: HeldCall | None = None) -> Relay:
    """Return what the client takes of servers behind us: requests, or questions of a held call."""
    offered = capabilities(ctx)
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
