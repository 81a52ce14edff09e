"""Start one program, or several that feed each other, without a terminal and within limits.

Rule 1: never fork with Python code in the child (see pty.py): /bin/sh sets the limits and execs.
The words of the program pass that shell as its arguments: it does not read them. A program that
writes no file and starts no other (`reader`) needs no such shell, which would take as long as it
does itself: it gets its limits from us, as soon as it runs (prlimit(2), Linux).
Rule 2: nothing is started before all descriptors are there, and those of the children are closed
here at once: a pipe that we hold open would never end.
"""

import errno
import os
import resource
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import NamedTuple

from nacre.errors import InvalidInput, NacreError
from nacre.system.processes.pty import Child, shortage

# Processes are -p in dash, -u in bash.
_LIMITED = (
    'ulimit -t "$1" && ulimit -f "$2" && ulimit -n "$3" && ulimit -c 0 || exit 125;'
    ' ulimit -v "$4" 2>/dev/null; ulimit -p "$5" 2>/dev/null || ulimit -u "$5" 2>/dev/null;'
    ' shift 5; exec "$@"'
)

_FROM_OUTSIDE = hasattr(resource, "prlimit")


class ResourceLimits(NamedTuple):
    """What one program may use (setrlimit(2))."""

    cpu_seconds: int
    memory_bytes: int
    processes: int
    file_bytes: int
    descriptors: int

    def words(self) -> list[str]:
        """Return them as ulimit takes them, none higher than we may set it."""
        return [
            str(max(1, _within(kind, wanted) // _ULIMIT_UNITS.get(kind, 1)))
            for kind, wanted in self._each()
        ]

    def put_on(self, pid: int) -> None:
        """Limit a process that runs. Raises OSError if that cannot be done."""
        with suppress(ProcessLookupError):  # it has ended already
            for kind, wanted in (*self._each(), (resource.RLIMIT_CORE, 0)):
                value = _within(kind, wanted)
                resource.prlimit(pid, kind, (value, value))

    def _each(self) -> list[tuple[int, int]]:
        return [
            (resource.RLIMIT_CPU, self.cpu_seconds),
            (resource.RLIMIT_FSIZE, self.file_bytes),
            (resource.RLIMIT_NOFILE, self.descriptors),
            (resource.RLIMIT_AS, self.memory_bytes),
            (resource.RLIMIT_NPROC, self.processes + _tasks()),
        ]


# Bytes (POSIX; dash and bash).
_ULIMIT_UNITS = {resource.RLIMIT_FSIZE: 512, resource.RLIMIT_AS: 1024}


def _within(kind: int, wanted: int) -> int:
    most = resource.getrlimit(kind)[1]
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)


def _tasks() -> int:
    """Return how many tasks the machine has: RLIMIT_NPROC counts all of a user's, not only ours.

    So the limit is so many more than there are. One short file tells; to count those of the user
    alone would read all of /proc for each command.
    """
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return int(file.read().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 1000  # no /proc: more than most users have, and still an end


class OneProgram(NamedTuple):
    argv: Sequence[str]
    reader: bool = False  # it writes no file and starts no other program


@dataclass(frozen=True, slots=True)
class Started:
    """Programs that run, and our ends of their pipes (non-blocking)."""

    children: tuple[Child, ...]  # in the order of a pipeline
    stdin: int | None
    stdout: int
    stderr: int


def start(
    stages: Sequence[OneProgram],
    *,
    cwd: str,
    env: Mapping[str, str],
    limits: ResourceLimits,
    feed: bool,
    umask: int = -1,
    descriptors: Sequence[int] = (),
) -> Started:
    """Start the programs; `feed`: the first one reads what we write to `stdin`.

    They get `descriptors` besides, under the same numbers.

    Each leads a session of its own. Raises InvalidInput for a folder that is gone and for words
    that are too long for the system, LimitReached or Internal when it cannot start them otherwise;
    those that have started are killed then.
    """
    outside = [_FROM_OUTSIDE and one.reader for one in stages]
    by_shell = [] if all(outside) else ["/bin/sh", "-c", _LIMITED, "sh", *limits.words()]
    with ExitStack() as theirs, ExitStack() as ours:
        try:
            errors_out, errors_in = _pipe(ours, theirs)
            reading, stdin = _open_stdin(ours, theirs, feed=feed)
            children: list[Child] = []
            for (argv, _), alone in zip(stages, outside, strict=True):
                output, writing = os.pipe()
                theirs.callback(os.close, writing)
                last = len(children) == len(stages) - 1
                (ours if last else theirs).callback(os.close, output)
                process = subprocess.Popen(
                    argv if alone else [*by_shell, *argv],
                    cwd=cwd,
                    env=dict(env),
                    stdin=reading,
                    stdout=writing,
                    stderr=errors_in,
                    start_new_session=True,
                    umask=umask,
                    pass_fds=descriptors,
                )
                ours.callback(process.kill)
                if alone:
                    limits.put_on(process.pid)
                children.append(Child(process.pid, -1, process))
                reading = output
        except OSError as error:
            raise _cannot_start(stages[0].argv[0], cwd, error) from error
        ours.pop_all()  # they are the caller's now
    for descriptor in (stdin, output, errors_out):
        if descriptor is not None:
            os.set_blocking(descriptor, False)
    return Started(tuple(children), stdin, output, errors_out)


def _open_stdin(ours: ExitStack, theirs: ExitStack, *, feed: bool) -> tuple[int, int | None]:
    """Return what the first program reads, and what we write to it by, if we do."""
    if feed:
        reading, stdin = os.pipe()
        theirs.callback(os.close, reading)
        ours.callback(os.close, stdin)
        return reading, stdin
    reading = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    theirs.callback(os.close, reading)
    return reading, None


def _cannot_start(program: str, cwd: str, error: OSError) -> NacreError:
    if error.errno == errno.E2BIG:
        return InvalidInput(
            "the arguments are longer than the system allows", "pass them as standard input"
        )
    if not os.path.isdir(cwd):
        return InvalidInput(f"the folder {cwd} is gone", "change to another one")
    return shortage(f"cannot start {program}", error)


def _pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    ours.callback(os.close, reading)
    theirs.callback(os.close, writing)
    return reading, writing
