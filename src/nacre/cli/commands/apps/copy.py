"""The command that copies a file into a session or out of it: cp.

Rule: SESSION:PATH is a file where the session's shell is; - is standard input or output; anything
else is a file here.
"""

import base64
import hashlib
import os
import re
import stat
import sys
from argparse import ArgumentParser, Namespace
from typing import Any, NamedTuple

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import NO_LIMIT, add_json, show
from nacre.client.calls import Client
from nacre.core.operations.apps.files import GetFile
from nacre.errors import Failed, InvalidInput

_THERE = re.compile(r"([^/:]+):(.*)", re.DOTALL)


class CopyPlace(NamedTuple):
    session: str | None
    path: str


_STREAM = CopyPlace(None, "-")


def add_cp(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="SRC", help="FILE (- is standard input), or SESSION:PATH."
    )
    parser.add_argument(
        "target",
        metavar="DST",
        help="SESSION:PATH, or FILE (- is standard output); a folder if it ends with /.",
    )
    add_flags(parser, GetFile, ("timeout_ms",))
    add_json(parser)
    parser.set_defaults(run=run_cp)


def run_cp(arguments: Namespace) -> int:
    source, target = _place(arguments.source), _place(arguments.target)
    if (source.session is None) == (target.session is None):
        raise InvalidInput("one of the two must be SESSION:PATH, and the other a file here")
    if source == _STREAM and not os.path.basename(target.path):
        raise InvalidInput("standard input has no name: name the file in the session")
    if target.path.endswith("/") or (target.session is not None and not target.path):
        target = target._replace(path=target.path + os.path.basename(source.path))
    try:
        if source.session is None:
            return show(arguments, _put(arguments, source.path, target))
        return show(arguments, _get(arguments, source, target.path))
    except BrokenPipeError:  # the reader of standard output has left
        raise
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else source.path
        raise Failed(f"{name}: {error.strerror}") from None


def _place(given: str) -> CopyPlace:
    match = _THERE.fullmatch(given)
    return CopyPlace(None, given) if match is None else CopyPlace(match[1], match[2])


def _put(arguments: Namespace, path: str, target: CopyPlace) -> dict[str, Any]:
    if path == _STREAM.path:
        mode, data = None, sys.stdin.buffer.read()
    else:
        with open(path, "rb") as file:
            mode, data = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o777, file.read()
    content = base64.b64encode(data).decode()
    with Client.open() as client:
        answer: dict[str, Any] = client.call(
            "put_file",
            session=target.session,
            path=target.path,
            content=content,
            encoding="base64",
            mode=None if mode is None else f"{mode:03o}",
            timeout_ms=arguments.timeout_ms,
        )
    return answer


def _get(arguments: Namespace, source: CopyPlace, target: str) -> dict[str, Any]:
    if os.path.isdir(target):
        target = os.path.join(target, os.path.basename(source.path))
    with Client.open() as client:
        answer: dict[str, Any] = client.call(
            "get_file",
            session=source.session,
            path=source.path,
            encoding="base64",
            max_chars=NO_LIMIT,
            timeout_ms=arguments.timeout_ms,
        )
    data = base64.b64decode(answer.pop("content"))
    known = answer.get("sha256")
    if known is not None and hashlib.sha256(data).hexdigest() != known:
        raise Failed(f"{source.path} did not arrive as it is there: nothing was written")
    if target == _STREAM.path:
        if arguments.json:
            raise InvalidInput("--json and the file cannot both go to standard output")
        sys.stdout.buffer.write(data)
        return answer
    _write(target, data, int(answer.get("mode") or "644", 8))
    return {**answer, "file": os.path.abspath(target)}


def _write(target: str, data: bytes, mode: int) -> None:
    """Write it beside its place, and then move it there."""
    real = os.path.realpath(target)
    beside = os.path.join(os.path.dirname(real), f".nacre-{os.urandom(6).hex()}")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        try:
            file.write(data)
            os.fchmod(file.fileno(), mode & 0o777)
        except OSError:
            os.unlink(beside)
            raise
    os.replace(beside, real)
