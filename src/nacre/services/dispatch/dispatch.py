"""The one path from a door to a service.

Rule 1: every door calls this and nothing else, so no door can skip a step. Watching, following and
typing at a watched screen take the same path as calls.
Rule 2: the steps and their order are one list, in services/wiring.py.
Rule 3: a tool that is composed of operations passes the first step alone, which logs it. What it
asks for comes back in here, and passes all of them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Result, spec_of
from nacre.core.operations.follow import EventStream, Follow
from nacre.core.operations.watch import Receipt, TypeAtScreen, Watch, WatchSession
from nacre.services.dispatch.answers.delivery import undelivered
from nacre.services.dispatch.call import Call, HandedOver, Onward, Step
from nacre.services.dispatch.handlers import FollowHandler, Handlers, WatchHandler


class Answer(NamedTuple):
    result: Result
    told: HandedOver | None  # a hand-over that the door passes to its caller
    notices: Sequence[str] = ()

    def besides(self) -> dict[str, Any]:
        """Return the members that an answer has beside its result."""
        told: dict[str, Any] = {} if self.told is None else {"handover": self.told.as_dict()}
        return {**told, "notice": "; ".join(self.notices)} if self.notices else told


Ask = Callable[[Caller, Operation], Awaitable[Answer]]


def _nothing_composed(_: Ask) -> Handlers:
    return Handlers()


class Dispatch:
    def __init__(
        self,
        steps: Sequence[Step],
        handlers: Handlers,
        watch: WatchHandler,
        follow: FollowHandler,
        composed: Callable[[Ask], Handlers] = _nothing_composed,
        asked: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`composed` returns the handlers of tools that are made of other operations.

        `asked` is entered while a call is being answered.
        """
        self._handlers = Handlers.merged([handlers, composed(self.ask)])
        self.calls = 0  # so far
        self._asked = asked
        self._watch = watch
        self._follow = follow
        self._begin: Onward = _handle
        for step in reversed(steps):
            self._begin = partial(step, onward=self._begin)
        self._begin_composed: Onward = partial(steps[0], onward=_compose) if steps else _compose

    async def __call__(self, caller: Caller, operation: Operation) -> Result:
        """Run an operation for a caller. Raises what a step or the operation raises."""
        call = self._call(caller, operation)
        with self._asked():
            result: Result = await self._first(call)(call)
        return result

    async def noted(self, caller: Caller, operation: Operation) -> Answer:
        """Run an operation for a door that passes notices on, but no hand-over."""
        call = self._call(caller, operation)
        with self._asked():
            result = await self._begin(call)
        return Answer(result, None, call.notices)

    async def ask(self, caller: Caller, operation: Operation) -> Answer:
        """Run an operation for a door that can pass a hand-over to its caller."""
        call = self._call(caller, operation)
        call.tells = True
        with self._asked():
            result = await self._first(call)(call)
        return Answer(result, call.told, call.notices)

    def _first(self, call: Call) -> Onward:
        return self._begin_composed if call.spec.composed else self._begin

    @asynccontextmanager
    async def watch(self, caller: Caller, request: WatchSession) -> AsyncIterator[Watch]:
        """Watch a session while this context is entered.

        Raises what a step raises, and SessionNotFound.
        """
        async with AsyncExitStack() as stack:

            async def enter(call: Call) -> Watch:
                assert isinstance(call.operation, WatchSession)
                typed = partial(self._type, caller, call.operation.session)
                watch = self._watch(caller, call.operation, typed)
                return await stack.enter_async_context(watch)

            call = Call(caller, request, spec_of(request), enter, stack=stack)
            yield await self._begin(call)

    @asynccontextmanager
    async def follow(self, caller: Caller, request: Follow) -> AsyncIterator[EventStream]:
        """Follow one session or all of them while this context is entered.

        Raises what a step raises, SessionNotFound and InvalidInput.
        """
        async with AsyncExitStack() as stack:

            async def enter(call: Call) -> EventStream:
                assert isinstance(call.operation, Follow)
                return await stack.enter_async_context(self._follow(caller, call.operation))

            call = Call(caller, request, spec_of(request), enter, stack=stack)
            yield await self._begin(call)

    async def _type(
        self, caller: Caller, session: str | int, data: bytes, receipt: Receipt | None = None
    ) -> None:
        await self(caller, TypeAtScreen(session=session, data=data, receipt=receipt))

    def _call(self, caller: Caller, operation: Operation) -> Call:
        self.calls += 1
        return Call(caller, operation, spec_of(operation), self._run)

    async def _run(self, call: Call) -> Result:
        return await self._handlers.of(call.operation)(call.caller, call.operation)


async def _handle(call: Call) -> Any:
    call.begun = True
    return await call.handle(call)


async def _compose(call: Call) -> Any:
    with undelivered():
        return await call.handle(call)
