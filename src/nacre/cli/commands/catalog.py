"""`nacre commands`: list, search, suggest and run commands of the catalog.

Rule 1: the output of a command that is run goes to standard output and standard error as it came,
and its exit code becomes ours.
Rule 2: Ctrl+C cancels what runs, and waits for its end; a second one leaves at once.
"""

import json
import signal
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.output.answers import NO_LIMIT, add_json, harmless, print_json
from nacre.cli.output.table import format_table
from nacre.client.calls import Client
from nacre.errors import InvalidInput

_ACTIONS = ("list", "search", "suggest", "exec")
_LONGEST_WAIT = 3_600_000  # ms; command_wall_seconds ends it sooner
_INTERRUPTED = 130  # as a program that SIGINT ended


def add_commands(parser: ArgumentParser) -> None:
    parser.usage = "nacre commands ACTION [options] [-- WORD …]"
    parser.description = (
        f"{parser.description}\n\n"
        "list     print the commands that may run; --all with those that are refused\n"
        "search   find commands by keywords\n"
        "suggest  print a command line for a request in plain words; it is not run\n"
        "exec     run a command: its words, as on a command line, or --args with JSON"
    )
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help=", ".join(_ACTIONS))
    parser.add_argument(
        "words", metavar="WORD", nargs="*", help="What to search for, or a command and its words."
    )
    parser.add_argument("--all", action="store_true", help="List those that are refused, too.")
    parser.add_argument(
        "--args", metavar="JSON", help="Arguments of the command by name, instead of words."
    )
    parser.add_argument(
        "--stdin", action="store_true", help="Pass standard input on to the command."
    )
    parser.add_argument("--dry-run", action="store_true", help="Check it; run nothing.")
    parser.add_argument(
        "--context", metavar="NAME", help="Context to run in; it keeps its folder and variables."
    )
    add_json(parser)
    parser.set_defaults(run=run_commands)


def run_commands(arguments: Namespace) -> int:
    with Client.open(start=True) as client:
        if arguments.action == "list":
            return _list(client, arguments)
        if not arguments.words:
            raise InvalidInput(f"{arguments.action} needs words; see 'nacre commands --help'")
        if arguments.action == "exec":
            return _exec(client, arguments)
        return _ask(client, arguments)


def _list(client: Client, arguments: Namespace) -> int:
    found = client.ask("list_commands")
    commands = [one for one in found["commands"] if arguments.all or not one.get("refused")]
    if arguments.json:
        print_json({**found, "commands": commands})
        return 0
    rows = [(one["name"], one["group"], one["risk"], one["description"]) for one in commands]
    print(harmless(format_table(("NAME", "GROUP", "RISK", "DESCRIPTION"), rows, None)))
    for warning in found["warnings"]:
        print(f"nacre: {harmless(warning)}", file=sys.stderr)
    return 0


def _ask(client: Client, arguments: Namespace) -> int:
    """Print what a tool for models answers, in a form for people."""
    tool = {"search": "search_commands", "suggest": "suggest_command"}[arguments.action]
    query = {"query": " ".join(arguments.words)}
    told = json.loads(client.call("call_command", tool=tool, args=query)["output"])
    if arguments.json:
        print_json(told)
    elif arguments.action == "search":
        rows = [(str(one["score"]), one["name"], one["description"]) for one in told["results"]]
        print(harmless(format_table(("SCORE", "NAME", "DESCRIPTION"), rows, None)))
    elif told["command"] is not None:
        print(harmless(told["command"]))
        print(harmless(told["explanation"]), file=sys.stderr)
    else:
        print(f"nacre: {harmless(told['explanation'])}", file=sys.stderr)
    return 0 if told.get("results") or told.get("command") else 1


def _exec(client: Client, arguments: Namespace) -> int:
    request = _request(arguments)
    outcome: dict[str, Any] | None = None
    try:
        with _HeldInterrupt():
            outcome = client.call("call_command", **request)
        return _show(_to_its_end(client, outcome), arguments)
    except KeyboardInterrupt:
        if outcome is None:
            raise
        return _cancel(outcome["execution_id"], arguments)


def _to_its_end(client: Client, outcome: dict[str, Any]) -> dict[str, Any]:
    while outcome["status"] in ("queued", "running"):
        outcome = client.ask(
            "get_execution_status",
            execution_id=outcome["execution_id"],
            wait_ms=_LONGEST_WAIT,
            max_chars=NO_LIMIT,
        )
    return outcome


def _cancel(execution: str, arguments: Namespace) -> int:
    """End an execution, and print what it had printed."""
    with Client.open() as client:  # on the other connection an answer is still to come
        cancelled = client.call("cancel_execution", execution_id=execution)["cancelled"]
        asked = client.call("get_execution_status", execution_id=execution, max_chars=NO_LIMIT)
        code = _show(_to_its_end(client, asked), arguments)
    if not cancelled:  # it was quicker
        return code
    print("nacre: cancelled by Ctrl+C, with all that it had started", file=sys.stderr)
    return _INTERRUPTED


def _show(outcome: dict[str, Any], arguments: Namespace) -> int:
    if arguments.json:
        print_json(outcome)
    else:
        sys.stdout.write(harmless(outcome.get("stdout", outcome["output"])))
        sys.stderr.write(harmless(outcome.get("stderr", "")))
        if outcome.get("error"):
            print(f"nacre: {harmless(outcome['error'])}", file=sys.stderr)
    code: int | None = outcome["exit_code"]
    return code if code is not None else 0 if arguments.dry_run else 124


class _HeldInterrupt:
    """Ctrl+C comes when this ends: only then is it known what to cancel. A second comes at once."""

    def __enter__(self) -> None:
        self._came = False
        self._before = signal.signal(signal.SIGINT, self._note)

    def _note(self, *_: object) -> None:
        if self._came:
            raise KeyboardInterrupt
        self._came = True

    def __exit__(self, kind: object, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self._came and kind is None:
            raise KeyboardInterrupt


def _request(arguments: Namespace) -> dict[str, Any]:
    request: dict[str, Any] = {"wait_ms": 0, "max_chars": NO_LIMIT}
    if arguments.args is None:
        request["pipeline"] = [arguments.words]
    else:
        name, *more = arguments.words
        if more:
            raise InvalidInput("give the command's words or --args, not both")
        try:
            request.update(tool=name, args=json.loads(arguments.args))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"--args is not JSON: {error}") from error
    if arguments.stdin:
        request["stdin"] = sys.stdin.read()
    if arguments.dry_run:
        request["dry_run"] = True
    if arguments.context is not None:
        request["context"] = arguments.context
    return request
