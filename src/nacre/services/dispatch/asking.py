"""How a call's own host can be asked: a door sets it where its client offers that.

Rule: it asks the person at the host, never the model; the door sees to that by its protocol.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from nacre.context_block import ContextBlock
from nacre.core.operations.safety.approvals import Answer, Approval

Asking = Callable[[Approval], Awaitable[Answer | None]]  # None: the host's person did not answer

_of_this_call: ContextVar[Asking | None] = ContextVar("asking", default=None)


def asked_by(asking: Asking | None) -> ContextBlock[Asking | None]:
    """Let questions of calls that are made meanwhile go to their host."""
    return ContextBlock(_of_this_call, asking)


def asking_of_call() -> Asking | None:
    return _of_this_call.get()
