"""The MCP door that is loaded when it is wanted."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from nacre.core.operations.sessions import ListSessions
from nacre.doors.mcp.late import LateMcpDoor
from nacre.settings.table import Settings

from services.living import CALLER, living

pytestmark = pytest.mark.anyio


@pytest.fixture
async def door() -> AsyncIterator[LateMcpDoor]:
    async with living() as services:
        made = LateMcpDoor(services.dispatch(), Settings())
        yield made
        await made.close()


def is_loading() -> bool:
    return any(task.get_name() == "mcp" for task in asyncio.all_tasks())


async def test_nothing_is_loaded_that_nobody_wants(door: LateMcpDoor) -> None:
    await asyncio.sleep(0)
    assert not is_loading()


async def test_all_who_want_it_get_the_same(door: LateMcpDoor) -> None:
    first, second = await asyncio.gather(door.door(), door.door())
    assert first is second is await door.door()


async def test_a_client_that_leaves_meanwhile_does_not_stop_it(door: LateMcpDoor) -> None:
    leaving = asyncio.create_task(door.door())
    await asyncio.sleep(0)
    assert is_loading()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert (await door.door()).http is not None


@pytest.mark.parametrize(("after", "loads"), [(1e-9, True), (0.0, False)])
async def test_it_is_loaded_when_there_is_leisure(after: float, loads: bool) -> None:
    async with living() as services:
        door = LateMcpDoor(services.dispatch(), Settings(mcp_load_after=after))
        for _ in range(3):  # turns of the loop: its timer, then the task
            await asyncio.sleep(0)
        assert is_loading() is loads
        await door.close()


async def test_what_else_waits_for_leisure_begins_before_it() -> None:
    async with living() as services:
        door = LateMcpDoor(services.dispatch(), Settings(mcp_load_after=1e-9))
        was_loading: list[bool] = []
        door.when_leisure(lambda: was_loading.append(is_loading()))
        for _ in range(3):  # turns of the loop: its timer, then the task
            await asyncio.sleep(0)
        assert was_loading == [False]
        assert is_loading()
        await door.close()


async def test_it_is_not_loaded_while_others_ask_for_something() -> None:
    async with living() as services:
        dispatch = services.dispatch()
        door = LateMcpDoor(dispatch, Settings(mcp_load_after=1e-9))
        for _ in range(5):
            await dispatch(CALLER, ListSessions())
            await asyncio.sleep(0)  # a turn of the loop: its timer
            assert not is_loading()
        for _ in range(3):  # nobody asks any longer: the timer, then the task
            await asyncio.sleep(0)
        assert is_loading()
        await door.close()


async def test_others_wait_for_it_only_while_it_is_loaded(door: LateMcpDoor) -> None:
    await door.settle()
    assert not is_loading()
    wanting = asyncio.create_task(door.door())
    await asyncio.sleep(0)
    await door.settle()
    assert not is_loading()
    assert (await wanting).http is not None


async def test_a_library_that_cannot_be_loaded_is_told_and_does_not_stop_the_end(
    monkeypatch: pytest.MonkeyPatch, door: LateMcpDoor
) -> None:
    def fail(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", fail)
    with pytest.raises(ImportError, match="mcp"):
        await door.door()
    await door.close()
