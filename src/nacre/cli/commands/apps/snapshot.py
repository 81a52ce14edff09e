"""The commands about what stands on a screen: snapshot shows it, focus moves to an element."""

import re
from argparse import ArgumentParser, Namespace
from typing import Any, get_args

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, budget, show
from nacre.cli.output.table import format_table
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.core.operations.apps.focus import Focus
from nacre.core.operations.apps.seeing import TakeSnapshot
from nacre.core.seeing.elements import Role

_WIDEST = 60  # columns of a cell
_REFERENCE = re.compile(f"(?:{'|'.join(get_args(Role))})\\d+")


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


def add_focus(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "element",
        metavar="ELEMENT",
        help="Its text or label, or its reference in the last snapshot, as button2.",
    )
    add_flags(parser, Focus, ("timeout_ms",))
    add_json(parser)
    parser.set_defaults(run=run_focus)


def run_focus(arguments: Namespace) -> int:
    by = "ref" if _REFERENCE.fullmatch(arguments.element) else "text"
    with Client.open() as client:
        result = client.call(
            "focus",
            session=arguments.session,
            timeout_ms=arguments.timeout_ms,
            **{by: arguments.element},
        )
    pressed = ", ".join(result["keys"]) or {"mouse": "a click"}.get(result["by"], "nothing")
    told = f"{result['role']} {result['text']!r} has the focus ({result['evidence']})"
    return show(arguments, result, f"{told}; pressed: {pressed}")


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
