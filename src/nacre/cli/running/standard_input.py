"""Standard input of `nacre run`: whether it is passed on to the command that runs in the session.

Rule: it is when something is there (a pipe with data, a file), or when --stdin says so. An open
pipe without data is mostly one that a script has left open, /dev/null what a host gives to all that
it starts; nothing is taken from them unasked.
"""

import fcntl
import os
import stat
import struct
import termios

from nacre.errors import InvalidInput

_LEAVE_OUT = "leave it out with --no-stdin"


def passes_input(*, wanted: bool | None) -> bool:
    """Raises InvalidInput if it is asked for and cannot be had."""
    return wanted is not False and _is_there(wanted=wanted is True)


def _is_there(*, wanted: bool) -> bool:
    try:
        kind = os.fstat(0)
    except OSError:  # it is closed
        return False
    if stat.S_ISFIFO(kind.st_mode):
        return wanted or _bytes_ready() > 0
    if stat.S_ISREG(kind.st_mode):
        fresh = os.lseek(0, 0, os.SEEK_CUR) == 0  # opened again, it begins at its beginning
        if wanted and not fresh:
            raise InvalidInput("standard input is a file of which a part was read", _LEAVE_OUT)
        return fresh and (wanted or kind.st_size > 0)
    if wanted and (not stat.S_ISCHR(kind.st_mode) or os.isatty(0)):
        raise InvalidInput(
            "--stdin passes a pipe, a file or a device on", "for keys use nacre attach"
        )
    return wanted


def _bytes_ready() -> int:
    (count,) = struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, bytes(4)))
    return int(count)
