"""The process that searches, as the daemon sees it: one at a time, started when it is needed.

Rule 1: one search after the other: each may take a whole core.
Rule 2: it ends a while after the last search (`search_idle`), and with the daemon.
Rule 3: a process that crashed, or does not answer in time, is replaced for the next search.
"""

import asyncio
import sys

import msgspec

from nacre.errors import Failed
from nacre.services.host.wait import done_by
from nacre.services.search.messages import LENGTH, SearchAnswer, SearchTask, frame

COMMAND = (sys.executable, "-P", "-m", "nacre.services.search.worker")

_BUFFER = 4 << 20  # bytes: most answers arrive without a pause
_GRACE = 20.0  # seconds over its time until it counts as stuck: it may have to start first


class SearchProcess:
    def __init__(self, idle: float) -> None:
        """`idle`: seconds until it ends by itself."""
        self._idle = idle
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._ending: asyncio.TimerHandle | None = None
        self._searches: set[asyncio.Task[SearchAnswer]] = set()

    async def search(self, task: SearchTask) -> SearchAnswer:
        """Raises Failed when the process crashes or gets stuck in it.

        If the caller leaves, it goes on: its answer would be taken for the next one's else.
        """
        work = asyncio.ensure_future(self._search(task))
        self._searches.add(work)
        work.add_done_callback(self._searched)
        return await asyncio.shield(work)

    def _searched(self, work: "asyncio.Task[SearchAnswer]") -> None:
        self._searches.discard(work)
        if not work.cancelled():
            work.exception()  # who left is not told

    async def _search(self, task: SearchTask) -> SearchAnswer:
        async with self._turn:
            if self._ending is not None:
                self._ending.cancel()
            loop = asyncio.get_running_loop()
            try:
                return await done_by(self._ask(task), loop.time() + task.seconds + _GRACE)
            except TimeoutError as error:
                await self._kill()
                raise Failed("the search came to no end", "narrow it down") from error
            except (
                OSError,
                RuntimeError,
                asyncio.IncompleteReadError,
                msgspec.DecodeError,
            ) as error:
                # uvloop has RuntimeError for a pipe that was closed a moment ago.
                await self._kill()
                raise Failed("the process that searches has ended", "search again") from error
            finally:
                self._ending = loop.call_later(self._idle, self._end)

    async def _ask(self, task: SearchTask) -> SearchAnswer:
        if self._process is None or self._process.returncode is not None:
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
        return msgspec.msgpack.decode(await reading.readexactly(length), type=SearchAnswer)

    def _end(self) -> None:
        """Let it end: its input does. The loop reaps it."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()

    async def end(self) -> None:
        """End it now, whatever it does: the daemon ends."""
        for work in list(self._searches):
            work.cancel()
        await self._kill()
        if self._ending is not None:
            self._ending.cancel()

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.wait()
