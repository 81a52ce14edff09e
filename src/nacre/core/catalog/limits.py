"""Numbers that are cut to a limit instead of being refused: how much is read, how long is waited.

Rule: a limit is stated at the parameter, in its type's `extra`: {"most": a number, or the setting
in seconds that says it}, and {"deadline": True} where the number is how long the call may take.
"""

from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Meta, inspect

_LONG = 1 << 63  # a number from which on its digits are not repeated


class NumberLimit(NamedTuple):
    parameter: str
    most: int | str  # or the setting that says it, in seconds, of milliseconds here
    deadline: bool


def cut_at(most: int, description: str | None = None, *, least: int = 0) -> Meta:
    """Return what is said of a number of which more than this is cut."""
    return Meta(
        ge=least,
        description=description,
        extra_json_schema={"maximum": most},
        extra={"most": most},
    )


def cut_told(parameter: str, given: int, most: int) -> str:
    """Return what the answer says of a number that was cut."""
    number = given if given < _LONG else f"a number over {_LONG}"
    return f"{parameter} was cut from {number} to {most}, the most that there is"


def milliseconds(description: str, *, deadline: bool) -> Meta:
    """Return what is said of a time; `deadline`: it is how long the call may take."""
    return Meta(ge=0, description=description, extra={"most": "max_wait", "deadline": deadline})


@cache
def limits_of(cls: type[msgspec.Struct]) -> tuple[NumberLimit, ...]:
    struct = inspect.type_info(cls)
    assert isinstance(struct, inspect.StructType)
    found = [(field.name, _extra(field.type)) for field in struct.fields]
    return tuple(
        NumberLimit(name, extra["most"], extra.get("deadline", False))
        for name, extra in found
        if "most" in extra
    )


def _extra(kind: inspect.Type) -> dict[str, Any]:
    if isinstance(kind, inspect.UnionType):
        return next((extra for one in kind.types if (extra := _extra(one))), {})
    return dict(kind.extra or {}) if isinstance(kind, inspect.Metadata) else {}
