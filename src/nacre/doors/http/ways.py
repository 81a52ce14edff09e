"""Serve a connection both ways at once: what comes in, and what goes out."""

import asyncio
from collections.abc import Iterable


async def until_one_ends(
    ways: Iterable["asyncio.Task[None]"], *, beside: Iterable["asyncio.Task[None]"] = ()
) -> None:
    """Return when one of the ways has ended, and raise what it raised; the others are cancelled.

    Tasks `beside` them end with them, but may end before.
    """
    ways = list(ways)
    tasks = [*ways, *beside]
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancel_all(tasks)


async def cancel_all(tasks: Iterable["asyncio.Task[None]"]) -> None:
    """Return when all of these have ended."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
