"""`nacre token`: make, list and revoke tokens for programs and other machines."""

import re
import time
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.output.answers import add_json, print_json, show
from nacre.cli.output.table import format_table
from nacre.client.calls import Client
from nacre.errors import InvalidInput

_ACTIONS = ("create", "list", "revoke")
_SCOPES = ("observe", "drive", "admin")
_LIFETIME = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_token(parser: ArgumentParser) -> None:
    parser.usage = "nacre token create --scope SCOPE [options] | list | revoke ID"
    parser.description = (
        "Make, list and revoke tokens for programs and machines.\n"
        "create  print a new token; it is shown once, and only its hash is kept\n"
        "list    show what each token allows, and until when\n"
        "revoke  make a token invalid at once, and close its connections"
    )
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help="create, list or revoke")
    parser.add_argument("token", metavar="ID", nargs="?", help="The token's id or name (revoke).")
    parser.add_argument(
        "--scope",
        choices=_SCOPES,
        help="observe: only read. drive: also type and run. admin: also the daemon itself.",
    )
    parser.add_argument(
        "--session",
        metavar="NAME",
        action="append",
        help="The only session that its holder sees; can be repeated.",
    )
    parser.add_argument("--ttl", metavar="TIME", help="How long it is valid: 30m, 1h, 7d.")
    parser.add_argument("--name", default="", help="What it is for, to find it again.")
    parser.add_argument(
        "--person",
        action="store_true",
        help="Its holder is a person: they can log in on the web page with it, and take over.",
    )
    add_json(parser)
    parser.set_defaults(run=run_token)


def run_token(arguments: Namespace) -> int:
    if arguments.action == "create":
        return _create(arguments)
    if arguments.action == "list":
        return _list(arguments)
    if arguments.token is None:
        raise InvalidInput("name the token by its id; 'nacre token list' shows them")
    with Client.open(start=True) as client:
        client.call("revoke_token", token=arguments.token)
    return show(arguments, {"success": True}, f"token {arguments.token} is void")


def _create(arguments: Namespace) -> int:
    if arguments.scope is None:
        raise InvalidInput("say what it allows: --scope observe, drive or admin")
    if arguments.token is not None:
        raise InvalidInput(f"give the name as --name {arguments.token}")
    with Client.open(start=True) as client:
        made = client.call(
            "create_token",
            scope=arguments.scope,
            name=arguments.name,
            session_names=arguments.session,
            ttl=lifetime(arguments.ttl),
            person=arguments.person,
        )
    return show(arguments, made, made["token"])


def lifetime(given: str | None) -> float | None:
    """Return a time such as 30m in seconds. Raises InvalidInput."""
    if given is None:
        return None
    found = _LIFETIME.fullmatch(given)
    if found is None or float(found[1]) == 0:
        raise InvalidInput("--ttl takes a time such as 30m, 1h or 7d")
    return float(found[1]) * _SECONDS[found[2]]


def _list(arguments: Namespace) -> int:
    with Client.open(start=True) as client:
        tokens: list[dict[str, Any]] = client.ask("list_tokens")["tokens"]
    if arguments.json:
        print_json({"tokens": tokens})
        return 0
    if not tokens:
        print("no tokens; 'nacre token create --scope observe' makes one")
        return 0
    rows = [
        (
            token["id"],
            token.get("name", ""),
            token["scope"],
            ", ".join(token["sessions"]) if token.get("sessions") else "all",
            "person" if token.get("person") else "program",
            _left(token.get("expires")),
        )
        for token in tokens
    ]
    print(format_table(("id", "name", "scope", "sessions", "for a", "expires"), rows, None))
    return 0


def _left(expires: float | None) -> str:
    if expires is None:
        return "never"
    left = max(0.0, expires - time.time())
    for unit, seconds in (("d", 86400), ("h", 3600), ("m", 60)):
        if left >= seconds:
            return f"in {left / seconds:.0f} {unit}"
    return f"in {left:.0f} s"
