"""Find and end everything that a session started.

A session's processes are found by three signs, because each one misses some: descent from the
leader, membership in the leader's session, and a cookie in the environment, which survives setsid
and the death of the parent.

A process that is just executing a program (exec) has no visible environment. It is checked again
later; the loop does not wait.

Not found: a process that left the session, lost its parent and cleared its environment; and, where
orphans are adopted, what another daemon started for the session, such as a job of at(1).
"""

import asyncio
import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Collection, Iterable
from typing import NamedTuple

from nacre.system.processes.process_table import (
    Process,
    all_processes,
    environment_of,
    how_many,
    listed_by_ps,
    processes_near,
    stat_fields,
)

COOKIE = "NACRE_SESSION_COOKIE"
_COOKIE = re.compile(rb"(?:^|\0)" + COOKIE.encode() + rb"=([0-9a-f]+)")

# Seconds between checks of a process in exec. That mostly takes some ten microseconds, longer if it
# waits for a processor or the disk. There is no event for its end.
_LOOKS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.12, 0.25, 0.5)

_READS = 5  # of a process's ancestors: that one of them ends meanwhile is rare

# A look at a process takes 15 to 30 microseconds, and a session can have thousands, whose scans
# would hold up everybody else.
_MANY = 300

_HAS_PROC = sys.platform == "linux"


class Tree(NamedTuple):
    """The signs by which a session's processes are found.

    `leader` is None when the leader was reaped: its number may be reused, so only the cookie
    counts. Processes that started before `since` are none of its: their environment is not read.
    With `confined`, the leader and its own session only hold a sandbox; the program leads another.
    `reaper` is our parent if it adopts the session's orphans: then only what is below it is looked
    at, and not the whole machine.
    """

    leader: int | None
    cookie: str
    since: int = 0
    confined: bool = False
    reaper: int | None = None


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
            pid = int(stat_fields(pid)[1])
    return found


def is_alive(pid: int) -> bool:
    """Return whether a process runs: one that has ended is none, though its number be taken."""
    if not _HAS_PROC:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            return True
        return False
    try:
        return stat_fields(pid)[0] not in (b"Z", b"X")
    except OSError:
        return False


def is_below(pid: int, ancestor: int) -> bool:
    """Return whether a process descends from another; also where that cannot be read.

    Of a parent that ends meanwhile the children get another one: it is read again.
    """
    for _ in range(_READS):
        at = pid
        try:
            while at > 1:
                if at == ancestor:
                    return True
                at = int(stat_fields(at)[1])
        except OSError:
            continue
        return False
    return True


def started_at(pid: int) -> int:
    """Return when a process was started, in ticks of the kernel's clock; 0 if that is unknown."""
    try:
        return int(stat_fields(pid)[19])
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


def folder_now(pid: int, told: str) -> str:
    """Return the folder of a process: as it was told if that is the same one, else the system's."""
    try:
        same = os.path.samefile(f"/proc/{pid}/cwd", told)
    except OSError:
        same = False
    found = None if same else working_directory(pid)
    return told if found is None else os.fsencode(found).decode(errors="replace")


def complains_through_pipe(pid: int) -> bool:
    """Whether a process's standard error is a pipe, as after `exec 2> >(tee log)`."""
    try:
        return os.readlink(f"/proc/{pid}/fd/2").startswith("pipe:")
    except OSError:
        return False


async def _scan_aside(trees: Collection[Tree]) -> tuple[list[Process], set[int], set[int]]:
    """Scan in the loop what takes a few milliseconds (/proc), else in a thread (many, or ps)."""
    if _HAS_PROC and how_many() < _MANY:
        return _scan(trees)
    return await asyncio.to_thread(_scan, trees)


def _scan(trees: Collection[Tree]) -> tuple[list[Process], set[int], set[int]]:
    """Return all processes, those that are certainly members, and those in exec."""
    if not trees:
        return [], set(), set()
    members = {tree.leader for tree in trees if tree.leader is not None}
    table = _table(trees, members)
    if table is None:  # nobody knows what there is: the leaders are ours at any rate
        table = [Process(leader, 0, leader, zombie=False) for leader in members]
    members |= {process.pid for process in table if process.session in members}
    since = min(tree.since for tree in trees)
    others = {one.pid for one in table if one.started >= since and not one.bare} - members
    return table, members, _look_again(_look_again(others, members, trees), members, trees)


def _table(trees: Collection[Tree], leaders: Collection[int]) -> list[Process] | None:
    if not _HAS_PROC:
        return listed_by_ps()
    reapers = {tree.reaper for tree in trees}
    # Once it is gone, orphans have another parent.
    if len(reapers) == 1 and (reaper := reapers.pop()) is not None and reaper == os.getppid():
        near = processes_near(reaper, leaders)
        if near is not None:
            return near
    return all_processes()


def _look_again(pids: set[int], members: set[int], trees: Collection[Tree]) -> set[int]:
    """Add processes with a cookie to the members. Return those that are still in exec."""
    cookies = {tree.cookie.encode() for tree in trees}
    executing = set()
    for pid in pids:
        environment = environment_of(pid)
        if environment is None:
            executing.add(pid)
        elif (found := _COOKIE.search(environment)) and found.group(1) in cookies:
            members.add(pid)
    return executing


def _living(table: list[Process], members: set[int]) -> set[int]:
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
