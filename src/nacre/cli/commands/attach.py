"""`nacre attach`: its arguments, and which session to attach to."""

import os
from argparse import ArgumentParser, Namespace

from nacre.cli.attach.attach import attach
from nacre.cli.attach.own_keys import APPROVE, LOOK_BACK, OwnKeys
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.errors import InvalidInput


def add_attach(parser: ArgumentParser) -> None:
    add_session(parser, nargs="?")
    parser.add_argument(
        "--read-only", action="store_true", help="Only watch: send no keys, and do not resize."
    )
    parser.add_argument(
        "--detach-key",
        metavar="KEY",
        default="ctrl+]",
        help="Key that detaches, as in ctrl+q. [default: ctrl+]]",
    )
    parser.add_argument(
        "--control-key",
        metavar="KEY",
        default="ctrl+^",
        help="Key that takes the session over from agents, and gives it back. [default: ctrl+^]",
    )
    parser.add_argument(
        "--look-back-key",
        metavar="KEY",
        help="Key that shows the scrollback. Shift+PageUp does the same, unless your terminal "
        f"uses that key itself. [default: {LOOK_BACK}]",
    )
    parser.add_argument(
        "--approve-key",
        metavar="KEY",
        help="Key that answers what the policy asks; while it asks nothing, the key is the "
        f"program's. [default: {APPROVE}]",
    )
    parser.add_argument(
        "--mouse",
        action="store_true",
        help="Look back with the mouse wheel too, unless the program uses the mouse. To select "
        "text, hold Shift.",
    )
    parser.add_argument(
        "--no-status",
        action="store_true",
        help="Show no status line; the session gets the last row too.",
    )
    parser.epilog = (
        "The session is resized to your terminal, minus the status line, and keeps that size when "
        "you detach. The exit code is 0 after you detach, and the session's own when it ends.\n"
        "SESSION can be omitted if only one is running."
    )
    parser.set_defaults(run=run_attach)


def run_attach(arguments: Namespace) -> int:
    keys = OwnKeys.parse(
        arguments.detach_key,
        arguments.control_key,
        arguments.look_back_key,
        arguments.approve_key,
    )
    if not (os.isatty(0) and os.isatty(1)):
        raise InvalidInput(
            "nacre attach needs a terminal; in a script use 'nacre send' and 'nacre screen'"
        )
    with Client.open(told=False) as client:
        session = arguments.session or _only_one(client)
        details = client.ask("list_sessions", session=session)
    if details["session_id"] == os.environ.get("NACRE_SESSION"):
        raise InvalidInput(f"this is session {details['name']!r}; it cannot attach to itself")

    return attach(
        details["session_id"],
        details["name"],
        keys,
        read_only=arguments.read_only,
        status=not arguments.no_status,
        mouse=arguments.mouse,
    )


def _only_one(client: Client) -> str:
    """Return the only running session. Raises InvalidInput if there is none or more than one."""
    own = os.environ.get("NACRE_SESSION")
    listed = client.ask("list_sessions")["sessions"]
    others = [one for one in listed if one["running"] and one["session_id"] != own]
    if not others:
        raise InvalidInput("there is no session to attach to; start one with 'nacre new'")
    if len(others) > 1:
        names = ", ".join(one["name"] for one in others)
        raise InvalidInput(f"name the session, nacre attach SESSION; there are: {names}")
    identifier: str = others[0]["session_id"]
    return identifier
