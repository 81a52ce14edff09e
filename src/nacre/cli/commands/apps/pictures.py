"""The command that saves a picture of a session: screenshot."""

import base64
import os
import sys
from argparse import ArgumentParser, Namespace
from itertools import count
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, harmless, print_json
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.core.operations.terminal import Screenshot
from nacre.errors import Failed

_STANDARD_OUTPUT = "-"


def add_screenshot(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write; '-' is standard output. Default: standard output, or in a terminal "
        "SESSION.png in this folder.",
    )
    add_flags(parser, Screenshot, ("format", "scale"))
    parser.add_argument("--no-cursor", action="store_true", help="Leave the cursor out.")
    add_json(parser)
    parser.set_defaults(run=run_screenshot)


def run_screenshot(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.call(
            "screenshot",
            session=arguments.session,
            format=_format(arguments),
            scale=arguments.scale,
            show_cursor=False if arguments.no_cursor else None,
        )
    if arguments.json and arguments.output is None:
        print_json(result)
        return 0
    return _save(arguments, result)


def _format(arguments: Namespace) -> str | None:
    """Return the format that was asked for, else the one that the file's name ends with."""
    given: str | None = arguments.format
    if given is None and arguments.output and arguments.output.lower().endswith(".svg"):
        return "svg"
    return given


def _save(arguments: Namespace, result: dict[str, Any]) -> int:
    data = result.pop("data")
    picture = base64.b64decode(data) if result["format"] == "png" else data.encode()
    path = arguments.output
    if path == _STANDARD_OUTPUT or (path is None and not sys.stdout.isatty()):
        sys.stdout.buffer.write(picture)
        return 0
    try:
        path = _write(path, result, picture)
    except OSError as error:
        raise Failed(f"{error.filename} cannot be written: {error.strerror}") from None
    if arguments.json:
        print_json({**result, "file": os.path.abspath(path)})
    else:
        print(harmless(path))
    return 0


def _write(path: str | None, result: dict[str, Any], picture: bytes) -> str:
    """Write the picture; return the name of its file."""
    if path is None:
        return _write_new(result["session"], result["format"], picture)
    with open(path, "wb") as file:
        file.write(picture)
    return path


def _write_new(name: str, suffix: str, picture: bytes) -> str:
    """Write a file that was not there: dev.png, dev-2.png, dev-3.png …"""
    for number in count(1):
        path = f"{name}.{suffix}" if number == 1 else f"{name}-{number}.{suffix}"
        try:
            with open(path, "xb") as file:
                file.write(picture)
        except FileExistsError:
            continue
        return path
    raise AssertionError("there is always a next number")
