"""Log in at a remote MCP server: the authorization code flow of OAuth 2.1, with PKCE, by the SDK.

Rule 1: the browser is sent back to a port of this machine that is open for this login alone. Where
no browser can reach it (another machine, no display), the code or the address is pasted.
Rule 2: tokens go to their file and nowhere else; what is printed is the address to open.
Rule 3: each login registers anew: the port that the browser is sent to is another one.
"""

import asyncio
import os
import sys
import webbrowser
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from nacre.core.upstream.servers import ServerTable, WrongTable, read_servers
from nacre.core.upstream.variables import UnsetVariables
from nacre.errors import InvalidInput, UpstreamUnavailable
from nacre.settings.paths import Paths
from nacre.system.upstreams.logins import LoginFile, login_file

_WAIT = 600.0  # seconds for the person at the browser
_LONGEST = 16_384  # bytes of a request that brings the code

_DONE = "<!doctype html><meta charset=utf-8><title>nacre</title><p>Logged in. You can close this."
_FAILED = "<!doctype html><meta charset=utf-8><title>nacre</title><p>The login was refused."


def remote_server(paths: Paths, name: str, values: dict[str, str]) -> tuple[ServerTable, str]:
    """Return a server's table and its address. Raises InvalidInput."""
    try:
        with open(paths.config_file, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{paths.config_file} cannot be read") from error
    try:
        table = read_servers(text, paths.config_file).get(name)
    except ValueError as error:
        raise InvalidInput(f"{paths.config_file} is no TOML: {error}") from error
    if table is None:
        raise InvalidInput(f"no upstream server named {name!r}", "nacre upstream list")
    if isinstance(table, WrongTable):
        raise InvalidInput(str(table))
    if table.transport == "stdio":
        raise InvalidInput(f"{name} is a program on this machine: it takes no login")
    if any(header.lower() == "authorization" for header in table.headers):
        raise InvalidInput(
            f"{name} has an Authorization header in its table, which is used instead",
            "remove it to log in",
        )
    try:
        return table, table.resolve(values, "/").url
    except UnsetVariables as unset:
        raise InvalidInput(f"the variables {unset} of its table are not set") from unset


def file_of(paths: Paths, name: str, url: str) -> LoginFile:
    return login_file(os.path.join(paths.state, "upstream"), name, url)


async def log_in(table: ServerTable, url: str, file: LoginFile, *, browser: bool) -> bool:
    """Let a person log in, and keep the tokens; False if the server wants no login.

    Raises UpstreamUnavailable with the reason when it fails.
    """
    import httpx2
    from mcp.client.auth import OAuthClientProvider, OAuthFlowError
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
    from pydantic import AnyUrl

    from nacre.system.upstreams.login_storage import LoginStorage

    redirect = await _Redirect.open()
    storage = LoginStorage(file, fresh=True)

    async def ask(address: str) -> None:
        redirect.expect(address)
        print(f"Log in at {table.name} by opening this address:\n\n{address}\n", flush=True)
        if browser and await asyncio.to_thread(_open_browser, address):
            print("A browser was opened.", flush=True)
        if sys.stdin.isatty():
            print("If it cannot come back here, paste the code or the address it ends at:")

    async def answer() -> AuthorizationCodeResult:
        given = await redirect.answer()
        return AuthorizationCodeResult(**given)

    metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect.url)],
        client_name="nacre",
        token_endpoint_auth_method="none",  # noqa: S106  # we keep no secret
    )
    provider = OAuthClientProvider(url, metadata, storage, ask, answer)
    storage.context = provider.context
    try:
        timeout = httpx2.Timeout(30.0, read=_WAIT)
        async with httpx2.AsyncClient(
            auth=provider, headers=dict(table.headers), timeout=timeout
        ) as client:
            method, body = ("GET", None) if table.transport == "sse" else ("POST", _HELLO)
            accept = {"Accept": "application/json, text/event-stream"}
            async with client.stream(method, url, json=body, headers=accept) as response:
                status = response.status_code
    except (httpx2.HTTPError, OAuthFlowError, TimeoutError, OSError, ValueError) as error:
        raise UpstreamUnavailable(f"the login failed: {_plain(error)}") from error
    finally:
        await redirect.close()
    if provider.context.current_tokens is None:
        if status in (401, 403):
            raise UpstreamUnavailable(f"the server refused (HTTP status {status})")
        return False
    return True


# What a client says first; any request would do, and a server that wants a login refuses it.
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "nacre", "version": "1"},
    },
}


def _plain(error: BaseException) -> str:
    told = str(error).partition("\n")[0]
    return told or type(error).__name__


def _open_browser(address: str) -> bool:
    with suppress(webbrowser.Error):
        return webbrowser.open(address)
    return False


class _Redirect:
    """The port that a browser is sent back to, and the line that a person may paste instead."""

    def __init__(self) -> None:
        self._found: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self._state = ""
        self.url = ""

    @classmethod
    async def open(cls) -> "_Redirect":
        self = cls()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_LONGEST)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/callback"
        return self

    def expect(self, address: str) -> None:
        self._state = parse_qs(urlsplit(address).query).get("state", [""])[0]

    async def answer(self) -> dict[str, Any]:
        """Return code, state and issuer. Raises TimeoutError, ValueError for a refusal."""
        loop = asyncio.get_running_loop()
        descriptor = sys.stdin.fileno() if sys.stdin.isatty() else None
        if descriptor is not None:
            loop.add_reader(descriptor, self._paste)
        try:
            async with asyncio.timeout(_WAIT):
                return await self._found
        finally:
            if descriptor is not None:
                loop.remove_reader(descriptor)

    def _paste(self) -> None:
        line = sys.stdin.readline().strip()
        if not line:
            return
        if "code=" in line or "error=" in line:
            self._take(urlsplit(line).query or line)
        else:  # the code alone: it belongs to this login
            self._give({"code": line, "state": self._state})

    def _take(self, query: str) -> bool:
        """Take what a query says; return whether it is a code for this login."""
        given = {key: values[0] for key, values in parse_qs(query).items()}
        if "error" in given:
            why = given.get("error_description") or given["error"]
            if not self._found.done() and given.get("state") == self._state:
                self._found.set_exception(ValueError(f"the server says: {why}"))
            return False
        if not given.get("code") or given.get("state") != self._state:
            return False
        self._give({key: given[key] for key in ("code", "state", "iss") if key in given})
        return True

    def _give(self, answer: dict[str, Any]) -> None:
        if not self._found.done():
            self._found.set_result(answer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        status, text = "404 Not Found", ""
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, _, rest = head.partition(" ")
            target = urlsplit(rest.partition(" ")[0])
            if method == "GET" and target.path == "/callback":
                taken = self._take(target.query)
                status, text = ("200 OK", _DONE) if taken else ("400 Bad Request", _FAILED)
            body = text.encode()
            answer = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            writer.write(answer.encode() + body)
            await writer.drain()
        writer.close()

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._server.wait_closed()
