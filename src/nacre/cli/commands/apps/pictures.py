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
from nacre.errors import Failed, InvalidInput

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
    parser.add_argument("--force", action="store_true", help="Overwrite FILE if it exists.")
    add_json(parser)
    parser.set_defaults(run=run_screenshot)


def run_screenshot(arguments: Namespace) -> int:
    picture_format = _format(arguments)
    with Client.open() as client:
        result = client.call(
            "screenshot",
            session=arguments.session,
            format=picture_format,
            scale=arguments.scale,
            show_cursor=False if arguments.no_cursor else None,
        )
    if arguments.json and arguments.output is None:
        print_json(result)
        return 0
    return _save(arguments, result)


def _format(arguments: Namespace) -> str | None:
    """Return the format that was asked for, else the one that the file's name ends with.

    Raises InvalidInput for a name that ends with another one.
    """
    given: str | None = arguments.format
    ending = os.path.splitext(arguments.output or "")[1].lower()
    if given is not None or not ending:
        return given
    if ending not in (".png", ".svg"):
        raise InvalidInput(f"a picture is .png or .svg, not {ending}; or give --format")
    return ending[1:]


def _save(arguments: Namespace, result: dict[str, Any]) -> int:
    data = result.pop("data")
    picture = base64.b64decode(data) if result["format"] == "png" else data.encode()
    path = arguments.output
    if path == _STANDARD_OUTPUT or (path is None and not sys.stdout.isatty()):
        sys.stdout.buffer.write(picture)
        return 0
    try:
        path = _write(path, result, picture, force=arguments.force)
    except FileExistsError:
        raise Failed(f"{path} already exists", "overwrite it with --force") from None
    except OSError as error:
        raise Failed(f"{error.filename} cannot be written: {error.strerror}") from None
    if arguments.json:
        print_json({**result, "file": os.path.abspath(path)})
    else:
        print(harmless(path))
    return 0


def _write(path: str | None, result: dict[str, Any], picture: bytes, *, force: bool) -> str:
    """Write the picture; return the name of its file. Raises FileExistsError."""
    if path is None:
        return _write_new(result["session"], result["format"], picture)
    device = os.path.exists(path) and not os.path.isfile(path)
    with open(path, "wb" if force or device else "xb") as file:
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
