"""Lines that are longer than a reader takes: how doors that read lines get past one."""

import asyncio


async def skip_line(reader: asyncio.StreamReader, size: int) -> None:
    """Drop what is left of a line. `size` is what LimitOverrunError said was consumed."""
    while True:
        await reader.readexactly(size)
        try:
            await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as over:
            size = over.consumed
        except asyncio.IncompleteReadError:
            return
        else:
            return
