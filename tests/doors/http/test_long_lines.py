"""Lines of any length come whole, however they arrive, and too long ones are told."""

import asyncio

import pytest

from nacre.doors.http.long_lines import LineTooLong, read_line, skip_line

pytestmark = pytest.mark.anyio

READ_AHEAD = 1000
LONG = b"x" * (3 * READ_AHEAD + 7)
MOST = len(LONG) + 1


def reader_of(data: bytes, piece: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=READ_AHEAD)
    for at in range(0, len(data), piece):
        reader.feed_data(data[at : at + piece])
    reader.feed_eof()
    return reader


@pytest.mark.parametrize("piece", [1, 7, READ_AHEAD, READ_AHEAD + 1, 10**9])
async def test_lines_come_whole_and_in_order(piece: int) -> None:
    reader = reader_of(b"a\n\n" + LONG + b"\nlast", piece)
    lines = [await read_line(reader, MOST) for _ in range(5)]
    assert lines == [b"a\n", b"\n", LONG + b"\n", b"last", b""]


@pytest.mark.parametrize("piece", [7, READ_AHEAD, 10**9])
@pytest.mark.parametrize("over", [1, 100, READ_AHEAD, 3 * READ_AHEAD])
async def test_a_line_that_is_too_long_is_told_and_the_next_one_comes(
    piece: int, over: int
) -> None:
    reader = reader_of(LONG + b"\nnext\n", piece)
    with pytest.raises(LineTooLong) as told:
        await read_line(reader, MOST - over)
    if told.value.rest:
        await skip_line(reader)
    assert await read_line(reader, MOST) == b"next\n"


async def test_the_end_within_a_line_that_is_too_long_is_an_end() -> None:
    reader = reader_of(LONG, 10**9)
    with pytest.raises(LineTooLong) as told:
        await read_line(reader, READ_AHEAD)
    if told.value.rest:
        await skip_line(reader)
    assert await read_line(reader, MOST) == b""
