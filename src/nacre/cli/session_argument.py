"""The argument that most commands share: which session; and how arguments are completed."""

from argparse import Action, ArgumentParser
from typing import Any

from nacre.cli.explained import is_explained
from nacre.client.calls import complete_sessions


def add_session(parser: ArgumentParser, *, nargs: str | None = None) -> None:
    """Add the positional SESSION, completed from what runs."""
    explained = _explained() if is_explained(parser) else None
    session = parser.add_argument("session", metavar="SESSION", nargs=nargs, help=explained)
    completed_by(session, complete_sessions)


def _explained() -> str:
    from nacre.cli.flags import facts_of
    from nacre.core.operations.parameters import SessionRef

    return facts_of(SessionRef).description


def completed_by(action: Action, completer: Any) -> None:
    vars(action)["completer"] = completer  # argcomplete looks for this attribute
