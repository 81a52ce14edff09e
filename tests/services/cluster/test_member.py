"""Who is in the cluster under which name, and what is told when that changes."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from nacre.core.cluster.hosts import Heartbeat
from nacre.services.cluster.member import Member
from nacre.settings.table import Settings
from services.cluster.test_asking import Wire
from services.cluster.test_names import Store

pytestmark = pytest.mark.anyio


class Link(Wire):
    """One host's connection to servers that all hosts of a test share."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.connected = True
        self.problem = ""
        self.closed = asyncio.Event()
        self.when_changed: Callable[[], None] = lambda: None

    async def connect(self) -> None:
        self.connected = True

    async def resume(self) -> None: ...

    async def flush(self) -> None: ...

    async def close(self) -> None:
        self.connected = False


def member(name: str, link: Link, key: bytes = b"key", **settings: Any) -> Member:
    given = Settings(cluster_heartbeat=0.02, **settings)
    return Member(name, given, cast("Any", link), key, lambda: 0)


def said(host: str, incarnation: str = "1") -> bytes:
    return msgspec.msgpack.encode(
        Heartbeat(host=host, incarnation=incarnation, version="1.0.0", sessions=0, capacity=1)
    )


async def nothing() -> None: ...


async def test_a_host_that_is_silent_is_told_of_as_suspect() -> None:
    link = Link(Store())
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
