"""Command-line flags derived from the fields of a struct.

Rule: a parameter is stated in its operation, a setting in its table. The flag's name, help,
default and choices come from there and are written nowhere else.
"""

import types
import typing
from argparse import Action, ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from nacre.late_pattern import late_pattern

_IN_SECONDS = late_pattern(r"^Seconds|, in seconds\b")


class Switch(Action):
    """A switch of the settings: `--keeper`, `--no-keeper`, or with a value: `--keeper false`."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        flags = [*option_strings, *(f"--no-{flag[2:]}" for flag in option_strings)]
        super().__init__(flags, dest, nargs="?", help=help, metavar="BOOL")
        self.written = f"{flags[0]} [BOOL], {', '.join(flags[1:])}"  # as help writes it

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option: str | None = None
    ) -> None:
        off = option in self.option_strings[1:]
        if off and values is not None:
            parser.error(f"{option} takes no value")
        setattr(namespace, self.dest, not off if values is None else values)


class FieldFacts(NamedTuple):
    """What a field's annotation says about it."""

    kind: Any  # the type without its metadata and without None
    description: str


def facts_of(annotation: Any) -> FieldFacts:
    description = ""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation, *metadata = typing.get_args(annotation)
            for meta in metadata:
                description = getattr(meta, "description", None) or description
        elif origin in (typing.Union, types.UnionType):
            options = [option for option in typing.get_args(annotation) if option is not type(None)]
            if len(options) != 1:
                return FieldFacts(
                    str, description
                )  # a session's name, id or port: text on a command line
            annotation = options[0]
        else:
            return FieldFacts(annotation, description)


def add_flags(
    parser: ArgumentParser,
    struct: type[msgspec.Struct],
    names: Iterable[str] | None = None,
    *,
    parse: bool = True,
) -> None:
    """Add `--field-name` for each of the named fields, or for all of them.

    The parsed value is None if a flag is not given, so the struct's default applies. Without
    `parse` the value stays text; the settings parse it themselves and name the flag in the error.
    A switch that is on if nothing is said also has `--no-field-name`; so has every switch of the
    settings, because a variable or a file may have turned it on.
    """
    wanted = None if names is None else set(names)
    for field in msgspec.structs.fields(struct):
        if wanted is None or field.name in wanted:
            _add_flag(parser, field, parse=parse)


def _add_flag(parser: ArgumentParser, field: msgspec.structs.FieldInfo, *, parse: bool) -> None:
    kind = facts_of(field.type).kind
    flag = f"--{field.name.replace('_', '-')}"
    explained = explain(field)
    if kind is bool:
        if not parse:
            parser.add_argument(flag, action=Switch, help=explained)
        elif field.default is True:
            parser.add_argument(flag, action=BooleanOptionalAction, help=explained)
        else:
            parser.add_argument(flag, action="store_const", const=True, help=explained)
        return
    choices = typing.get_args(kind) if typing.get_origin(kind) is Literal else None
    parser.add_argument(
        flag,
        type=_converter(kind) if parse else str,
        choices=choices,
        metavar=None if choices else _metavar(field.name, kind, explained),
        help=explained,
    )


def _converter(kind: Any) -> Callable[[str], Any]:
    return kind if kind in (int, float) else str


_METAVARS = {"cwd": "DIR", "session": "SESSION", "regex": "RE", "host": "HOST"}


def _metavar(name: str, kind: Any, explained: str) -> str:
    if kind not in (int, float):
        return _METAVARS.get(name, "TEXT")
    if name.endswith("_bytes"):
        return "BYTES"
    # Whole numbers may be counts of something that takes seconds: "8 connections for 2 seconds".
    of_time = "econds" in explained if kind is float else _IN_SECONDS.search(explained)
    return "SECONDS" if of_time else "N"


def explain(field: msgspec.structs.FieldInfo) -> str:
    """Return a field's description and default, as argparse takes it."""
    text = facts_of(field.type).description
    if field.default not in (None, False, msgspec.NODEFAULT):
        text += f" [default: {'on' if field.default is True else field.default}]"
    return text.replace("%", "%%")


def describe(struct: type[msgspec.Struct], name: str) -> str:
    """Return the help of one parameter, as its operation states it."""
    fields = msgspec.structs.fields(struct)
    return next(explain(field) for field in fields if field.name == name)
