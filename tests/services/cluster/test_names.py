"""A name has one owner, however claims and releases of it cross each other."""

import asyncio
from typing import Any, cast

import pytest

from nacre.core.cluster.hosts import HostTable
from nacre.services.cluster.names import Names, name_key
from nacre.services.cluster.servers.store import KeyTaken

pytestmark = pytest.mark.anyio


class Store:
    """Keys with revisions, as the cluster's servers keep them; `pauses` holds up the next read."""

    def __init__(self) -> None:
        self.store = self  # as that of a link
        self.values: dict[str, tuple[bytes, int]] = {}
        self._revision = 0
        self.pauses = asyncio.Event()
        self.pauses.set()

    async def until_connected(self) -> bool:
        return True

    async def get(self, key: str) -> tuple[bytes, int] | None:
        found = self.values.get(key)
        await self.pauses.wait()
        return found

    async def find(self, pattern: str) -> list[tuple[str, bytes]]:
        begin = pattern.rstrip("*")
        return [(key, value) for key, (value, _) in self.values.items() if key.startswith(begin)]

    async def create(self, key: str, value: bytes) -> None:
        if key in self.values:
            raise KeyTaken
        self._write(key, value)

    async def put(self, key: str, value: bytes) -> None:
        self._write(key, value)

    async def replace(self, key: str, value: bytes, revision: int) -> None:
        self._check(key, revision)
        self._write(key, value)

    async def delete(self, key: str, revision: int) -> None:
        self._check(key, revision)
        del self.values[key]

    def _check(self, key: str, revision: int) -> None:
        if key not in self.values or self.values[key][1] != revision:
            raise KeyTaken

    def _write(self, key: str, value: bytes) -> None:
        self._revision += 1
        self.values[key] = (value, self._revision)


class HostNames:
    """The names of one host, with the sessions that it has."""

    def __init__(self, host: str, store: Store) -> None:
        self.taken: set[str] = set()
        self.names = Names(
            host,
            cast("Any", store),
            HostTable(1, 2),
            self._refuse,
            lambda: frozenset(self.taken),
            lambda name: False,
            10,
        )

    async def _refuse(self, host: str, name: str) -> bool:
        return False


@pytest.mark.parametrize("claims", ["while it is read", "before it is read"])
async def test_a_name_that_is_used_again_at_once_stays_taken(claims: str) -> None:
    store = Store()
    host = HostNames("one", store)
    await host.names.claim("dev", "")
    if claims == "while it is read":
        store.pauses.clear()
        releasing = asyncio.create_task(host.names.release("dev"))  # of the session that was killed
        await asyncio.sleep(0)
        claiming = asyncio.create_task(host.names.claim("dev", ""))
        await asyncio.sleep(0)
        store.pauses.set()
        await asyncio.gather(releasing, claiming)
    else:
        await host.names.claim("dev", "")
        host.taken.add("dev")
        await host.names.release("dev")
    assert name_key("dev") in store.values


async def test_a_name_that_nobody_uses_is_free() -> None:
    store = Store()
    host = HostNames("one", store)
    await host.names.claim("dev", "")
    await host.names.release("dev")
    assert store.values == {}
