"""What the kernel knows about a terminal: the foreground program, its modes, who waits for it.

There is no event for any of it, so waits sample it. What we may not read (a process of another
user, Yama) is None.

The most important fact: does a thread of the foreground group wait for this terminal? It is decoded
from the system call that the thread is in: read has a descriptor, poll and select have a set of
them in the process's memory, epoll has a list in fdinfo.

A look costs some 40 microseconds for each process and thread. There may be thousands of them, and
the loop waits meanwhile: so it ends with the first few hundred, and what they do not tell is None.
"""

import fcntl
import os
import struct
import sys
import termios
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct

from nacre.core.shell.dialects import SHELLS
from nacre.core.shell.programs import is_interpreter, is_repl, program_name
from nacre.core.shell.repl_reader import Asker
from nacre.system.processes.pty import terminal_name

_ANY_TERMINAL = "/dev/tty"  # the terminal that controls the process
_IN_SANDBOXES = "/dev/console"  # what bubblewrap calls it
_MOST = 200  # processes, and threads of one, that are looked at
_TIOCGSID = 0x5429  # asm-generic/ioctls.h: the leader of the terminal's session


class TerminalFacts(Struct, frozen=True):
    """One sample."""

    group: int | None  # the foreground process group
    program: str | None  # what waits for the terminal, else the group's leader, else any
    pid: int | None  # the process of that program
    echo: bool
    canonical: bool
    waits: bool | None  # the foreground waits for this terminal; None: unknown
    scripted: bool = False  # the program is a shell or interpreter that runs a script or command
    timeout: float | None = None  # seconds after which who waits goes on by itself; None: never
    edits: bool = False  # Enter comes as it was typed, as line editors have it (ICRNL is off)
    reader: Asker | None = None
    erases_line: bytes = b""  # the key that does in canonical mode (VKILL); empty: none does

    @property
    def raw(self) -> bool:
        return not self.canonical

    @property
    def secret(self) -> bool:
        """Whether it asks for a password: canonical mode with echo off."""
        return self.canonical and not self.echo


def sample(master: int) -> TerminalFacts | None:
    """Sample once; None if the terminal is gone."""
    try:
        group = os.tcgetpgrp(master)
        attributes = termios.tcgetattr(master)
    except (OSError, termios.error):
        return None
    local, keys = attributes[3], attributes[6]
    members, all_seen = _members(master, group)
    waiter, waiting = _who_waits(members, master)
    if not waiting.waits and not all_seen:
        waiting = _Waiting(None)
    waits, timeout = waiting.waits, waiting.timeout
    if waits and not local & termios.ICANON and timeout is None and keys[termios.VMIN] == 0:
        timeout = keys[termios.VTIME] / 10  # termios(3): a read that gives up
    # In `git log` the pager waits, not git: the pager gets the input.
    pid = waiter or (members[0] if members else None)
    program = _name(pid) if pid else None
    return TerminalFacts(
        group=group if group > 0 else None,
        program=program,
        pid=pid,
        echo=bool(local & termios.ECHO),
        canonical=bool(local & termios.ICANON),
        waits=waits,
        scripted=program is not None and pid is not None and _is_scripted(program, pid),
        timeout=timeout,
        edits=not attributes[0] & termios.ICRNL,
        reader=waiting.reader,
        erases_line=keys[termios.VKILL].strip(b"\0"),  # 0: none (_POSIX_VDISABLE)
    )


def children_of(pid: int) -> list[int]:
    """Return the ids of a process's children, over all its threads."""
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task")[:_MOST]:
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def times_waited(pid: int) -> int | None:
    """Return how often the threads of a process have gone to wait; None if nobody may know.

    Who has read what came, and waits for more, has gone to wait once more (proc_pid_status(5)).
    """
    found = 0
    try:
        for task in os.listdir(f"/proc/{pid}/task")[:_MOST]:
            with open(f"/proc/{pid}/task/{task}/status", "rb") as file:
                _, there, counted = file.read().partition(b"\nvoluntary_ctxt_switches:")
            if not there:
                return None
            found += int(counted.split(None, 1)[0])
    except OSError:
        return None
    return found


def _members(master: int, group: int) -> tuple[list[int], bool]:
    """Return the processes of a group, its leader first, and whether these are all.

    They are found by descent.

    A full scan of /proc takes 3 ms, the descendants of the terminal's session leader 40 µs. The
    leader of a group may be gone before the rest of a pipeline.
    """
    if group <= 0:
        return [], True
    leader = _session_leader(master)
    members: list[int] = []
    todo = [pid for pid in (leader, group) if pid is not None]
    seen = set(todo)
    looked = 0
    while todo and looked < _MOST:
        pid = todo.pop()
        looked += 1
        if _group_of(pid) == group:
            members.append(pid)
        fresh = [child for child in children_of(pid) if child not in seen]
        seen.update(fresh)
        todo += fresh
    return sorted(members, key=lambda pid: pid != group), not todo


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
    """Return a process's program: what it calls itself, or the file behind a name like editor."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            name = file.read().decode(errors="replace").strip()
    except OSError:
        return None
    return program_name(name, _file(pid))


def _file(pid: int) -> str:
    """Return the name of the file that a process was started from."""
    try:
        path = os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
    except OSError:
        return ""
    return path.rpartition("/")[2]


def _is_scripted(program: str, pid: int) -> bool:
    if program in SHELLS:
        return is_script(_arguments(pid))
    if is_interpreter(program):
        return runs_file(_arguments(pid))
    # A script is called by its own name, or has chosen one as npm does.
    return not is_repl(program) and is_interpreter(_file(pid))


def _arguments(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [word.decode(errors="replace") for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


# Options of bash, zsh and fish whose argument is the next word.
_WITH_ARGUMENT = ("--rcfile", "--init-file", "--init-command", "-C", "--features", "--profile")


def is_script(argv: list[str]) -> bool:
    """Return whether a shell's arguments contain a command or a file to run."""
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


# Options of Python, Node, Ruby and PHP whose argument is the next word.
_OPTION_WITH_ARGUMENT = ("-W", "-X", "-r", "--require", "-I", "--import", "-d")
_RUNS = ("-c", "-m", "-e", "-p", "--eval", "--print")


def runs_file(argv: list[str]) -> bool:
    """Whether an interpreter's arguments give it something to run, without a prompt after it."""
    words = argv[1:]
    if "-i" in words or "--interactive" in words or "-a" in words or words[:1] == ["repl"]:
        return False  # `deno repl`, `bun repl`
    while words:
        word = words.pop(0)
        if word[:1] != "-" or word in _RUNS:
            return True
        if word in _OPTION_WITH_ARGUMENT:
            del words[:1]
    return False


class _Waiting(NamedTuple):
    """Whether a process waits for terminal input; None: no permission to see it."""

    waits: bool | None
    timeout: float | None = None  # seconds; None: until something comes
    reader: Asker | None = None


def _who_waits(members: list[int], master: int) -> tuple[int | None, _Waiting]:
    """Return who waits for the terminal, and how."""
    if sys.platform != "linux" or not members:
        return None, _Waiting(None)
    try:
        terminal = terminal_name(master)
    except OSError:
        return None, _Waiting(None)
    unknown = False
    for pid in members:
        waiting = _waits(pid, terminal)
        if waiting.waits:
            return pid, waiting
        unknown = unknown or waiting.waits is None
    return None, _Waiting(None if unknown else False)


# Numbers of system calls by machine (asm/unistd.h).
_CALLS = {
    "x86_64": {
        0: "read",
        19: "readv",
        17: "read",
        7: "poll",
        271: "ppoll",
        23: "select",
        270: "pselect",
        232: "epoll",
        281: "epoll",
        441: "epoll2",
    },
    "aarch64": {63: "read", 65: "readv", 73: "ppoll", 72: "pselect", 22: "epoll", 441: "epoll2"},
}.get(os.uname().machine, {})

_POLLIN = 1


def _waits(pid: int, terminal: str) -> _Waiting:
    """Look for a thread of the process that waits for terminal input."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return _Waiting(False)
    for task in tasks[:_MOST]:
        try:
            with open(f"/proc/{pid}/task/{task}/syscall", "rb") as file:
                words = file.read().split()
        except PermissionError:
            return _Waiting(None)
        except OSError:
            continue
        if len(words) < 9:  # running, or blocked outside a system call
            continue
        kind = _CALLS.get(int(words[0]))
        arguments = [int(word, 16) for word in words[1:7]]
        if kind and any(
            _is_terminal(pid, descriptor, terminal)
            for descriptor in _descriptors(pid, kind, arguments)
        ):
            # proc_pid_syscall(5)
            reader = Asker(int(task), stack=int(words[7], 16), code=int(words[8], 16))
            return _Waiting(True, _timeout(pid, kind, arguments), reader)
    return _Waiting(False if len(tasks) <= _MOST else None)


# Which argument of a call is its time-out: in milliseconds, or where in memory it stands.
_MILLISECONDS = {"poll": 2, "epoll": 3}
_IN_MEMORY = {"ppoll": (2, 1e9), "select": (4, 1e6), "pselect": (4, 1e9), "epoll2": (3, 1e9)}


def _timeout(pid: int, kind: str, arguments: list[int]) -> float | None:
    """Return after how many seconds a call gives up; None: never, or it cannot be read."""
    if kind in _MILLISECONDS:
        given = arguments[_MILLISECONDS[kind]] & 0xFFFFFFFF
        return None if given >= 1 << 31 else given / 1000
    if kind not in _IN_MEMORY:
        return None
    at, parts = _IN_MEMORY[kind]
    data = _memory(pid, arguments[at], 16) if arguments[at] else b""
    if len(data) < 16:
        return None
    seconds, rest = struct.unpack("qq", data)
    return float(seconds + rest / parts)


def _descriptors(pid: int, kind: str, arguments: list[int]) -> list[int]:
    """Return the descriptors that a thread in this system call waits for."""
    if kind in ("read", "readv"):
        return [arguments[0]]
    if kind in ("poll", "ppoll"):
        count = min(arguments[1], 1024)
        data = _memory(pid, arguments[0], count * 8)
        entries = struct.iter_unpack("ihh", data[: len(data) // 8 * 8])
        return [fd for fd, events, _ in entries if events & _POLLIN and fd >= 0]
    if kind in ("select", "pselect"):
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
    if target in (terminal, _ANY_TERMINAL):
        return True
    return target == _IN_SANDBOXES and _is_same_device(f"/proc/{pid}/fd/{descriptor}", terminal)


def _is_same_device(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.stat(one), os.stat(other))
    except OSError:
        return False
