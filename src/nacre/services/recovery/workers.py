"""A worker as the daemon sees it: one process at a time, started when there is a task for it.

Rule 1: a crash of the process is told apart from any other end. The first is the session's fault,
or it would be tried again and again; of the second (it was killed, it did not start) the session
knows nothing, and the daemon does the work itself.
Rule 2: an engine that comes to no end (`replay_time`) is one that crashed: in the daemon it would
hold everybody.
"""

import asyncio
import logging
import signal
import sys

import msgspec

from nacre.services.host.wait import done_by
from nacre.services.recovery.worker import LENGTH, Answer, Replayed, Task, frame

_log = logging.getLogger("nacre.recovery")

COMMAND = (sys.executable, "-P", "-m", "nacre.services.recovery.worker")

_BUFFER = 4 << 20  # bytes: a terminal with a full scrollback arrives without a pause

_NO_CRASH = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class EngineCrashed(Exception):
    """The engine crashed on a session's journal, or came to no end."""


class Worker:
    def __init__(self, longest: float) -> None:
        """`longest`: seconds for one replay."""
        self._longest = longest
        self._process: asyncio.subprocess.Process | None = None

    async def replay(self, task: Task) -> Replayed | None:
        """Return a session's terminal; None if the daemon has to make it itself.

        Raises EngineCrashed.
        """
        deadline = asyncio.get_running_loop().time() + self._longest
        try:
            return await done_by(self._ask(task), deadline)
        except TimeoutError as error:
            if self._process is not None:
                self._process.kill()
            await self.end()
            raise EngineCrashed(f"no end after {self._longest:g} s (replay_time)") from error
        except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError) as error:
            status = await self.end()
            if status is not None and status < 0 and -status not in _NO_CRASH:
                raise EngineCrashed(f"signal {-status}") from error
            _log.warning(
                "a worker has ended; the daemon replays the session itself",
                extra={"status": status, "error": str(error)},
            )
            return None

    async def _ask(self, task: Task) -> Answer:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *COMMAND,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_BUFFER,
                start_new_session=True,  # Ctrl+C at the daemon's terminal is not for it
            )
        writing, reading = self._process.stdin, self._process.stdout
        assert writing is not None
        assert reading is not None
        writing.write(frame(task))
        await writing.drain()
        length = int.from_bytes(await reading.readexactly(LENGTH), "little")
        data = await reading.readexactly(length)
        answer: Answer = msgspec.msgpack.decode(data, type=Answer)
        return answer

    async def end(self) -> int | None:
        """End the process; return how it ended: minus a signal, or an exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        assert process.stdin is not None
        process.stdin.close()  # it ends with its input
        return await process.wait()
