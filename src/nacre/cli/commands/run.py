"""`nacre run`: run a command in a session as if it ran here.

Rule: the command's output goes to standard output, as it is printed, and its exit code becomes
ours. Everything else goes to standard error.
"""

import json
import shlex
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from typing import TYPE_CHECKING, Any

from nacre.cli.explained import add_flags_of, explanation
from nacre.cli.output.answers import add_json, harmless, print_json
from nacre.cli.output.words import CommandWords
from nacre.cli.running.asked import in_commands
from nacre.cli.running.exit_codes import exit_code_of, missing_code
from nacre.cli.running.followed_run import FollowedRun, Wanted
from nacre.cli.running.printers import printer_for
from nacre.cli.running.standard_input import passes_input
from nacre.cli.session_argument import add_session
from nacre.errors import DaemonRestarted, InvalidInput
from nacre.wording import Hint

if TYPE_CHECKING:
    from nacre.core.operations.runs import Run


def add_run(parser: ArgumentParser) -> None:
    parser.usage = "nacre run SESSION [options] -- COMMAND [ARGS …]"
    add_session(parser)
    explained = explanation(parser, _find_run, "command")
    parser.add_argument("command", metavar="COMMAND", nargs="*", help=explained)
    parser.add_argument(
        "--timeout-ms", type=int, metavar="N", help="Return after so many ms. [default: never]"
    )
    add_flags_of(parser, _find_run, ("max_chars",))
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


def _find_run() -> "type[Run]":
    from nacre.core.operations.runs import Run

    return Run


def run_run(arguments: Namespace) -> int:
    _check(arguments)
    words = CommandWords("run")
    try:
        outcome = _run(arguments, _wanted(arguments))
    except DaemonRestarted as error:
        raise _unknown(arguments.session) from error
    if outcome.get("ended_by") == "needs_input" and outcome.get("hint"):
        state = outcome.get("state") or {}
        outcome["hint"] = in_commands(arguments.session, state, outcome["hint"])
    if arguments.json:
        print_json(words.worded(outcome))
    elif arguments.events:
        print(json.dumps({"event": "ended", **words.worded(outcome)}))
    elif outcome.get("output"):
        print(harmless(outcome["output"]))
    _comment(outcome, words)
    if "notice" in outcome and not (arguments.json or arguments.events):
        print(f"nacre: {harmless(outcome['notice'])}", file=sys.stderr)
    return exit_code_of(outcome)


def _check(arguments: Namespace) -> None:
    """Raises InvalidInput."""
    if arguments.timeout_ms is not None and arguments.timeout_ms < 0:
        raise InvalidInput("--timeout-ms must be at least 0")
    as_printed = "--raw" if arguments.raw else "--events" if arguments.events else None
    at_the_end = "--json" if arguments.json else "--max-chars" if _is_limited(arguments) else None
    if as_printed is not None and at_the_end is not None:
        raise InvalidInput(
            f"{as_printed} prints the output as it comes, {at_the_end} at the end: give one of them"
        )


def _is_limited(arguments: Namespace) -> bool:
    return arguments.max_chars is not None


def _wanted(arguments: Namespace) -> Wanted:
    return Wanted(
        session=arguments.session,
        command=_line(arguments.command),
        timeout_ms=arguments.timeout_ms,
        passes_input=passes_input(wanted=arguments.stdin),
        max_chars=arguments.max_chars,
    )


def _run(arguments: Namespace, wanted: Wanted) -> dict[str, Any]:
    at_the_end = arguments.json or _is_limited(arguments)
    shown = None if at_the_end else printer_for(raw=arguments.raw, events=arguments.events)
    run = FollowedRun(wanted, shown)
    try:
        outcome = run.outcome()
    except (
        OSError
    ):  # as a pipeline here ends a command whose reader has left, or whose disk is full
        run.stop()
        raise
    except BaseException:
        if shown is not None:
            shown.end()  # what was printed before it
        raise
    if shown is not None:
        shown.end()
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
    if outcome["status"] == "timeout" and outcome.get("ended_by") == "needs_input":
        # A field that is 0 is left out.
        told.append(f"still running after {round(outcome.get('duration_ms', 0) / 1000, 1):g} s")
    if outcome["status"] == "error":
        told.append("the command could not be run")
    hint = outcome.get("hint") or missing_code(outcome)
    if hint is not None:
        told.append(hint)
    if told:
        steps = hint.next if isinstance(hint, Hint) else ()
        print(f"nacre: {harmless(words.sentence('; '.join(told), steps))}", file=sys.stderr)
