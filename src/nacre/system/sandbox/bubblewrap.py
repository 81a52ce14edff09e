"""Bubblewrap: which one there is, and the arguments by which it makes a sandbox.

Rule 1: the program leads a session of its own inside of the sandbox, and takes the terminal there
(setsid -c). So job control works, and Ctrl+C reaches no process of bubblewrap. Bubblewrap's own
--new-session would leave the program without a controlling terminal.
Rule 2: everything ends with the outer process: it is told to die with its parent, a shell that only
waits for it. The daemon cannot be that parent: its programs outlive it.
Rule 3: no right is kept (--cap-drop ALL), or root could mount what is hidden.
Rule 4: options and variables go through a file in memory: arguments can be read by every user of
the machine.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.system.sandbox.view import Mount, SandboxView

_PATIENCE = 5.0  # seconds for an answer that takes 2 ms
_DISABLES_USERNS, _SIZES, OVERLAYS = (0, 8), (0, 7), (0, 11)  # since these versions
UPPER, WORK = "upper", "work"  # in the folder of a layer, as overlayfs calls them


class Bubblewrap(NamedTuple):
    path: str
    version: tuple[int, ...]
    setsid: str

    @property
    def overlays(self) -> bool:
        return self.version >= OVERLAYS

    def command(
        self, program: Sequence[str], options: int, *, on_terminal: bool = True
    ) -> list[str]:
        """Return what to start; `options` is the descriptor of a file with its options."""
        leading = (self.setsid, "-c") if on_terminal else ()
        return [self.path, "--args", str(options), "--", *leading, *program]

    def options(
        self,
        view: SandboxView,
        *,
        cwd: str,
        env: Mapping[str, str],
        empty_bytes: int,
        program: int | None,
    ) -> list[str]:
        """Return the options; `program` is the descriptor of the filter of system calls."""
        return [
            *self._mounts(view, empty_bytes),
            *("--chdir", cwd, "--hostname", "sandbox", "--die-with-parent"),
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
            *("--unshare-net", "--unshare-cgroup-try", "--cap-drop", "ALL"),
            *(("--disable-userns",) if self.version >= _DISABLES_USERNS else ()),
            *(() if program is None else ("--seccomp", str(program))),
            "--clearenv",
            *(word for name, value in env.items() for word in ("--setenv", name, value)),
        ]

    def _mounts(self, view: SandboxView, empty_bytes: int) -> Iterator[str]:
        # /dev and /proc come first over the root: a workspace may lie below /dev/shm.
        first = [mount for mount in view.mounts if mount.path == "/"]
        for mount in first:
            yield from self._mount(mount, empty_bytes)
        # Root may write to /proc/sys without any right: the kernel asks for its number alone.
        yield from ("--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
        # Of files in memory no process is known to be the owner: nobody is killed for them when
        # there is no memory left. So what is not limited cannot be written to.
        yield from self._mount(Mount("empty", "/dev/shm"), empty_bytes)  # noqa: S108  # no file
        yield from ("--remount-ro", "/dev")
        for mount in view.mounts:
            if mount not in first:
                yield from self._mount(mount, empty_bytes)
        if not first:
            yield from ("--remount-ro", "/")

    def _mount(self, mount: Mount, empty_bytes: int) -> Iterator[str]:
        if mount.kind == "empty":
            if self.version >= _SIZES:
                yield from ("--size", str(empty_bytes))
            yield from ("--tmpfs", mount.path)
        elif mount.kind == "folder":
            yield from ("--perms", "0700", "--dir", mount.path)
        elif mount.kind == "link":
            yield from ("--symlink", mount.source, mount.path)
        elif mount.kind == "overlay":
            upper, work = (os.path.join(mount.source, name) for name in (UPPER, WORK))
            yield from ("--overlay-src", mount.path, "--overlay", upper, work, mount.path)
        else:
            option = "--bind" if mount.kind == "write" else "--ro-bind"
            yield from (option, mount.source, mount.path)


def find_bubblewrap() -> Bubblewrap | None:
    """Return what is installed; None if something is missing."""
    path, setsid = shutil.which("bwrap"), shutil.which("setsid")
    if path is None or setsid is None:
        return None
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    numbers = re.findall(r"\d+", done.stdout)
    return Bubblewrap(path, tuple(map(int, numbers)), setsid)
