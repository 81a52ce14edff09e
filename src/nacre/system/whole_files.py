"""Read and write files of the user as a whole. It blocks: not for the loop.

Rule 1: a file is written beside its place and moved there, so nobody sees half of it; a link to it
stays a link. Permissions and owner stay, where we may set them.
Rule 2: only regular files: a pipe or a device would hold us, or do what nobody asked for.
"""

import hashlib
import os
import secrets
import stat
import sys
from contextlib import suppress
from typing import NamedTuple


class NotAFile(OSError):
    """It is a folder, a device, a pipe or a socket."""


class TooLarge(OSError):
    def __init__(self, size: int) -> None:
        super().__init__(f"it has {size} bytes")
        self.size = size


class OtherContent(OSError):
    """It is not the file that it was expected to be."""


class WholeFile(NamedTuple):
    data: bytes
    mode: int
    sha256: str


def read_whole(path: str, most: int) -> WholeFile:
    """Raises OSError, or one of those above."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise NotAFile
        if facts.st_size > most:
            raise TooLarge(facts.st_size)
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLarge(len(data))
    return WholeFile(data, stat.S_IMODE(facts.st_mode), hashlib.sha256(data).hexdigest())


def write_whole(
    path: str, data: bytes, *, mode: int | None, umask: int, overwrite: bool, before: str | None
) -> int:
    """Write a file; return its permissions. `before` is the checksum that it must have.

    Raises FileExistsError without `overwrite`, OSError, or one of those above.
    """
    folder, name = os.path.split(os.path.realpath(path))
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        known = _facts(name, place)
        if known is not None and not overwrite:
            raise FileExistsError(path)
        if known is not None and not stat.S_ISREG(known.st_mode):
            raise NotAFile
        if before is not None and _checksum(name, place) != before:
            raise OtherContent
        if mode is None:
            mode = 0o666 & ~umask if known is None else stat.S_IMODE(known.st_mode)
        _replace(name, place, data, mode, known)
    finally:
        os.close(place)
    return mode


def _replace(name: str, place: int, data: bytes, mode: int, known: os.stat_result | None) -> None:
    beside = f".nacre-{secrets.token_hex(6)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o600, dir_fd=place)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if known is not None:
                with suppress(OSError):  # who may not give files away owns it then
                    os.fchown(file.fileno(), known.st_uid, known.st_gid)
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.rename(beside, name, src_dir_fd=place, dst_dir_fd=place)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=place)
        raise


def _facts(name: str, place: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _checksum(name: str, place: int) -> str | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def shares_files(pid: int) -> bool:
    """Tell whether a process sees the files that we see, as the same user."""
    if sys.platform != "linux":
        return True
    try:
        same_user = os.stat(f"/proc/{pid}").st_uid == os.geteuid()
        own, others = (os.stat(f"/proc/{one}/ns/mnt") for one in ("self", pid))
        root, others_root = os.stat("/"), os.stat(f"/proc/{pid}/root/")
    except OSError:
        return False
    spaces = (own.st_dev, own.st_ino) == (others.st_dev, others.st_ino)
    roots = (root.st_dev, root.st_ino) == (others_root.st_dev, others_root.st_ino)
    return same_user and spaces and roots
