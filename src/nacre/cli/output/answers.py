"""How a result or an error is printed.

Rule 1: with --json each call prints exactly one JSON value on standard output, for errors too.
Rule 2: control characters in a session's names, titles and text are printed as visible escapes.
Otherwise a program could control the person's terminal through its title.
"""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.errors import WIRE, NacreError
from nacre.late_pattern import late_pattern
from nacre.wording import Hint

NO_LIMIT = 1 << 31  # characters

# C0 without tab and newline, DEL, C1 (ECMA-48), characters that change the direction of text
# (Unicode, UAX 9), and what no writing needs and nobody sees: blanks without width, tags.
_HARMFUL = late_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="Print the result as JSON.")


def budget(arguments: Namespace) -> int | None:
    """Return how long an answer may be: standard output takes what there is, JSON is for agents."""
    given: int | None = arguments.max_chars
    return given if given is not None or arguments.json else NO_LIMIT


def show(arguments: Namespace, result: Any, text: str | None = None) -> int:
    """Print the result if --json is given, else the text if there is one. Return exit code 0."""
    if arguments.json:
        print_json(_worded(result))
        return 0
    if isinstance(result, dict) and "notice" in result:
        print(f"nacre: {result['notice']}", file=sys.stderr)
    if text is not None:
        print(harmless(text))
    return 0


def _worded(result: Any) -> Any:
    if isinstance(result, dict) and isinstance(result.get("hint"), Hint):
        from nacre.cli.output.words import CommandWords

        return CommandWords().worded(result)
    return result


def print_json(value: Any) -> None:
    # ASCII is the same in every locale, and none of it can control a terminal.
    print(json.dumps(value))


def complain(
    error: NacreError, *, as_json: bool, as_event: bool = False, command: str | None = None
) -> int:
    """Print an error of a command; `as_event`: as one of its events. Return its exit code."""
    from nacre.cli.output.words import CommandWords

    told = CommandWords(command).error(error)
    if as_json:
        print_json({**({"event": "error"} if as_event else {}), "error": told})
        sys.stdout.flush()  # if nobody can read it, that alone is told
    print(f"nacre: {harmless(told['message'])}", file=sys.stderr)
    # A newer daemon may know codes that this client does not.
    return WIRE.get(error.code, WIRE["INTERNAL_ERROR"]).exit


def harmless(text: str) -> str:
    """Make control characters visible as escapes; tabs and newlines stay."""
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def colors_wanted() -> bool:
    """Return whether to print colours (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
