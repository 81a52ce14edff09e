"""The lock of a home: one daemon for each state folder.

Rule 1: the folder itself is locked (flock(2)). That needs no file, so a full or read-only disk does
not prevent it, and nobody can delete it under the daemon. The runtime folder would not do: logind
removes it when the user logs out, and the daemon keeps running.
Rule 2: file systems that lock only what is open for writing (NFS) get a file in that folder.
Rule 3: clients load this file, so it imports almost nothing.
"""

import errno
import os
from collections.abc import Iterable

from nacre.settings.paths import Paths, find_paths

# What flock(2) says of a folder where only files that are open for writing can be locked.
_NO_FOLDERS = (errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOLCK, errno.ENOTSUP)
_DELETED = " (deleted)"  # what proc(5) says of a descriptor whose file has no name any more


def acquire(paths: Paths, *, patience: float = 0, shared: bool = False) -> int | None:
    """Return a descriptor that holds the lock, or None if nobody gives it up in time.

    `patience` is in seconds; with it, this must run in the main thread. Raises OSError if there is
    no state folder.
    """
    folder = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    try:
        return _lock(paths.state, folder, patience, shared=shared)
    except OSError as error:
        if error.errno not in _NO_FOLDERS:
            raise
    file = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    return _lock(paths.lock_file, file, patience, shared=shared)


def _lock(path: str, flags: int, patience: float, *, shared: bool) -> int | None:
    descriptor = os.open(path, flags, 0o600)
    taken = False
    try:
        taken = flock(descriptor, patience, shared=shared)
    finally:
        if not taken:
            os.close(descriptor)
    return descriptor if taken else None


def is_free(paths: Paths, *, patience: float = 0) -> bool:
    """Return whether no daemon holds the lock, now or within `patience` seconds."""
    try:
        lock = acquire(paths, patience=patience, shared=True)
    except FileNotFoundError:
        return True
    if lock is None:
        return False
    os.close(lock)
    return True


def is_lock_of(paths: Paths, descriptor: int) -> bool:
    """Return whether this is the lock of the folder that exists now, not of a deleted one."""
    held = os.fstat(descriptor)
    for path in (paths.state, paths.lock_file):
        try:
            found = os.stat(path)
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino):
            return True
    return False


def holders(paths: Paths) -> list[int]:
    """Return the processes that hold the lock: a keeper and its daemon, the keeper first.

    They are found by their descriptors (Linux), so it does not matter whether they answer, nor
    whether the folder that they locked was deleted and another one made.
    """
    here = (os.path.realpath(paths.state), os.path.realpath(paths.lock_file))
    return _holding((*here, *(path + _DELETED for path in here)))


def all_holders(paths: Paths) -> list[int]:
    """Return the processes that hold the lock of this home, or of the one that was here."""
    return holders(paths) or holders_of_gone(paths)


def holders_of_gone(paths: Paths) -> list[int]:
    """Return the processes that hold the lock of a folder that was here: deleted, or renamed."""
    # A new home asks this at its start: only of a few processes the descriptors are read.
    servers = [entry for entry in _entries("/proc") if entry.isdigit() and _is_server(entry)]
    deleted = (os.path.realpath(paths.state) + _DELETED,)
    found = [entry for entry in servers if _holds(entry, deleted)]
    return _sorted(
        int(entry)
        for entry in found or (one for one in servers if _serves(one, paths) and _holds(one, None))
    )


def _is_server(pid: str) -> bool:
    """Return whether it may be a keeper or a daemon, and not this one."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"server" in file.read().split(b"\0") and int(pid) != os.getpid()
    except OSError:
        return False


def _serves(pid: str, paths: Paths) -> bool:
    """Return whether a keeper or daemon is one of this home, as it was started."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = [pair.partition(b"=") for pair in file.read().split(b"\0")]
        # What is not absolute depends on where and by whom it was started.
        if {name: value for name, _, value in pairs}.get(b"HOME") != os.environb.get(b"HOME"):
            return False
        # In a container the same path is another folder.
        if os.readlink(f"/proc/{pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt"):
            return False
    except OSError:  # it is gone, or another user's
        return False
    env = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    return env.get("NACRE_HOME", "/")[:1] == "/" and find_paths(env).state == paths.state


def _holding(locked: tuple[str, ...]) -> list[int]:
    return _sorted(
        int(entry)
        for entry in _entries("/proc")
        if entry.isdigit() and int(entry) != os.getpid() and _holds(entry, locked)
    )


def _sorted(found: Iterable[int]) -> list[int]:
    return sorted(found, key=lambda pid: (not _is_keeper(pid), pid))


def _is_keeper(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return any(word.endswith(b"keeper.py") for word in file.read().split(b"\0"))
    except OSError:
        return False


def _holds(pid: str, locked: tuple[str, ...] | None) -> bool:
    """Return whether a process has locked one of these; None: anything."""
    for number in _entries(f"/proc/{pid}/fd"):
        try:
            if locked is not None and os.readlink(f"/proc/{pid}/fd/{number}") not in locked:
                continue
            with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as file:
                if any("FLOCK" in line and "WRITE" in line for line in file):
                    return True
        except OSError:
            continue
    return False


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # it is gone, or another user's
        return []


def flock(descriptor: int, patience: float, *, shared: bool) -> bool:
    """Lock it; return whether that was possible within `patience` seconds (in the main thread)."""
    import fcntl  # only here: mostly a client just connects

    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return bool(patience) and _wait(descriptor, kind, patience)
    return True


def _wait(descriptor: int, kind: int, patience: float) -> bool:
    """Wait for the lock. The kernel wakes us; an alarm bounds the wait."""
    import fcntl
    import signal

    def give_up(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        fcntl.flock(descriptor, kind)
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return True
