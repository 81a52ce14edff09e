"""Change modes, owners and times of files for a confined program, where it may write.

Landlock does not know of these calls: a program could change the mode of any file that its user
owns. So a filter holds them up, and asks here (seccomp_unotify(2)).

Rule 1: the call is made here, and never let through: its path could be changed after it was read.
Rule 2: the file is opened as a place (O_PATH), then is looked where that lies, then the file is
changed by that same place. So no link and no rename between look and change leads elsewhere.
Rule 3: what cannot be read or found out is refused.
"""

import errno
import fcntl
import os
import stat
import struct
from typing import NamedTuple

from nacre.system.sandbox.inside import kernel

# linux/seccomp.h: _IOWR('!', 0, 80 bytes), _IOWR('!', 1, 24 bytes), _IOW('!', 2, 8 bytes)
_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_HERE = -100  # AT_FDCWD of fcntl.h
_NOFOLLOW, _EMPTY_PATH = 0x100, 0x1000  # AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
_NOBODY = 0xFFFFFFFF  # an owner that stays as it is
_LONGEST = 4096  # PATH_MAX


class _Shape(NamedTuple):
    """Where the arguments of a call are; None: it has no such one."""

    does: str
    folder: int | None  # the descriptor that the path is relative to, or the file itself
    path: int | None
    value: int
    flags: int | None = None
    follows: bool = True


# The numbers of asm/unistd.h; the names are those of the manual.
_SHAPES = {
    "x86_64": {
        90: _Shape("mode", None, 0, 1),  # chmod
        91: _Shape("mode", 0, None, 1),  # fchmod
        268: _Shape("mode", 0, 1, 2),  # fchmodat
        452: _Shape("mode", 0, 1, 2, 3),  # fchmodat2
        92: _Shape("owner", None, 0, 1),  # chown
        93: _Shape("owner", 0, None, 1),  # fchown
        94: _Shape("owner", None, 0, 1, None, follows=False),  # lchown
        260: _Shape("owner", 0, 1, 2, 4),  # fchownat
        132: _Shape("seconds", None, 0, 1),  # utime
        235: _Shape("microseconds", None, 0, 1),  # utimes
        261: _Shape("microseconds", 0, 1, 2),  # futimesat
        280: _Shape("times", 0, 1, 2, 3),  # utimensat
    },
    "aarch64": {
        52: _Shape("mode", 0, None, 1),
        53: _Shape("mode", 0, 1, 2),
        452: _Shape("mode", 0, 1, 2, 3),
        55: _Shape("owner", 0, None, 1),
        54: _Shape("owner", 0, 1, 2, 4),
        88: _Shape("times", 0, 1, 2, 3),
    },
}


def held_up(machine: str) -> tuple[int, ...]:
    """Return the numbers of the calls that are made here."""
    return tuple(_SHAPES[machine])


class Notices:
    def __init__(self, listener: int, writable: list[str]) -> None:
        """`writable` are the folders, without links, in which files may be changed."""
        self.listener = listener
        self._writable = [folder.rstrip("/") + "/" for folder in writable]
        self._shapes = _SHAPES[os.uname().machine]

    def answer(self) -> None:
        """Answer one call that waits; it may be gone by now."""
        notice = bytearray(80)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, notice)
        except OSError:
            return
        identifier, pid, _, number, _, _, *arguments = struct.unpack("=QIIiIQ6Q", notice)
        try:
            self._make(identifier, pid, self._shapes[number], arguments)
            error = 0
        except OSError as failed:
            error = -(failed.errno or errno.EPERM)
        except (KeyError, ValueError, struct.error):
            error = -errno.EPERM
        try:
            fcntl.ioctl(self.listener, _SEND, struct.pack("=Qqii", identifier, 0, error, 0))
        except OSError:
            return  # its process was ended meanwhile

    def _make(self, identifier: int, pid: int, shape: _Shape, arguments: list[int]) -> None:
        place = self._open(pid, shape, arguments)
        try:
            value = _value(pid, shape, arguments)
            # The process may have ended, and another one have its number: of whom did we read?
            fcntl.ioctl(self.listener, _IS_VALID, struct.pack("=Q", identifier))
            own = f"/proc/self/fd/{place}"
            if not os.readlink(own).startswith(tuple(self._writable)):
                raise OSError(errno.EROFS, "outside of what can be written to")
            if shape.does == "mode":
                _change_mode(own, place, arguments[shape.value] & 0o7777)
            elif shape.does == "owner":
                user, group = (arguments[shape.value + at] & _NOBODY for at in (0, 1))
                os.chown(own, *(-1 if one == _NOBODY else one for one in (user, group)))
            else:
                kernel.set_times(own.encode(), value)
        finally:
            os.close(place)

    def _open(self, pid: int, shape: _Shape, arguments: list[int]) -> int:
        """Return the file that a call is about, as a place."""
        flags = arguments[shape.flags] if shape.flags is not None else 0
        path = b""
        if shape.path is not None and arguments[shape.path]:
            path = _text(pid, arguments[shape.path])
            if not path and not flags & _EMPTY_PATH:
                raise OSError(errno.ENOENT, "no path")
        base = _base(pid, shape, arguments)
        if not path:
            return os.open(base, os.O_PATH | os.O_CLOEXEC)
        follows = shape.follows and not flags & _NOFOLLOW
        mode = os.O_PATH | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
        for own, theirs in ((b"/proc/self/", f"/proc/{pid}/"), (b"/dev/fd/", f"/proc/{pid}/fd/")):
            if path.startswith(own):
                path = theirs.encode() + path[len(own) :]
        return os.open(path if path[:1] == b"/" else base.encode() + b"/" + path, mode)


def _base(pid: int, shape: _Shape, arguments: list[int]) -> str:
    """Return where a relative path begins, or the file itself."""
    if shape.folder is None:
        return f"/proc/{pid}/cwd"
    number = struct.unpack("=i", struct.pack("=I", arguments[shape.folder] & _NOBODY))[0]
    return f"/proc/{pid}/cwd" if number == _HERE else f"/proc/{pid}/fd/{number}"


def _change_mode(own: str, place: int, mode: int) -> None:
    # A program that runs as its owner would carry rights out of the sandbox.
    is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
    if mode & stat.S_ISUID or (mode & stat.S_ISGID and not is_folder):
        raise OSError(errno.EPERM, "no setuid")
    os.chmod(own, mode)


def _value(pid: int, shape: _Shape, arguments: list[int]) -> bytes | None:
    """Return times as utimensat takes them; None: now."""
    if shape.does in ("mode", "owner") or not arguments[shape.value]:
        return None
    pair = 16 if shape.does == "seconds" else 32
    numbers = struct.unpack(f"={pair // 8}q", _memory(pid, arguments[shape.value], pair))
    if shape.does == "seconds":
        return struct.pack("=4q", numbers[0], 0, numbers[1], 0)
    if shape.does == "microseconds":
        if not all(0 <= micro < 1_000_000 for micro in numbers[1::2]):
            raise OSError(errno.EINVAL, "not a time")
        numbers = (numbers[0], numbers[1] * 1000, numbers[2], numbers[3] * 1000)
    return struct.pack("=4q", *numbers)


def _text(pid: int, address: int) -> bytes:
    """Return a string in the memory of a process; it may end at a page that is not there."""
    found = b""
    while len(found) < _LONGEST:
        size = min(256, 4096 - (address + len(found)) % 4096)
        part = _memory(pid, address + len(found), size)
        end = part.find(b"\0")
        if end >= 0:
            return found + part[:end]
        found += part
    raise OSError(errno.ENAMETOOLONG, "a path without an end")


def _memory(pid: int, address: int, size: int) -> bytes:
    file = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.pread(file, size, address)
    finally:
        os.close(file)
    if len(found) < size:
        raise OSError(errno.EFAULT, "not in its memory")
    return found
