"""The commands that look at a session: screen, scrollback, read."""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from nacre.cli.explained import add_flags_of
from nacre.cli.output.answers import add_json, budget, harmless, show
from nacre.cli.output.found_lines import FoundLines
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.errors import WIRE, InvalidInput

if TYPE_CHECKING:
    from nacre.core.operations.runs import ReadRun
    from nacre.core.operations.terminal import GetScreen, GetScrollback, ReadOutput

_PAGE = 10_000  # lines at once
_MATCHES = 1000


def add_screen(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags_of(parser, _find_screen, ("max_chars", "since_generation"))
    _add_styled(parser)
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--at",
        metavar="MOMENT",
        type=_moment,
        help="The screen as it was: at a generation, or with - so many seconds ago.",
    )
    other.add_argument(
        "--hash", action="store_true", help="Print hashes: of text, and with styles."
    )
    other.add_argument(
        "--cells",
        metavar="RANGE",
        help="Show how cells look: ROW, ROW,COL,HEIGHT,WIDTH or a text on the screen.",
    )
    add_json(parser)
    parser.set_defaults(run=run_screen)


def run_screen(arguments: Namespace) -> int:
    if arguments.hash:
        return _show_hash(arguments)
    if arguments.cells is not None:
        return _show_cells(arguments)
    if arguments.at is not None:
        return _show_earlier(arguments)
    with Client.open() as client:
        result = client.ask(
            "get_screen",
            session=arguments.session,
            format=_format(arguments),
            max_chars=budget(arguments),
            since_generation=arguments.since_generation,
        )
    return _show_lines(arguments, result, trim=True)


def _moment(given: str) -> dict[str, Any]:
    if given.startswith("-"):
        return {"time": float(given)}
    return {"generation": int(given)}


def _show_earlier(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask(
            "screen_at",
            session=arguments.session,
            format=_format(arguments),
            max_chars=budget(arguments),
            **arguments.at,
        )
    return _show_lines(arguments, result, trim=True)


def _show_hash(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask("screen_hash", session=arguments.session)
    return show(arguments, result, f"{result['text_hash']}  text\n{result['styled_hash']}  styled")


def _show_cells(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask(
            "get_cells",
            session=arguments.session,
            max_chars=budget(arguments),
            **_range(arguments.cells),
        )
    told = [f"{run['row']},{run['col']}\t{run['text']!r}\t{_look(run)}" for run in result["runs"]]
    return show(arguments, result, "\n".join(told) or None)


def _range(given: str) -> dict[str, Any]:
    numbers = given.split(",")
    if len(numbers) <= len(_RANGE) and all(number.strip().isdigit() for number in numbers):
        return dict(zip(_RANGE, map(int, numbers), strict=False))
    return {"text": given}


_RANGE = ("row", "col", "height", "width")


def _look(run: dict[str, Any]) -> str:
    """Return a style in words: "fg=red bold"."""
    known = ((name, run[name]) for name in run if name not in ("row", "col", "width", "text"))
    words = [name if value is True else f"{name}={_color(value)}" for name, value in known]
    return " ".join(words) or "plain"


def _color(value: Any) -> str:
    return (
        f"#{value['r']:02x}{value['g']:02x}{value['b']:02x}" if isinstance(value, dict) else value
    )


def add_scrollback(parser: ArgumentParser) -> None:
    add_session(parser)
    add_flags_of(parser, _find_scrollback, ("offset", "limit", "max_chars", "since_generation"))
    _add_styled(parser)
    add_json(parser)
    parser.set_defaults(run=run_scrollback)


def run_scrollback(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.ask(
            "get_scrollback",
            session=arguments.session,
            offset=arguments.offset,
            limit=arguments.limit,
            format=_format(arguments),
            max_chars=budget(arguments),
            since_generation=arguments.since_generation,
        )
    return _show_lines(arguments, result, trim=False)


def _add_styled(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--styled", action="store_true", help="Keep colours and attributes (with --json: as spans)."
    )


def _format(arguments: Namespace) -> str:
    return "styled" if arguments.styled else "plain"


def _show_lines(arguments: Namespace, result: dict[str, Any], *, trim: bool) -> int:
    lines = [_line(line) for line in result["lines"]]
    while trim and lines and not lines[-1].strip():
        lines.pop()  # empty rows would only scroll the person's terminal
    if not arguments.json:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return show(arguments, result)


def _line(line: str | list[dict[str, Any]]) -> str:
    if isinstance(line, str):
        return harmless(line)
    from nacre.cli.output.paint import paint_line  # it loads msgspec

    return paint_line([{**span, "text": harmless(span["text"])} for span in line])


def add_read(parser: ArgumentParser) -> None:
    parser.usage = "nacre read [SESSION | --run RUN_ID] [options]"
    add_session(parser, nargs="?")
    add_flags_of(parser, _find_read, ("lines", "join", "max_chars", "since_generation"))
    parser.add_argument(
        "--run", dest="run_id", metavar="RUN_ID", help="Read the whole output of a run instead."
    )
    parser.add_argument(
        "--find",
        metavar="TEXT",
        help="With --run: print the lines with this text, and their numbers.",
    )
    parser.add_argument(
        "--regex",
        action="store_const",
        const=True,
        help="With --find: TEXT is a regular expression (RE2).",
    )
    add_flags_of(parser, _find_read_run, ("context",))
    add_json(parser)
    parser.set_defaults(run=run_read)


def run_read(arguments: Namespace) -> int:
    if arguments.run_id is not None:
        return _read_run(arguments)
    if arguments.find is not None:
        raise InvalidInput("--find searches a run: name it with --run RUN_ID")
    if arguments.session is None:
        raise InvalidInput("name a session, or a run with --run RUN_ID")
    with Client.open() as client:
        result = client.ask(
            "read_output",
            session=arguments.session,
            lines=arguments.lines,
            join=arguments.join,
            max_chars=budget(arguments),
            since_generation=arguments.since_generation,
        )
    return show(arguments, result, result["output"] or None)


def _read_run(arguments: Namespace) -> int:
    """Print all of a run's output, page by page, or the lines that were asked for."""
    asked = {"run_id": arguments.run_id, "limit": _PAGE, "max_chars": budget(arguments)}
    if arguments.find is not None:
        more = ("find", "regex", "context")
        asked |= {name: getattr(arguments, name) for name in more} | {"max_matches": _MATCHES}
    offset: int | None = 0
    found, printed = False, FoundLines()
    with Client.open() as client:
        while offset is not None:
            page = client.ask("read_run", offset=offset, **asked)
            if arguments.json:
                return show(arguments, page)
            found = _print_page(page, printed) or found
            offset = _next(page)
    if (hint := page.get("hint")) is not None and not arguments.find:
        print(f"nacre: {harmless(hint)}", file=sys.stderr)
    lost = page.get("lost_bytes")
    if lost and str(lost) not in page.get("hint", ""):
        print(f"nacre: {lost} bytes of the output were not kept", file=sys.stderr)
    return 0 if found or arguments.find is None else WIRE["FAILED"].exit


def _print_page(page: dict[str, Any], printed: FoundLines) -> bool:
    """Return whether it has any lines."""
    matches = page.get("matches")
    if matches is None:
        if page["lines"]:
            print(harmless(page["output"]))
        return bool(page["lines"])
    printed.show(matches)
    return bool(matches)


def _next(page: dict[str, Any]) -> int | None:
    """Return where to go on, if there is more."""
    if page.get("matches") is not None:
        return page.get("next_offset")
    end: int = page["offset"] + page["lines"]
    return end if page["lines"] and end < page["total_lines"] else None


def _find_screen() -> "type[GetScreen]":
    from nacre.core.operations.terminal import GetScreen

    return GetScreen


def _find_scrollback() -> "type[GetScrollback]":
    from nacre.core.operations.terminal import GetScrollback

    return GetScrollback


def _find_read() -> "type[ReadOutput]":
    from nacre.core.operations.terminal import ReadOutput

    return ReadOutput


def _find_read_run() -> "type[ReadRun]":
    from nacre.core.operations.runs import ReadRun

    return ReadRun
