"""End a daemon that does not end by itself: stopped (SIGSTOP), hung, or without a socket.

Rule 1: the keeper goes first, or it would start the next daemon. Before that the daemon is stopped,
or it would start another keeper. One that it has just started holds no lock yet, and goes too.
Rule 2: what runs in the sessions ends too, as with a daemon that stops by itself: a hangup, and
after the grace a kill.
Rule 3: every wait is bounded.
"""

import os
import select
import signal
import time
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

from nacre.client.lock import all_holders, is_free
from nacre.settings.paths import Paths

_ROUNDS = 3  # a keeper may just have started the next daemon, and programs fork
_DEATH = 2.0  # seconds that the kernel gets to end a killed process
_STANDSTILL = 1.0  # seconds that the kernel gets to stop one; mostly a millisecond
_LOOK = 0.001  # seconds between two looks whether it has: there is no event for it


class Forced(NamedTuple):
    """What was killed, and what is left: processes of other users, or stuck in the kernel."""

    daemons: list[int]
    programs: list[int]
    left: list[int]


def end_by_force(paths: Paths, grace: float) -> Forced:
    """Kill the keeper, the daemon and everything that they started; return when it is gone."""
    daemons: set[int] = set()
    programs: set[int] = set()
    for _ in range(_ROUNDS):
        found = all_holders(paths)
        _stop(found)
        found = [*_adopters(found), *found]
        programs |= _living(_descendants(found)) - set(found)
        daemons |= set(found)
        _signal(found, signal.SIGKILL)
        await_ends(found, _DEATH)
        if is_free(paths, patience=_DEATH) and not all_holders(paths):
            break
    programs -= daemons
    _signal(programs, signal.SIGHUP)
    _signal(programs, signal.SIGCONT)  # a stopped process gets the hangup only when it continues
    await_ends(programs, grace)
    left: Collection[int] = programs
    for _ in range(_ROUNDS):
        left = _living(programs | _descendants(programs))
        if not left:
            break
        _signal(left, signal.SIGKILL)
        await_ends(left, _DEATH)
    return Forced(sorted(daemons), sorted(programs), sorted(_living({*daemons, *left})))


def _stop(pids: Collection[int]) -> None:
    """Let these start nothing more. Return when they have stopped, or do not in time."""
    _signal(pids, signal.SIGSTOP)
    until = time.monotonic() + _STANDSTILL
    while time.monotonic() < until:
        if all(state in b"tTZX" for pid, _, state in _table() if pid in pids):
            return
        time.sleep(_LOOK)


def _adopters(daemons: Collection[int]) -> list[int]:
    """Return the keepers that these have started (system/keeper/succession.py)."""
    found = []
    for pid, parent, _ in _table():
        if parent in daemons:
            with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
                if b"--adopt" in words and b"%d" % parent in words and pid not in daemons:
                    found.append(pid)
    return found


def _descendants(pids: Collection[int]) -> set[int]:
    """Return these processes and all that descend from them, but not this one."""
    children: dict[int, list[int]] = {}
    for pid, parent, _ in _table():
        children.setdefault(parent, []).append(pid)
    found, todo = set(pids), list(pids)
    while todo:
        more = set(children.get(todo.pop(), ())) - found
        found |= more
        todo += more
    return found - {os.getpid()}


def _living(pids: Collection[int]) -> set[int]:
    return {pid for pid, _, state in _table() if pid in pids and state not in b"ZX"}


def _table() -> list[tuple[int, int, bytes]]:
    """Return the id, parent and state of all processes (proc(5))."""
    table = []
    try:
        entries = os.listdir("/proc")
    except OSError:  # macOS: then only what the kernel hangs up by itself ends
        return []
    for entry in filter(str.isdigit, entries):
        with suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
            text = file.read()
            state, parent = text[text.rindex(b")") + 2 :].split()[:2]
            table.append((int(entry), int(parent), state))
    return table


def _signal(pids: Collection[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def await_ends(pids: Collection[int], patience: float) -> None:
    """Return when these have ended (pidfd_open(2)), or after `patience` seconds."""
    if not hasattr(os, "pidfd_open"):
        return
    poll, until = select.poll(), time.monotonic() + patience
    waiting = set()
    for pid in pids:
        with suppress(OSError):
            descriptor = os.pidfd_open(pid)
            waiting.add(descriptor)
            poll.register(descriptor, select.POLLIN)
    while waiting and (left := until - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left * 1000):
            poll.unregister(descriptor)
            os.close(descriptor)
            waiting.discard(descriptor)
    for descriptor in waiting:
        os.close(descriptor)
