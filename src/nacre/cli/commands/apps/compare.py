"""The command that compares two screens: of a session, or of recordings: compare.

Rule: as with diff(1) the exit code is 0 for screens that are the same, and 1 for others.
"""

import os
from argparse import ArgumentParser, Namespace
from typing import Any, NamedTuple

from nacre.cli.output.answers import NO_LIMIT, add_json, harmless, print_json
from nacre.client.calls import Client
from nacre.errors import InvalidInput


class Side(NamedTuple):
    """What to compare: a session or a file, and a moment of it."""

    name: str
    moment: str | None

    @property
    def is_file(self) -> bool:
        return os.path.sep in self.name or self.name.endswith(".cast")


def add_compare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "before",
        metavar="BEFORE",
        help="SESSION@GENERATION, SESSION@-SECONDS (ago), or FILE.cast@SECONDS (without: its end).",
    )
    parser.add_argument(
        "after",
        metavar="AFTER",
        nargs="?",
        help="The same; of a session it is the current screen by default.",
    )
    parser.add_argument("--text", action="store_true", help="Compare the text alone, not styles.")
    add_json(parser)
    parser.set_defaults(run=run_compare)


def run_compare(arguments: Namespace) -> int:
    before = _side(arguments.before)
    after = _side(arguments.after) if arguments.after else Side(before.name, None)
    if before.is_file != after.is_file or (not before.is_file and before.name != after.name):
        raise InvalidInput("compare two moments of one session, or two recordings")
    if before.is_file:
        result = _recordings(before, after, styles=not arguments.text)
    else:
        result = _session(before, after, styles=not arguments.text)
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    return 0 if result["same"] else 1


def _side(given: str) -> Side:
    name, at, moment = given.rpartition("@")
    return Side(name, moment) if at else Side(given, None)


def _session(before: Side, after: Side, *, styles: bool) -> dict[str, Any]:
    if before.moment is None:
        raise InvalidInput(f"say which moment of {before.name}, as in {before.name}@42")
    moments = {**_moment(before, ""), **_moment(after, "to_")}
    with Client.open() as client:
        answer: dict[str, Any] = client.ask(
            "screen_diff", session=before.name, styles=styles, max_chars=NO_LIMIT, **moments
        )
        return answer


def _moment(side: Side, prefix: str) -> dict[str, Any]:
    if side.moment is None:
        return {}
    if side.moment.isdigit():
        return {f"{prefix}generation": int(side.moment)}
    return {f"{prefix}time": _seconds(side)}


def _seconds(side: Side) -> float:
    try:
        return float(side.moment or "")
    except ValueError:
        raise InvalidInput(
            f"{side.moment!r} is neither a generation nor seconds",
            "write @42, or @-10 for ten seconds ago",
        ) from None


def _recordings(before: Side, after: Side, *, styles: bool) -> dict[str, Any]:
    import msgspec

    from nacre.core.journal.asciicast_screen import cells_of_cast  # it loads the engine
    from nacre.core.seeing.difference import compare

    screens = []
    for side in (before, after):
        seconds = None if side.moment is None else _seconds(side)
        try:
            with open(side.name, encoding="utf-8") as file:
                screens.append(cells_of_cast(file.read(), seconds))
        except OSError as error:
            raise InvalidInput(f"{side.name} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise InvalidInput(f"{side.name} is no recording: {error}") from None
    found = compare(*screens)
    changes = [one for one in found.changes if styles or not one.style_only]
    return {
        "same": not changes,
        "same_text": found.same_text,
        "changes": msgspec.to_builtins(changes),
    }


def _print(result: dict[str, Any]) -> None:
    for change in result["changes"]:
        row, first, end = change["row"], change.get("col", 0), change.get("end", 0)
        said = " (style)" if change.get("style_only") else ""
        print(f"@ row {row}, columns {first} to {end - 1}{said}")
        for mark, text in (("-", change["before"]), ("+", change["after"])):
            if text is not None and not (said and mark == "+"):
                print(f"{' ' if said else mark}{harmless(text)}")
