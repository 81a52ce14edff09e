"""The commands that show, apply and discard what a session with the sandbox review has changed."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, budget, harmless, show
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.core.operations.safety.review import ApplySession, DiffSession


def add_diff(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags(parser, DiffSession, ("max_chars",))
    add_json(parser)
    parser.set_defaults(run=run_diff)


def run_diff(arguments: Namespace) -> int:
    with Client.open() as client:
        found = client.ask("diff_session", session=arguments.session, max_chars=budget(arguments))
    if arguments.json:
        return show(arguments, found)
    sys.stdout.write(harmless(found["diff"]))
    for change in found["changes"]:
        if note := _note(change):
            print(f"nacre: {_on_one_line(note)}", file=sys.stderr)
    if not found["changes"]:
        print("nacre: nothing was changed", file=sys.stderr)
    return 0


def _note(change: dict[str, Any]) -> str | None:
    if change.get("refused"):
        return f"{change['path']} will not be applied: {change['refused']}"
    if change.get("conflict"):
        return f"{change['path']} was changed in the workspace, too"
    return None


def add_apply(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags(parser, ApplySession, ("force",))
    add_json(parser)
    parser.set_defaults(run=run_apply)


def run_apply(arguments: Namespace) -> int:
    with Client.open() as client:
        done = client.call("apply_session", session=arguments.session, force=arguments.force)
    for left in done["left"] if not arguments.json else ():
        told = f"{left['path']} was not applied: {left['reason']}"
        print(f"nacre: {_on_one_line(told)}", file=sys.stderr)
    return show(arguments, done, f"applied: {len(done['applied'])}")


def add_discard(parser: ArgumentParser) -> None:
    add_session(parser)
    add_json(parser)
    parser.set_defaults(run=run_discard)


def run_discard(arguments: Namespace) -> int:
    with Client.open() as client:
        done = client.call("discard_session", session=arguments.session)
    restarted = ", and the session was restarted" if done["restarted"] else ""
    return show(arguments, done, f"discarded: {done['discarded']}{restarted}")


def _on_one_line(text: str) -> str:
    """Return a text with a file's name, which may hold line ends, as one line."""
    return harmless(text).replace("\n", "\\n")
