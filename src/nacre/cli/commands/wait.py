"""`nacre wait`: wait until a session is quiet, or until a condition is true.

Rule: waiting changes nothing. So when the daemon dies, the wait continues at the next one.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from typing import Any

import msgspec

from nacre.cli.flags import add_flags, describe
from nacre.cli.output.answers import add_json, show
from nacre.cli.output.words import CommandWords
from nacre.cli.running.exit_codes import exit_code_of, missing_code
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.core.operations.runs import AwaitQuiesce, WaitFor
from nacre.errors import WIRE, DaemonRestarted, InvalidInput

# Not "lost": such a session has ended, and nothing in it changes any more.
_STATES = ("prompt", "running", "needs_input", "exited")
_CONDITIONS = "--text, --regex, --state, --exit or --run"


def add_wait(parser: ArgumentParser) -> None:
    parser.usage = "nacre wait [SESSION] [options]"
    add_session(parser, nargs="?")
    add_flags(parser, AwaitQuiesce, ("max_wait_ms", "last_generation"))
    quiet, deadline = (describe(struct, "timeout_ms") for struct in (AwaitQuiesce, WaitFor))
    parser.add_argument(
        "--timeout-ms", type=int, metavar="N", help=f"{quiet} With a condition: {deadline}"
    )
    add_flags(parser, WaitFor, ("text", "regex", "exit", "after_generation", "typed"))
    parser.add_argument(
        "--state",
        action="append",
        choices=_STATES,
        help=f"{describe(WaitFor, 'state')} May be given several times.",
    )
    parser.add_argument("--run", dest="run_id", metavar="RUN_ID", help=describe(WaitFor, "run_id"))
    parser.epilog = (
        f"The conditions are {_CONDITIONS}. Without one, wait until the session is quiet."
    )
    add_json(parser)
    parser.set_defaults(run=run_wait)


def run_wait(arguments: Namespace) -> int:
    conditions = {
        name: value
        for name in ("text", "regex", "exit", "state", "run_id")
        if (value := getattr(arguments, name)) is not None
    }
    if arguments.session is None and arguments.run_id is None:
        raise InvalidInput("name a session, or a run with --run RUN_ID")
    return _wait_for(arguments, conditions) if conditions else _wait_for_quiet(arguments)


def _wait_for_quiet(arguments: Namespace) -> int:
    if arguments.after_generation is not None:
        raise InvalidInput(
            f"--after-generation needs {_CONDITIONS}; to wait for quiet use --last-generation"
        )
    deadline = _Deadline("max_wait_ms", arguments.max_wait_ms, AwaitQuiesce)
    result = _wait_out(
        deadline,
        "await_quiesce",
        session=arguments.session,
        timeout_ms=arguments.timeout_ms,
        last_generation=arguments.last_generation,
    )
    return show(arguments, result)


def _wait_for(arguments: Namespace, conditions: dict[str, Any]) -> int:
    if arguments.max_wait_ms is not None or arguments.last_generation is not None:
        raise InvalidInput(
            "--max-wait-ms and --last-generation are for waiting until it is quiet; with a "
            "condition use --timeout-ms (the deadline) and --after-generation"
        )
    outcome = _wait_out(
        _Deadline("timeout_ms", arguments.timeout_ms, WaitFor),
        "wait_for",
        session=arguments.session,
        after_generation=arguments.after_generation,
        typed=arguments.typed,
        **conditions,
    )
    show(arguments, CommandWords("wait").worded(outcome))
    if outcome["matched"]:
        # A run's exit code is ours: a script waits for a build and goes on if that was good.
        ended = outcome.get("run") if arguments.run_id is not None else None
        if ended is None:
            return 0
        if (missing := missing_code(ended)) is not None:
            print(f"nacre: {missing}", file=sys.stderr)
        return exit_code_of(ended)
    print("nacre: the condition did not come true in time; the session runs on", file=sys.stderr)
    return WIRE["TIMEOUT"].exit


class _Deadline:
    """The time left for a wait, also across restarts of the daemon."""

    def __init__(self, name: str, given: int | None, struct: type[msgspec.Struct]) -> None:
        self.name = name  # the operation's parameter
        self.value = given  # what it is; None is the operation's default
        fields = msgspec.structs.fields(struct)
        default = next(field.default for field in fields if field.name == name)
        allowed: int = default if given is None else given
        self._until = time.monotonic() + allowed / 1000

    def go_on(self) -> bool:
        """Set the value to the time that is left. Return False if it was zero already."""
        over = self.value == 0
        self.value = max(0, round((self._until - time.monotonic()) * 1000))
        return not over


def _wait_out(deadline: _Deadline, operation: str, **params: Any) -> dict[str, Any]:
    """Call a wait. If the daemon dies, continue at the next one with the time that is left."""
    while True:
        with Client.open() as client:
            try:
                return client.call(operation, **{**params, deadline.name: deadline.value})
            except DaemonRestarted:
                if not deadline.go_on():
                    raise
