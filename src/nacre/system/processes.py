"""Find and end everything that a session started.

A session's processes are found by three signs, for each alone misses some: descent from the leader,
membership in the leader's session, and a cookie in the environment, which survives setsid and the
death of the parent.

Not found: a process that left the session, lost its parent and cleared its environment.
"""

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

# Between its old memory and its new one, a process that calls exec shows no environment for some
# ten microseconds, longer when it waits for a processor. No event tells when it has one.
_EXEC_PAUSE = 0.0005  # seconds
_EXEC_LOOKS = 40


class _Process(NamedTuple):
    pid: int
    parent: int
    session: int
    zombie: bool


class Tree(NamedTuple):
    """What a session's processes are known by.

    `leader` is None once the leader was reaped: its number may be another process's by now, so that
    only the cookie counts.
    """

    leader: int | None
    cookie: str


def find_members(trees: Collection[Tree]) -> set[int]:
    """Return the ids of all living processes of these sessions, by one look at all processes."""
    if not trees:
        return set()
    table = _linux_table() if sys.platform == "linux" else _ps_table()
    leaders = {tree.leader for tree in trees if tree.leader is not None}
    cookies = {tree.cookie.encode() for tree in trees}
    children: dict[int, list[int]] = {}
    members = set(leaders)
    for process in table:
        children.setdefault(process.parent, []).append(process.pid)
        if process.session in leaders or _cookie_of(process.pid) in cookies:
            members.add(process.pid)
    todo = list(members)
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in members:
                members.add(child)
                todo.append(child)
    living = {process.pid for process in table if not process.zombie}
    # A daemon that was itself started in a session carries that session's cookie.
    return (members & living) - {os.getpid()}


def send_signal(pids: Iterable[int], number: int) -> None:
    """Send a signal to each; those that are gone or not ours are passed over."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def signal_number(name: str) -> int | None:
    """Return the number of "TERM", "SIGTERM" or "15", or None when there is no such signal."""
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
    """Return the folder a process stands in, where the system tells."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def _linux_table() -> list[_Process]:
    table: list[_Process] = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                stat = file.read()
        except OSError:
            continue
        # The name in parentheses may hold spaces and parentheses: fields follow the last one.
        fields = stat[stat.rindex(b")") + 2 :].split()
        table.append(
            _Process(int(entry), int(fields[1]), int(fields[3]), fields[0] in (b"Z", b"X"))
        )
    return table


def _ps_table() -> list[_Process]:
    """The table where there is no /proc; POSIX's ps has no session, descent must do."""
    listing = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,stat="], capture_output=True, text=True, check=False
    ).stdout
    table: list[_Process] = []
    for line in listing.splitlines():
        pid, parent, state = line.split()[:3]
        try:
            session = os.getsid(int(pid))
        except OSError:
            session = -1
        table.append(_Process(int(pid), int(parent), session, state.startswith("Z")))
    return table


def _cookie_of(pid: int) -> bytes | None:
    """Return the cookie; one that executes a program just now is looked at again."""
    environment, sure = b"", 0
    try:
        for _ in range(_EXEC_LOOKS):
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
            if environment:
                break
            size, start, end = _memory(pid)
            # One by one the kernel fills in the ends: equal for a moment is not empty yet.
            sure = sure + 1 if start == end != b"0" else 0
            if size == b"0" or sure == 2:  # a kernel thread, or nothing in it
                break
            time.sleep(_EXEC_PAUSE)
    except OSError:
        return None
    found = _COOKIE.search(environment)
    return found.group(1) if found else None


def _memory(pid: int) -> tuple[bytes, bytes, bytes]:
    """Return its size, and where its environment starts and ends (proc(5): stat)."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        stat = file.read()
    fields = stat[stat.rindex(b")") + 2 :].split()
    return fields[20], fields[47], fields[48]
