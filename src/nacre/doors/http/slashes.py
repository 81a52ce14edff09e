"""Slashes that are part of a name in a path: `/api/sessions/host%2Fname/screen`.

Rule: a server decodes %2F before routes are looked up, and the name would be two segments. So it is
kept as a mark until its route is found. Whoever reads a segment turns the mark into a slash.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

_MARK = "\0"  # no path has it: %00 stays as it is
_SLASH = re.compile("%2f", re.IGNORECASE)


def with_slashes(app: ASGIApp) -> ASGIApp:
    """Return an application whose routes take %2F in a segment."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path") or b""
        if b"%2" in raw:
            path = raw.decode("latin-1").replace("%00", "%2500")
            scope = {**scope, "path": unquote(_SLASH.sub("%00", path))}
        await app(scope, receive, send)

    return serve


def segments(params: Mapping[str, str]) -> dict[str, str]:
    """Return the segments of a path that a route has found."""
    return {name: value.replace(_MARK, "/") for name, value in params.items()}


def shown_path(path: str) -> str:
    """Return a path as its caller wrote it."""
    return path.replace(_MARK, "%2F")
