"""A message that is no operation itself: read it, or say in plain words what is wrong with it.

Rule: nothing of the parser's words, or of Python's types, reaches who sent it.
"""

from typing import TypeVar

import msgspec

from nacre.core.catalog.misfits import explain
from nacre.errors import InvalidInput

StructT = TypeVar("StructT", bound=msgspec.Struct)


def read_message(cls: type[StructT], data: str | bytes, what: str) -> StructT:
    """Read a JSON object; `what` says what it must be. Raises InvalidInput for what is none."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidInput(f"{what}; this is not valid JSON") from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{what}; this is no JSON object")
    try:
        return msgspec.convert(found, cls)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{what}; {explain(cls, None, found, error).message}") from error
