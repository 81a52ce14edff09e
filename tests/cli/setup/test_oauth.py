"""Logins at servers that want them late, want more later, or know their clients beforehand."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from nacre.cli.setup import login
from nacre.errors import InvalidInput, UpstreamUnavailable
from nacre.settings.paths import find_paths
from nacre.settings.table import Settings
from nacre.system.upstreams.logins import login_file

from services.upstream.hubs import ME, hub, text_of
from upstreams.configs import table
from upstreams.login_server import LoginServer, serving

pytestmark = pytest.mark.anyio

LATE = {"tools/call": "write"}
CLIENT = "https://example.org/nacre.json"


@pytest.fixture(autouse=True)
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person opens the page, and is sent back."""

    def opened(address: str) -> bool:
        return httpx2.get(address, follow_redirects=True).status_code == 200

    monkeypatch.setattr(login, "_open_browser", opened)


class Remote:
    """The server in a config, and whoever logs in at it."""

    def __init__(self, folder: Path, server: LoginServer, **keys: Any) -> None:
        self.folder, self.server = folder, server
        self.table = table("s", url=f"{server.url}/mcp", **keys)
        self._paths = find_paths({"NACRE_HOME": str(folder / "config")})

    async def log_in(self, env: dict[str, str] | None = None, **settings: Any) -> bool:
        found = login.remote_server(self._paths, "s", env or {})
        file = login_file(str(self.folder / "state" / "upstream"), "s", found.url)
        return await login.log_in(found, file, Settings(**settings), browser=True)


@contextmanager
def remote(folder: Path, server: LoginServer, **keys: Any) -> Iterator[Remote]:
    with serving(server):
        yield Remote(folder, server, **keys)


async def call(house: Any) -> str:
    return text_of(await house("call_upstream_tool", ME, server="s", tool="echo"))


async def test_a_call_that_needs_more_rights_gets_them_by_the_next_login(tmp_path: Path) -> None:
    server = LoginServer({"tools/list": "read", "tools/call": "read write"})
    with remote(tmp_path, server) as it:
        async with hub(tmp_path, it.table) as house:
            with pytest.raises(UpstreamUnavailable, match="it wants a login"):
                await house("test_upstream", ME, server="s")
            assert await it.log_in()  # it refuses no greeting, but the list
            await house("reload_upstreams", ME, server="s")
            with pytest.raises(UpstreamUnavailable, match=r"more rights .* nacre upstream login s"):
                await call(house)
            assert (await house("test_upstream", ME, server="s")).tools == 1  # it is still there
            assert await it.log_in()
            await house("reload_upstreams", ME, server="s")
            assert await call(house) == "done"
        assert [sorted(one["scope"].split()) for one in server.logins] == [
            ["read"],
            ["read", "write"],
        ]


async def test_a_server_that_refuses_calls_alone_is_logged_in_at(tmp_path: Path) -> None:
    with remote(tmp_path, LoginServer({"tools/call": ""})) as it:
        async with hub(tmp_path, it.table) as house:
            assert (await house("test_upstream", ME, server="s")).tools == 1
            with pytest.raises(UpstreamUnavailable, match="it wants a login"):
                await call(house)
            assert await it.log_in()
            await house("reload_upstreams", ME, server="s")
            assert await call(house) == "done"


async def test_a_server_without_logins_wants_none(tmp_path: Path) -> None:
    server = LoginServer(publishes=False, clients={"nobody": "x"})
    with remote(tmp_path, server) as it:
        async with hub(tmp_path, it.table):
            assert not await it.log_in()
    assert server.logins == []


@pytest.mark.parametrize(
    ("methods", "proof"),
    [
        (("client_secret_basic", "client_secret_post"), "basic known:hidden"),
        (("client_secret_post",), "post hidden"),
    ],
)
async def test_a_client_that_is_registered_beforehand_is_used(
    tmp_path: Path, methods: tuple[str, ...], proof: str
) -> None:
    server = LoginServer({"initialize": "all"}, clients={"known": "hidden"}, methods=methods)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    keys = {"client_id": "${ID:-known}", "client_secret": "$HIDDEN", "callback_port": port}
    headers = {"X-Team": "$TEAM"}
    with remote(tmp_path, server, **keys, headers=headers) as it:
        async with hub(tmp_path, it.table):
            with pytest.raises(InvalidInput, match="HIDDEN"):
                await it.log_in({"TEAM": "a"})
            assert await it.log_in({"HIDDEN": "hidden", "TEAM": "a"})
    (asked,) = server.logins
    assert (asked["client_id"], server.proofs) == ("known", [proof])
    assert asked["redirect_uri"] == f"http://127.0.0.1:{port}/callback"
    assert {one["X-Team"] for one in server.seen} == {"a"}


async def test_without_a_way_to_register_it_is_told(tmp_path: Path) -> None:
    server = LoginServer({"initialize": ""}, clients={"known": ""})
    with remote(tmp_path, server) as it:
        async with hub(tmp_path, it.table):
            with pytest.raises(UpstreamUnavailable, match="the login failed: Registration failed"):
                await it.log_in()


async def test_a_taken_callback_port_is_told(tmp_path: Path) -> None:
    listener = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    with remote(tmp_path, LoginServer({"initialize": ""}), callback_port=port) as it:
        async with listener, hub(tmp_path, it.table):
            with pytest.raises(InvalidInput, match=f"the port {port} of its callback_port"):
                await it.log_in()


async def test_a_metadata_document_stands_for_registering_where_the_server_takes_it(
    tmp_path: Path,
) -> None:
    server = LoginServer({"initialize": ""}, takes_urls=True)
    with remote(tmp_path, server) as it:
        async with hub(tmp_path, it.table):
            assert await it.log_in(upstream_client_url=CLIENT)
            server.takes_urls = False
            assert await it.log_in(upstream_client_url=CLIENT)
            with pytest.raises(UpstreamUnavailable, match="HTTPS"):
                await it.log_in(upstream_client_url="http://example.org/nacre.json")
    assert [one["client_id"] for one in server.logins] == [CLIENT, "made"]


async def test_an_older_servers_issuer_may_have_a_path_of_its_origin(tmp_path: Path) -> None:
    server = LoginServer({"initialize": ""}, publishes=False, issuer="/oauth")
    with remote(tmp_path, server) as it:
        async with hub(tmp_path, it.table) as house:
            assert await it.log_in()
            await house("reload_upstreams", ME, server="s")
            assert await call(house) == "done"


@pytest.mark.parametrize(
    ("publishes", "issuer"),
    [(False, "http://elsewhere.example/oauth"), (True, "/oauth"), (True, "http://127.0.0.1:1/")],
)
async def test_any_other_issuer_must_be_the_one_that_was_named(
    tmp_path: Path, publishes: bool, issuer: str
) -> None:
    server = LoginServer({"initialize": ""}, publishes=publishes, issuer=issuer)
    with remote(tmp_path, server) as it:
        async with hub(tmp_path, it.table):
            with pytest.raises(UpstreamUnavailable, match="issuer mismatch"):
                await it.log_in()
    assert server.logins == []
