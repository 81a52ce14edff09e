"""The three ways to refer to a session: its name, its id (8 hex digits), its port.

Rule: a name is never only digits and never eight hex digits, so every reference is unambiguous.
"""

import re
from collections.abc import Container

from nacre.errors import InvalidInput

MAX_NAME = 64  # fits a list's column and a URL's segment

_NAME = re.compile(r"[^\W_][\w.@:+-]*")  # no slash, blank or control character; not a flag
_ID = re.compile(r"[0-9a-fA-F]{8}")


def check_name(name: str) -> None:
    """Raise InvalidInput unless this can be a session's name."""
    if name.isdigit() or _ID.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be a session's name: digits alone are a port, eight hex digits an id",
            "put a letter before it",
        )
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:80]!r} cannot be a session's name",
            f"use up to {MAX_NAME} letters, digits and . _ - + @ :, "
            "beginning with a letter or digit",
        )


def name_from_folder(folder: str, taken: Container[str]) -> str:
    """Make a free name from a folder's last part: work, work-2, work-3 …"""
    base = re.sub(r"[^\w.@+-]+", "-", folder.rstrip("/").rpartition("/")[2]).strip("-._@+")
    base = base[: MAX_NAME - 8] or "session"
    if base.isdigit() or _ID.fullmatch(base) or not _NAME.fullmatch(base):
        base = f"session-{base}"[: MAX_NAME - 8]
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
