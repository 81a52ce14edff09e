"""A long answer is encoded in slices, and others have their turns meanwhile."""

import asyncio
from typing import Any

import msgspec
import pytest

from nacre.core.operations.results import Recording
from nacre.doors.http.slices import encode_in_slices
from nacre.wording import OPERATIONS

pytestmark = pytest.mark.anyio


class Lines(msgspec.Struct, omit_defaults=True):
    """Like the results that have lines, with a field before them and one behind."""

    more: bool
    lines: list[Any]
    next_offset: int | None = None


AWKWARD = 'é"\\\x1b\n語👩‍👩‍👧\x00' * 70_000  # no slice ends between two of these
RECORDING = Recording(session="dev", events=1, size=2, recording=AWKWARD, began=1.5)
MANY = Lines(more=True, lines=[{"text": f'"{n}"', "spans": [n]} for n in range(2001)])


@pytest.mark.parametrize(
    ("result", "turns"),
    [(RECORDING, 3), (MANY, 8), (Lines(more=False, lines=[], next_offset=5), 0), ({"a": 1}, 0)],
    ids=["text", "lines", "short", "no struct"],
)
async def test_the_slices_are_the_whole_and_others_have_turns_between(
    result: Any, turns: int
) -> None:
    had = 0

    async def others() -> None:
        nonlocal had
        while True:
            had += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    message = {"id": 'n"1', "result": result, "told": "something"}
    parts = await encode_in_slices(message, OPERATIONS.encode)
    beside.cancel()
    assert b"".join(parts) == msgspec.json.encode(message)
    assert had >= turns
