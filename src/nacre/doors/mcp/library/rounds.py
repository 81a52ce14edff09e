"""Questions in the revision 2026-07-28, where servers make no requests.

The answer of a call may be a question in place of the result (InputRequiredResult); the client then
repeats the call with what it was answered.

Rule 1: a call that has done nothing before it asks is given up and made again (Round).
Rule 2: a call that may have done something is never made twice: one of an upstream tool, and one
that meets a program that asks. It goes on while its question is answered, and the repeated call
takes up where it was (HeldCall).
Rule 3: a held call is found by a state that nobody can guess, and only by a call that equals it. It
is given up if nobody comes back in time, or if whoever waits for it leaves.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from pydantic import ValidationError

from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.doors.mcp.elicitation import CREATE, answer_of, form_of
from nacre.doors.mcp.sampling import CREATE_MESSAGE, message_of, sampled_of
from nacre.errors import InvalidInput, LimitReached
from nacre.services.dispatch.sampling import ModelPrompt, Sampled

_APPROVAL, _SAMPLING = "approval", "sampling"  # keys of a question, and of its answer

_HELD = "held-"  # how the state of such a call begins

Context = ServerRequestContext[Any, Any]


class Round:
    """One call that is made again with the answer."""

    def __init__(self, params: types.CallToolRequestParams) -> None:
        loop = asyncio.get_running_loop()
        self._params = params
        self._asked: asyncio.Future[types.InputRequiredResult] = loop.create_future()
        self._over: asyncio.Future[None] = loop.create_future()  # nobody waits for the result

    def _given(self, key: str) -> dict[str, Any] | None:
        found = (self._params.input_responses or {}).get(key)
        return None if found is None else found.model_dump(by_alias=True, exclude_none=True)

    async def _ask(self, key: str, state: str, request: types.InputRequest) -> None:
        if not self._asked.done():
            self._asked.set_result(
                types.InputRequiredResult(input_requests={key: request}, request_state=state)
            )
        await self._over

    async def ask_person(self, approval: Approval) -> Answer | None:
        given = self._given(_APPROVAL)
        if given is not None and approval.id == self._params.request_state:
            return answer_of(given, approval)
        await self._ask(_APPROVAL, approval.id, _elicitation(form_of(approval)))
        return None

    async def ask_model(self, prompt: ModelPrompt) -> Sampled | None:
        if (given := self._given(_SAMPLING)) is not None:
            return sampled_of(given)
        params = types.CreateMessageRequestParams.model_validate(message_of(prompt))
        await self._ask(_SAMPLING, _SAMPLING, types.CreateMessageRequest(params=params))
        return None

    async def answer(self, calling: Awaitable[Any]) -> Any:
        call = asyncio.ensure_future(calling)
        try:
            await asyncio.wait((call, self._asked), return_when=asyncio.FIRST_COMPLETED)
            return call.result() if call.done() else self._asked.result()
        finally:
            call.cancel()
            self._over.cancel()
            with suppress(asyncio.CancelledError):
                await call


class HeldCall:
    """One call of an upstream tool, or one request for a prompt or a resource of such a server,
    over as many rounds as that asks; also the context that its handler sees, whose progress goes to
    the round that waits.
    """

    def __init__(self, ctx: Context, params: types.InputResponseRequestParams) -> None:
        self.state = _HELD + secrets.token_urlsafe(16)
        self.call = _asked_for(params)
        self.request, self.lifespan_context = ctx.request, ctx.lifespan_context
        self.meta, self.session = ctx.meta, self
        self.task: asyncio.Future[Any] | None = None
        self._round: Context | None = None
        self._count = 0
        self._questions: dict[str, tuple[types.InputRequest, asyncio.Future[Any]]] = {}
        self._asked = asyncio.Event()

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        if self._round is not None:
            await self._round.session.report_progress(progress, total, message)

    @property
    def was_held(self) -> bool:
        """Whether it has asked something: then it cannot be made again."""
        return self._count > 0

    async def ask_person(self, approval: Approval) -> Answer | None:
        return answer_of(await self.elicit(form_of(approval)) or {}, approval)

    async def elicit(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        return await self._ask(lambda: _elicitation(params))

    async def sample(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        body = {"method": CREATE_MESSAGE, "params": dict(params)}
        return await self._ask(
            lambda: types.CreateMessageRequest.model_validate(body, by_name=False)
        )

    async def _ask(self, build: Callable[[], types.InputRequest]) -> dict[str, Any] | None:
        try:
            request = build()
        except ValidationError:
            return None
        self._count += 1
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        key = f"upstream-{self._count}"
        self._questions[key] = request, answered
        self._asked.set()
        try:
            found: dict[str, Any] | None = await answered
            return found
        finally:
            self._questions.pop(key, None)
            if not self._questions:
                self._asked.clear()

    def take(self, params: types.InputResponseRequestParams) -> None:
        """Answer what was asked; what the client left out has no answer."""
        given = params.input_responses or {}
        for key, (_, answered) in list(self._questions.items()):
            found = given.get(key)
            if not answered.done():
                told = found and found.model_dump(by_alias=True, exclude_none=True, mode="json")
                answered.set_result(told)
        self._questions.clear()
        self._asked.clear()

    async def wait(self, ctx: Context) -> Any:
        """Return its result, or what it asks."""
        assert self.task is not None
        self._round = ctx
        asked = asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait((self.task, asked), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        finally:
            self._round = None
            asked.cancel()
        if self.task.done():
            return self.task.result()
        questions = {key: request for key, (request, _) in self._questions.items()}
        return types.InputRequiredResult(input_requests=questions, request_state=self.state)


def goes_on(params: types.CallToolRequestParams) -> bool:
    """Return whether a call takes up one that is held, or was."""
    return (params.request_state or "").startswith(_HELD)


class HeldCalls:
    """The calls that wait for an answer, up to so many, each for so long."""

    def __init__(self, most: int, wait: float) -> None:
        self._most = most
        self._wait = wait
        self._calls: dict[str, tuple[HeldCall, asyncio.TimerHandle]] = {}

    def find(self, params: types.InputResponseRequestParams) -> HeldCall | None:
        """Return the call that this one goes on with; None for a new one.

        Raises InvalidInput for one that is gone: to make it again could do it twice.
        """
        if params.request_state is None:
            return None
        found = self._calls.get(params.request_state)
        if found is None or found[0].call != _asked_for(params):
            raise InvalidInput(
                "the call that asked is gone: it took too long, or nacre was restarted; whether it "
                "was done is not known",
                "look, and ask again without requestState",
            )
        del self._calls[params.request_state]
        found[1].cancel()
        found[0].take(params)
        return found[0]

    async def wait(self, held: HeldCall, ctx: Context) -> Any:
        """Return the call's result, or what it asks; then it is held. Raises LimitReached."""
        result = await held.wait(ctx)
        if isinstance(result, types.InputRequiredResult):
            if len(self._calls) >= self._most:
                self._give_up(held)
                raise LimitReached(
                    f"{self._most} calls wait for answers already (max_upstream_questions)"
                )
            loop = asyncio.get_running_loop()
            timer = loop.call_later(self._wait, self._expire, held)
            self._calls[held.state] = held, timer
        return result

    def _expire(self, held: HeldCall) -> None:
        del self._calls[held.state]
        self._give_up(held)

    def _give_up(self, held: HeldCall) -> None:
        assert held.task is not None
        held.task.cancel()
        held.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    def close(self) -> None:
        for held, timer in self._calls.values():
            timer.cancel()
            self._give_up(held)
        self._calls.clear()


def _asked_for(params: types.InputResponseRequestParams) -> tuple[object, ...]:
    """Return by what a repeated request is known for the same."""
    named = ("name", "arguments", "uri")
    return (type(params), *(getattr(params, one, None) for one in named))


def _elicitation(params: Mapping[str, Any]) -> types.ElicitRequest:
    """Raises ValidationError."""
    whole = {"method": CREATE, "params": {"mode": "form", **params}}
    return types.ElicitRequest.model_validate(whole, by_name=False)
