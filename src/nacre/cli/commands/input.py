"""The commands that type into a session: send and keys."""

import base64
import binascii
import os
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from nacre.cli.explained import explanation
from nacre.cli.output.answers import add_json, show
from nacre.cli.session_argument import add_session, completed_by
from nacre.client.calls import Client
from nacre.errors import InvalidInput

if TYPE_CHECKING:
    from nacre.core.operations.terminal import PressKeys, SendInput

_ENTER = b"\r"


def add_send(parser: ArgumentParser) -> None:
    parser.usage = "nacre send SESSION [options] [--] TEXT …"
    add_session(parser)
    parser.add_argument(
        "text", metavar="TEXT", nargs="*", help=explanation(parser, _find_send, "input")
    )
    parser.add_argument("--no-enter", action="store_true", help="Send the text without Enter.")
    parser.add_argument(
        "--base64", action="store_true", help="The text is base64; send the bytes it stands for."
    )
    parser.add_argument("--stdin", action="store_true", help="Read the text from standard input.")
    parser.epilog = (
        "Words are joined by spaces, and Enter (\\r) is added. "
        "Put text that begins with - after --."
    )
    add_json(parser)
    parser.set_defaults(run=run_send)


def run_send(arguments: Namespace) -> int:
    data = _typed(arguments)
    if arguments.base64:
        data = _decoded(data)
    if not arguments.no_enter:
        data += _ENTER
    text, encoding = _as_parameter(data)
    with Client.open() as client:
        result = client.call("send_input", session=arguments.session, input=text, encoding=encoding)
    return show(arguments, result)


def _typed(arguments: Namespace) -> bytes:
    if not arguments.stdin:
        if not arguments.text:
            raise InvalidInput(
                "nothing to send; give a text, or use --stdin to read it from a pipe"
            )
        return os.fsencode(" ".join(arguments.text))
    if arguments.text:
        raise InvalidInput("give either a text or --stdin, not both")
    data = sys.stdin.buffer.read()
    # `echo ls | nacre send dev --stdin` means one Enter, not two.
    return data if arguments.no_enter else data.removesuffix(b"\n").removesuffix(b"\r")


def _decoded(data: bytes) -> bytes:
    try:
        return base64.b64decode(data.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"the text is not valid base64: {error}") from error


def _as_parameter(data: bytes) -> tuple[str, str]:
    try:
        return data.decode(), "utf8"
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), "base64"


def add_keys(parser: ArgumentParser) -> None:
    add_session(parser)
    keys = parser.add_argument(
        "keys", metavar="KEY", nargs="+", help=explanation(parser, _find_keys, "keys")
    )
    completed_by(keys, _key_names)
    add_json(parser)
    parser.set_defaults(run=run_keys)


def _key_names(**_: object) -> tuple[str, ...]:
    from nacre.core.keys.names import KEY_NAMES

    return KEY_NAMES


def run_keys(arguments: Namespace) -> int:
    with Client.open() as client:
        result = client.call("press_keys", session=arguments.session, keys=arguments.keys)
    return show(arguments, result)


def _find_send() -> "type[SendInput]":
    from nacre.core.operations.terminal import SendInput

    return SendInput


def _find_keys() -> "type[PressKeys]":
    from nacre.core.operations.terminal import PressKeys

    return PressKeys
