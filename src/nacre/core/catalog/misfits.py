"""Parameters that do not fit an operation: which one is wrong, and what it must be.

Rule: only the place of the error is read from msgspec's message. What is wrong there follows from
the operation's type and the value.
"""

from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from nacre.core.catalog.leniency import meant
from nacre.core.catalog.leniency import options_of as _options
from nacre.errors import BadParameter, InvalidInput
from nacre.late_pattern import late_pattern
from nacre.wording import Meant, Takes

_WHERE = late_pattern(r" - at `(?:key` in `)?\$([^`]*)`\Z")
_PART = late_pattern(r"\.(\w+)|\[(\d+|\.\.\.)\]")
_LONGEST_GIVEN = 100  # characters; an error repeats no longer value

_UNKNOWN: Any = object()  # a value whose place msgspec does not report


class Expected(NamedTuple):
    """What a value must be, and the one limit that it breaks if its type is right."""

    what: str
    limit: str | None = None


def explain(
    cls: type[msgspec.Struct], operation: str | None, given: dict[str, Any], error: Exception
) -> InvalidInput:
    """Return the error for parameters that msgspec refused."""
    text = str(error)
    found = _WHERE.search(text)
    path = found[1] if found else ""
    kind, value = _walk(inspect.type_info(cls), given, path)
    takes = Takes(operation, cls.__struct_fields__)
    known = {"takes": list(cls.__struct_fields__)}
    if isinstance(value, dict) and (struct := _struct_of(kind)) is not None:
        if (wrong := _wrong_field(struct, value)) is not None:
            name, problem = wrong
            if not path:
                steps = _meant(cls, name, value)
                return BadParameter(name, problem or "is not a parameter", *steps, takes, **known)
            fields = [field.name for field in struct.fields]
            problem = problem or f"is not a field (there are: {', '.join(fields)})"
            return BadParameter(f"{path}.{name}".lstrip("."), problem, allowed=fields)
        message = text[: found.start()] if found else text
        where = f"{path.lstrip('.')}: " if path else ""
        return InvalidInput(f"{where}{message}", takes, **known)  # a check of the type's own
    name = _with_key(path.lstrip("."), given)
    if value == "" and _needs_text(kind):
        needed = _expected(kind, value, []).what
        return BadParameter(name, "is empty", takes, expected=needed, **known)
    choices = _choices(cls, name) if _is_choice(kind) else []
    expected = _expected(kind, value, choices)
    told = {"expected": expected.what, "limit": expected.limit, "allowed": choices or None}
    if _can_be_repeated(value):
        told["given"] = value
    facts = {key: fact for key, fact in told.items() if fact is not None}
    return BadParameter(name, f"must be {expected.what}", takes, **facts, **known)


# --- where it is wrong -------------------------------------------------------------------------


def _walk(kind: inspect.Type, value: Any, path: str) -> tuple[inspect.Type, Any]:
    """Return the type and the value at a path."""
    for field, place in _PART.findall(path):
        kind = _inner(kind, field)
        value = _at(value, field or place)
    return kind, value


def _inner(kind: inspect.Type, field: str) -> inspect.Type:
    for option in _options(kind):
        if field and isinstance(option, inspect.StructType):
            return next((one.type for one in option.fields if one.name == field), kind)
        if not field and isinstance(option, inspect.ListType | inspect.VarTupleType):
            return option.item_type
        if not field and isinstance(option, inspect.TupleType):
            return option.item_types[0]  # ours have one type throughout: rows and columns
        if not field and isinstance(option, inspect.DictType):
            return option.value_type
    return kind


def _at(value: Any, place: str) -> Any:
    if isinstance(value, dict):
        return value.get(place, _UNKNOWN)
    if isinstance(value, list) and place.isdigit():
        return value[int(place)]
    return _UNKNOWN


def _with_key(path: str, given: dict[str, Any]) -> str:
    """Return a path with the key in it for which msgspec writes [...].

    The objects that operations take have texts in them (env).
    """
    name, unnamed, _ = path.partition("[...]")
    named = given.get(name)
    if not unnamed or not isinstance(named, dict):
        return path
    wrong = next((key for key, value in named.items() if not isinstance(value, str)), "")
    return f"{name}.{wrong[:_LONGEST_GIVEN]}"


def _struct_of(kind: inspect.Type) -> inspect.StructType | None:
    return next((one for one in _options(kind) if isinstance(one, inspect.StructType)), None)


def _wrong_field(struct: inspect.StructType, value: dict[str, Any]) -> tuple[str, str] | None:
    """Return which field is wrong, and what is: nothing for one that there is not."""
    names = [field.name for field in struct.fields]
    for name in value:
        if struct.forbid_unknown_fields and name not in names:
            return name, ""
    missing = [one.name for one in struct.fields if one.required and one.name not in value]
    return (missing[0], "is missing") if missing else None


def _meant(cls: type[msgspec.Struct], name: str, given: dict[str, Any]) -> tuple[Meant, ...]:
    if name not in given:
        return ()
    names = meant(name, cls.__struct_fields__, given)
    return (Meant(names),) if names else ()


def _can_be_repeated(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) < 1 << 63  # JSON encoders take no larger ones
    return isinstance(value, float) or (isinstance(value, str) and len(value) <= _LONGEST_GIVEN)


# --- what it must be ---------------------------------------------------------------------------


def _expected(kind: inspect.Type, value: Any, choices: list[str]) -> Expected:
    if choices:
        return Expected(_either(choices))
    options = _options(kind)
    if len(options) == 1:
        return _one_expected(options[0], value)
    return Expected(_either([_one_expected(option, value).what for option in options]))


def _one_expected(kind: inspect.Type, value: Any) -> Expected:
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        noun = "an integer" if isinstance(kind, inspect.IntType) else "a number"
        return Expected(f"{noun}{_range(kind)}", _broken(kind, value))
    if isinstance(kind, inspect.StrType | inspect.ListType | inspect.VarTupleType):
        noun = "a string" if isinstance(kind, inspect.StrType) else "an array"
        return Expected(f"{noun}{_length(kind)}")
    return Expected(_NOUNS.get(type(kind), "something else"))


_NOUNS: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.DictType: "an object",
    inspect.StructType: "an object",
    inspect.TupleType: "an array",
}


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    least, most = kind.ge, kind.le
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" of at least {least}"
    return "" if most is None else f" of at most {most}"


def _broken(kind: inspect.IntType | inspect.FloatType, value: Any) -> str | None:
    try:
        # In a query string a number is text.
        number = value if isinstance(value, int | float) else float(value)
        if isinstance(kind, inspect.IntType) and int(number) != number:
            return None
    except (TypeError, ValueError, OverflowError):
        return None
    if kind.ge is not None and number < kind.ge:
        return f"at least {kind.ge}"
    return f"at most {kind.le}" if kind.le is not None and number > kind.le else None


def _needs_text(kind: inspect.Type) -> bool:
    return any(isinstance(one, inspect.StrType) and one.min_length for one in _options(kind))


def _length(kind: inspect.StrType | inspect.ListType | inspect.VarTupleType) -> str:
    least, most = kind.min_length, kind.max_length
    unit = "character" if isinstance(kind, inspect.StrType) else "item"
    if most is not None:
        return f" of {least or 0} to {most} {unit}s"
    return "" if not least else f" of at least {least} {unit}{'' if least == 1 else 's'}"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _is_choice(kind: inspect.Type) -> bool:
    return any(isinstance(option, inspect.LiteralType) for option in _options(kind))


def _choices(cls: type[msgspec.Struct], path: str) -> list[str]:
    """Return the allowed words of a parameter, in the order of its type."""
    name = path.partition("[")[0]
    return _words(get_type_hints(cls, include_extras=True).get(name))


def _words(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    return [word for part in get_args(hint) for word in _words(part)]
