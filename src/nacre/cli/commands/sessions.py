"""The commands that create, change and end sessions.

Rule: a command translates words into one operation and prints its result; it decides nothing.
"""

import re
import sys
from argparse import ArgumentParser, Namespace

from nacre.cli.flags import add_flags, describe
from nacre.cli.output.answers import add_json, complain, show
from nacre.cli.session_argument import add_session, completed_by
from nacre.client.calls import Client
from nacre.core.operations.sessions import CreateSession, ResizeSession, SignalSession
from nacre.errors import InvalidInput, NacreError

# --- new ---------------------------------------------------------------------------------------


def add_new(parser: ArgumentParser) -> None:
    parser.usage = "nacre new [NAME] [options] [-- COMMAND [ARGS …]]"
    parser.add_argument("words", metavar="NAME", nargs="*", help=describe(CreateSession, "name"))
    add_flags(parser, CreateSession, ("rows", "cols", "cwd", "keep", "policy", "sandbox", "host"))
    parser.add_argument(
        "--env", metavar="K=V", action="append", help=describe(CreateSession, "env")
    )
    parser.add_argument("--tag", metavar="T", action="append", help=describe(CreateSession, "tags"))
    parser.add_argument(
        "--label", metavar="L", action="append", help=describe(CreateSession, "labels")
    )
    parser.epilog = (
        "One word after -- is a command line for the shell. Several words are a program and its "
        "arguments."
    )
    add_json(parser)
    parser.set_defaults(run=run_new)


def run_new(arguments: Namespace) -> int:
    names, command = _split_at_dashes(arguments)
    params = {
        "name": names[0] if names else None,
        "command": command[0] if command else None,
        "args": command[1:] or None,
        "rows": arguments.rows,
        "cols": arguments.cols,
        "cwd": arguments.cwd,
        "keep": arguments.keep,
        "policy": arguments.policy,
        "sandbox": arguments.sandbox,
        "env": _variables(arguments.env),
        "tags": arguments.tag,
        "host": arguments.host,
        "labels": arguments.label,
    }
    with Client.open(start=True) as client:
        created = client.call("create_session", **params)
    if "host" in created and not arguments.json:  # what scripts read is the name alone
        print(f"nacre: on host {created['host']}", file=sys.stderr)
    return show(arguments, created, created["session"])


def _split_at_dashes(arguments: Namespace) -> tuple[list[str], list[str]]:
    """Return the words before -- and those after it."""
    words: list[str] = arguments.words
    count = len(words) - arguments.after_dashes
    if count > 1:
        raise InvalidInput(
            f"only one name is possible; put the command after --: "
            f"nacre new {words[0]} -- {' '.join(words[1:])}"
        )
    return words[:count], words[count:]


def _variables(pairs: list[str] | None) -> dict[str, str] | None:
    if pairs is None:
        return None
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise InvalidInput(f"--env takes NAME=VALUE, not {pair!r}")
        found[name] = value
    return found


# --- changing and ending -----------------------------------------------------------------------


def add_kill(parser: ArgumentParser) -> None:
    add_session(parser, nargs="+")
    add_json(parser)
    parser.set_defaults(run=run_kill)


def run_kill(arguments: Namespace) -> int:
    """Kill each session, even if another one fails. The exit code is that of the first failure."""
    first = 0
    with Client.open() as client:
        for session in arguments.session:
            try:
                show(arguments, client.call("manage_session", session=session, action="kill"))
            except NacreError as error:
                code = complain(error, as_json=arguments.json, command="kill")
                first = first or code
    return first


def add_rename(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument("new_name", metavar="NEW", help="The new name.")
    add_json(parser)
    parser.set_defaults(run=run_rename)


def run_rename(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.call(
            "manage_session",
            session=arguments.session,
            action="rename",
            new_name=arguments.new_name,
        )
    return show(arguments, result)


def add_resize(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "size", metavar="ROWSxCOLS", nargs="?", help="Rows and columns, as in 40x120."
    )
    add_flags(parser, ResizeSession, ("rows", "cols"))
    add_json(parser)
    parser.set_defaults(run=run_resize)


def run_resize(arguments: Namespace) -> int:
    rows, cols = _asked_size(arguments)
    with Client.open() as client:
        if rows is None or cols is None:
            now = client.ask("list_sessions", session=arguments.session)
            rows = now["rows"] if rows is None else rows
            cols = now["cols"] if cols is None else cols
        size = client.call("resize_session", session=arguments.session, rows=rows, cols=cols)
    return show(arguments, size, f"{size['rows']}x{size['cols']}")


def _asked_size(arguments: Namespace) -> tuple[int | None, int | None]:
    if arguments.size is None:
        if arguments.rows is None and arguments.cols is None:
            raise InvalidInput("no size given; give it as ROWSxCOLS, or with --rows and --cols")
        return arguments.rows, arguments.cols
    match = re.fullmatch(r"(\d+)[xX](\d+)", arguments.size, re.ASCII)
    if match is None or arguments.rows is not None or arguments.cols is not None:
        raise InvalidInput(
            f"cannot read the size {arguments.size!r}; give it once, as in 40x120 (rows, columns)"
        )
    return int(match[1]), int(match[2])


def add_restart(parser: ArgumentParser) -> None:
    add_session(parser)
    add_json(parser)
    parser.set_defaults(run=run_restart)


def run_restart(arguments: Namespace) -> int:
    with Client.open() as client:
        restarted = client.call("restart_session", session=arguments.session)
    return show(arguments, restarted, restarted["session"])


def add_signal(parser: ArgumentParser) -> None:
    add_session(parser)
    signal = parser.add_argument(
        "signal", metavar="SIGNAL", nargs="?", help=describe(SignalSession, "signal")
    )
    completed_by(signal, _signal_names)
    add_json(parser)
    parser.set_defaults(run=run_signal)


def _signal_names(**_: object) -> list[str]:
    from signal import Signals

    return [known.name.removeprefix("SIG") for known in Signals]


def run_signal(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.call("signal_session", session=arguments.session, signal=arguments.signal)
    return show(arguments, result)


def add_dismiss(parser: ArgumentParser) -> None:
    add_session(parser)
    add_json(parser)
    parser.set_defaults(run=run_dismiss)


def run_dismiss(arguments: Namespace) -> int:
    with Client.open() as client:
        return show(arguments, client.call("dismiss_session", session=arguments.session))
