"""Who is in the cluster under which name, and what is told when that changes."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from nacre.core.cluster.hosts import Heartbeat
from nacre.core.cluster.messages import HostKey
from nacre.services.cluster.member import Member, NameTaken
from nacre.settings.table import Settings

from services.cluster.test_asking import Wire
from services.cluster.test_names import Store

pytestmark = pytest.mark.anyio


class Link:
    """One host's connection to the servers of a test."""

    def __init__(self, store: Store, wire: Wire) -> None:
        self.store = store
        self._wire = wire
        self.connected = True
        self.problem = ""
        self.closed = asyncio.Event()
        self.when_changed: Callable[[], None] = lambda: None
        self.publish = wire.publish

    async def subscribe(self, subject: str, take: Callable[..., None], **_: object) -> None:
        def came(*message: Any) -> None:
            if self.connected:
                take(*message)

        await self._wire.subscribe(subject, came)

    async def connect(self) -> None:
        self.connected = True
        self.closed.clear()

    async def close(self) -> None:
        self.connected = False

    async def resume(self) -> None: ...

    async def renew_store(self) -> None: ...

    async def flush(self) -> None: ...


def member(name: str, link: Link, key: bytes = b"key", **settings: Any) -> Member:
    given = Settings(cluster_heartbeat=0.02, **settings)
    return Member(name, given, cast("Any", link), key, lambda: 0)


def said(host: str, *, settled: bool = True, incarnation: str = "1") -> bytes:
    facts: Any = {"incarnation": incarnation, "version": "1.0.0", "sessions": 0, "capacity": 1}
    return msgspec.msgpack.encode(Heartbeat(host=host, settled=settled, **facts))


async def nothing() -> None: ...


async def test_a_host_that_is_silent_is_told_of_as_suspect() -> None:
    link = Link(Store(), Wire())
    one = member("one", link, cluster_lost_time=3600.0)
    stood: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    await one.join(nothing)
    one.when_changed = lambda: stood.put_nowait(one.hosts.standing("other", loop.time()))
    try:
        for tells in ("", "503"):  # by its silence, and by a call that finds nobody
            await link.publish("nacre.hb.other", said("other"))
            if tells:
                one.doubt("other")
            while await stood.get() != "suspect":
                pass
            await link.publish("nacre.hb.other", said("other"))
            while await stood.get() != "up":
                pass
    finally:
        await one.leave()


@pytest.mark.parametrize("keys", [(b"a", b"b"), (b"a", b"a")], ids=["two", "two of one image"])
@pytest.mark.parametrize("late", [False, True])
async def test_of_two_hosts_that_join_at_once_under_one_name_one_does(
    keys: tuple[bytes, bytes], late: bool
) -> None:
    store, wire = Store(), Wire()
    first, second = (member("one", Link(store, wire), key) for key in keys)
    if late:  # the first is not heard in time
        wire.loses = lambda subject, _: subject == "nacre.hb.one" and not second.joined
    told = asyncio.Event()
    for one in (first, second):
        one.when_changed = told.set
    joining = [asyncio.create_task(one.join(nothing)) for one in (first, second)]
    try:
        while not (
            {one.joined for one in (first, second)} == {True, False}
            and [one for one in (first, second) if "has the name 'one'" in one.problem]
        ):
            told.clear()
            await told.wait()
        winner, loser = (first, second) if first.joined else (second, first)
        assert loser.warnings()[0].endswith("give this one another (cluster_host)")
        with pytest.raises(NameTaken):  # nor does it write over what the other has written
            await loser.renew()
        await winner.renew()
    finally:
        for task in joining:
            task.cancel()
        for one in (first, second):
            await one.leave()


async def test_who_has_not_told_all_sessions_is_waited_for_within_bounds() -> None:
    link = Link(Store(), Wire())
    one = member("one", link, cluster_lost_time=3600.0, cluster_call_time=3600.0)
    await one.join(nothing)
    try:
        await link.publish("nacre.hb.two", said("two", settled=False))
        waiting = asyncio.create_task(one.until_told())
        await asyncio.sleep(0)
        await link.publish("nacre.hb.three", said("three"))
        assert not waiting.done()
        await link.publish("nacre.hb.two", said("two"))
        assert await waiting == []
    finally:
        await one.leave()


async def test_who_does_not_tell_its_sessions_in_time_is_named() -> None:
    link = Link(Store(), Wire())
    one = member("one", link, cluster_lost_time=3600.0, cluster_call_time=0.01)
    await one.join(nothing)
    try:
        await link.publish("nacre.hb.two", said("two", settled=False))
        assert await one.until_told() == ["two"]
    finally:
        await one.leave()


async def test_a_new_daemon_lets_calls_wait_until_it_has_heard_the_others() -> None:
    store, wire = Store(), Wire()
    await store.put("h.two", b"")
    one = member("one", Link(store, wire), cluster_call_time=3600.0)
    one._settings = Settings(cluster_heartbeat=3600.0)  # nobody is overdue
    meeting = asyncio.create_task(one.until_met())
    await one.join(nothing)
    try:
        assert not meeting.done()
        await wire.publish("nacre.hb.two", said("two"))
        await meeting
    finally:
        await one.leave()


async def test_a_host_that_starts_again_while_the_servers_are_silent_is_still_believed() -> None:
    class Silent(Store):
        silent = False

        async def get(self, key: str) -> tuple[bytes, int] | None:
            if self.silent:
                raise OSError("no answer")
            return await super().get(key)

    store, wire = Silent(), Wire()
    one = member("one", Link(store, wire), cluster_lost_time=3600.0)
    await one.join(nothing)
    try:
        await store.put("h.two", msgspec.msgpack.encode(HostKey(b"first")))
        await wire.publish("nacre.hb.two", said("two"))
        assert await one.key_of("two") == b"first"
        await store.put("h.two", msgspec.msgpack.encode(HostKey(b"second")))
        await wire.publish("nacre.hb.two", said("two", incarnation="2"))
        store.silent = True
        assert await one.key_of("two") == b"first"
        with pytest.raises(OSError, match="no answer"):
            await one.key_of("three")
        store.silent = False
        assert await one.key_of("two") == b"second"
    finally:
        await one.leave()
