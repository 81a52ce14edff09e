"""The processes of this machine as the kernel tells of them: all, or those that may be ours.

Who adopts orphans (the keeper) is above every process that a session started, whatever has become
of those between them. So below it and below a session's leader are all that matter, and the cost of
a look does not grow with the machine.

Rule 1: a list of children has all that were there, or is read again: the kernel may leave one out
when another one of them ends during the read (proc(5), /proc/pid/task/tid/children).
Rule 2: if an orphan is adopted during a look, it is made again.
"""

import os
import subprocess
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import NamedTuple

_PROC = "/proc"
_CHUNK = 65536  # bytes

# Seconds for ps, where there is no /proc. It takes some ten milliseconds; a machine on which it
# takes longer than this does not answer at all.
_PS_TIME = 10.0

# Reads until two are alike, and looks: where more end or are adopted meanwhile, all processes of
# the machine are looked through instead.
_ATTEMPTS = 5


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    zombie: bool
    bare: bool = False  # without memory, and so without an environment: a kernel thread
    started: int = 0  # in ticks of the kernel's clock


class _Unsteady(Exception):
    """Processes came and went too fast, or the kernel lists no children."""


def how_many() -> int:
    """Return how many processes the machine has, and some more; without a list of them."""
    return os.stat(_PROC).st_nlink  # Linux, proc_root_getattr


def all_processes() -> list[Process]:
    return _read_all(int(entry) for entry in os.listdir(_PROC) if entry.isdigit())


def processes_near(reaper: int, leaders: Collection[int]) -> list[Process] | None:
    """Return what is below these leaders, below `reaper`, and our own children.

    The last are there because a process may give its children to its parent (CLONE_PARENT). What is
    below them and not below the leaders belongs to others. None if the kernel does not tell.
    """
    try:
        for _ in range(_ATTEMPTS):
            adopted = _children(reaper)
            ours = set(_children(os.getpid()))
            found = ours | _below({*adopted, *leaders} - {os.getpid()})
            if _children(reaper) == adopted:
                return _read_all(found)
    except (_Unsteady, FileNotFoundError):
        return None
    return None


def listed_by_ps() -> list[Process] | None:
    """Return all processes where there is no /proc; None if ps does not answer.

    POSIX's ps has no session, so descent must do.
    """
    argv = ["ps", "-axo", "pid=,ppid=,stat="]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_PS_TIME)
    except subprocess.TimeoutExpired:
        return None
    table: list[Process] = []
    for line in done.stdout.splitlines():
        pid, parent, state = line.split()[:3]
        try:
            session = os.getsid(int(pid))
        except OSError:
            session = -1
        table.append(Process(int(pid), int(parent), session, state.startswith("Z")))
    return table


def stat_fields(pid: int) -> list[bytes]:
    """Return the fields from the third on; the name before them may contain spaces and brackets."""
    stat = _read(f"{_PROC}/{pid}/stat")
    return stat[stat.rindex(b")") + 2 :].split()


def environment_of(pid: int) -> bytes | None:
    """Return a process's environment, as far as we may read it; None while it is in exec."""
    try:
        environment = _read(f"{_PROC}/{pid}/environ")
        return environment if environment or _has_none(pid) else None
    except OSError:
        return b""


def _has_none(pid: int) -> bool:
    """Return whether a process has no environment at all, instead of none yet.

    After the environment, exec sets the addresses of the code last (Linux, load_elf_binary). Before
    that, the start and end of the environment may be equal for a moment.
    """
    fields = stat_fields(pid)  # numbered as in proc(5), less 3
    size, code_end, start, end = fields[20], fields[24], fields[47], fields[48]
    # Size 0: a kernel thread or a zombie.
    return size == b"0" or (code_end != b"0" and start == end)


def _read_all(pids: Iterable[int]) -> list[Process]:
    table: list[Process] = []
    for pid in pids:
        try:
            fields = stat_fields(pid)
        except OSError:
            continue
        zombie, bare = fields[0] in (b"Z", b"X"), fields[20] == b"0"
        parent, session, started = int(fields[1]), int(fields[3]), int(fields[19])
        table.append(Process(pid, parent, session, zombie, bare, started))
    return table


def _below(roots: Iterable[int]) -> set[int]:
    """Return these processes and all that descend from them."""
    found, todo = set(roots), list(roots)
    while todo:
        with suppress(FileNotFoundError):  # it is gone: its children have another parent now
            more = set(_children(todo.pop())) - found
            found |= more
            todo += more
    return found


def _children(pid: int) -> list[int]:
    """Return the children of all threads of a process. Raises FileNotFoundError, _Unsteady."""
    for _ in range(_ATTEMPTS):
        threads = os.listdir(f"{_PROC}/{pid}/task")
        with suppress(FileNotFoundError, ProcessLookupError):  # another thread has them now
            paths = [f"{_PROC}/{pid}/task/{thread}/children" for thread in threads]
            return [child for path in paths for child in _children_of(path)]
    raise _Unsteady


def _children_of(path: str) -> list[int]:
    listed = _read_on(path)
    for _ in range(_ATTEMPTS):
        # One is left out only if one that was listed has ended, so it would be missing here.
        again = _read_on(path) if listed else b""
        if again == listed:
            return [int(word) for word in listed.split()]
        listed = again
    raise _Unsteady


def _read(path: str) -> bytes:
    """Return a file of /proc that the kernel gives as a whole, with as few calls as possible.

    A scan reads hundreds, and a file object costs more than all else.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        part = os.read(file, _CHUNK)
        return part if len(part) < _CHUNK else part + _rest(file)
    finally:
        os.close(file)


def _read_on(path: str) -> bytes:
    """Return a file of /proc that the kernel gives in parts of its own size."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _rest(file)
    finally:
        os.close(file)


def _rest(file: int) -> bytes:
    parts = []
    while part := os.read(file, _CHUNK):
        parts.append(part)
    return b"".join(parts)
