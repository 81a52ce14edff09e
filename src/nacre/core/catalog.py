"""The catalog: what an operation is, and where all of them are entered.

Rule 1: tools, routes, flags, JSON schemas and reference docs are derived from the catalog.
Rule 2: nothing here runs anything; services/ has the handlers.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from nacre.core.caller import Scope
from nacre.errors import InvalidInput, UnknownOperation


class Operation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing a caller can ask for; its fields are its parameters."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation returns; its fields are the wire's."""


@dataclass(frozen=True, slots=True)
class Spec:
    """An operation's entry in the catalog."""

    name: str
    type: type[Operation]
    result: Any  # the result's type, or a tuple of those it may be
    scope: Scope
    route: str  # "METHOD /path" below /api; {session} is filled from the operation
    doc: str
    destructive: bool = False
    idempotent: bool = False
    types: bool = False  # it types into a session: it waits while a person drives

    @property
    def read_only(self) -> bool:
        return self.scope is Scope.OBSERVE


PARAMETERS_ARE = "; the parameters are: "  # in what is said of wrong ones, before their names

HALF = "a text has half a character in it (a lone surrogate); send it whole"

CATALOG: dict[str, Spec] = {}
_BY_TYPE: dict[type[Operation], Spec] = {}

OperationT = TypeVar("OperationT", bound=type[Operation])


def spec_of(operation: Operation) -> Spec:
    return _BY_TYPE[type(operation)]


def operation(
    name: str,
    route: str,
    *,
    result: Any,
    scope: Scope,
    destructive: bool = False,
    idempotent: bool = False,
    types: bool = False,
) -> Callable[[OperationT], OperationT]:
    """Enter a class into the catalog; its docstring is what callers read about it."""

    def enter(cls: OperationT) -> OperationT:
        doc = inspect.cleandoc(cls.__doc__ or "")
        spec = Spec(name, cls, result, scope, route, doc, destructive, idempotent, types)
        CATALOG[name] = _BY_TYPE[cls] = spec
        return cls

    return enter


def parse_operation(name: str, params: dict[str, Any], *, strict: bool = True) -> Operation:
    """Build an operation from parameters as they came over a wire; a null means "not given".

    Not strict: numbers and booleans may be text, as in a query string.
    Raises UnknownOperation for a name that is not in the catalog and InvalidInput for parameters
    that do not fit.
    """
    spec = CATALOG.get(name)
    if spec is None:
        raise UnknownOperation(f"no operation named {name!r}; there are {', '.join(CATALOG)}")
    return parse_parameters(spec.type, params, strict=strict)


def parse_parameters(
    cls: type[Operation], params: dict[str, Any], *, strict: bool = True
) -> Operation:
    given = {key: value for key, value in params.items() if value is not None}
    # What no answer can carry must not be stored: a list with it in it could be sent to nobody.
    if not _is_text(given):
        raise InvalidInput(HALF)
    try:
        return msgspec.convert(given, cls, strict=strict)
    except msgspec.ValidationError as error:
        known = ", ".join(cls.__struct_fields__) or "none"
        raise InvalidInput(f"{error}{_choice(cls, error)}{PARAMETERS_ARE}{known}") from error


def _choice(cls: type[Operation], error: msgspec.ValidationError) -> str:
    """Say what could have been given, where only a few words can."""
    found = re.match(r"Invalid enum value .* - at `\$\.(\w+)", str(error), re.DOTALL)
    words = _words(get_type_hints(cls).get(found[1])) if found else []
    return f"; use {', '.join(words)}" if words else ""


def _words(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    return [word for part in get_args(hint) for word in _words(part)]


def _is_text(value: Any) -> bool:
    """Tell whether all text in this can be written as UTF-8; some parsers of JSON do not mind."""
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            rest += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            rest += one
        elif isinstance(one, str) and not one.isascii():
            try:
                one.encode()
            except UnicodeEncodeError:
                return False
    return True
