"""The past of sessions: earlier screens and recordings, read from their journals.

Rule: a thread does what takes long: reading files and replaying them through its own engine. The
loop only makes sure that the journal is written.
"""

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nacre.core.catalog.caller import Caller
from nacre.core.operations.recordings import ExportRecording, ScreenAt
from nacre.core.operations.results import EarlierScreen, Recording
from nacre.core.seeing.cells import ScreenCells
from nacre.core.text.budget import json_chars
from nacre.core.text.redaction import Redaction, redaction_of_call
from nacre.errors import BadParameter, Failed, InvalidInput
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.observe.views import fill_screen
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.system.storage.segments import Past, read_all, read_from

if TYPE_CHECKING:
    from nacre.core.journal.replay import Replay


class History:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    def handlers(self) -> Handlers:
        return Handlers().on(ScreenAt, self.screen_at).on(ExportRecording, self.export)

    # --- an earlier screen -----------------------------------------------------------------

    async def screen_at(self, caller: Caller, request: ScreenAt) -> EarlierScreen:
        """Raises InvalidInput for a moment that is no longer in the journal, or not yet."""
        session = self._registry.find(request.session)
        if (request.generation is None) == (request.time is None):
            raise InvalidInput("give either generation or time")
        if request.generation is not None and request.generation > session.generation:
            raise InvalidInput(
                f"generation {request.generation} is not there yet: the session is at "
                f"{session.generation}"
            )
        folder = await self._journal(session)
        return await self._host.loop.run_in_executor(None, self._look_back, folder, request)

    def _look_back(self, folder: str, request: ScreenAt) -> EarlierScreen:
        replay = self._replay(folder, request.generation, request.time)
        try:
            return _seen(replay, request, self._host.budget(request.max_chars))
        finally:
            replay.terminal.close()

    async def cells_at(
        self, session: Session, generation: int | None, moment: float | None
    ) -> tuple[int, ScreenCells]:
        """Return the generation and the cells of an earlier screen. Raises as screen_at does."""
        folder = await self._journal(session)

        def look() -> tuple[int, ScreenCells]:
            replay = self._replay(folder, generation, moment)
            try:
                return replay.generation, replay.terminal.screen_cells()
            finally:
                replay.terminal.close()

        return await self._host.loop.run_in_executor(None, look)

    def _replay(self, folder: str, generation: int | None, moment: float | None) -> "Replay":
        from nacre.core.journal.replay import replay_until  # it loads the engine

        moment = _absolute(moment)
        past = _read(folder, generation, moment)
        begin = _beginning(past)
        if begin is None or not _is_after(begin, generation, moment):
            raise InvalidInput(_too_early(past))
        return replay_until(
            past.checkpoint,
            past.engine,
            past.records,
            generation=generation,
            time=moment,
            scrollback=self._host.settings.scrollback,
        )

    # --- recordings ------------------------------------------------------------------------

    async def export(self, caller: Caller, request: ExportRecording) -> Recording:
        """Raises Failed for a file that cannot be written and for an answer that is too long."""
        session = self._registry.find(request.session)
        if request.path is not None and "\0" in request.path:
            raise BadParameter("path", "must not contain a NUL character")
        folder = await self._journal(session)
        about = (session.identity.name, session.launch.command)
        return await self._host.loop.run_in_executor(
            None, self._export, folder, about, request, caller.cwd, redaction_of_call()
        )

    def _export(
        self,
        folder: str,
        about: tuple[str, str],
        request: ExportRecording,
        cwd: str | None,
        redaction: Redaction | None,
    ) -> Recording:
        from nacre.core.journal.asciicast_writer import CastAbout, write_cast  # it loads the engine
        from nacre.core.journal.replay import END, Moment

        since, until = _absolute(request.since), _absolute(request.until)
        past = _read(folder, None, since)
        if since is not None and until is not None and since >= until:
            raise BadParameter("since", "must be before the end of the span")
        lines = write_cast(
            past.checkpoint,
            past.engine,
            past.records,
            after=Moment(time=since) if since is not None else None,
            until=Moment(time=until) if until is not None else END,
            idle_cap=request.idle_cap,
            typed=request.input,
            markers=request.markers,
            about=CastAbout(command=about[1], title=about[0]),
        )
        if redaction is not None:
            from nacre.core.journal.asciicast_redaction import redacted_cast

            lines = redacted_cast(lines, redaction)
        if request.path is None:
            begin = _beginning(past)
            began = since if since is not None or begin is None else begin[1]
            return self._answer(about[0], lines, request, began)
        home = os.path.expanduser("~")
        path = os.path.join(cwd or home, os.path.expanduser(request.path))
        return _written(about[0], lines, path, self._host.umask)

    def _answer(
        self, name: str, lines: Iterator[str], request: ExportRecording, began: float | None
    ) -> Recording:
        budget = self._host.budget(request.max_chars)
        kept: list[str] = []
        used = 0
        for line in lines:
            used += json_chars(line) + 2
            if used > budget:
                raise Failed(
                    f"the recording is longer than {budget} characters",
                    "write it to a file with path",
                    "choose a time span with since and until",
                    "raise max_chars",
                )
            kept.append(line)
        text = "".join(line if line.endswith("\n") else f"{line}\n" for line in kept)
        return Recording(
            session=name, events=len(kept) - 1, size=len(text), recording=text, began=began
        )

    async def _journal(self, session: Session) -> str:
        """Return the folder of a journal, with everything up to now written to it."""
        recorder = session.recorder
        if recorder.folder is None or not self._host.settings.journal:
            raise Failed("this session has no journal", "the setting journal turns it on")
        await recorder.settled()
        return recorder.folder


def _read(folder: str, generation: int | None, moment: float | None) -> Past:
    """Raises Failed for a journal that the system does not let us read."""
    try:
        if generation is None and moment is None:
            return read_all(folder)
        return read_from(folder, generation=generation, moment=moment)
    except OSError as error:
        raise Failed(f"the journal in {folder} cannot be read: {error.strerror}") from error


def _written(name: str, lines: Iterator[str], path: str, umask: int) -> Recording:
    events = -1
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            if umask >= 0:  # it is the user's file, not one of ours
                os.fchmod(file.fileno(), 0o666 & ~umask)
            for line in lines:
                file.write(line if line.endswith("\n") else f"{line}\n")
                events += 1
            size = file.tell()
    except FileExistsError:
        raise Failed(f"{path} already exists", "choose another path") from None
    except OSError as error:
        raise Failed(f"{path} cannot be written: {error.strerror}") from error
    return Recording(session=name, events=events, size=size, path=path)


def _absolute(moment: float | None) -> float | None:
    return time.time() + moment if moment is not None and moment < 0 else moment


def _beginning(past: Past) -> tuple[int, float] | None:
    """Return the generation and time at which a part of a journal begins."""
    if past.checkpoint is not None:
        return past.checkpoint.generation, past.checkpoint.time
    if past.records:
        return past.records[0].generation, past.records[0].time
    return None


def _is_after(begin: tuple[int, float], generation: int | None, moment: float | None) -> bool:
    if generation is not None:
        return generation >= begin[0]
    return moment is not None and moment >= begin[1]


def _too_early(past: Past) -> str:
    begin = _beginning(past)
    if begin is None:
        return "nothing is recorded of this session yet"
    return (
        f"the journal begins with generation {begin[0]}, at {begin[1]:.3f}; "
        "what came before was dropped (journal_bytes, journal_age)"
    )


def _seen(replay: "Replay", request: ScreenAt, budget: int) -> EarlierScreen:
    terminal = replay.terminal
    facts = EarlierScreen(
        cursor=terminal.cursor(),
        rows=terminal.rows,
        cols=terminal.cols,
        mode="alt" if terminal.alternate else "normal",
        generation=replay.generation,
        time=replay.time,
        title=terminal.title,
        lines=(),
    )
    return fill_screen(facts, terminal, request.format, budget)
