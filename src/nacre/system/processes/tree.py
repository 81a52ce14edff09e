"""Find and end everything that a session started.

A session's processes are found by three signs, because each one misses some: descent from the
leader, membership in the leader's session, and a cookie in the environment, which survives setsid
and the death of the parent.

A process that is just executing a program (exec) has no visible environment. It is checked again
later; the loop does not wait.

Not found: a process that left the session, lost its parent and cleared its environment.
"""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from typing import NamedTuple

COOKIE = "NACRE_SESSION_COOKIE"
_COOKIE = re.compile(rb"(?:^|\0)" + COOKIE.encode() + rb"=([0-9a-f]+)")
_PROC = "/proc"

# Seconds between checks of a process in exec. That mostly takes some ten microseconds, longer if it
# waits for a processor or the disk. There is no event for its end.
_LOOKS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.12, 0.25, 0.5)

_CHUNK = 65536  # bytes

_HAS_PROC = sys.platform == "linux"

# Seconds for ps, where there is no /proc. It takes some ten milliseconds; a machine on which it
# takes longer than this does not answer at all.
_PS_TIME = 10.0


class _Process(NamedTuple):
    pid: int
    parent: int
    session: int
    zombie: bool
    bare: bool = False  # without memory, and so without an environment: a kernel thread
    started: int = 0  # see started_at


class Tree(NamedTuple):
    """The signs by which a session's processes are found.

    `leader` is None when the leader was reaped: its number may be reused, so only the cookie
    counts. Processes that started before `since` are none of its: their environment is not read.
    With `confined`, the leader and its own session only hold a sandbox; the program leads another.
    """

    leader: int | None
    cookie: str
    since: int = 0
    confined: bool = False


class Sight(NamedTuple):
    """One scan of all processes: the living members, and those that are still unclear."""

    members: set[int]
    executing: set[int]


async def find_members(trees: Collection[Tree]) -> set[int]:
    """Return the ids of all living processes of these sessions, with one scan of all processes.

    Waits up to a second for processes in exec.
    """
    table, members, executing = await _scan_aside(trees)
    for pause in _LOOKS:
        if executing <= _living(table, members):
            break
        await asyncio.sleep(pause)
        executing = _look_again(executing, members, trees)
    return _living(table, members)


def look(trees: Collection[Tree]) -> Sight:
    """Scan all processes once, without waiting."""
    table, members, executing = _scan(trees)
    found = _living(table, members)
    return Sight(found, executing - found)


def ancestors_of(pid: int) -> set[int]:
    """Return the process and those that it descends from, as far as that can be read."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        while pid > 1 and pid not in found:
            found.add(pid)
            pid = int(_stat(pid)[1])
    return found


def started_at(pid: int) -> int:
    """Return when a process was started, in ticks of the kernel's clock; 0 if that is unknown."""
    try:
        return int(_stat(pid)[19])
    except OSError:
        return 0


def now_in_ticks() -> int:
    """Return the time as started_at has it; 0 where that is unknown."""
    if not _HAS_PROC:
        return 0
    # Since the machine's start, with the time that it slept, rounded down (proc(5), starttime).
    second = 1_000_000_000
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK") // second


def without_holders(members: Iterable[int], trees: Collection[Tree]) -> set[int]:
    """Return the processes that are not there only to hold a sandbox, which ends with them."""
    leaders = {tree.leader for tree in trees if tree.confined}
    return {pid for pid in members if _session_of(pid) not in leaders} if leaders else set(members)


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def send_signal(pids: Iterable[int], number: int) -> None:
    """Send a signal to each process; skip those that are gone or not ours."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def signal_number(name: str) -> int | None:
    """Return the number of "TERM", "SIGTERM" or "15"; None if there is no such signal."""
    known = {str(int(number)): int(number) for number in signal.valid_signals()}
    if name in known:
        return known[name]
    upper = name.upper()
    found = getattr(signal, upper if upper.startswith("SIG") else f"SIG{upper}", None)
    return int(found) if isinstance(found, signal.Signals) else None


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def working_directory(pid: int) -> str | None:
    """Return the folder of a process, if the system reports it."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def is_folder_of(pid: int, folder: str) -> bool:
    """Whether the system says that a process is in this folder, and sees the files that we see."""
    if working_directory(pid) != folder:
        return False
    try:
        whole = os.readlink(f"/proc/{pid}/root") == "/"
        return whole and os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt")
    except OSError:
        return False


async def _scan_aside(trees: Collection[Tree]) -> tuple[list[_Process], set[int], set[int]]:
    """Scan in the loop what takes a few milliseconds (/proc), and in a thread what starts ps."""
    if _HAS_PROC:
        return _scan(trees)
    return await asyncio.to_thread(_scan, trees)


def _scan(trees: Collection[Tree]) -> tuple[list[_Process], set[int], set[int]]:
    """Return all processes, those that are certainly members, and those in exec."""
    if not trees:
        return [], set(), set()
    members = {tree.leader for tree in trees if tree.leader is not None}
    table = _linux_table() if _HAS_PROC else _ps_table()
    if table is None:  # nobody knows what there is: the leaders are ours at any rate
        table = [_Process(leader, 0, leader, zombie=False) for leader in members]
    members |= {process.pid for process in table if process.session in members}
    since = min(tree.since for tree in trees)
    others = {one.pid for one in table if one.started >= since and not one.bare} - members
    return table, members, _look_again(_look_again(others, members, trees), members, trees)


def _look_again(pids: set[int], members: set[int], trees: Collection[Tree]) -> set[int]:
    """Add processes with a cookie to the members. Return those that are still in exec."""
    cookies = {tree.cookie.encode() for tree in trees}
    executing = set()
    for pid in pids:
        environment = _environment(pid)
        if environment is None:
            executing.add(pid)
        elif (found := _COOKIE.search(environment)) and found.group(1) in cookies:
            members.add(pid)
    return executing


def _living(table: list[_Process], members: set[int]) -> set[int]:
    """Return these processes and their descendants, without dead ones and ourselves."""
    children: dict[int, list[int]] = {}
    for process in table:
        children.setdefault(process.parent, []).append(process.pid)
    found, todo = set(members), list(members)
    while todo:
        more = set(children.get(todo.pop(), ())) - found
        found |= more
        todo += more
    living = {process.pid for process in table if not process.zombie}
    # A daemon that was started inside a session has that session's cookie.
    return (found & living) - {os.getpid()}


def _linux_table() -> list[_Process]:
    table: list[_Process] = []
    for entry in os.listdir(_PROC):
        if not entry.isdigit():
            continue
        try:
            fields = _stat(int(entry))
        except OSError:
            continue
        zombie, bare = fields[0] in (b"Z", b"X"), fields[20] == b"0"
        parent, session, started = int(fields[1]), int(fields[3]), int(fields[19])
        table.append(_Process(int(entry), parent, session, zombie, bare, started))
    return table


def _ps_table() -> list[_Process] | None:
    """Return the table of processes without /proc; None if ps does not answer.

    POSIX's ps has no session, so descent must do.
    """
    argv = ["ps", "-axo", "pid=,ppid=,stat="]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_PS_TIME)
    except subprocess.TimeoutExpired:
        return None
    table: list[_Process] = []
    for line in done.stdout.splitlines():
        pid, parent, state = line.split()[:3]
        try:
            session = os.getsid(int(pid))
        except OSError:
            session = -1
        table.append(_Process(int(pid), int(parent), session, state.startswith("Z")))
    return table


def _environment(pid: int) -> bytes | None:
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
    fields = _stat(pid)  # numbered as in proc(5), less 3
    size, code_end, start, end = fields[20], fields[24], fields[47], fields[48]
    # Size 0: a kernel thread or a zombie.
    return size == b"0" or (code_end != b"0" and start == end)


def _stat(pid: int) -> list[bytes]:
    """Return the fields from the third on; the name before them may contain spaces and brackets."""
    stat = _read(f"{_PROC}/{pid}/stat")
    return stat[stat.rindex(b")") + 2 :].split()


def _read(path: str) -> bytes:
    """Return a file of /proc. A scan reads hundreds, and a file object costs more than all else."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(file, _CHUNK):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)
