"""Start a child on a pseudo-terminal.

Rule 1: never fork with Python code in the child (preexec_fn, forkpty): at 300 MB it stops the loop
for 7 to 17 ms, and it hangs when another thread holds a lock. A /bin/sh wrapper takes the
controlling terminal and execs, which costs 0.3 ms.
Rule 2: this is the only place where a session gets its descriptor and process, and where it is
decided who gets a duplicate of the descriptor.
"""

import errno
import fcntl
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct

from nacre.core.operations.steps import END_ONE
from nacre.errors import Internal, InvalidInput, LimitReached, NacreError

# A session leader without a controlling terminal gets the first one it opens (tty_ioctl(4)); $0 is
# the terminal's path. Children must not get the daemon's own raised descriptor limit.
_LIMITED = (
    'ulimit -S -n "$1"; ulimit -H -n "$2"; ulimit -S -c "$3"; ulimit -f "$4";'
    ' [ -z "$5" ] || echo 0 >"$5/cgroup.procs" || exit 125;'
    ' [ -z "$6" ] || { echo "$6" >/proc/self/oom_score_adj; } 2>/dev/null; shift 6;'
)
_WRAPPER = f'exec 0<>"$0" 1>&0 2>&0; {_LIMITED} exec "$@"'

# What makes a sandbox takes no terminal: the program inside does (system/sandbox/bubblewrap.py).
# This shell stays, because everything in the sandbox is told to die with its parent.
_CONFINED = f'exec 1>&0 2>&0; {_LIMITED} "$@"; exit $?'
_MOST_OOM = 1000  # linux/oom.h: OOM_SCORE_ADJ_MAX
_BLOCK = 512  # bytes: the unit of ulimit -c and -f (POSIX)


_TIOCGPTN = 0x80045430  # asm-generic/ioctls.h: the number of the pts behind a master

_TIOCGSID = 0x5429 if sys.platform == "linux" else 0x40047463  # the same; sys/ttycom.h

# Descriptors of this process or of the system, memory, processes of the user, terminals.
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC)

_ALL = "unlimited"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Child(Struct, frozen=True):
    """A started process: its id and the master side of its terminal (non-blocking)."""

    pid: int
    master: int
    process: "subprocess.Popen[bytes]"


class SessionLimits(NamedTuple):
    """What each program of a session may use (setrlimit(2)), and the cgroup that all are in.

    Files to begin with, and at most, are apart: a program may raise the one up to the other. 0: as
    much as this process may.
    """

    descriptors: int
    most_descriptors: int = 0
    core_bytes: int = 0
    file_bytes: int = 0
    cgroup: str = ""  # the folder of one that the program joins; empty: none
    # How much sooner than we it is killed when memory runs out: thousandths of it (proc(5)).
    oom_score_adj: int = 0

    def words(self) -> list[str]:
        """Return them as ulimit takes them, none higher than we may set it."""
        most = _within(resource.RLIMIT_NOFILE, self.most_descriptors)
        first = self.descriptors if most == _ALL else min(self.descriptors, int(most))
        return [
            *(str(first), most, str(self.core_bytes // _BLOCK)),
            *(_within(resource.RLIMIT_FSIZE, self.file_bytes, _BLOCK), self.cgroup),
            _sooner(self.oom_score_adj),
        ]


def _sooner(by: int) -> str:
    """Return a program's oom_score_adj, which is ours and more; empty: it stays as it is."""
    try:
        with open("/proc/self/oom_score_adj", "rb") as file:
            own = int(file.read())
    except (OSError, ValueError):
        return ""  # no Linux
    return str(min(own + by, _MOST_OOM)) if by else ""


def _within(kind: int, wanted: int, unit: int = 1) -> str:
    most = resource.getrlimit(kind)[1]
    if most == resource.RLIM_INFINITY:
        return str(max(1, wanted // unit)) if wanted else _ALL
    return str(max(1, min(wanted or most, most) // unit))


def spawn(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    rows: int,
    cols: int,
    limits: SessionLimits,
    opened: Callable[[int], None] | None = None,
    pass_on: Sequence[int] = (),
    umask: int = -1,
    confined: bool = False,
) -> Child:
    """Start argv as the leader of a new session on a new terminal.

    With `confined`, argv makes a sandbox, and what it runs there leads the terminal's session.
    `opened` gets the terminal's master before the process starts. The process gets the descriptors
    of `pass_on`, and the umask, unless that is -1.

    Raises LimitReached when the system has no terminal, descriptor or process left, InvalidInput
    for a command that is too long for the system, and Internal when the start fails otherwise. The
    caller must check that the program exists: here it would only show as exit code 127.
    """
    try:
        master, slave = os.openpty()
    except OSError as error:
        raise shortage("cannot open a pseudo-terminal", error) from error
    try:
        set_size(master, rows, cols)
        os.set_blocking(master, False)
        if opened is not None:
            opened(master)
        # As stdin the slave stays open in the child, so we can close it here at once.
        process = subprocess.Popen(
            [
                *("/bin/sh", "-c", _CONFINED if confined else _WRAPPER, os.ttyname(slave)),
                *limits.words(),
                *_past_the_shell(env),
                *argv,
            ],
            cwd=cwd,
            env=dict(env),
            stdin=slave,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=pass_on,
            umask=umask,
        )
    except OSError as error:
        os.close(master)
        if error.errno == errno.E2BIG:
            raise InvalidInput(
                "the command with its arguments and environment is longer than the system allows",
                "write it to a file and run that",
            ) from error
        raise shortage(f"cannot start {argv[0]}", error) from error
    finally:
        os.close(slave)
    return Child(process.pid, master, process)


def shortage(what: str, error: OSError) -> NacreError:
    """Return what an error means for a new session: a limit of the system, or something else."""
    if error.errno == errno.EFBIG:
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        return LimitReached(
            f"{what}: the daemon may make files of {most} bytes (RLIMIT_FSIZE), which is too small",
            "stop the daemon, and start it with a higher limit (ulimit -f)",
        )
    if error.errno in _SHORTAGES:
        return LimitReached(f"{what}: {error.strerror}", END_ONE)
    return Internal(f"{what}: {error.strerror}")


def _past_the_shell(env: Mapping[str, str]) -> list[str]:
    """Pass on variables that a shell drops because of their names (BASH_FUNC_x%%, a.b)."""
    strange = [f"{name}={value}" for name, value in env.items() if not _NAME.fullmatch(name)]
    return ["env", *strange] if strange else []


def set_size(master: int, rows: int, cols: int) -> None:
    """Set the terminal's size; the kernel sends SIGWINCH to the foreground group."""
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def takes_signals(master: int) -> bool:
    """Return whether the terminal turns Ctrl+C into a signal (ISIG), not into a key."""
    try:
        return bool(termios.tcgetattr(master)[3] & termios.ISIG)
    except termios.error:
        return False


def shows_input(master: int) -> bool:
    """Return whether the terminal echoes input (ECHO); line editors turn that off too."""
    try:
        return bool(termios.tcgetattr(master)[3] & termios.ECHO)
    except termios.error:
        return False


def size_of(master: int) -> tuple[int, int]:
    """Return the terminal's rows and columns."""
    rows, cols, _, _ = struct.unpack("HHHH", fcntl.ioctl(master, termios.TIOCGWINSZ, b"\0" * 8))
    return rows, cols


def leader_of(master: int) -> int | None:
    """Return the leader of the terminal's session; None if there is none."""
    try:
        return int(struct.unpack("i", fcntl.ioctl(master, _TIOCGSID, b"\0" * 4))[0]) or None
    except OSError:
        return None


def discard_unread(master: int) -> None:
    """Drop input that the child has not read yet.

    It is in two places: on its way from the master, and in the line discipline of the slave.
    """
    with suppress(termios.error, OSError):
        termios.tcflush(master, termios.TCOFLUSH)
        slave = os.open(terminal_name(master), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            termios.tcflush(slave, termios.TCIFLUSH)
        finally:
            os.close(slave)


def unread(master: int) -> int | None:
    """Return how many bytes of input wait for the child; None if nobody may look.

    In canonical mode the line that is being typed does not count.
    """
    try:
        slave = os.open(terminal_name(master), os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        count: int = struct.unpack("i", fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4))[0]
    except OSError:
        return None
    finally:
        os.close(slave)
    return count


def terminal_name(master: int) -> str:
    """Return the path of the slave; os.ptsname exists only from Python 3.13 on."""
    if hasattr(os, "ptsname"):
        return str(os.ptsname(master))
    number: int = struct.unpack("i", fcntl.ioctl(master, _TIOCGPTN, b"\0" * 4))[0]
    return f"/dev/pts/{number}"


def foreground_group(master: int) -> int | None:
    """Return the foreground process group of the terminal; None if there is none."""
    try:
        group = os.tcgetpgrp(master)
    except OSError:
        return None
    return group if group > 0 else None


def find_program(name: str, *, cwd: str, path: str | None) -> str | None:
    """Return the path of a program, as exec would find it from that folder, or None."""
    if os.sep in name:
        candidate = os.path.join(cwd, name)
        return candidate if os.access(candidate, os.X_OK) and os.path.isfile(candidate) else None
    if path is None:
        return shutil.which(name)
    for entry in path.split(os.pathsep):
        # It may be relative (node_modules/.bin): to the child's folder, not to the daemon's.
        candidate = os.path.join(cwd, entry, name)
        if os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return None


def require_descriptors(reserve: int) -> None:
    """Raise LimitReached if no more than `reserve` descriptors are left to this process."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        lowest = os.dup(2)  # the lowest free number: all below it are taken (dup(2))
    except OSError:
        lowest = limit
    else:
        os.close(lowest)
    if lowest >= limit - reserve:
        raise LimitReached(
            f"the daemon may open {limit} files (RLIMIT_NOFILE), and these are nearly used up",
            END_ONE,
            "start the daemon with a higher limit",
        )


def raise_descriptor_limit() -> int:
    """Raise the soft limit of open files to the hard one. Return the old limit, for children."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = min(hard, 1_048_576) if hard != resource.RLIM_INFINITY else 1_048_576
    if soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    return soft
