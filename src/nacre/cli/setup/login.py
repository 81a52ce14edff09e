"""Log in at a remote MCP server: the authorization code flow of OAuth 2.1, with PKCE, by the SDK.

Rule 1: the browser is sent back to a port of this machine that is open for this login alone. Where
no browser can reach it (another machine, no display), the code or the address is pasted.
Rule 2: tokens go to their file and nowhere else; what is printed is the address to open.
Rule 3: each login registers anew, unless its table names a client that is registered: the port that
the browser is sent to is another one.
"""

import asyncio
import os
import sys
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.cli.setup.redirect import LoginRedirect
from nacre.core.upstream.servers import ServerTable, TransportName, WrongTable, read_servers
from nacre.core.upstream.variables import UnsetVariables, expand
from nacre.errors import InvalidInput, UpstreamUnavailable
from nacre.settings.paths import Paths
from nacre.settings.table import Settings
from nacre.system.upstreams.logins import KeptLogin, LoginFile, login_file

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

    from nacre.cli.setup.oauth import PersonsLogin


class RemoteServer(NamedTuple):
    """A server with this person's values in it."""

    table: ServerTable
    url: str
    headers: dict[str, str]
    client_id: str
    client_secret: str

    def __repr__(self) -> str:
        return "RemoteServer(…)"  # it holds secrets


def remote_server(paths: Paths, name: str, values: dict[str, str]) -> RemoteServer:
    """Raises InvalidInput for what cannot be logged in at."""
    try:
        with open(paths.config_file, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""  # nobody has configured a server yet
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{paths.config_file} cannot be read") from error
    try:
        table = read_servers(text, paths.config_file).get(name)
    except ValueError as error:
        raise InvalidInput(f"{paths.config_file} is no TOML: {error}") from error
    if table is None:
        raise InvalidInput(f"no upstream server named {name!r}", "list them: nacre upstream list")
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
        resolved = table.resolve(values, "/")
        client = expand(table.client_id, values), expand(table.client_secret, values)
    except UnsetVariables as unset:
        raise InvalidInput(f"the variables {unset} of its table are not set") from unset
    return RemoteServer(table, resolved.url, dict(resolved.headers), *client)


def file_of(paths: Paths, name: str, url: str) -> LoginFile:
    return login_file(os.path.join(paths.state, "upstream"), name, url)


async def log_in(
    server: RemoteServer, file: LoginFile, settings: Settings, *, browser: bool
) -> bool:
    """Let a person log in, and keep the tokens; False if the server wants no login.

    Raises UpstreamUnavailable with the reason when it fails, InvalidInput.
    """
    import httpx2
    from mcp.client.auth import OAuthFlowError
    from mcp.shared.auth import AuthorizationCodeResult

    from nacre.cli.setup.oauth import PersonsLogin
    from nacre.system.upstreams.login_storage import LoginStorage

    table, url = server.table, server.url
    redirect = await LoginRedirect.open(settings.upstream_login_wait, table.callback_port)

    async def ask(address: str) -> None:
        redirect.expect(address)
        print(f"Log in at {table.name} by opening this address:\n\n{address}\n", flush=True)
        if browser and await asyncio.to_thread(_open_browser, address):
            print("A browser was opened.", flush=True)
        if sys.stdin.isatty():
            print("If it cannot come back here, paste the code or the address it ends at:")

    async def answer() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**await redirect.answer())

    before = file.read() or KeptLogin()
    granted = str(before.tokens.get("scope") or "") if before.wanted else ""
    try:
        login = PersonsLogin(
            url,
            redirect.url,
            LoginStorage(file, fresh=True),
            ask,
            answer,
            scope=f"{granted} {before.wanted}".strip() or None,
            client_url=settings.upstream_client_url or None,
        )
        if server.client_id:
            login.use_client(server.client_id, server.client_secret)
        timeout = httpx2.Timeout(settings.upstream_connect, read=settings.upstream_login_wait)
        headers = {**server.headers, "Accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(auth=login, headers=headers, timeout=timeout) as client:
            status = await _knock(client, login, table.transport, url)
    except (httpx2.HTTPError, OAuthFlowError, TimeoutError, OSError, ValueError) as error:
        if isinstance(error, OAuthFlowError) and login.insisted and not login.asked:
            return False  # it refused nothing, and has nowhere to log in
        raise UpstreamUnavailable(f"the login failed: {_plain(error)}") from error
    finally:
        await redirect.close()
    if login.context.current_tokens is None:
        if status in (401, 403):
            raise UpstreamUnavailable(f"the server refused (HTTP status {status})")
        return False
    return True


async def _knock(
    client: "AsyncClient", login: "PersonsLogin", transport: TransportName, url: str
) -> int:
    """Ask for more and more until the server refuses, so that it says what it wants; if it never
    does, log in all the same. Return the last status.
    """

    async def ask(body: dict[str, Any] | None, session: str | None) -> "Response":
        method = "GET" if body is None else "POST"
        more = {"MCP-Protocol-Version": _REVISION} if session is not None else {}
        more |= {"Mcp-Session-Id": session} if session else {}
        async with client.stream(method, url, json=body, headers=more) as response:
            return response

    if transport == "sse":
        response = await ask(None, None)
    else:
        response = await ask(_HELLO, None)
        session = response.headers.get("mcp-session-id", "")
        for body in (_GREETED, _LIST):
            if login.asked or response.status_code >= 400:
                break
            response = await ask(body, session)
    if not login.asked and response.status_code < 400:
        login.insist()
        response = await ask(None if transport == "sse" else _HELLO, None)
    return response.status_code


# What a client says first. A server that wants a login refuses one of these, or a call.
_REVISION = "2025-11-25"
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": _REVISION,
        "capabilities": {},
        "clientInfo": {"name": "nacre", "version": "1"},
    },
}
_GREETED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


def _plain(error: BaseException) -> str:
    told = str(error).partition("\n")[0]
    return told or type(error).__name__


def _open_browser(address: str) -> bool:
    with suppress(webbrowser.Error):
        return webbrowser.open(address)
    return False
