"""What is taken although it is not written as it should be: models write 10.0 and "10" for 10.

Rule: only what can mean one thing. A number in a text is a number where no text can stand; one word
is a list of it where only certain words can be in the list.
"""

from difflib import get_close_matches
from functools import cache
from math import isfinite
from typing import Any

import msgspec
from msgspec import inspect

from nacre.errors import InvalidInput
from nacre.late_pattern import late_pattern

_WHOLE = late_pattern(r"\s*(-?\d{1,18})(\.0*)?\s*")
_TRUTH = {"true": True, "false": False}

# A session has a name, an id and a port, and tools that call the parameter by each of them.
_SESSION = "session"
_ALSO_SESSION = ("port", "session_id")

# What other tools of this kind call the same thing.
_ALIKE = (
    ("command", "cmd", "input", "text", "line", "code", "script"),
    ("session", "port", "session_id", "name", "id"),
    ("timeout_ms", "max_wait_ms", "timeout", "wait_ms", "wait", "quiet_ms"),
    ("key", "keys"),
    ("keys", "input", "text"),
    ("lines", "limit", "count", "max_lines", "num_lines"),
    ("regex", "text", "pattern"),
    ("offset", "start", "first"),
    ("cwd", "dir", "directory", "folder", "workdir", "path"),
    ("rows", "height"),
    ("cols", "columns", "width"),
    ("max_chars", "max_length", "max_output_length"),
)
_MOST_MEANT = 3  # names that one error suggests


def ease(cls: type[msgspec.Struct], given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters as they must have been meant.

    Raises InvalidInput when the session is named twice.
    """
    kinds = _kinds(cls)
    return {
        name: _eased(kinds[name], value) if name in kinds else value
        for name, value in _session_named(kinds, given).items()
    }


def meant(name: str, known: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Return which of the parameters this unknown name may stand for."""
    free, name = [one for one in known if one not in given], name.lower()
    alike = [one for one in free if one == name]
    alike += [one for group in _ALIKE if name in group for one in free if one in group]
    found = alike or get_close_matches(name, free, n=_MOST_MEANT)
    return tuple(dict.fromkeys(found))[:_MOST_MEANT]


def options_of(kind: inspect.Type) -> list[inspect.Type]:
    """Return the types that a value may have, but for null: that means "not given"."""
    if isinstance(kind, inspect.Metadata):
        return options_of(kind.type)
    if isinstance(kind, inspect.UnionType):
        return [option for one in kind.types for option in options_of(one)]
    return [] if isinstance(kind, inspect.NoneType) else [kind]


@cache
def _kinds(cls: type[msgspec.Struct]) -> dict[str, tuple[inspect.Type, ...]]:
    struct = inspect.type_info(cls)
    assert isinstance(struct, inspect.StructType)
    return {field.name: tuple(options_of(field.type)) for field in struct.fields}


def _session_named(
    kinds: dict[str, tuple[inspect.Type, ...]], given: dict[str, Any]
) -> dict[str, Any]:
    if _SESSION not in kinds:
        return given
    others = [name for name in _ALSO_SESSION if name in given and name not in kinds]
    if not others:
        return given
    if len(others) > 1 or _SESSION in given:
        raise InvalidInput("the session is named twice", "give one of session, port and session_id")
    return {_SESSION if name == others[0] else name: value for name, value in given.items()}


def _eased(options: tuple[inspect.Type, ...], value: Any) -> Any:
    if isinstance(value, str):
        return _out_of_text(options, value)
    if isinstance(value, float):
        if not isfinite(value):
            return str(value)  # no number that anything could be done with: it will not fit
        return int(value) if _whole_wanted(options) and value.is_integer() else value
    if isinstance(value, int) and not isinstance(value, bool):
        return _in_list(options, value)
    if isinstance(value, list):
        items = next((one for one in options if isinstance(one, inspect.ListType)), None)
        if items is not None:
            kinds = tuple(options_of(items.item_type))
            return [_eased(kinds, item) for item in value]
    return value


def _out_of_text(options: tuple[inspect.Type, ...], text: str) -> Any:
    if any(isinstance(one, inspect.StrType | inspect.LiteralType) for one in options):
        return text
    if _whole_wanted(options) and (found := _WHOLE.fullmatch(text)):
        return int(found[1])
    if any(isinstance(one, inspect.FloatType) for one in options):
        try:
            return float(text) if isfinite(float(text)) else text
        except ValueError:
            return text
    if any(isinstance(one, inspect.BoolType) for one in options):
        return _TRUTH.get(text.strip().lower(), text)
    return _in_list(options, text)


def _whole_wanted(options: tuple[inspect.Type, ...]) -> bool:
    kinds = {type(one) for one in options}
    return inspect.IntType in kinds and inspect.FloatType not in kinds


def _in_list(options: tuple[inspect.Type, ...], value: Any) -> Any:
    """Return one state as a list of it, and one session; not one argument of a command line."""
    for one in options:
        if isinstance(one, inspect.ListType):
            items = options_of(one.item_type)
            words = any(isinstance(item, inspect.LiteralType) for item in items)
            references = {type(item) for item in items} == {inspect.StrType, inspect.IntType}
            if words or references:
                return [value]
    return value
