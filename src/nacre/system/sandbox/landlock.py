"""Sandboxes by the kernel's Landlock and seccomp, where bubblewrap cannot run (landlock(7)).

They take rights away, and give no view of their own: no namespaces, no mounts. So
- what can be read is enumerated, because Landlock has no rule that denies below one that allows;
- home and /tmp are folders elsewhere, which HOME and TMPDIR name;
- there are no sockets at all: no rule keeps a program from a Unix socket that it may not read;
- all that a program started ends with it because its launcher stays (inside/launcher.py).

Rule: what a profile promises and this cannot keep is refused here, with what to do instead.
"""

import marshal
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nacre.errors import BadParameter
from nacre.system.sandbox.filter import filter_program
from nacre.system.sandbox.inside.kernel import landlock_version
from nacre.system.sandbox.probe import Trouble
from nacre.system.sandbox.profiles import Profile
from nacre.system.sandbox.view import DENIED, SandboxView, is_below

# Linux 6.12: signals and abstract sockets stay inside. Before, a program could end its launcher.
_OLDEST = 6
# What every program needs, beside what its view shows: nothing there can be written to, and what is
# behind the numbers of other processes is closed by the kernel.
_KERNELS = ("/proc", "/sys")
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from nacre.system.sandbox.inside.launcher import main; main(int(sys.argv[2]))"
)
_SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))

NOTICE = (
    "its sandbox is made by Landlock: there are no sockets, not even to itself; write to $TMPDIR "
    "instead of /tmp; names of processes and of files elsewhere can be found out"
)


def trouble_with_landlock(profile: Profile) -> Trouble | None:
    """Return why a profile cannot be had by Landlock, before it is tried."""
    if profile.workspace == "layer":
        return Trouble("Landlock has no layers for a review", "install bubblewrap")
    if filter_program(alone=True) is None:
        return Trouble("no filter of system calls for this machine", "use x86_64 or aarch64")
    version = landlock_version()
    if version == 0:
        return Trouble("the kernel has no Landlock", "boot with lsm=landlock,... or a newer kernel")
    if version < _OLDEST:
        return Trouble(
            f"the kernel's Landlock has version {version}, which does not confine signals",
            "use Linux 6.12 or later",
        )
    return None


def landlock_advice(words: str) -> str:
    return "report this as a bug, with the kernel's version"


def landlock_command(descriptor: int) -> list[str]:
    """Return what starts a program by the plan in a file in memory."""
    return [sys.executable, "-I", "-S", "-c", _START, _SOURCES, str(descriptor)]


def landlock_plan(
    view: SandboxView,
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    on_terminal: bool = True,
    trial: Mapping[str, Any] | None = None,
) -> bytes:
    """Return what the launcher has to do. Raises BadParameter for a view that cannot be had."""
    program = filter_program(alone=True)
    assert program is not None  # trouble_with_landlock
    readable, writable = _grants(view)
    plan = {
        "argv": list(argv),
        "cwd": cwd,
        "env": dict(env),
        "read": [*readable, *_KERNELS],
        "write": list(writable),
        "denied": DENIED,
        "denies": [os.path.basename(one.path) for one in view.mounts if one.source == DENIED],
        "filter": program.hex(),
        "terminal": on_terminal,
        "trial": None if trial is None else dict(trial),
    }
    return marshal.dumps(plan)  # which costs the launcher no module


def _grants(view: SandboxView) -> tuple[list[str], list[str]]:
    """Return the paths below which can be read, and those below which can be written to."""
    readable: list[str] = []
    writable: list[str] = []
    for at, mount in enumerate(view.mounts):
        if mount.kind not in ("read", "write") or mount.source == DENIED:
            continue
        covers = [
            later.path
            for later in view.mounts[at + 1 :]
            if later.kind == "empty" and is_below(later.path, mount.path)
        ]
        if mount.kind == "write":
            if covers:
                raise BadParameter(
                    "cwd",
                    f"holds {covers[0]}, which Landlock cannot hide within a folder to write to",
                    "choose the folder of a project",
                    "install bubblewrap",
                )
            writable.append(mount.path)
        else:
            readable += _around(mount.path, covers)
    return list(dict.fromkeys(readable)), writable


def _around(path: str, covers: Sequence[str]) -> Iterator[str]:
    """Return what is below a folder, as few paths as possible, but for what is covered.

    What is made there later, beside a covered path, is not among them.
    """
    within = [one for one in covers if is_below(one, path)]
    if not within:
        # The kernel's own folders have rules of theirs.
        if path not in ("/dev", *_KERNELS):
            yield path
        return
    if path in within:
        return
    try:
        entries = sorted(os.listdir(path))
    except OSError:
        return
    for entry in entries:
        below = os.path.join(path, entry)
        if not os.path.islink(below):
            yield from _around(below, within)
