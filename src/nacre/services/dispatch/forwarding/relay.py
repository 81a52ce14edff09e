"""What a call's own host takes while it goes on: progress, and questions of a server behind us.

Rule: a door sets it for each call, with what its client offers; a service that forwards the call
uses it. What the client does not offer is None, and the question is declined.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

from msgspec import Struct

from nacre.context_block import ContextBlock

# Both take and return the protocol's own parameters and results; None: nobody answered.
Ask = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any] | None]]
ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]


class Relay(Struct, frozen=True):
    progress: ReportProgress | None = None
    elicit: Ask | None = None  # elicitation/create
    sample: Ask | None = None  # sampling/createMessage
    begun: Callable[[str], None] | None = None  # takes the id of the run that the call has begun
    follows: bool = False  # it reads the output of that run elsewhere, as it is printed
    # The process whose standard input the run gets. It is the caller's own, as the system tells:
    # nobody names another one's.
    input_of: int | None = None
    # Or the pipe that another host fills with the standard input of its caller.
    input_path: str | None = None

    @property
    def feeds(self) -> bool:
        """Tell whether the run reads something else than its terminal."""
        return self.input_of is not None or self.input_path is not None


_of_this_call: ContextVar[Relay | None] = ContextVar("relay", default=None)


def relayed_by(relay: Relay | None) -> ContextBlock[Relay | None]:
    """Let calls that are made meanwhile reach their host."""
    return ContextBlock(_of_this_call, relay)


def relay_of_call() -> Relay | None:
    return _of_this_call.get()
