"""What all hosts know, kept by a real server whose answers may get lost."""

from contextlib import AsyncExitStack
from typing import Any

import pytest
from nats.aio.client import Client

from nacre.services.cluster.servers.store import KeyTaken, open_store
from nacre.settings.table import Settings

from services.cluster.several_hosts import Server

pytestmark = pytest.mark.anyio


class Deaf(Client):
    """Loses answers: the server that had them has died."""

    lost = 0

    async def _process_msg(self, *message: Any) -> None:
        if self.lost > 0:
            self.lost -= 1
        else:
            await super()._process_msg(*message)


async def test_what_a_dead_server_would_have_answered_is_asked_again(server: Server) -> None:
    async with AsyncExitStack() as stack:
        client = Deaf()
        await client.connect(server.url)
        stack.push_async_callback(client.close)
        store = await open_store(client, Settings(cluster_call_time=1))
        await store.put("n.kept", b"here")
        client.lost = 1
        assert (await store.get("n.kept") or (b"", 0))[0] == b"here"
        client.lost = 1
        await store.put("n.kept", b"there")
        assert (await store.get("n.kept") or (b"", 0))[0] == b"there"
        client.lost = 1
        with pytest.raises(KeyTaken):  # it was written: who asked finds its own name there
            await store.create("n.new", b"ours")
        assert (await store.get("n.new") or (b"", 0))[0] == b"ours"
