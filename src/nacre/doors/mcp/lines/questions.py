"""What the daemon asks a client's host: its person, its model, or what a server behind us asks.

Rule: a question that is over before its answer is taken back, so that the host stops showing it.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.doors.mcp.elicitation import CREATE, answer_of, form_of, limited, offers
from nacre.doors.mcp.identifiers import UNREADABLE
from nacre.doors.mcp.lines.messages import HostResponse
from nacre.doors.mcp.lines.wire import LineWire
from nacre.doors.mcp.sampling import CREATE_MESSAGE, message_of, offers_sampling, sampled_of
from nacre.services.dispatch.asking import Asking
from nacre.services.dispatch.forwarding.relay import Relay
from nacre.services.dispatch.sampling import ModelPrompt, Sampled, Sampling
from nacre.settings.table import Settings


class HostQuestions:
    """The open questions to one host, and whom it lets us ask: None for nobody."""

    def __init__(self, wire: LineWire, settings: Settings) -> None:
        self.asking: Asking | None = None  # its person
        self.sampling: Sampling | None = None  # its model
        self.relay: Relay | None = None  # what it takes of servers behind us
        self._wire = wire
        self._may_elicit, self._may_sample = settings.elicitation, settings.sampling
        self._open: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._asked = 0

    def learn(self, capabilities: dict[str, Any]) -> None:
        """Take note of what the host said in its handshake."""
        elicits, samples = offers(capabilities), offers_sampling(capabilities)
        self.asking = self._ask_person if self._may_elicit and elicits else None
        self.sampling = self._ask_model if self._may_sample and samples else None
        forward = partial(partial, self._forward)
        self.relay = Relay(
            elicit=limited(capabilities, forward(CREATE)) if elicits else None,
            sample=forward(CREATE_MESSAGE) if samples else None,
        )

    def take(self, line: bytes) -> bool:
        """Take the host's answer to one of our questions; return False for what is none."""
        if not self._open:
            return False
        try:
            response = msgspec.json.decode(line, type=HostResponse)
        except UNREADABLE:
            return False
        question = self._open.get(str(response.id))
        if question is None:
            return False
        if not question.done():
            question.set_result(response.told)
        return True

    async def _ask_person(self, approval: Approval) -> Answer | None:
        """Let the host ask its user; None when they gave no answer."""
        return answer_of(await self._ask("approval", CREATE, form_of(approval)), approval)

    async def _ask_model(self, prompt: ModelPrompt) -> Sampled | None:
        """Let the host ask its model; None when it gave no answer."""
        return sampled_of(await self._ask("sampling", CREATE_MESSAGE, message_of(prompt)))

    async def _forward(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the host what a server behind us asks; None for an error."""
        return await self._ask("upstream", method, dict(params)) or None

    async def _ask(self, kind: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the host, and return its result; an error's is empty."""
        self._asked += 1
        identifier = f"nacre-{kind}-{self._asked}"
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[identifier] = answered
        body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        try:
            self._wire.write(msgspec.json.encode(body))
            await self._wire.drain()
            return await answered
        finally:
            del self._open[identifier]
            if not answered.done():  # somebody else has answered, or nobody did in time
                params = {"requestId": identifier, "reason": "the question is over"}
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                self._wire.write(msgspec.json.encode(note))
