"""Find the cgroup that this process is in, and the folder by which it is seen (cgroup v2).

Rule: the files are those of the kernel, and can be others in a test: nothing here knows a path that
was not handed in.
"""

import os
from typing import NamedTuple

_MEMBERSHIP, _MOUNTS = "/proc/self/cgroup", "/proc/self/mountinfo"


class CgroupRefused(Exception):
    """Why no cgroups can be had here, and what to do about it."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason, self.fix = reason, fix


class CgroupPlace(NamedTuple):
    """Where to look: `mount` shows the group `root` of the hierarchy and what is below it."""

    mount: str
    root: str = "/"
    membership: str = _MEMBERSHIP

    def own(self) -> str:
        """Return the folder of the group that this process is in.

        Raises CgroupRefused where that cannot be seen.
        """
        path = group_in(_text(self.membership))
        below = os.path.relpath(path or "/", self.root)
        if path is None or below.startswith(".."):
            raise CgroupRefused(
                "this process is in no cgroup that can be seen here",
                "mount cgroup2 at /sys/fs/cgroup",
            )
        return os.path.normpath(os.path.join(self.mount, below))


def group_in(membership: str) -> str | None:
    """Return the v2 group that a /proc/PID/cgroup names (cgroups(7)); None if there is none."""
    for line in membership.splitlines():
        if line.startswith("0::"):
            return line[3:]
    return None


def group_of(pid: int) -> str:
    """Return the v2 group of a process; empty if it is gone, or the system has none."""
    try:
        return group_in(_text(f"/proc/{pid}/cgroup")) or ""
    except OSError:
        return ""


def find_place(mounts: str = _MOUNTS) -> CgroupPlace:
    """Return where cgroup2 is mounted (proc(5)). Raises CgroupRefused."""
    try:
        lines = _text(mounts).splitlines()
    except OSError:
        lines = []
    for line in lines:
        fields, _, more = line.partition(" - ")
        if more.split(" ", 1)[0] == "cgroup2":
            root, mount = fields.split(" ")[3:5]
            return CgroupPlace(_plain(mount), _plain(root))
    raise CgroupRefused(
        "there are no cgroups of version 2", "boot with systemd.unified_cgroup_hierarchy=1"
    )


def _plain(path: str) -> str:
    return path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()
