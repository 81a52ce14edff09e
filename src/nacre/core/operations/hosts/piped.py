"""What hosts ask each other for the standard input of a run on another host."""

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, unlisted
from nacre.core.operations.results import Success


class InputPart(Result, frozen=True, kw_only=True):
    data: bytes
    end: bool  # there is no more


@unlisted("read_input", scope=Scope.OBSERVE, result=InputPart)
class ReadInput(Operation, frozen=True, kw_only=True):
    """Return the next part of what is piped into a run, from a position on; wait for it."""

    name: str
    position: int


@unlisted("end_input", scope=Scope.OBSERVE, result=Success)
class EndInput(Operation, frozen=True, kw_only=True):
    """The run is over: no more of its input is read."""

    name: str
