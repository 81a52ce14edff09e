"""`nacre approvals`: see what the policy asks people, and answer it."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from shutil import get_terminal_size
from typing import Any

from nacre.cli.output.answers import add_json, harmless, show
from nacre.client.calls import Client
from nacre.core.text.unseen import on_one_line, spelled_out
from nacre.core.text.widths import text_width, up_to_column
from nacre.errors import InvalidInput

_INDENT = 10  # columns of an id and the blanks behind it
_ACTIONS = ("list", "approve", "answer", "deny")


def add_approvals(parser: ArgumentParser) -> None:
    parser.description = (
        "List and answer questions of the policy and of programs.\n"
        "list     print the commands that wait for an approval (the default)\n"
        "approve  let one run: once, in its session from now on, or always\n"
        "answer   type what a program asks for: a password (hidden), yes or no\n"
        "deny     refuse it"
    )
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        choices=_ACTIONS,
        default="list",
        help="list, approve, answer or deny",
    )
    parser.add_argument("id", metavar="ID", nargs="?", help="The question's id, from the list.")
    parser.add_argument(
        "given", metavar="ANSWER", nargs="?", choices=("yes", "no"), help="yes or no (answer)"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--once", dest="how", action="store_const", const="once", help="Only now (the default)."
    )
    how.add_argument(
        "--session",
        dest="how",
        action="store_const",
        const="session",
        help="The same command in the same session and folder, from now on.",
    )
    how.add_argument(
        "--save",
        dest="how",
        action="store_const",
        const="save",
        help="Always: add a rule for exactly this line to policy.toml.",
    )
    add_json(parser)
    parser.set_defaults(run=run_approvals)


def run_approvals(arguments: Namespace) -> int:
    if arguments.action == "list":
        if arguments.id or arguments.how:
            raise InvalidInput("list takes no ID and no answer: use approve or deny")
        with Client.open() as client:
            found = client.call("list_approvals")
        return show(arguments, found, _listed(found["approvals"]))
    if arguments.id is None:
        raise InvalidInput(f"which one? nacre approvals {arguments.action} ID")
    if arguments.action != "approve" and arguments.how:
        raise InvalidInput(f"--{arguments.how} goes with approve")
    if arguments.given is not None and arguments.action != "answer":
        raise InvalidInput("yes and no go with answer")
    if arguments.action == "answer":
        return _answer(arguments)
    answer = "deny" if arguments.action == "deny" else arguments.how or "once"
    with Client.open() as client:
        done = client.call("answer_approval", id=arguments.id, answer=answer)
    return show(arguments, done, _told(done))


def _answer(arguments: Namespace) -> int:
    """Type an answer; a password comes from a hidden prompt or standard input."""
    with Client.open() as client:
        found = client.call("list_approvals")["approvals"]
        asked = next((one for one in found if one["id"] == arguments.id), None)
        if asked is not None and asked["kind"] == "command":
            raise InvalidInput(f"it waits for: nacre approvals approve {asked['id']}")
        answer, text = arguments.given or "text", None
        if arguments.given is None:
            if asked is not None and asked["kind"] == "confirm":
                raise InvalidInput(f"say yes or no: nacre approvals answer {asked['id']} yes")
            text = _read_hidden(spelled_out(asked["command"]) if asked else "")
        done = client.call("answer_approval", id=arguments.id, answer=answer, text=text)
    return show(arguments, done, "typed")


def _read_hidden(prompt: str) -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(harmless(f"{prompt} (not shown): "))
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")


def _listed(approvals: list[dict[str, Any]]) -> str:
    if not approvals:
        return "nothing waits for an approval"
    return "\n".join(_one(approval) for approval in approvals)


def _in_rows(text: str) -> str:
    """Return a text in rows that fit the terminal, each marked as a part of it.

    Else blanks could move the rest of a line to where the next question seems to begin.
    """
    spelled = spelled_out(text)
    room = sys.maxsize
    if sys.stdout.isatty():
        room = max(20, get_terminal_size().columns - _INDENT - len("| "))
    rows = [row for line in spelled.split("\n") for row in _broken(line, room)]
    return spelled if rows == [spelled] else "\n".join(f"| {row}" for row in rows)


def _broken(line: str, room: int) -> Iterator[str]:
    while text_width(line) > room:
        row = up_to_column(line, room)
        yield row
        line = line[len(row) :]
    yield line


def _one(approval: dict[str, Any]) -> str:
    seconds = max(0, round(time.time() - approval["asked"]))
    waits = "its call waits" if approval["waiting"] else "its call has given up"
    where = approval["session"] or "a new session"
    where += f" on {approval['host']}" if approval.get("host") else ""
    command = _in_rows(approval["command"]).replace("\n", f"\n{' ' * _INDENT}")
    if approval["kind"] != "command":
        lines = [
            f"{approval['id']}  {command}",
            f"          {approval['kind']}, asked in {where} {seconds} s ago",
            f"          nacre approvals answer {approval['id']}"
            + (" yes|no" if approval["kind"] == "confirm" else ""),
        ]
        return "\n".join(harmless(line) for line in lines)
    lines = [
        f"{approval['id']}  {command}",
        f"          in {where}, {on_one_line(approval['cwd'] or 'a folder that is not known')}",
        f"          asked by {on_one_line(approval['asked_by'])} {seconds} s ago; {waits}",
        f"          {approval['policy']}: {on_one_line('; '.join(approval['reasons']))}",
    ]
    return "\n".join(harmless(line) for line in lines)


def _told(done: dict[str, Any]) -> str:
    if done["answer"] == "deny":
        return "denied"
    told = "approved; it runs now" if done["waiting"] else "approved: it runs at the next try"
    return f"{told}; a rule was added to {done['file']}" if done.get("file") else told
