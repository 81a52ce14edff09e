"""`nacre secret`: store, list and remove secrets that agents use by name. It needs no daemon.

Rule: a value comes from standard input or a hidden prompt, never from the command line, which other
users can see. No command prints one.
"""

import os
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace

from nacre.cli.output.answers import add_json, print_json, show
from nacre.cli.output.table import format_table
from nacre.core.text.placeholders import placeholder
from nacre.errors import InvalidInput
from nacre.settings.paths import find_paths, make_private
from nacre.settings.sources import load_settings
from nacre.system.secrets import SecretStore, check_name

_ACTIONS = ("set", "list", "remove")


def add_secret(parser: ArgumentParser) -> None:
    parser.usage = "nacre secret set NAME [--session NAME] | list | remove NAME"
    parser.description = (
        "Store, list and remove secrets that agents use by name.\n"
        "set     store a value: from standard input, or typed at a prompt that hides it\n"
        "list    show the names; values are never shown\n"
        "remove  delete one\n"
        "An agent types {{secret:NAME}}, and the program gets the value."
    )
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help="set, list or remove")
    parser.add_argument("name", metavar="NAME", nargs="?", help="The name of the secret.")
    parser.add_argument("value", nargs="?", help=SUPPRESS)
    parser.add_argument(
        "--session",
        metavar="NAME",
        action="append",
        help="The only session that it is typed into (set); can be repeated.",
    )
    add_json(parser)
    parser.set_defaults(run=run_secret)


def run_secret(arguments: Namespace) -> int:
    if arguments.value is not None:
        raise InvalidInput(
            "a value is not taken from the command line, where others can see it",
            f"run: nacre secret set {arguments.name}",
        )
    if arguments.session and arguments.action != "set":
        raise InvalidInput("--session goes with set")
    paths = find_paths()
    store = SecretStore(paths.secrets_file, load_settings(paths.config_file).secret_store)
    if arguments.action == "list":
        return _list(arguments, store)
    if arguments.name is None:
        raise InvalidInput(f"which one? nacre secret {arguments.action} NAME")
    if arguments.action == "remove":
        store.remove(arguments.name)
        return show(arguments, {"success": True}, f"secret {arguments.name} is removed")
    check_name(arguments.name)
    make_private(os.path.dirname(paths.secrets_file))
    replaced = store.set(arguments.name, _read_value(arguments.name), arguments.session)
    told = "replaced" if replaced else "stored"
    use = placeholder(arguments.name)
    return show(arguments, {"name": arguments.name, "replaced": replaced}, f"{told}; type {use}")


def _read_value(name: str) -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(f"value of {name} (not shown): ")
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")


def _list(arguments: Namespace, store: SecretStore) -> int:
    if arguments.name is not None:
        raise InvalidInput("list takes no NAME")
    found = store.all()
    if arguments.json:
        print_json(
            {
                "secrets": [
                    {"name": one.name, "sessions": one.sessions, "created": one.created}
                    for one in found
                ]
            }
        )
        return 0
    if not found:
        print("no secrets; 'nacre secret set NAME' stores one")
        return 0
    rows = [
        (
            one.name,
            ", ".join(one.sessions) if one.sessions else "all",
            "keyring" if one.value is None else "file",
            time.strftime("%Y-%m-%d", time.localtime(one.created)),
        )
        for one in found
    ]
    print(format_table(("name", "sessions", "stored in", "since"), rows, None))
    return 0
