"""The handlers of the operations: each service lists its own."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Result
from nacre.core.operations.follow import EventStream, Follow
from nacre.core.operations.watch import Receipt, Watch, WatchSession

OperationT = TypeVar("OperationT", bound=Operation)
Handler = Callable[[Caller, Any], Awaitable[Result]]
FollowHandler = Callable[[Caller, Follow], AbstractAsyncContextManager[EventStream]]


class Type(Protocol):
    def __call__(self, data: bytes, receipt: Receipt | None = None, /) -> Awaitable[None]:
        """Type; `receipt` hears what becomes of it."""


class WatchHandler(Protocol):
    def __call__(
        self, caller: Caller, request: WatchSession, type_: Type
    ) -> AbstractAsyncContextManager[Watch]:
        """Watch a session; `type_` sends what is typed at that screen through dispatch."""


class Handlers:
    """Operations and their handlers."""

    def __init__(self) -> None:
        self._handlers: dict[type[Operation], Handler] = {}

    def on(
        self,
        operation: type[OperationT],
        handler: Callable[[Caller, OperationT], Awaitable[Result]],
    ) -> "Handlers":
        """Add a handler. Return self, so that calls can be chained."""
        assert operation not in self._handlers, f"{operation.__name__} has a handler already"
        self._handlers[operation] = handler
        return self

    def of(self, operation: Operation) -> Handler:
        return self._handlers[type(operation)]

    def __iter__(self) -> Iterator[type[Operation]]:
        return iter(self._handlers)

    @classmethod
    def merged(cls, parts: "Iterable[Handlers]") -> "Handlers":
        whole = cls()
        for part in parts:
            for operation, handler in part._handlers.items():
                whole.on(operation, handler)
        return whole
