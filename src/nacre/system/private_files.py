"""Files that only their owner can read.

Rule: a file is replaced as a whole, and is on the disk before the old one is gone.
"""

import errno
import os
from contextlib import suppress

from nacre.errors import Failed


def private(path: str, flags: int) -> int:
    """Open such a file, for open's `opener`."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def replace_private(path: str, content: bytes, what: str) -> None:
    """Raises Failed, which says that `what` cannot be stored, and where."""
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
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        step = "make space, then try again" if full else "'nacre doctor' checks this machine"
        raise Failed(f"{what} cannot be stored in {path}: {error.strerror}", step) from error
