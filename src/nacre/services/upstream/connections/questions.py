"""Questions of an upstream server while calls of it are under way, and whose they are.

Rule 1: a question goes to the host of the one call that it can belong to. Where that could be
several callers', it is declined: never a guess.
Rule 2: while somebody is asked, the call's own time stands still.
Rule 3: a person is told who asks. To their host the question comes from nacre, and a server could
write one that looks like ours, or hide what it says.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.client.session import ClientRequestContext
from pydantic import BaseModel, ValidationError

from nacre.core.text.unseen import quoted
from nacre.services.dispatch.forwarding.relay import Ask, Relay, ReportProgress, relay_of_call
from nacre.services.host.wait import bounded
from nacre.services.upstream.log_ring import LogRing

_SETTLES = 0.1  # seconds that progress under way is waited for


@dataclass(slots=True)
class _Calling:
    """A call under way: whose questions these may be."""

    owner: str
    relay: Relay | None
    timer: asyncio.Timeout

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop its time while somebody is asked; what was left of it counts afterwards."""
        loop = asyncio.get_running_loop()
        when = self.timer.when()
        left = None if when is None else when - loop.time()
        if left is not None:
            self.timer.reschedule(None)
        try:
            yield
        finally:
            if left is not None and not self.timer.expired():
                self.timer.reschedule(loop.time() + left)


class PassedProgress:
    """Passes progress on, and knows when the last of it has gone: nothing may follow the answer."""

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._under_way: set[asyncio.Task[Any]] = set()

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        task = asyncio.ensure_future(self._report(progress, total, message))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait((task,))

    async def settle(self) -> None:
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_SETTLES)


class UpstreamQuestions:
    """The calls of one connection that are under way, and the callbacks of its client."""

    def __init__(self, server: str, log: LogRing, patience: float) -> None:
        """`patience`: seconds for an answer."""
        self._server = server
        self._log = log
        self._patience = patience
        self._calls: dict[int, _Calling] = {}

    @contextlib.contextmanager
    def calling(self, owner: str, timer: asyncio.Timeout) -> Iterator[None]:
        """Let questions belong to this call meanwhile."""
        calling = _Calling(owner, relay_of_call(), timer)
        self._calls[id(calling)] = calling
        try:
            yield
        finally:
            del self._calls[id(calling)]

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        calling = self._whose()
        if calling is None or calling.relay is None or calling.relay.elicit is None:
            self._log.note("a question was declined: it cannot be told whom it is for")
            return types.ElicitResult(action="decline")
        said = f"The server {self._server}, not nacre, asks:\n\n{quoted(params.message)}"
        told = params.model_copy(update={"message": said})
        answer = await self._forwarded(calling, calling.relay.elicit, told)
        if answer is None:
            return types.ElicitResult(action="cancel")
        try:
            return types.ElicitResult.model_validate(answer, by_name=False)
        except ValidationError:
            return types.ElicitResult(action="cancel")

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> Any:
        calling = self._whose()
        answer = None
        if calling is not None and calling.relay is not None and calling.relay.sample is not None:
            answer = await self._forwarded(calling, calling.relay.sample, params)
        if answer is None:
            return types.ErrorData(code=-1, message="no host of this call offers sampling")
        try:
            return types.CreateMessageResult.model_validate(answer, by_name=False)
        except ValidationError as error:
            why = str(error).partition("\n")[0][:200]
            return types.ErrorData(code=-1, message=f"the host's answer is none: {why}")

    async def _forwarded(
        self, calling: _Calling, ask: Ask, params: BaseModel
    ) -> dict[str, Any] | None:
        asked = params.model_dump(by_alias=True, exclude_none=True, mode="json")
        with calling.paused():
            try:
                async with bounded(self._patience):
                    return await ask(asked)
            except TimeoutError:
                self._log.note(f"nobody answered a question within {self._patience:g} s")
                return None

    def _whose(self) -> _Calling | None:
        """Return the one call that a question can belong to; never a guess."""
        if (own := relay_of_call()) is not None:
            return next((one for one in self._calls.values() if one.relay is own), None)
        if len({calling.owner for calling in self._calls.values()}) != 1:
            return None
        return next(iter(self._calls.values()))
