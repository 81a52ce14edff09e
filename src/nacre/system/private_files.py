"""Files that only their owner can read.

Rule: a file is replaced as a whole, and is on the disk before the old one is gone.
"""

import os
from contextlib import suppress

from nacre.errors import Internal


def private(path: str, flags: int) -> int:
    """Open such a file, for open's `opener`."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def replace_private(path: str, content: bytes, what: str) -> None:
    """Raises Internal, which says that `what` cannot be stored."""
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "wb", opener=private) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise Internal(
            f"{what} cannot be stored: {error.strerror}", "make space, then try again"
        ) from error
