"""Whether the arguments of a command are explained: only its help needs that.

Rule: what they mean stands in the operations. To load those takes as long as all else that a
command does before it has its answer, so commands that are called all the time leave them out.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from msgspec import Struct

Find = Callable[[], "type[Struct]"]  # imports an operation


def is_explained(parser: ArgumentParser) -> bool:
    """Return whether its help is asked for, or its words are not known yet."""
    return getattr(parser, "words", None) is None


def explanation(parser: ArgumentParser, find: Find, name: str) -> str | None:
    """Return the help of one parameter, as its operation states it."""
    if not is_explained(parser):
        return None
    from nacre.cli.flags import describe

    return describe(find(), name)


def add_flags_of(parser: ArgumentParser, find: Find, names: tuple[str, ...]) -> None:
    """Add the flags of an operation, as flags.add_flags does, if some may be among the words."""
    words: list[str] | None = getattr(parser, "words", None)
    flags = [f"--{name.replace('_', '-')}" for name in names]
    given = {word.partition("=")[0].replace("--no-", "--", 1) for word in words or ()}
    if words is not None and given.isdisjoint(flags):
        parser.set_defaults(**dict.fromkeys(names))
        return
    from nacre.cli.flags import add_flags

    add_flags(parser, find(), names)
