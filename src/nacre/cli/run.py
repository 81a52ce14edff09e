"""`nacre run`: a command in a session, as if it ran here.

Rule: its output goes to standard output and its exit code becomes ours; whatever else is to be said
goes to standard error.
"""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.answers import add_json, harmless, in_commands, print_json
from nacre.cli.client import Client
from nacre.cli.flags import add_flags
from nacre.cli.sessions import add_session, describe
from nacre.core.operations import Run
from nacre.errors import WIRE, DaemonRestarted, InvalidInput

_FAILED = {"timeout": WIRE["TIMEOUT"].exit, "busy": 75, "error": WIRE["FAILED"].exit}


def add_run(parser: ArgumentParser) -> None:
    parser.usage = "nacre run SESSION [options] -- COMMAND [ARGS …]"
    add_session(parser)
    parser.add_argument("command", metavar="COMMAND", nargs="*", help=describe(Run, "command"))
    add_flags(parser, Run, ("timeout_ms", "max_chars"))
    parser.epilog = (
        "One word is a line for the session's shell; several are a program and its arguments. "
        "The exit code is the command's; 124 when it has not ended in time (it goes on)."
    )
    add_json(parser)
    parser.set_defaults(run=run_run)


def run_run(arguments: Namespace) -> int:
    line = _line(arguments.command)
    with Client.open() as client:
        try:
            outcome = client.call(
                "run",
                session=arguments.session,
                command=line,
                timeout_ms=arguments.timeout_ms,
                max_chars=arguments.max_chars,
            )
        except DaemonRestarted as error:
            raise _unknown(arguments.session) from error
    if arguments.json:
        print_json(outcome)
    elif outcome["output"]:
        print(harmless(outcome["output"]))
    _comment(outcome)
    if outcome["status"] != "completed":
        return _FAILED.get(outcome["status"], WIRE["FAILED"].exit)
    code: int = outcome["exit_code"] or 0
    return code


def _line(words: list[str]) -> str:
    if not words:
        raise InvalidInput("which command? It goes after --: nacre run SESSION -- make test")
    return words[0] if len(words) == 1 else shlex.join(words)


def _unknown(session: str) -> DaemonRestarted:
    """Not "try again": the command would run twice."""
    return DaemonRestarted(
        "the daemon was restarted before the command ended; the command may go on: look with "
        f"'nacre screen {session}', or wait for its end with 'nacre wait {session} --state prompt'"
    )


def _comment(outcome: dict[str, Any]) -> None:
    """Tell what the exit code alone does not."""
    told = []
    if outcome.get("omitted_lines"):
        told.append(f"{outcome['omitted_lines']} lines were left out of the middle")
    if outcome["status"] == "completed" and outcome["exit_code"] is None:
        told.append("it has no exit code (a REPL, or it ended the session)")
    if outcome["status"] != "completed":
        told.append(_STATUS.get(outcome["status"], outcome["status"]))
    if hint := outcome.get("hint"):
        told.append(hint)
    if told:
        print(f"nacre: {harmless(in_commands('; '.join(told)))}", file=sys.stderr)


_STATUS = {
    "timeout": "the command has not ended in time, and goes on",
    "busy": "another command runs in this session",
    "error": "the command could not be run",
}
