"""Films of sessions: a recording as a GIF or an SVG that moves, for who has no player.

Rule 1: another process makes it (worker.py), one at a time: the sessions keep the loop.
Rule 2: frames, pixels, time and bytes are bounded by settings; what is left out is counted.
"""

import asyncio
import base64
import signal
import sys

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.operations.recordings import ExportRecording, FilmRecording, FilmTaken
from nacre.errors import Failed, LimitReached
from nacre.services.dispatch.handlers import Handlers
from nacre.services.films.worker import FilmMade, FilmTask, FilmTooLarge
from nacre.services.host.host import Host
from nacre.services.recordings import History

COMMAND = (sys.executable, "-P", "-m", "nacre.services.films.worker")

_LONGEST = 2.0  # seconds that a frame is shown: longer pauses are cut, as on the page
_MOST_WAITING = 8  # films; each holds a recording in memory


class Films:
    def __init__(self, history: History, host: Host) -> None:
        self._history = history
        self._host = host
        self._turn = asyncio.Lock()
        self._waiting = 0

    def handlers(self) -> Handlers:
        return Handlers().on(FilmRecording, self.film)

    async def film(self, caller: Caller, request: FilmRecording) -> FilmTaken:
        """Raises Failed when it takes too long, LimitReached when it is too large."""
        if self._waiting >= _MOST_WAITING:
            raise LimitReached(f"{_MOST_WAITING} films are waiting to be made", "try again later")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._film(caller, request)
        finally:
            self._waiting -= 1

    async def _film(self, caller: Caller, request: FilmRecording) -> FilmTaken:
        settings = self._host.settings
        export = ExportRecording(
            session=request.session,
            since=request.since,
            until=request.until,
            idle_cap=_LONGEST,
            max_chars=settings.max_film_bytes,
        )
        exported = await self._history.export(caller, export)
        task = FilmTask(
            exported.recording or "",
            request.format,
            settings.max_film_frames,
            settings.max_picture_pixels,
            _LONGEST,
            request.scale,
            settings.film_time,
        )
        made = await self._made(task)
        if isinstance(made, FilmTooLarge):
            raise LimitReached(
                f"a film of {made.width} by {made.height} pixels is larger than "
                f"{settings.max_picture_pixels} pixels (max_picture_pixels)",
                "use a smaller scale",
            )
        if len(made.data) > settings.max_film_bytes:
            raise LimitReached(
                f"the film has {len(made.data)} bytes, more than {settings.max_film_bytes} "
                "(max_film_bytes)",
                "choose a time span with since and until",
            )
        gif = request.format == "gif"
        return FilmTaken(
            session=exported.session,
            format=request.format,
            width=made.width,
            height=made.height,
            frames=made.frames,
            omitted_frames=made.of - made.frames,
            seconds=round(made.seconds, 3),
            data=base64.b64encode(made.data).decode() if gif else made.data.decode(),
        )

    async def _made(self, task: FilmTask) -> FilmMade | FilmTooLarge:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*COMMAND, stdin=pipe, stdout=pipe)
        try:
            out, _ = await process.communicate(msgspec.msgpack.encode(task))
        finally:
            if process.returncode is None:  # who asked has left
                process.kill()
        if process.returncode == -signal.SIGALRM:
            raise Failed(
                f"the film took longer than {task.seconds} s (film_time)",
                "choose a time span with since and until",
            )
        if process.returncode:
            raise Failed("the film could not be made: the log says why")
        try:
            return msgspec.msgpack.decode(out, type=FilmMade)
        except msgspec.ValidationError:
            return msgspec.msgpack.decode(out, type=FilmTooLarge)
