"""The argument that most commands share: which session; and how arguments are completed."""

from argparse import Action, ArgumentParser
from typing import Any

import msgspec

from nacre.cli.flags import explain, facts_of
from nacre.client.calls import complete_sessions
from nacre.core.operations.parameters import SessionRef


def add_session(parser: ArgumentParser, *, nargs: str | None = None) -> None:
    """Add the positional SESSION, completed from what runs."""
    session = parser.add_argument(
        "session", metavar="SESSION", nargs=nargs, help=facts_of(SessionRef).description
    )
    completed_by(session, complete_sessions)


def completed_by(action: Action, completer: Any) -> None:
    vars(action)["completer"] = completer  # argcomplete looks for this attribute


def describe(struct: type[msgspec.Struct], name: str) -> str:
    """Return the help of one parameter, as its operation states it."""
    return next(explain(field) for field in msgspec.structs.fields(struct) if field.name == name)
