"""`nacre run`: run a command in a session as if it ran here.

Rule: the command's output goes to standard output and its exit code becomes ours. Everything else
goes to standard error.
"""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, budget, harmless, print_json
from nacre.cli.output.words import CommandWords
from nacre.cli.session_argument import add_session, describe
from nacre.client.calls import Client
from nacre.core.operations.runs import Run
from nacre.errors import WIRE, Busy, DaemonRestarted, InvalidInput, NotAtPrompt
from nacre.wording import Hint

_FAILED = {
    "timeout": WIRE["TIMEOUT"].exit,
    "busy": WIRE[Busy.code].exit,
    "error": WIRE[NotAtPrompt.code].exit,
}


def add_run(parser: ArgumentParser) -> None:
    parser.usage = "nacre run SESSION [options] -- COMMAND [ARGS …]"
    add_session(parser)
    parser.add_argument("command", metavar="COMMAND", nargs="*", help=describe(Run, "command"))
    add_flags(parser, Run, ("timeout_ms", "max_chars"))
    parser.epilog = (
        "One word is a command line for the session's shell. Several words are a program and its "
        "arguments. The exit code is the command's, or 124 if it is still running after the "
        "timeout."
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
                max_chars=budget(arguments),
            )
        except DaemonRestarted as error:
            raise _unknown(arguments.session) from error
    words = CommandWords("run")
    if arguments.json:
        print_json(words.worded(outcome))
    elif outcome["output"]:
        print(harmless(outcome["output"]))
    _comment(outcome, words)
    if outcome["status"] != "completed":
        return _FAILED.get(outcome["status"], WIRE["FAILED"].exit)
    code: int = outcome["exit_code"] or 0
    return code


def _line(words: list[str]) -> str:
    if not words:
        raise InvalidInput("no command given; put it after --: nacre run SESSION -- make test")
    return words[0] if len(words) == 1 else shlex.join(words)


def _unknown(session: str) -> DaemonRestarted:
    """Return an error that does not say "try again": the command would run twice."""
    return DaemonRestarted(
        "the daemon was restarted before the command ended, and the command may still be running; "
        f"look at it: nacre screen {session}; wait for it: nacre wait {session} --state prompt"
    )


def _comment(outcome: dict[str, Any], words: CommandWords) -> None:
    """Print what the exit code alone does not say."""
    told = []
    if outcome["status"] == "completed" and outcome["exit_code"] is None:
        told.append("there is no exit code (it ran in a REPL, or it ended the session)")
    if outcome["status"] == "timeout" and outcome.get("ended_by") == "needs_input":
        # A field that is 0 is left out.
        told.append(f"still running after {round(outcome.get('duration_ms', 0) / 1000, 1):g} s")
    if outcome["status"] == "error":
        told.append("the command could not be run")
    hint = outcome.get("hint")
    if hint is not None:
        told.append(hint)
    if told:
        steps = hint.next if isinstance(hint, Hint) else ()
        print(f"nacre: {harmless(words.sentence('; '.join(told), steps))}", file=sys.stderr)
