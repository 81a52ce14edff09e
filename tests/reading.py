"""Read the master's side of a terminal, for tests that start a child themselves."""

import os


def read_available(master: int, limit: int) -> tuple[bytes, bool]:
    """Return what is there, at most about `limit` bytes, and whether that was the end."""
    parts: list[bytes] = []
    while sum(map(len, parts)) < limit:
        try:
            part = os.read(master, 65536)
        except BlockingIOError:
            return b"".join(parts), False
        except OSError:  # EIO: every descriptor of the slave is closed
            part = b""
        if not part:
            return b"".join(parts), True
        parts.append(part)
    return b"".join(parts), False
