"""The web page for people, and how a browser logs in.

Rule 1: the page's files hold no secret and are served to everyone on this machine. Everything that
they show comes through the other doors.
Rule 2: a browser stores a key, never a token. It gets the key for a code that `nacre web` printed,
or for a token that was made for a person. The daemon's own token is for programs: an agent that has
it is no person.
Rule 3: the page loads and runs nothing from elsewhere, and cannot be put into a frame.
"""

import os
import re
from math import ceil
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from nacre.core.catalog.caller import Caller
from nacre.doors.http.credentials import PAGE as PAGE_GRANT
from nacre.doors.http.credentials import Credentials
from nacre.doors.http.exchange import decode_object, error_answer, json_answer, read_body
from nacre.doors.http.guard import error_response, grant_of
from nacre.doors.http.words import PAGE
from nacre.errors import InvalidInput

LOGIN_PATH, TICKET_PATH = "/api/login", "/api/ticket"
ASSETS = "/assets/"

# Where `make web` puts the built page; a wheel contains it.
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "page")

_MAX_LOGIN = 4096  # bytes; a token is short

_SAFETY = {
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
        "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
_NOT_KEPT = {"Cache-Control": "no-store"}
# A name with a hash of the content; a file with such a name never changes.
_HASHED = re.compile(r"-[0-9A-Za-z_]{8,}\.\w+")
_KEPT_FOR_GOOD = {"Cache-Control": "public, max-age=31536000, immutable"}
_ASKED_AGAIN = {"Cache-Control": "no-cache"}  # by its ETag

# Stated here instead of taken from the machine's tables: with nosniff a wrong type is an error.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}


# `make web` packs these: a third of the bytes, for a page that comes through a slow line.
_COMPRESSED = (".css", ".js", ".svg", ".txt")


def is_page(path: str) -> bool:
    return path == "/" or path.startswith(ASSETS)


def build_routes(credentials: Credentials, folder: str = FOLDER) -> list[Route]:
    page = StaticFiles(directory=folder, check_dir=False)
    assets = StaticFiles(directory=os.path.join(folder, "assets"), check_dir=False)

    async def index(request: Request) -> Response:
        response = await _file(page, "index.html", request, _NOT_KEPT)
        if response.status_code == 404:
            return HTMLResponse(_UNBUILT, headers={**_SAFETY, **_NOT_KEPT})
        return response

    async def asset(request: Request) -> Response:
        path = request.path_params["path"]
        kept = _KEPT_FOR_GOOD if _HASHED.search(path) else _ASKED_AGAIN
        if _takes_gzip(request) and os.path.splitext(path)[1] in _COMPRESSED:
            packed = await _file(assets, f"{path}.gz", request, kept, of=path)
            if packed.status_code != 404:  # a page that was built before has none
                packed.headers["Content-Encoding"] = "gzip"
                return packed
        return await _file(assets, path, request, kept)

    async def log_in(request: Request) -> Response:
        return await _log_in(credentials, request)

    async def give_ticket(request: Request) -> Response:
        caller: Caller = request.scope["nacre.caller"]
        ticket = credentials.new_ticket(grant_of(caller))
        # So that the page offers nothing that would be refused.
        may = {"scope": caller.scope.name.lower(), "limited": caller.sessions is not None}
        return _secret({"ticket": ticket, "expires_in": credentials.ticket_lifetime, **may})

    return [
        Route("/", index),
        Route(ASSETS + "{path:path}", asset),
        Route(LOGIN_PATH, log_in, methods=["POST"]),
        Route(TICKET_PATH, give_ticket, methods=["POST"]),
    ]


def _takes_gzip(request: Request) -> bool:
    given = request.headers.get("accept-encoding", "")
    return re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", given) is not None


async def _file(
    files: StaticFiles,
    path: str,
    request: Request,
    kept: dict[str, str],
    of: str | None = None,
) -> Response:
    """`of` is the file that this one is packed from, and whose type it has."""
    try:
        # It follows no .. and no link out of its folder, and supports If-None-Match.
        response = await files.get_response(path, request.scope)
    except HTTPException as error:
        return error_response(
            "UNKNOWN_OPERATION", f"no file {request.url.path}; the page is at /", error.status_code
        )
    response.headers.update({**_SAFETY, **kept})
    if response.status_code == 200:
        suffix = os.path.splitext(of or path)[1]
        response.headers["Vary"] = "Accept-Encoding"
        response.headers["Content-Type"] = _TYPES.get(suffix, "application/octet-stream")
    return response


# --- logging in --------------------------------------------------------------------------------


async def _log_in(credentials: Credentials, request: Request) -> Response:
    try:
        kind, given = _proof(decode_object(await read_body(request, _MAX_LOGIN)))
    except InvalidInput as error:
        return error_answer(error, PAGE)
    if kind == "code":
        if credentials.redeem_code(given):
            credentials.when_login(PAGE_GRANT, "code")
            return _secret({"key": credentials.new_key()})
        credentials.when_login(None, "code")
        return _refused("the code is used, too old or wrong: 'nacre web' prints another address")
    if wait := credentials.seconds_to_wait():
        return error_response(
            "RESOURCE_LIMIT",
            f"too many wrong tokens: try again in {ceil(wait)} s, or open what 'nacre web' prints",
        )
    grant = credentials.log_in(given)
    credentials.when_login(grant if grant and grant.person else None, "token")
    if grant is None:
        return _refused(f"this is no token of a person: {_WAY_IN}")
    if not grant.person:
        return _refused(f"this token is for programs, which cannot log in as a person: {_WAY_IN}")
    return _secret({"key": credentials.new_key(grant)})


_WAY_IN = "open the address that 'nacre web' prints, or use one of 'nacre token create --person'"


def _proof(body: dict[str, Any]) -> tuple[str, str]:
    if len(body) == 1:
        [(kind, given)] = body.items()
        if kind in ("token", "code") and isinstance(given, str):
            return kind, given.strip()  # pasted text often has a newline
    raise InvalidInput('a login is {"token": …} or {"code": …}')


def _refused(message: str) -> Response:
    return error_response("FORBIDDEN", message, 401)


def _secret(content: dict[str, Any]) -> Response:
    answer = json_answer(content)
    answer.headers.update(_NOT_KEPT)
    return answer


_UNBUILT = """<!doctype html><html lang=en><meta charset=utf-8>
<meta name=viewport content="width=device-width,initial-scale=1"><title>nacre</title>
<style>:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
<h1>nacre</h1>
<p>The daemon runs, but its page is not built in this checkout:
<code>make web</code> builds it, then load this again.</p>
<p><a href="/api/docs">The HTTP interface</a></p>
"""
