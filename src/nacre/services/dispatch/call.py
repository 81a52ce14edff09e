"""One call on its way through dispatch: who asks for what, and what the steps found."""

import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, NamedTuple, Protocol

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Spec
from nacre.core.operations.control import Handover
from nacre.services.dispatch.permit import Judged


class Target(NamedTuple):
    """A session that a call is about."""

    id: str
    name: str


class HandedOver(NamedTuple):
    """A hand-over that the caller gets with its answer: a person drove the session meanwhile."""

    session: str  # its name
    handover: Handover

    def as_dict(self) -> dict[str, Any]:
        return {"session": self.session, **msgspec.to_builtins(self.handover)}

    def in_words(self) -> str:
        return self.handover.in_words(self.session)


class Call(msgspec.Struct):
    caller: Caller
    operation: Operation  # its references are ids after the step resolve
    spec: Spec
    handle: "Onward"  # the handler, after the last step
    tells: bool = False  # the door can pass a hand-over to its caller
    targets: tuple[Target, ...] = ()
    told: HandedOver | None = None
    notices: list[str] = msgspec.field(
        default_factory=list
    )  # what the caller is told of its own request
    host: str = ""  # the other host of the cluster that was asked for it
    stack: AsyncExitStack | None = None  # of a stream: what it enters is left at its end
    begun: bool = False  # it has passed all steps
    judged: Judged = msgspec.field(default_factory=Judged)  # what the policy said of it
    began: float = msgspec.field(default_factory=time.monotonic)


Onward = Callable[[Call], Awaitable[Any]]


class Step(Protocol):
    """One step that every call passes. It passes the call on, or raises."""

    async def __call__(self, call: Call, onward: Onward) -> Any: ...
