"""Where a path leads, link by link.

Rule: a path through /proc leads there, and is not followed further: what it stands for is another
one in each process (/proc/self/cwd is the folder of whoever asks).
"""

import os
from collections import deque

_PROC = "/proc"
_MOST_LINKS = 40  # as the kernel has it (path_resolution(7))
# What each process has of its own, and nothing else: links to /proc that may be used.
_OWN = frozenset(("/dev/stdin", "/dev/stdout", "/dev/stderr"))


def lead(path: str) -> str:
    """Return the path without links, `.` and `..`; what does not exist stays as it is."""
    rest = deque(os.path.join(os.getcwd(), path).split("/"))
    current, links = "/", 0
    while rest:
        part = rest.popleft()
        if part in ("", "."):
            continue
        if part == "..":
            current = os.path.dirname(current)
            continue
        current = os.path.join(current, part)
        if current == _PROC:
            return os.path.join(current, *(one for one in rest if one))
        if current in _OWN:
            continue
        try:
            target = os.readlink(current)
        except (OSError, ValueError):  # no link, or nothing at all
            continue
        links += 1
        if links > _MOST_LINKS:
            return os.path.join(current, *(one for one in rest if one))  # nobody gets through
        rest.extendleft(reversed(target.split("/")))
        current = "/" if target.startswith("/") else os.path.dirname(current)
    return current


def links_in(folder: str) -> list[str]:
    """Return the names of the symbolic links in a folder; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_symlink()]
    except OSError:
        return []
