"""The commands that look at a session: screen, scrollback, read."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, budget, harmless, show
from nacre.cli.output.paint import paint_line
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.core.operations.terminal import GetScreen, GetScrollback, ReadOutput


def add_screen(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags(parser, GetScreen, ("max_chars", "since_generation"))
    _add_styled(parser)
    add_json(parser)
    parser.set_defaults(run=run_screen)


def run_screen(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask(
            "get_screen",
            session=arguments.session,
            format=_format(arguments),
            max_chars=budget(arguments),
            since_generation=arguments.since_generation,
        )
    return _show_lines(arguments, result, trim=True)


def add_scrollback(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags(parser, GetScrollback, ("offset", "limit", "max_chars", "since_generation"))
    _add_styled(parser)
    add_json(parser)
    parser.set_defaults(run=run_scrollback)


def run_scrollback(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask(
            "get_scrollback",
            session=arguments.session,
            offset=arguments.offset,
            limit=arguments.limit,
            format=_format(arguments),
            max_chars=budget(arguments),
            since_generation=arguments.since_generation,
        )
    return _show_lines(arguments, result, trim=False)


def _add_styled(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--styled", action="store_true", help="Keep colours and attributes (with --json: as spans)."
    )


def _format(arguments: Namespace) -> str:
    return "styled" if arguments.styled else "plain"


def _show_lines(arguments: Namespace, result: dict[str, Any], *, trim: bool) -> int:
    lines = [_line(line) for line in result["lines"]]
    while trim and lines and not lines[-1].strip():
        lines.pop()  # empty rows would only scroll the person's terminal
    if not arguments.json:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return show(arguments, result)


def _line(line: str | list[dict[str, Any]]) -> str:
    if isinstance(line, str):
        return harmless(line)
    return paint_line([{**span, "text": harmless(span["text"])} for span in line])


def add_read(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags(parser, ReadOutput, ("lines", "max_chars", "since_generation"))
    add_json(parser)
    parser.set_defaults(run=run_read)


def run_read(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask(
            "read_output",
            session=arguments.session,
            lines=arguments.lines,
            max_chars=budget(arguments),
            since_generation=arguments.since_generation,
        )
    return show(arguments, result, result["output"] or None)
