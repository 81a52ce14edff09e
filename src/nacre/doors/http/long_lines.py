"""Lines of clients: how long they may be, and how doors that read lines get past a longer one.

Rule: a line may be longer than its reader's limit. So that limit says how much is read ahead, and a
client that sends requests and reads no answers fills its own socket.
"""

import asyncio


class LineTooLong(Exception):
    """A line is longer than it may be; `rest` of it is still to come, or all of it was read."""

    def __init__(self, *, rest: bool) -> None:
        self.rest = rest


async def read_line(reader: asyncio.StreamReader, most: int) -> bytes:
    """Return a line of at most `most` bytes with its end; without it what is left at the end.

    Raises LineTooLong.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            line = end.partial
        except asyncio.LimitOverrunError as over:
            parts.append(await reader.readexactly(over.consumed))
            size += over.consumed
            if size > most:
                raise LineTooLong(rest=True) from None
            continue
        if size + len(line) > most:
            raise LineTooLong(rest=False)
        return b"".join((*parts, line)) if parts else line


async def skip_line(reader: asyncio.StreamReader, size: int = 0) -> None:
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
