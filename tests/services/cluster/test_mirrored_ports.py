"""The port of another host's session outlives the daemon."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.errors import HostUnreachable
from nacre.services.cluster.mirrored_ports import NONE, MirroredPorts
from nacre.services.registry.ports import PortPool

FIRST = 47_000


@pytest.fixture
def pools() -> Iterator[tuple[PortPool, PortPool]]:
    made = PortPool(FIRST), PortPool(FIRST)
    yield made
    for pool in made:
        pool.close()


def test_the_next_daemon_opens_the_same_ports(
    pools: tuple[PortPool, PortPool], tmp_path: Path
) -> None:
    first, second = pools
    file = str(tmp_path / "ports")
    ports = MirroredPorts(first, 10, file)
    kept, taken, gone = (ports.of("other", name) for name in ("kept", "taken", "gone"))
    ports.release("other", "gone")
    ports.save()
    first.close()
    first.claim(taken)  # another program has it now
    again = MirroredPorts(second, 10, file)
    again.open_again()
    assert again.session(kept) == ("other", "kept")
    assert again.known("other", "taken") == again.known("other", "gone") == NONE
    assert again.session(gone) is None


def test_what_cannot_be_read_is_made_anew(pools: tuple[PortPool, PortPool], tmp_path: Path) -> None:
    file = tmp_path / "ports"
    file.write_text("[[nonsense")
    ports = MirroredPorts(pools[0], 10, str(file))
    ports.open_again()
    assert ports.of("other", "one") >= FIRST
    ports.save()
    assert str(ports.known("other", "one")) in file.read_text()


@pytest.mark.anyio
async def test_ports_of_sessions_that_are_gone_are_free_for_others(
    pools: tuple[PortPool, PortPool], tmp_path: Path
) -> None:
    """They are looked for when there is no room; a host that does not answer keeps its own."""
    ports = MirroredPorts(pools[0], 3, str(tmp_path / "ports"))
    asked: asyncio.Queue[str] = asyncio.Queue()

    async def listed(host: str) -> set[str]:
        asked.put_nowait(host)
        if host == "lost":
            raise HostUnreachable("it is lost")
        return {"stays"}

    freeing = asyncio.create_task(ports.free_gone(0, listed))
    stays, gone = ports.of("up", "stays"), ports.of("up", "gone")
    unknown = ports.of("lost", "unknown")
    assert asked.empty()
    assert ports.of("up", "new") == NONE
    assert {await asked.get(), await asked.get()} == {"up", "lost"}
    assert ports.of("up", "new") >= FIRST
    assert ports.session(stays) == ("up", "stays")
    assert ports.session(unknown) == ("lost", "unknown")
    assert ports.session(gone) in (None, ("up", "new"))
    freeing.cancel()
