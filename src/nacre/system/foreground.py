"""What the kernel knows of a terminal: who is in the foreground, how it reads, who waits for it.

There is no event for any of it: it is sampled by whoever waits. What may not be read (a process of
another user, Yama) is None, and said.

One fact decides most: does some thread of the foreground group wait for this terminal? It is
decoded from the system call a thread is in: read has a descriptor, poll and select a set of them
in the process's memory, epoll a list in fdinfo.
"""

import fcntl
import os
import struct
import sys
import termios
from contextlib import suppress
from dataclasses import dataclass

from nacre.core.programs import SHELLS
from nacre.system.pty import terminal_name

_ANY_TERMINAL = "/dev/tty"  # whichever controls the process
_TIOCGSID = 0x5429  # asm-generic/ioctls.h: the leader of the terminal's session


@dataclass(frozen=True, slots=True)
class Facts:
    """One sample."""

    group: int | None  # the foreground process group
    program: str | None  # who waits for the terminal, else the group's leader, else who is left
    pid: int | None  # the process that bears that name
    echo: bool
    canonical: bool
    waits: bool | None  # somebody in the foreground waits for this terminal; None: cannot be known
    scripted: bool = False  # the program is a shell that was given something to run

    @property
    def raw(self) -> bool:
        return not self.canonical

    @property
    def secret(self) -> bool:
        """Canonical with echo off: a password is asked for."""
        return self.canonical and not self.echo


def sample(master: int) -> Facts | None:
    """Look once; None when the terminal is gone."""
    try:
        group = os.tcgetpgrp(master)
        local = termios.tcgetattr(master)[3]
    except (OSError, termios.error):
        return None
    members = _members(master, group)
    waits, waiter = _who_waits(members, master)
    # Under `git log` the pager waits, not git: it is the one to talk to.
    pid = waiter or (members[0] if members else None)
    program = _name(pid) if pid else None
    return Facts(
        group=group if group > 0 else None,
        program=program,
        pid=pid,
        echo=bool(local & termios.ECHO),
        canonical=bool(local & termios.ICANON),
        waits=waits,
        scripted=program in SHELLS and pid is not None and is_script(_arguments(pid)),
    )


def children_of(pid: int) -> list[int]:
    """Return the ids of a process's children, over all its threads."""
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def _members(master: int, group: int) -> list[int]:
    """Return the processes of a group, its leader first; found by descent, not by a look at all.

    A full look at /proc takes 3 ms; what the terminal's session leader started, 40 µs. The leader
    of a group may be gone before the rest of a pipeline.
    """
    if group <= 0:
        return []
    leader = _session_leader(master)
    members: list[int] = []
    todo = [pid for pid in (leader, group) if pid is not None]
    seen = set(todo)
    while todo:
        pid = todo.pop()
        if _group_of(pid) == group:
            members.append(pid)
        fresh = [child for child in children_of(pid) if child not in seen]
        seen.update(fresh)
        todo += fresh
    return sorted(members, key=lambda pid: pid != group)


def _session_leader(master: int) -> int | None:
    try:
        answer = fcntl.ioctl(master, _TIOCGSID, b"\0" * 4)
    except OSError:
        return None
    return int(struct.unpack("i", answer)[0])


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _name(pid: int) -> str | None:
    """Return a process's program: the file it was started from, for scripts their interpreter."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            return file.read().decode(errors="replace").strip()
    except OSError:
        return None


def _arguments(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [word.decode(errors="replace") for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


# Options of bash, zsh and fish whose argument is the next word.
_WITH_ARGUMENT = ("--rcfile", "--init-file", "--init-command", "-C", "--features", "--profile")


def is_script(argv: list[str]) -> bool:
    """Whether a shell's arguments give it a command or a file to run."""
    words = argv[1:]
    if argv and argv[0].rpartition("/")[2] == "busybox":
        words = words[1:]
    while words:
        word = words.pop(0)
        if word in ("-c", "--command") or (word[:1] == "-" and word[1:2] != "-" and "c" in word):
            return True
        if word == "--":
            return bool(words)
        if word[:1] not in ("-", "+") or word == "-":
            return word != "-" or bool(words)
        if word[1:2] != "-" and "s" in word:
            return False
        if word in _WITH_ARGUMENT or (word[1:2] != "-" and word[-1:] in "oO"):
            del words[:1]
    return False


def _who_waits(members: list[int], master: int) -> tuple[bool | None, int | None]:
    if sys.platform != "linux" or not members:
        return None, None
    try:
        terminal = terminal_name(master)
    except OSError:
        return None, None
    unknown = False
    for pid in members:
        answer = _waits(pid, terminal)
        if answer:
            return True, pid
        unknown = unknown or answer is None
    return (None if unknown else False), None


# Numbers of system calls by machine (asm/unistd.h).
_CALLS = {
    "x86_64": {
        0: "read",
        19: "readv",
        17: "read",
        7: "poll",
        271: "poll",
        23: "select",
        270: "select",
        232: "epoll",
        281: "epoll",
        441: "epoll",
    },
    "aarch64": {63: "read", 65: "readv", 73: "poll", 72: "select", 22: "epoll", 441: "epoll"},
}.get(os.uname().machine, {})

_POLLIN = 1


def _waits(pid: int, terminal: str) -> bool | None:
    """Whether a thread of the process waits for input from the terminal; None: may not be read."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/syscall", "rb") as file:
                words = file.read().split()
        except PermissionError:
            return None
        except OSError:
            continue
        if len(words) < 7:  # running, or blocked outside a system call
            continue
        kind = _CALLS.get(int(words[0]))
        arguments = [int(word, 16) for word in words[1:7]]
        if kind and any(
            _is_terminal(pid, descriptor, terminal)
            for descriptor in _descriptors(pid, kind, arguments)
        ):
            return True
    return False


def _descriptors(pid: int, kind: str, arguments: list[int]) -> list[int]:
    """Return what a thread in such a call waits to read from."""
    if kind in ("read", "readv"):
        return [arguments[0]]
    if kind == "poll":
        count = min(arguments[1], 1024)
        data = _memory(pid, arguments[0], count * 8)
        entries = struct.iter_unpack("ihh", data[: len(data) // 8 * 8])
        return [fd for fd, events, _ in entries if events & _POLLIN and fd >= 0]
    if kind == "select":
        if not arguments[1]:
            return []
        width = min(arguments[0], 1024)
        bits = int.from_bytes(_memory(pid, arguments[1], (width + 7) // 8), "little")
        return [fd for fd in range(width) if bits >> fd & 1]
    return _epoll_descriptors(pid, arguments[0])


def _epoll_descriptors(pid: int, epoll: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError), open(f"/proc/{pid}/fdinfo/{epoll}", "rb") as file:
        for line in file:
            if line.startswith(b"tfd:"):
                words = line.split()
                if int(words[3], 16) & _POLLIN:
                    found.append(int(words[1]))
    return found


def _memory(pid: int, address: int, size: int) -> bytes:
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
            file.seek(address)
            return file.read(size) or b""
    except (OSError, ValueError, OverflowError):
        return b""


def _is_terminal(pid: int, descriptor: int, terminal: str) -> bool:
    try:
        target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        return False
    return target in (terminal, _ANY_TERMINAL)
