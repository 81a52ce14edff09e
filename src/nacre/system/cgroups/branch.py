"""A branch of the cgroup hierarchy that belongs to this daemon: one group for each session.

The kernel's rules are in its admin-guide/cgroup-v2.rst. Rule 1: a group with processes of its own
cannot hand controllers down, so the daemon moves into a leaf of the branch first. Rule 2: nobody
else's process is moved: a group in which others are is not ours.
Rule 3: what was written is read back: a limit counts if the kernel says so.
"""

import os
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

from nacre.system.cgroups.place import CgroupPlace, CgroupRefused
from nacre.system.processes.tree import ancestors_of

_LEAF = "nacre-daemon"
_PREFIX = "nacre-session-"
_PROBE = "nacre-probe"
_ROUNDS = 5
_DELEGATE = "start it as a service with Delegate=yes, or by a systemd of the user's"


class CgroupLimits(NamedTuple):
    """Values for a session's group; 0: none."""

    memory_bytes: int
    processes: int
    cpu_weight: int

    def files(self) -> dict[str, str]:
        """Return what to write, by the names of the files; their first part is the controller."""
        files = {"cpu.weight": str(self.cpu_weight)}
        if self.memory_bytes:
            # The kernel counts whole pages, and would read back another number.
            page = os.sysconf("SC_PAGE_SIZE")
            files["memory.max"] = str(max(1, self.memory_bytes // page) * page)
        if self.processes:
            files["pids.max"] = str(self.processes)
        return files


def group_name(identifier: str) -> str:
    return _PREFIX + identifier


class CgroupBranch:
    """Raises OSError where the hierarchy has changed since it was claimed."""

    def __init__(self, folder: str, limits: CgroupLimits, controllers: Collection[str]) -> None:
        self.folder = folder
        files = limits.files()
        self._files = {name: files[name] for name in files if _controller(name) in controllers}
        self.missing = sorted({_controller(name) for name in files} - set(controllers))

    @property
    def limited(self) -> tuple[str, ...]:
        """What is limited, by the names of the files."""
        return tuple(self._files)

    def make(self, identifier: str) -> str:
        """Make the group of a session, or use the one it has; return its folder."""
        return self._make(group_name(identifier))

    def _make(self, name: str) -> str:
        folder = os.path.join(self.folder, name)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o755)
        for file, value in self._files.items():
            _write(os.path.join(folder, file), value)
            if (said := _read(os.path.join(folder, file))) != value:
                raise OSError(0, f"{file} became {said} instead of {value}")
        return folder

    def remove(self, identifier: str) -> None:
        """Remove the group of a session; it stays while something of it runs."""
        with suppress(OSError):
            os.rmdir(os.path.join(self.folder, group_name(identifier)))

    def sweep(self) -> None:
        """Remove groups that nothing runs in any more."""
        for entry in os.listdir(self.folder):
            if entry.startswith(_PREFIX):
                self.remove(entry.removeprefix(_PREFIX))

    def probe(self) -> None:
        """Make a group and remove it again. Raises OSError if that does not work."""
        folder = self._make(_PROBE)
        with suppress(OSError):
            os.rmdir(folder)


def claim(place: CgroupPlace, limits: CgroupLimits, ours: Collection[int]) -> CgroupBranch:
    """Make the group that we are in ours, and prepare it for sessions.

    `ours` are the processes that may be moved. Raises CgroupRefused, with what stands in the way.
    """
    try:
        own = place.own()
        folder = os.path.dirname(own) if os.path.basename(own) == _LEAF else own
        wanted = {_controller(name) for name in limits.files()}
        offered = wanted & set(_read(os.path.join(folder, "cgroup.controllers")).split())
        if not offered - {"cpu"}:
            raise CgroupRefused(
                f"its cgroup ({folder}) has no controllers of memory and processes", _DELEGATE
            )
        if not os.access(folder, os.W_OK):
            raise CgroupRefused(f"its cgroup ({folder}) is not delegated to this user", _DELEGATE)
        _hand_down(folder, offered, ours)
        branch = CgroupBranch(folder, limits, offered)
        branch.probe()
    except OSError as error:
        raise CgroupRefused(f"cgroups cannot be made: {error.strerror}", _DELEGATE) from error
    branch.sweep()
    return branch


def _hand_down(folder: str, controllers: Collection[str], ours: Collection[int]) -> None:
    control = os.path.join(folder, "cgroup.subtree_control")
    missing = sorted(set(controllers) - set(_read(control).split()))
    if not missing:
        return
    leaf = os.path.join(folder, _LEAF)
    for _ in range(_ROUNDS):  # what we start meanwhile begins where we are
        inside = {int(pid) for pid in _read(os.path.join(folder, "cgroup.procs")).split()}
        if not inside:
            break
        others = [pid for pid in inside if not ancestors_of(pid) & set(ours) and pid not in ours]
        if others:
            raise CgroupRefused(
                f"other programs are in its cgroup ({folder}): {_names(others)}", _DELEGATE
            )
        with suppress(FileExistsError):
            os.mkdir(leaf, 0o755)
        for pid in inside:
            with suppress(ProcessLookupError):
                _write(os.path.join(leaf, "cgroup.procs"), str(pid))
    _write(control, " ".join(f"+{name}" for name in missing))


def _names(pids: Collection[int]) -> str:
    """Return what processes are called, for who has to find them."""
    found = []
    for pid in sorted(pids)[:3]:
        with suppress(OSError), open(f"/proc/{pid}/comm", errors="replace") as file:
            found.append(f"{file.read().strip()} ({pid})")
    return ", ".join(found) or "they have ended by now"


def _controller(file: str) -> str:
    return file.partition(".")[0]


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def _write(path: str, value: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(value)
