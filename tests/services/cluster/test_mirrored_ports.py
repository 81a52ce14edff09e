"""The port of another host's session outlives the daemon."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PATIENCE
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


@pytest.mark.anyio
async def test_the_next_daemon_opens_the_same_ports(
    pools: tuple[PortPool, PortPool], tmp_path: Path
) -> None:
    first, second = pools
    file = str(tmp_path / "ports")
    ports = MirroredPorts(first, 10, file, PATIENCE)
    kept, taken, gone = [await ports.of("other", name) for name in ("kept", "taken", "gone")]
    ports.release("other", "gone")
    ports.save()
    first.close()
    first.claim(taken)  # another program has it now
    again = MirroredPorts(second, 10, file, PATIENCE)
    again.open_again()
    assert again.session(kept) == ("other", "kept")
    assert again.known("other", "taken") == again.known("other", "gone") == NONE
    assert again.session(gone) is None


@pytest.mark.anyio
async def test_what_cannot_be_read_is_made_anew(
    pools: tuple[PortPool, PortPool], tmp_path: Path
) -> None:
    file = tmp_path / "ports"
    file.write_text("[[nonsense")
    ports = MirroredPorts(pools[0], 10, str(file), PATIENCE)
    ports.open_again()
    assert await ports.of("other", "one") >= FIRST
    ports.save()
    assert str(ports.known("other", "one")) in file.read_text()


@pytest.mark.anyio
async def test_ports_of_sessions_that_are_gone_are_free_for_others(
    pools: tuple[PortPool, PortPool], tmp_path: Path
) -> None:
    """They are looked for when there is no room; a host that does not answer keeps its own."""
    ports = MirroredPorts(pools[0], 3, str(tmp_path / "ports"), PATIENCE)
    asked: asyncio.Queue[str] = asyncio.Queue()

    async def listed(host: str) -> set[str]:
        asked.put_nowait(host)
        if host == "lost":
            raise HostUnreachable("it is lost")
        return {"stays"}

    freeing = asyncio.create_task(ports.free_gone(0, listed))
    stays, gone = await ports.of("up", "stays"), await ports.of("up", "gone")
    unknown = await ports.of("lost", "unknown")
    assert asked.empty()
    assert await ports.of("up", "new") >= FIRST  # also the first one that is shown without room
    assert {asked.get_nowait(), asked.get_nowait()} == {"up", "lost"}
    assert ports.session(stays) == ("up", "stays")
    assert ports.session(unknown) == ("lost", "unknown")
    assert ports.session(gone) in (None, ("up", "new"))
    freeing.cancel()


@pytest.mark.anyio
async def test_who_wants_a_port_while_all_are_in_use_gets_none_and_waits_for_nobody_twice(
    pools: tuple[PortPool, PortPool], tmp_path: Path
) -> None:
    ports = MirroredPorts(pools[0], 1, str(tmp_path / "ports"), PATIENCE)
    looks = 0

    async def listed(host: str) -> set[str]:
        nonlocal looks
        looks += 1
        return {"stays"}

    freeing = asyncio.create_task(ports.free_gone(PATIENCE, listed))
    await ports.of("up", "stays")
    several = await asyncio.gather(*(ports.of("up", name) for name in ("one", "two")))
    assert (several, looks) == ([NONE, NONE], 1)
    assert await ports.of("up", "one") == NONE  # they were asked a moment ago
    assert looks == 1
    freeing.cancel()


@pytest.mark.anyio
async def test_a_host_that_does_not_answer_holds_no_caller_up_for_longer_than_it_may(
    pools: tuple[PortPool, PortPool], tmp_path: Path
) -> None:
    ports = MirroredPorts(pools[0], 1, str(tmp_path / "ports"), 0.01)
    never = asyncio.Event()

    async def listed(host: str) -> set[str]:
        await never.wait()
        return set()

    freeing = asyncio.create_task(ports.free_gone(0, listed))
    await ports.of("up", "stays")
    assert await ports.of("up", "new") == NONE
    freeing.cancel()
