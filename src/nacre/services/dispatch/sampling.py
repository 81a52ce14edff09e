"""How the model of a call's own client can be asked: a door sets it where its client offers that.

Rule: what it says is a text like any other: nothing is run because of it.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import NamedTuple

from nacre.context_block import ContextBlock


class ModelPrompt(NamedTuple):
    system: str
    text: str
    max_tokens: int


class Sampled(NamedTuple):
    text: str
    model: str  # as the client calls it


Sampling = Callable[[ModelPrompt], Awaitable[Sampled | None]]  # None: it did not answer

_of_this_call: ContextVar[Sampling | None] = ContextVar("sampling", default=None)


def sampled_by(sampling: Sampling | None) -> ContextBlock[Sampling | None]:
    """Let calls that are made meanwhile ask their client's model."""
    return ContextBlock(_of_this_call, sampling)


def sampling_of_call() -> Sampling | None:
    return _of_this_call.get()
