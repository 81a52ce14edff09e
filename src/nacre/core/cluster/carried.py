"""Operations, results and errors as bytes: what one host of a cluster sends to another.

Rule 1: what comes out is what went in, with its types, so that a door words and cuts it as if it
had been made here. Hints keep their next steps, errors their class.
Rule 2: bytes of another host are not trusted: what does not fit its type raises ValidationError.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import msgspec

from nacre import errors
from nacre.core.catalog.catalog import UNLISTED, Operation, Result, Spec, spec_of
from nacre.core.operations.all import CATALOG
from nacre.errors import Internal, NacreError
from nacre.wording import Give, Higher, Hint, Meant, NextStep, Omit, Takes, Use

# What hosts ask each other besides: for themselves, and for tools that are made of operations.
_BETWEEN_HOSTS = ("find_run", "give_up_name", "read_input", "end_input", "type_keys")
_HINT = 1  # the code of our only extension type of MessagePack
_STEPS = {one.__name__: one for one in (Use, Omit, Give, Higher, Meant, Takes)}
_ERRORS = {
    name: one
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, NacreError)
}


class CarriedError(msgspec.Struct, frozen=True, array_like=True):
    """An error on its way."""

    kind: str  # its class
    message: str
    steps: list[Any]
    details: dict[str, Any]
    parameters: tuple[str, ...] = ()
    problem: str = ""


# --- operations --------------------------------------------------------------------------------


def pack_operation(operation: Operation) -> tuple[str, bytes]:
    return spec_of(operation).name, msgspec.msgpack.encode(operation)


def unpack_operation(name: str, data: bytes) -> Operation:
    """Raises UnknownOperation for one that this version does not have, and ValidationError."""
    spec = CATALOG.get(name) or (UNLISTED.get(name) if name in _BETWEEN_HOSTS else None)
    if spec is None:
        raise errors.UnknownOperation(f"this host knows no operation {name!r}")
    return msgspec.msgpack.decode(data, type=spec.type)


# --- results -----------------------------------------------------------------------------------


def pack_result(result: Result) -> tuple[str, bytes]:
    return type(result).__name__, msgspec.msgpack.encode(result, enc_hook=_pack)


def unpack_result(spec: Spec, kind: str, data: bytes) -> Result:
    """Raises ValidationError for what this operation does not return."""
    kinds = spec.result if isinstance(spec.result, tuple) else (spec.result,)
    for one in kinds:
        if one.__name__ == kind:
            return _read(one, data)
    raise msgspec.ValidationError(f"{spec.name} does not return {kind[:80]!r}")


def _read(kind: type[Result], data: bytes) -> Result:
    """Most results have no hint, and are read at once; a hint stands where a text is expected."""
    with suppress(msgspec.ValidationError):
        return _decoder(kind).decode(data)
    return msgspec.convert(msgspec.msgpack.decode(data, ext_hook=_unpack), kind)


@cache
def _decoder(kind: type[Result]) -> "msgspec.msgpack.Decoder[Result]":
    return msgspec.msgpack.Decoder(kind)


def _pack(value: Any) -> Any:
    if isinstance(value, Hint):
        return msgspec.msgpack.Ext(_HINT, msgspec.msgpack.encode((str(value), _plain(value.next))))
    raise NotImplementedError(f"{type(value).__name__} cannot be sent to another host")


def _unpack(code: int, data: memoryview) -> Any:
    if code != _HINT:
        raise msgspec.ValidationError(f"unknown extension {code}")
    text, steps = msgspec.msgpack.decode(data, type=tuple[str, list[Any]])
    return Hint(text, *_steps(steps))


def pack_value(value: Any) -> tuple[str, bytes]:
    """Pack an event, or what an act at a stream returned."""
    return type(value).__name__, msgspec.msgpack.encode(value, enc_hook=_pack)


def unpack_value(kinds: Mapping[str, type], kind: str, data: bytes) -> Any:
    """Raises ValidationError for a kind that is not among them."""
    if kind not in kinds:
        raise msgspec.ValidationError(f"unknown kind {kind[:80]!r}")
    return msgspec.convert(msgspec.msgpack.decode(data, ext_hook=_unpack), kinds[kind])


# --- errors ------------------------------------------------------------------------------------


def pack_error(error: NacreError) -> CarriedError:
    return CarriedError(
        type(error).__name__,
        error.message,
        _plain(error.next),
        error.details,
        error.parameters,
        error.problem,
    )


def unpack_error(carried: CarriedError) -> NacreError:
    cls = _ERRORS.get(carried.kind, Internal)
    error = cls.__new__(cls)
    NacreError.__init__(error, carried.message, *_steps(carried.steps), **carried.details)
    error.parameters = carried.parameters
    error.problem = carried.problem
    return error


def _plain(steps: tuple[NextStep, ...]) -> list[Any]:
    return [one if isinstance(one, str) else _fields(one) for one in steps]


def _fields(step: Any) -> list[Any]:
    if isinstance(step, Use):
        other = None if step.otherwise is None else _fields(step.otherwise)[1]
        return ["Use", [step.operation, step.to, dict(step.params), other]]
    return [type(step).__name__, list(step)]


def _steps(plain: list[Any]) -> list[NextStep]:
    """Raises ValidationError."""
    return [one if isinstance(one, str) else _step(*one) for one in plain]


def _step(kind: str, fields: list[Any]) -> NextStep:
    if kind not in _STEPS:
        raise msgspec.ValidationError(f"unknown step {kind[:80]!r}")
    if kind == "Use" and fields[3] is not None:
        fields = [*fields[:3], _step("Use", fields[3])]
    step: Any = msgspec.convert(fields, _STEPS[kind])
    found: NextStep = step
    return found
