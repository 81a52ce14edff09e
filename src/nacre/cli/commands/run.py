"""`nacre run`: run a command in a session as if it ran here.

Rule: the command's output goes to standard output, as it is printed, and its exit code becomes
ours. Everything else goes to standard error.
"""

import json
import shlex
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, budget, harmless, print_json
from nacre.cli.output.words import CommandWords
from nacre.cli.running.followed_run import FollowedRun
from nacre.cli.running.printers import printer_for
from nacre.cli.running.standard_input import with_standard_input
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
_LONG = 3_600_000  # milliseconds to wait at once; the daemon cuts it to max_wait


def add_run(parser: ArgumentParser) -> None:
    parser.usage = "nacre run SESSION [options] -- COMMAND [ARGS …]"
    add_session(parser)
    parser.add_argument("command", metavar="COMMAND", nargs="*", help=describe(Run, "command"))
    parser.add_argument(
        "--timeout-ms", type=int, metavar="N", help="Return after so many ms. [default: never]"
    )
    add_flags(parser, Run, ("max_chars",))
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--raw",
        action="store_true",
        help="Print the bytes as the program printed them: tabs, trailing blanks, colours.",
    )
    how.add_argument(
        "--events",
        action="store_true",
        help="Print what happens as JSON, one object a line: started, output, ended.",
    )
    parser.add_argument(
        "--stdin",
        action=BooleanOptionalAction,
        help="Pass standard input on to the command. [default: if it has data]",
    )
    parser.epilog = (
        "One word is a command line for the session's shell. Several words are a program and its "
        "arguments. The exit code is the command's, or 124 if it is still running after the "
        "timeout, or waits for input. Ctrl+C interrupts the command; a second one leaves it "
        "running."
    )
    add_json(parser)
    parser.set_defaults(run=run_run)


def run_run(arguments: Namespace) -> int:
    line = _line(arguments.command)
    line = with_standard_input(arguments.session, line, wanted=arguments.stdin)
    words = CommandWords("run")
    try:
        if arguments.json or arguments.max_chars is not None:
            outcome = _run_at_once(arguments, line)
            if arguments.json:
                print_json(words.worded(outcome))
            elif outcome["output"]:
                print(harmless(outcome["output"]))
        else:
            outcome = _run_followed(arguments, line)
    except DaemonRestarted as error:
        raise _unknown(arguments.session) from error
    if arguments.events:
        print(json.dumps({"event": "ended", **words.worded(outcome)}))
    _comment(outcome, words)
    if outcome["status"] != "completed":
        return _FAILED.get(outcome["status"], WIRE["FAILED"].exit)
    code: int = outcome["exit_code"] or 0
    return code


def _run_followed(arguments: Namespace, line: str) -> dict[str, Any]:
    printer = printer_for(raw=arguments.raw, events=arguments.events)
    run = FollowedRun(arguments.session, line, arguments.timeout_ms, printer)
    try:
        return run.outcome()
    except BrokenPipeError:
        if run.run_id is not None:  # as a pipeline here ends a command whose reader has left
            with Client.open() as client:
                client.call("press_keys", session=arguments.session, keys=["ctrl+c"])
        raise
    finally:
        if run.run_id is not None and sys.exc_info()[0] is not BrokenPipeError:
            printer.end()


def _run_at_once(arguments: Namespace, line: str) -> dict[str, Any]:
    """Run it, and take its output when it has ended."""
    given: int | None = arguments.timeout_ms
    with Client.open() as client:
        outcome = client.call(
            "run",
            session=arguments.session,
            command=line,
            timeout_ms=_LONG if given is None else given,
            max_chars=budget(arguments),
        )
        while given is None and outcome.get("ended_by") == "deadline":
            waited = client.ask("wait_for", run_id=outcome["run_id"], timeout_ms=_LONG)
            outcome = waited.get("run") or outcome
    outcome.pop("notice", None)  # that our own time was cut
    return outcome


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
