"""The command that saves a recording (export), and the one that restores lost sessions.

Rule: the daemon writes the file, because a recording can be larger than any answer.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import NO_LIMIT, add_json, harmless, show
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.core.operations.recordings import ExportRecording

_STANDARD_OUTPUT = "-"


def add_export(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "--cast", action="store_true", help="Save as an asciicast; this is the default."
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="New file to write; '-' is standard output. Default: standard output, or in a "
        "terminal SESSION.cast in this folder.",
    )
    add_flags(parser, ExportRecording, ("since", "until", "idle_cap", "input", "markers"))
    add_json(parser)
    parser.set_defaults(run=run_export)


def run_export(arguments: Namespace) -> int:
    output = arguments.output
    if output is None:
        output = f"{arguments.session}.cast" if sys.stdout.isatty() else _STANDARD_OUTPUT
    with Client.open() as client:
        return _export(client, arguments, output, since=arguments.since, until=arguments.until)


def _export(client: Client, arguments: Namespace, output: str, **span: Any) -> int:
    to_file = output != _STANDARD_OUTPUT
    result = client.call(
        "export_recording",
        session=arguments.session,
        path=os.path.abspath(output) if to_file else None,
        max_chars=None if to_file else NO_LIMIT,
        idle_cap=arguments.idle_cap,
        input=arguments.input,
        markers=arguments.markers,
        **span,
    )
    if not to_file and not arguments.json:
        sys.stdout.write(result["recording"])
        return 0
    return show(arguments, result, harmless(output))


def add_restore(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session",
        metavar="SESSION",
        nargs="?",
        help="Lost session to restore. Default: all of them.",
    )
    add_json(parser)
    parser.set_defaults(run=run_restore)


def run_restore(arguments: Namespace) -> int:
    with Client.open(start=True) as client:
        result = client.call("restore_sessions", session=arguments.session)
    names = [session["session"] for session in result["sessions"]]
    text = f"restored: {', '.join(names)}" if names else "no session is lost"
    return show(arguments, result, text)
