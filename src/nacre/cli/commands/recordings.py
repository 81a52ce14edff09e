"""The commands that save recordings (export, record), and the one that restores lost sessions.

Rule: the daemon writes the file, because a recording can be larger than any answer.
"""

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import NO_LIMIT, add_json, harmless, show
from nacre.cli.session_argument import add_session
from nacre.client.calls import AnsweredError, Client
from nacre.core.operations.recordings import ExportRecording
from nacre.errors import DaemonRestarted

_STANDARD_OUTPUT = "-"
_WAIT_MS = 3_600_000  # one wait for a session's end; after that the next wait starts


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


def add_record(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "output", metavar="FILE", nargs="?", help="New file to write. Default: SESSION.cast."
    )
    parser.add_argument(
        "--all", action="store_true", help="Include everything that was recorded before."
    )
    add_flags(parser, ExportRecording, ("idle_cap", "input", "markers"))
    add_json(parser)
    parser.set_defaults(run=run_record)


def run_record(arguments: Namespace) -> int:
    """Record until the session ends or Ctrl+C. Until then the recording is in the journal."""
    output = arguments.output or f"{arguments.session}.cast"
    since = None if arguments.all else time.time()
    name = harmless(str(arguments.session))
    with Client.open(told=False) as client:  # before it is announced
        client.ask("list_sessions", session=arguments.session)
    try:
        print(f"recording {name} until it ends or Ctrl+C is pressed here", file=sys.stderr)
        _wait_for_end(arguments.session)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    with Client.open() as client:
        return _export(client, arguments, output, since=since)


def _wait_for_end(session: str) -> None:
    longest = _WAIT_MS
    while True:
        try:
            with Client.open() as client:
                wait = client.call("wait_for", session=session, exit=True, timeout_ms=longest)
        except DaemonRestarted:
            continue
        except AnsweredError as error:
            if (most := error.details.get("most")) is None or most >= longest:
                raise
            longest = most  # this daemon waits no longer (max_wait)
            continue
        if wait["matched"]:
            return


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
