"""How an answer or an error is printed.

Rule 1: with --json exactly one JSON value for each call goes to standard output, errors too.
Rule 2: what a session's program chose (names, titles, text) reaches a person's terminal only with
its control characters made visible: a title must not drive the terminal it is printed on.
"""

import json
import os
import re
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.errors import WIRE, NacreError

# C0 but tab and newline, DEL, C1 (ECMA-48), and what turns the order of text (Unicode, UAX 9).
_HARMFUL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="Print the result as JSON.")


def show(arguments: Namespace, result: Any, text: str | None = None) -> int:
    """Print the result if --json is given, else the text if there is one; return success."""
    if arguments.json:
        print_json(result)
    elif text is not None:
        print(harmless(text))
    return 0


def print_json(value: Any) -> None:
    # ASCII: it is the same in every locale, and no character of it can drive a terminal.
    print(json.dumps(value))


def complain(error: NacreError, *, as_json: bool) -> int:
    """Print an error; return its exit code."""
    if as_json:
        print_json({"error": error.as_dict()})
    print(f"nacre: {harmless(in_commands(error.message))}", file=sys.stderr)
    # A newer daemon may know codes that this client does not.
    return WIRE.get(error.code, WIRE["INTERNAL_ERROR"]).exit


def in_commands(message: str) -> str:
    """Name commands instead of operations: the next step is one for the command line."""
    from nacre.cli.commands import COMMANDS

    named = {command.operation: f"'nacre {command.name}'" for command in COMMANDS}
    return re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda found: named.get(found[0], found[0]), message)


def harmless(text: str) -> str:
    """Make control characters visible as escapes; tabs and newlines stay."""
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def colors_wanted() -> bool:
    """Tell whether a person reads this in colour (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
