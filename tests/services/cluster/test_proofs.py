"""Hosts prove who they are, servers too; what is wrong with that is said in words."""

import asyncio
import gc
import warnings
from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import nats
import pytest

from conftest import PATIENCE
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.cluster.servers.store import KeyTaken
from nacre.settings.table import Settings

from services.cluster.holding import HoldingProxy
from services.cluster.proofs import Authority, Operator, new_nkey
from services.cluster.several_hosts import HostUnderTest, Server, permitted, start_host

PAST = timedelta(hours=-1)


class Guarded:
    """A server that takes only hosts with a certificate of its authority and a known NKey."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = Authority(folder)
        cert, key = self.authority.issue("server")
        self.seeds: dict[str, str] = {}
        users = []
        for host in ("m1", "m2"):
            seed, public = new_nkey()
            self.seeds[host] = self.write(f"{host}.seed", seed)
            users.append(f"{{ nkey: {public}, permissions: {{ {permitted(host)} }} }}")
        config = self.write(
            "nats.conf",
            f"tls {{ ca_file: '{self.authority.file}', cert_file: '{cert}', key_file: '{key}', "
            f"verify: true, timeout: 10 }}\nauthorization {{ users: [{', '.join(users)}] }}",
        )
        self.server = Server(folder, "-c", config)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    def settings(self, host: str, **more: str) -> dict[str, Any]:
        cert, key = self.authority.issue(host)
        return {
            "cluster": f"tls://127.0.0.1:{self.server.port}",
            "cluster_nkey": self.seeds[host],
            "cluster_tls_ca": self.authority.file,
            "cluster_tls_cert": cert,
            "cluster_tls_key": key,
            **more,
        }


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    made = Guarded(tmp_path_factory.mktemp("guarded"))
    yield made
    made.server.kill()


def _expired(one: Guarded) -> dict[str, str]:
    cert, key = one.authority.issue("expired", left=PAST)
    return {"cluster_tls_cert": cert, "cluster_tls_key": key}


def _foreign(one: Guarded) -> dict[str, str]:
    """A certificate of an authority that the servers do not know."""
    cert, key = Authority(one.folder, "other").issue("foreign")
    return {"cluster_tls_cert": cert, "cluster_tls_key": key}


Wrong = Callable[[Guarded], dict[str, str]]
WRONG: dict[str, tuple[Wrong, str]] = {
    "another authority": (
        lambda one: {"cluster_tls_ca": Authority(one.folder, "wrong").file},
        r"certificate is not signed by .*wrong\.pem \(cluster_tls_ca\)",
    ),
    "no authority": (
        lambda one: {"cluster_tls_ca": ""},
        r"not signed by an authority that this machine trusts: set cluster_tls_ca",
    ),
    "an expired certificate": (_expired, r"expired\.pem expired on .* UTC: renew it"),
    "a foreign certificate": (_foreign, r"check cluster_tls_cert"),
    "no certificate": (
        lambda one: {"cluster_tls_cert": "", "cluster_tls_key": ""},
        r"check cluster_tls_cert",
    ),
    "another's key": (
        lambda one: {"cluster_tls_key": one.authority.issue("another")[1]},
        r"cluster_tls_key is not the key of the certificate",
    ),
    "an unknown NKey": (
        lambda one: {"cluster_nkey": one.write("unknown.seed", new_nkey()[0])},
        r"refuse this host's credentials \(cluster_nkey, cluster_tls_cert\)",
    ),
    "no NKey": (
        lambda one: {"cluster_nkey": "", "cluster_tls_cert": one.authority.issue("m1")[0]},
        r"refuse this host's credentials",
    ),
    "no seed": (
        lambda one: {"cluster_nkey": one.write("no.seed", "nonsense")},
        r"the file has no valid NKey seed",
    ),
    "no file": (
        lambda one: {"cluster_nkey": "/nowhere/one.seed"},
        r"cluster_nkey: /nowhere/one\.seed cannot be read \(No such file",
    ),
    "no server": (
        lambda one: {"cluster": "tls://127.0.0.1:1"},
        r"no server answers at tls://127.0.0.1:1 \(connection refused\)",
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("what", WRONG)
async def test_what_is_wrong_is_said_in_words(guarded: Guarded, what: str) -> None:
    change, told = WRONG[what]
    given = guarded.settings("m1") | change(guarded)
    with pytest.raises(OSError, match=told):
        await ClusterLink(Settings(**given), "m1").connect()


def _ends_with_its_loop(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run this in a loop of its own, and see that nothing is left open when it ends."""
    with warnings.catch_warnings(record=True) as left_open:
        warnings.simplefilter("always")
        asyncio.run(work())
        gc.collect()
    assert [str(one.message) for one in left_open] == []


def test_who_is_refused_closes_the_connection_without_the_servers_goodbye(guarded: Guarded) -> None:
    with HoldingProxy(guarded.server.port) as slow:
        given = guarded.settings("m1", cluster=f"tls://127.0.0.1:{slow.port}", cluster_nkey="")

        async def connect() -> None:
            with pytest.raises(OSError, match="refuse this host's credentials"):
                await ClusterLink(Settings(**given), "m1").connect()

        _ends_with_its_loop(connect)


def test_who_leaves_waits_for_no_goodbye_that_does_not_come(guarded: Guarded) -> None:
    """The library itself would wait for half a minute, for each of both connections."""
    with HoldingProxy(guarded.server.port) as slow:
        given: dict[str, Any] = guarded.settings("m1", cluster=f"tls://127.0.0.1:{slow.port}")
        link = ClusterLink(Settings(**given, cluster_lost_time=0.1), "m1")

        async def leave() -> None:
            await link.connect()
            async with asyncio.timeout(PATIENCE / 2):
                await link.close()

        _ends_with_its_loop(leave)


def test_a_host_that_is_refused_works_alone_and_joins_when_that_is_mended(
    guarded: Guarded, tmp_path: Path
) -> None:
    made: list[HostUnderTest] = []
    try:
        cert, key = guarded.authority.issue("late", left=PAST)
        late = guarded.settings("m2", cluster_tls_cert=cert, cluster_tls_key=key)
        for name, given in (("m1", guarded.settings("m1")), ("m2", late)):
            server = str(given.pop("cluster"))
            made.append(start_host(tmp_path / name, name, server, **given))
        one, other = made
        one.until(lambda: one.call("cluster_status")["joined"], what="m1 does not join")
        other.until(
            lambda: "renew it" in (other.call("cluster_status").get("problem") or ""),
            what="m2 does not say why",
        )
        [warning] = other.call("status")["warnings"]
        assert "works alone: cluster_tls_cert" in warning
        other.call("create_session", name="alone")
        assert other.call("run", session="alone", command="echo yes")["output"] == "yes"
        guarded.authority.issue("late")  # the same file, renewed
        one.sees("m2")
        assert one.call("get_screen", session="alone")
        assert one.call("run", session="alone", command="echo joined")["output"] == "joined"
    finally:
        for host in made:
            host.daemon.stop()


async def _keep_no_marks(link: ClusterLink, url: str, credentials: str) -> None:
    """A stale delete is refused; what marks a deleted key goes by itself, and the key is free."""
    found = await link.store.get("n.name")
    assert found
    await link.store.replace("n.name", b"again", found[1])
    with pytest.raises(KeyTaken):
        await link.store.delete("n.name", found[1])
    assert await link.store.get("n.name") == (b"again", found[1] + 1)
    await link.store.delete("n.name", found[1] + 1)
    assert await link.store.get("n.name") is None
    client = await nats.connect(url, user_credentials=credentials)
    mark = await client.jetstream().get_last_msg("KV_nacre", "$KV.nacre.n.name")
    await client.close()
    assert mark.headers is not None
    assert mark.headers["Nats-TTL"] == "60"
    await link.store.create("n.name", b"new")


@pytest.mark.anyio
async def test_credentials_of_an_account_let_a_host_in(tmp_path: Path) -> None:
    operator = Operator()
    config = tmp_path / "nats.conf"
    config.write_text(operator.config)
    server = Server(tmp_path, "-c", str(config))
    try:
        file = tmp_path / "host.creds"
        file.write_text(operator.credentials("one"))
        given: dict[str, Any] = {"cluster": server.url, "cluster_credentials": str(file)}
        link = ClusterLink(Settings(**given), "one")
        await link.connect()
        await link.store.create("n.name", b"mine")
        assert link.connected
        await _keep_no_marks(link, server.url, str(file))
        await link.close()
        await _expire_and_return(operator, file, Settings(**given))
        file.write_text(Operator().credentials("one"))  # of somebody else's operator
        with pytest.raises(OSError, match=r"refuse this host's credentials \(cluster_credentials"):
            await ClusterLink(Settings(**given), "one").connect()
    finally:
        server.kill()


async def _expire_and_return(operator: Operator, file: Path, settings: Settings) -> None:
    """A connection that the servers end for good is opened again, and hears as before."""
    await anyio.Path(file).write_text(operator.credentials("one", left=2))
    link = ClusterLink(settings, "one")
    await link.connect()
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    await link.subscribe("nacre.hb.*", lambda subject, reply, data, status: heard.put_nowait(data))
    await link.closed.wait()
    assert not link.connected
    await anyio.Path(file).write_text(operator.credentials("one"))
    await link.connect()
    await link.resume()
    await link.publish("nacre.hb.one", b"back")
    assert await heard.get() == b"back"
    await link.close()


@pytest.mark.anyio
async def test_servers_that_keep_nothing_are_named(tmp_path: Path) -> None:
    server = Server(tmp_path, store=False)
    try:
        with pytest.raises(OSError, match="enable JetStream"):
            await ClusterLink(Settings(cluster=server.url), "one").connect()
    finally:
        server.kill()


@pytest.mark.anyio
async def test_a_full_store_says_so_and_has_room_again_when_a_key_is_deleted(
    tmp_path: Path,
) -> None:
    config = tmp_path / "nats.conf"
    config.write_text(f'jetstream {{ store_dir: "{tmp_path}/js", max_file_store: 4KB }}')
    server = Server(tmp_path, "-c", str(config), store=False)
    link = ClusterLink(Settings(cluster=server.url), "one")
    try:
        await link.connect()

        async def fill() -> None:
            for number in range(100):
                await link.store.create(f"n.{number}", bytes(200))

        with pytest.raises(OSError, match="is full"):
            await fill()
        found = await link.store.get("n.0")
        assert found
        await link.store.delete("n.0", found[1])
        await link.store.delete("n.1")
        assert await link.store.get("n.0") is None
        await link.store.create("n.new", b"fits")
    finally:
        await link.close()
        server.kill()
