"""What a daemon answers: results as typed values, errors as the exceptions of errors.py.

Rule: an error is raised as the class of its code, so that `except SessionNotFound` works. A code
that this version does not know is a NacreError with that code.
"""

from typing import Any, Protocol, TypeVar

import msgspec

from nacre import errors
from nacre.errors import NacreError

ResultT = TypeVar("ResultT")


class DaemonSocket(Protocol):
    """A connection to a daemon: it blocks (blocking.py), or waits on the loop (streaming.py)."""

    async def ask(self, operation: str, params: dict[str, Any], *, reads: bool) -> dict[str, Any]:
        """Return the result of an operation. What only reads is repeated if the daemon dies.

        Raises the daemon's error, DaemonUnreachable, or DaemonRestarted.
        """

    async def close(self) -> None: ...


def result_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer's result. Raises the error that it has instead."""
    if "error" in answer:
        raise error_of(answer["error"])
    result: dict[str, Any] = answer["result"]
    return result


def typed(result: dict[str, Any], kind: type[ResultT]) -> ResultT:
    """Return a result as its class; fields of a newer daemon are left out."""
    return msgspec.convert(result, kind)


def error_of(told: dict[str, Any]) -> NacreError:
    """Return the exception for an error on the wire; its message has the next step, too."""
    details = dict(told)
    code, message = details.pop("code"), details.pop("message")
    kind = _BY_CODE.get(code, NacreError)
    # Not by the constructor of its class: that would word the message a second time.
    error = kind.__new__(kind)
    NacreError.__init__(error, message, **details)
    error.code = code
    return error


def event_of(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the event in a message of a subscription; None if it is something else.

    Raises the error with which the subscription was refused, or ended.
    """
    if "error" in message:
        raise error_of(message["error"])
    return message if "event" in message else None


def ends_output(message: dict[str, Any]) -> bool:
    """Return whether no more output of a session comes. Raises the error that says why not."""
    if message.get("event") == "error":
        raise error_of(message["error"])
    return message.get("event") in ("ended", "detached")


def _by_code() -> dict[str, type[NacreError]]:
    """Return the class of each code: the most general one that has it."""
    found: dict[str, type[NacreError]] = {}
    rest: list[type[NacreError]] = [errors.Internal]
    rest += [errors.InvalidInput, *errors.Refused.__subclasses__(), *errors.Failed.__subclasses__()]
    rest += [errors.Failed, errors.DaemonUnreachable, errors.DaemonRestarted]
    for kind in rest:
        found.setdefault(kind.code, kind)
    return found


_BY_CODE = _by_code()
