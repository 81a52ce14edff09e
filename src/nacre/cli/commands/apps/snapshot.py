"""The command that shows what stands on a screen, beside its text: snapshot."""

from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, budget, show
from nacre.cli.output.table import format_table
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.core.operations.apps.seeing import TakeSnapshot

_WIDEST = 60  # columns of a cell


def add_snapshot(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags(parser, TakeSnapshot, ("max_chars",))
    add_json(parser)
    parser.set_defaults(run=run_snapshot)


def run_snapshot(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask(
            "snapshot",
            session=arguments.session,
            lines=None if arguments.json else False,
            max_chars=budget(arguments),
        )
    rows = [_row(element) for element in result["elements"]]
    header = ("REF", "PLACE", "STATE", "TEXT", "FOUND BY")
    return show(arguments, result, format_table(header, rows, _WIDEST) if rows else None)


def _row(element: dict[str, Any]) -> tuple[str, ...]:
    states = [state for state in ("selected", "focused") if element.get(state)]
    if (checked := element.get("checked")) is not None:
        states.append("checked" if checked else "not checked")
    text = element["text"]
    if label := element.get("label"):
        text = f"{label}: {text}"
    if key := element.get("key"):
        text = f"{text} ({key})"
    place = f"{element['row']},{element['col']}"
    return element["ref"], place, ", ".join(states), text, element.get("evidence", "")
