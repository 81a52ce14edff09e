"""The catalog: what an operation is, and the table of all of them.

Rule 1: tools, routes, flags, JSON schemas and reference docs are derived from the catalog.
Rule 2: nothing here is executed; the handlers are in services/.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.leniency import ease
from nacre.core.catalog.misfits import explain
from nacre.errors import InvalidInput, UnknownOperation


class Operation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing a caller can ask for; its fields are its parameters.

    `alone` names flags beside which other parameters do not matter, and those that still do.
    """

    alone: ClassVar[Mapping[str, frozenset[str]]] = {}


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation returns; its fields are those on the wire."""


class Note(NamedTuple):
    """A sentence about another operation, shown to callers that have it too; {} is its name.

    `otherwise` is for those that do not have it.
    """

    operation: str
    text: str
    otherwise: str = ""


Types = bool | Callable[[Any], bool]  # always or never, or depending on the request

REFERENCES = ("session", "sessions", "run_id")  # parameters that name sessions or runs


class Spec(Struct, frozen=True):
    """An operation's entry in the catalog."""

    name: str
    type: type[Operation]
    result: Any  # the result's type, or a tuple of those it may be
    scope: Scope
    route: str  # "METHOD /path" below /api; {session} is filled from the operation
    text: str
    destructive: bool = False
    idempotent: bool = False
    observes: Types = False  # such a call only looks, and the scope observe is enough for it
    types: Types = False  # it types into a session: it waits while a person drives
    acts: Types = False  # it acts on the program otherwise: so it waits, unless a person asks
    asks: bool = False  # it may type a question of its own, where that is free to it at once
    references: tuple[str, ...] = ()  # those of its parameters that name sessions or runs
    notes: tuple[Note, ...] = ()
    composed: bool = False  # it only asks for others, each of which passes all steps of dispatch

    def describe(self, name_of: Callable[[str], str | None]) -> str:
        """Return what callers read about it. `name_of` says what other operations are called here.

        It returns None for an operation that the caller does not have.
        """
        named = [(note, name_of(note.operation)) for note in self.notes]
        told = [note.text.format(name) if name else note.otherwise for note, name in named]
        return " ".join([self.text, *filter(None, told)])

    @property
    def doc(self) -> str:
        return self.describe(str)

    @property
    def read_only(self) -> bool:
        return self.scope is Scope.OBSERVE

    def scope_of(self, operation: Operation) -> Scope:
        """Return the scope that this call needs."""
        return Scope.OBSERVE if _holds(self.observes, operation) else self.scope

    def types_into(self, operation: Operation) -> bool:
        """Tell whether this call types into a session, or takes its keys."""
        return _holds(self.types, operation)

    def acts_on(self, operation: Operation) -> bool:
        """Tell whether this call ends, restarts, signals or resizes a program, or sends all off."""
        return _holds(self.acts, operation)


def _holds(fact: Types, operation: Operation) -> bool:
    return fact if isinstance(fact, bool) else fact(operation)


CATALOG: dict[str, Spec] = {}
UNLISTED: dict[str, Spec] = {}
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
    observes: Types = False,
    types: Types = False,
    acts: Types = False,
    asks: bool = False,
    notes: tuple[Note, ...] = (),
) -> Callable[[OperationT], OperationT]:
    """Add a class to the catalog. Callers read its docstring and notes."""

    def enter(cls: OperationT) -> OperationT:
        text = inspect.cleandoc(cls.__doc__ or "")
        of_it = (name, cls, result, scope, route, text, destructive, idempotent)
        named = _references(cls)
        spec = Spec(
            *of_it,
            observes=observes,
            types=types,
            acts=acts,
            asks=asks,
            references=named,
            notes=notes,
        )
        CATALOG[name] = _BY_TYPE[cls] = spec
        return cls

    return enter


def unlisted(
    name: str, *, scope: Scope, types: bool = False, result: Any = None
) -> Callable[[OperationT], OperationT]:
    """Let dispatch take a class that is neither a tool nor a route: doors build it themselves."""

    def enter(cls: OperationT) -> OperationT:
        doc = inspect.cleandoc(cls.__doc__ or "")
        named = _references(cls)
        spec = Spec(name, cls, result, scope, "", doc, types=types, references=named)
        UNLISTED[name] = _BY_TYPE[cls] = spec
        return cls

    return enter


def composed(
    name: str,
    table: dict[str, Spec],
    *,
    result: Any,
    scope: Scope,
    destructive: bool = False,
    idempotent: bool = False,
) -> Callable[[OperationT], OperationT]:
    """Add a class to a table of its own: a tool that is made of operations of the catalog.

    It is no route: who writes a script asks for those operations. What its parameters name is
    resolved by its handler, and each operation that it asks for passes dispatch as any other.
    """

    def enter(cls: OperationT) -> OperationT:
        text = inspect.cleandoc(cls.__doc__ or "")
        of_it = (name, cls, result, scope, "", text, destructive, idempotent)
        table[name] = _BY_TYPE[cls] = Spec(*of_it, composed=True)
        return cls

    return enter


def _references(cls: type[Operation]) -> tuple[str, ...]:
    # The decorator runs after the class is built, so its fields are known.
    return tuple(name for name in REFERENCES if name in cls.__struct_fields__)


def parse_operation(name: str, params: dict[str, Any], *, strict: bool = True) -> Operation:
    """Build an operation from parameters as they came over a wire; null means "not given".

    With `strict` off, numbers and booleans may be text, as in a query string.
    Raises UnknownOperation for a name that is not in the catalog and InvalidInput for parameters
    that do not fit.
    """
    spec = CATALOG.get(name)
    if spec is None:
        raise UnknownOperation(f"no operation named {name!r} (there are: {', '.join(CATALOG)})")
    return parse_parameters(spec.type, params, strict=strict)


def half_a_character() -> InvalidInput:
    """Return the error for text with a lone surrogate, which JSON allows but UTF-8 does not."""
    return InvalidInput("a text contains half a character (a lone surrogate)", "send it whole")


def parse_parameters(
    cls: type[Operation], params: dict[str, Any], *, strict: bool = True
) -> Operation:
    given = {key: value for key, value in params.items() if value is not None}
    # Text that no answer can carry must not be stored: a list with it could never be sent.
    if not _is_text(given):
        raise half_a_character()
    if strict and all(type(one) in _PLAIN for one in given.values()):
        # Mostly it is as it should be. What is not may be meant so; of these kinds, nothing that
        # fits is taken for anything else.
        with suppress(msgspec.ValidationError):
            return msgspec.convert(_that_matter(cls, given), cls)
    given = _that_matter(cls, ease(cls, given))
    try:
        return msgspec.convert(given, cls, strict=strict)
    except msgspec.ValidationError as error:
        spec = _BY_TYPE.get(cls)
        raise explain(cls, spec.name if spec else None, given, error) from error


_PLAIN = frozenset({str, int, bool})


def _that_matter(cls: type[Operation], given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters without those that a flag makes meaningless, be they right or wrong."""
    for flag, others in cls.alone.items():
        if given.get(flag) is True:
            ignored = set(cls.__struct_fields__) - others - {flag}
            given = {name: value for name, value in given.items() if name not in ignored}
    return given


def _is_text(value: Any) -> bool:
    """Return whether all text in a value can be encoded as UTF-8. Not every JSON parser checks."""
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
