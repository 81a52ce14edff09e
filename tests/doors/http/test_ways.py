"""Both ways of a connection: the first that ends, ends it."""

import asyncio

import pytest

from nacre.doors.http.ways import until_one_ends

pytestmark = pytest.mark.anyio


async def for_ever(ended: list[str], name: str) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)  # it has something to clean up
        ended.append(name)


async def test_the_others_have_ended_when_it_returns() -> None:
    ended: list[str] = []
    over = asyncio.Event()

    async def until_over() -> None:
        await over.wait()

    ways = [asyncio.create_task(until_over()), asyncio.create_task(for_ever(ended, "way"))]
    beside = asyncio.create_task(for_ever(ended, "beside"))
    serving = asyncio.create_task(until_one_ends(ways, beside=[beside]))
    await asyncio.sleep(0)
    assert not serving.done()
    over.set()
    await serving
    assert sorted(ended) == ["beside", "way"]


async def test_what_ends_beside_them_ends_nothing() -> None:
    ended: list[str] = []
    way = asyncio.create_task(for_ever(ended, "way"))
    beside = asyncio.create_task(asyncio.sleep(0))
    serving = asyncio.create_task(until_one_ends([way], beside=[beside]))
    await beside
    await asyncio.sleep(0)
    assert not serving.done()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert ended == ["way"], "who is cancelled cancels them"


async def test_the_error_of_a_way_is_raised() -> None:
    async def fails() -> None:
        raise ConnectionResetError

    ended: list[str] = []
    ways = [asyncio.create_task(fails()), asyncio.create_task(for_ever(ended, "way"))]
    with pytest.raises(ConnectionResetError):
        await until_one_ends(ways)
    assert ended == ["way"]
