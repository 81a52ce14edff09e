"""`nacre search`: find a text in what all sessions showed, and say when and where that was.

Rule 1: like grep, exit code 1 says that nothing was found.
Rule 2: the oldest hit is printed first, so that the newest stands above the prompt.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import (
    NO_LIMIT,
    add_json,
    colors_wanted,
    harmless,
    print_json,
)
from nacre.client.calls import Client
from nacre.core.operations.recordings import SearchSessions

_NOTHING = 1  # the exit code, as grep has it
_DAY = 86_400
_FOUND = ("\x1b[1;31m", "\x1b[0m")
_HEADING = ("\x1b[1m", "\x1b[0m")
_PARAMETERS = ("regex", "exact", "session", "since", "until", "context", "limit", "offset")


def add_search(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Full-screen programs and what was drawn over are searched, too. "
        "To see the screen of a hit: nacre screen SESSION --at GENERATION."
    )
    parser.add_argument(
        "text", metavar="TEXT", help="Text to find; without capitals it matches any case."
    )
    add_flags(parser, SearchSessions, (*_PARAMETERS, "max_chars"))
    add_json(parser)
    parser.set_defaults(run=run_search)


def run_search(arguments: Namespace) -> int:
    given = {name: getattr(arguments, name) for name in _PARAMETERS}
    most = arguments.max_chars or (None if arguments.json else NO_LIMIT)
    with Client.open() as client:
        result = client.call(
            "search",
            text=arguments.text,
            max_chars=most,
            **{name: value for name, value in given.items() if value is not None},
        )
    if arguments.json:
        print_json(result)
    else:
        _print(result, colors=colors_wanted(), context=arguments.context != 0)
    return 0 if result.get("hits") else _NOTHING


def _print(result: dict[str, Any], *, colors: bool, context: bool) -> None:
    paint = (_FOUND, _HEADING) if colors else (("", ""), ("", ""))
    for number, hit in enumerate(reversed(result.get("hits", ()))):
        if number and context:
            print()
        print(_heading(hit, paint[1]))
        for line in hit.get("before", ()):
            print(f"    {harmless(line)}")
        print(f"  > {_marked(hit, paint[0])}")
        for line in hit.get("after", ()):
            print(f"    {harmless(line)}")
    for told in _remarks(result):
        print(f"nacre: {harmless(told)}", file=sys.stderr)


def _heading(hit: dict[str, Any], paint: tuple[str, str]) -> str:
    shown = time.localtime(hit["time"])
    recent = time.time() - hit["time"] < _DAY
    when = time.strftime("%H:%M:%S" if recent else "%Y-%m-%d %H:%M:%S", shown)
    where = "full screen" if hit.get("line") is None else f"line {hit['line']}"
    facts = [when, where, f"generation {hit['generation']}"]
    if hit.get("run_id"):
        facts.append(f"run {hit['run_id']}")
    if hit.get("versions", 1) > 1:
        facts.append(f"drawn {hit['versions']} times")
    return f"{paint[0]}{harmless(hit['session'])}{paint[1]}  {', '.join(facts)}"


def _marked(hit: dict[str, Any], paint: tuple[str, str]) -> str:
    text, start, end = hit["text"], hit["start"], hit["end"]
    return (harmless(text[:start]) + paint[0] + harmless(text[start:end]) + paint[1]) + harmless(
        text[end:]
    )


def _remarks(result: dict[str, Any]) -> list[str]:
    told = []
    if result.get("next_offset") is not None:
        first = result["next_offset"]
        told.append(f"{result['total']} hits in all; for older ones: --offset {first}")
    if result.get("searched_since") is not None:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(result["searched_since"]))
        told.append(f"output before {since} was not searched in time; search again to go on")
    told += [
        f"{one['session']} was not searched: {one['reason']}"
        for one in result.get("not_searched", ())
    ]
    if not result.get("hits"):
        told.append(f"nothing found in {result['searched_sessions']} sessions")
    return told
