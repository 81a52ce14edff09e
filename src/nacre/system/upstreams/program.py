"""An upstream server's program: its pipes, its end, and that it never outlives the daemon.

Rule 1: never fork with Python code in the child (see processes/pty.py): /bin/sh execs the program.
Before that it leaves a guard behind, in the same process group: a shell that waits for the end of a
pipe of which only the daemon has the other side. When the daemon is gone, however it went, the pipe
ends and the guard kills the group, and with it what npx and the like have started.
Rule 2: a group's number cannot be used again as long as the guard is in it, so it kills no others.
"""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

from nacre.errors import UpstreamUnavailable
from nacre.system.processes.exits import Ending, watch_exit
from nacre.system.processes.pty import Child

_GUARDED = (
    '(P=$1; (read -r _ <"/dev/fd/$P"; kill -9 -$$) </dev/null >/dev/null 2>&1 &); shift; exec "$@"'
)
_ASKED, _FORCED = 2.0, 1.0  # seconds to end when its input has closed, and after SIGTERM


class UpstreamProgram:
    """A program that runs, and our ends of its pipes."""

    def __init__(self, child: Child, stdin: int, stdout: int, stderr: int, lifeline: int) -> None:
        self.pid = child.pid
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.ending: Ending | None = None
        self._ended = asyncio.Event()
        self._lifeline = lifeline
        watch_exit(asyncio.get_running_loop(), child, self._note_end)

    def _note_end(self, ending: Ending) -> None:
        self.ending = ending
        self._ended.set()

    async def wait(self) -> Ending:
        await self._ended.wait()
        assert self.ending is not None
        return self.ending

    async def end(self, *, at_once: bool = False) -> None:
        """End it and what it started. Its input is closed already, by which it knows."""
        steps = () if at_once else ((None, _ASKED), (signal.SIGTERM, _FORCED))
        try:
            for number, patience in steps:
                if number is not None:
                    self._signal(number)
                with suppress(TimeoutError):
                    async with asyncio.timeout(patience):
                        await self._ended.wait()
                        return
            self._signal(signal.SIGKILL)
            await self._ended.wait()
        finally:
            self.cut()

    def cut(self) -> None:
        """Let go of the lifeline: what is left of the group is killed."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def start_program(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], umask: int = -1
) -> UpstreamProgram:
    """Start it. Raises UpstreamUnavailable, which says why it cannot be started."""
    program = argv[0]
    if not os.path.isdir(cwd):
        raise UpstreamUnavailable(f"its folder {cwd} does not exist", "correct cwd")
    if os.sep not in program and shutil.which(program, path=env.get("PATH")) is None:
        raise UpstreamUnavailable(
            f"there is no program {program!r} on the PATH", "install it, or write its whole path"
        )
    with ExitStack() as theirs, ExitStack() as ours:
        try:
            stdin, stdin_ours = _pipe(theirs, ours)
            stdout_ours, stdout = _pipe(ours, theirs)
            stderr_ours, stderr = _pipe(ours, theirs)
            guard, lifeline = _pipe(theirs, ours)
            process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED, "sh", str(guard), *argv],
                cwd=cwd,
                env=dict(env),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(guard,),
                start_new_session=True,
                umask=umask,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UpstreamUnavailable(f"{program} cannot be started: {reason}") from error
        ours.pop_all()
    for descriptor in (stdin_ours, stdout_ours, stderr_ours):
        os.set_blocking(descriptor, False)
    child = Child(process.pid, -1, process)
    return UpstreamProgram(child, stdin_ours, stdout_ours, stderr_ours, lifeline)


def _pipe(first: ExitStack, second: ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    first.callback(os.close, reading)
    second.callback(os.close, writing)
    return reading, writing
