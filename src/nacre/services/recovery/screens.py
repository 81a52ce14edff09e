"""Rebuild the screens of an earlier daemon's sessions from their journals.

Rule 1: if the engine crashed while it replayed a session, that session is not replayed again. It
gets an empty screen with a notice, and its journal is put aside. The same holds for a journal that
cannot be read.
Rule 2: the daemon replays sessions one after the other: because of the engine's memory two threads
would be slower than one, and after a crash it is clear which session was being replayed. A thread
only reads the next one's journal. What may crash the engine is replayed by other processes first
(worker.py).
"""

import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress

from nacre.core.shell.marks import Prompting
from nacre.services.host.host import Host
from nacre.services.recovery.worker import Replayed, Task
from nacre.services.session.recorder import ABOUT
from nacre.services.session.screen import Beginning, Lost
from nacre.system.storage.ring import Ring
from nacre.system.storage.segments import Past

_log = logging.getLogger("nacre.recovery")

# A file in a journal that was put aside: the last bytes, which may be missing in the journal.
_UNWRITTEN = "ring"
_REPLAYING = "replaying"  # a file that exists while a session is being replayed
_ATTEMPTS = 10  # replays that a kill may interrupt before the session itself is suspected

_QUARANTINED = (
    "\x1b[7m nacre \x1b[0m The screen of this session could not be rebuilt: the terminal engine\r\n"
    "crashed in its output. The program is still running; what it printed is kept in\r\n{}\r\n"
)
_DAMAGED = (
    "\x1b[7m nacre \x1b[0m The journal of this session cannot be read: what stood here before\r\n"
    "is lost. The program is still running; the journal is kept in\r\n{}\r\n"
)
_GAP = (
    "\x1b[7m nacre \x1b[0m The end of this session's journal is missing (a full disk, or a\r\n"
    "damaged file): what stood here before is lost. The program is still running.\r\n"
)


class Rebuilt(Beginning):
    """A session's screen, rebuilt from its journal."""

    notice: str | None = None  # why the screen is incomplete
    lost: Lost | None = None


class Screens:
    def __init__(self, host: Host) -> None:
        self._host = host

    def rebuild(
        self,
        folder: str | None,
        size: tuple[int, int],
        ring: Ring | None,
        replayed: Replayed | None = None,
        past: Callable[[], Past] | None = None,
        *,
        crashes: bool = False,
    ) -> Rebuilt:
        """Return a session's screen; if `folder` is None it has no journal.

        Without a ring there is nothing after the journal. `replayed` is what a worker made of the
        journal; `past` what a thread read of it; `crashes`: the engine crashed in it. The replay
        has not ended with this: what is in the ring follows, and then `end_replay`.
        """
        if folder is not None and (crashes or self.is_suspect(folder)):
            rebuilt = self._quarantine(folder, size, ring)
            self._begin_replay(folder)
            return rebuilt
        self._begin_replay(folder)
        if replayed is not None:
            return self._unpack(replayed, size, ring)
        return self._rebuild_or_begin_anew(folder, size, ring, past)

    def task(self, folder: str, size: tuple[int, int], ring: Ring | None) -> Task:
        """Return what a worker needs to replay a session."""
        begin, unwritten = (0, b"") if ring is None else (ring.begin, ring.since(0))
        return Task(folder, size, self._host.settings.scrollback, begin, unwritten)

    def _rebuild_or_begin_anew(
        self,
        folder: str | None,
        size: tuple[int, int],
        ring: Ring | None,
        past: Callable[[], Past] | None,
    ) -> Rebuilt:
        """Return an empty screen with a notice for a journal that cannot be read."""
        try:
            return self._rebuild(folder, size, ring, past)
        except (OSError, ValueError):
            assert folder is not None
            _log.exception("a session's journal cannot be read", extra={"folder": folder})
            aside = self._try_to_put_aside(folder, ring)
            return self._begun_anew(size, ring, _DAMAGED.format(aside))

    def _begun_anew(
        self,
        size: tuple[int, int],
        ring: Ring | None,
        notice: str,
        generation: int = 0,
        journaled: int = 0,
    ) -> Rebuilt:
        """Return an empty screen, on which everything in the ring will be shown.

        The journal has what was printed up to `journaled`.
        """
        return Rebuilt(
            self._host.engine.new_terminal(*size),
            generation=generation,
            offset=None if ring is None else ring.begin,
            notice=notice,
            lost=None if ring is None else Lost(journaled, ring.begin),
        )

    def _rebuild(
        self,
        folder: str | None,
        size: tuple[int, int],
        ring: Ring | None,
        past: Callable[[], Past] | None,
    ) -> Rebuilt:
        from nacre.services.recovery.journal import replay_journal  # it loads the engine

        if folder is None:
            return self._begun_anew(size, ring, _GAP)
        replay = replay_journal(folder, size, self._host.settings.scrollback, past)
        end = replay.prompt_end
        rebuilt = Rebuilt(
            replay.terminal,
            replay.prompting,
            (end.row, end.col) if end is not None else None,
            replay.generation,
            replay.offset or 0,
        )
        return self._continued(rebuilt, size, ring)

    def _unpack(self, replayed: Replayed, size: tuple[int, int], ring: Ring | None) -> Rebuilt:
        from nacre.core.terminal.terminal import Terminal

        prompting = Prompting()
        vars(prompting).update(replayed.prompting)
        rebuilt = Rebuilt(
            Terminal.from_snapshot(replayed.engine, scrollback=self._host.settings.scrollback),
            prompting,
            replayed.prompt_end,
            replayed.generation,
            replayed.offset,
        )
        return self._continued(rebuilt, size, ring)

    def _continued(self, rebuilt: Rebuilt, size: tuple[int, int], ring: Ring | None) -> Rebuilt:
        """Return the screen from the journal, if the ring continues where the journal ends."""
        if ring is None:
            rebuilt.offset = None
            return rebuilt
        assert rebuilt.offset is not None
        if rebuilt.offset < ring.begin:
            rebuilt.terminal.close()
            return self._begun_anew(size, ring, _GAP, rebuilt.generation, rebuilt.offset)
        rebuilt.offset = min(rebuilt.offset, ring.end)
        return rebuilt

    def _begin_replay(self, folder: str | None) -> None:
        """Leave a marker file for the next daemon, in case this one dies in the replay."""
        if folder is not None and os.path.isdir(folder):
            with suppress(OSError), open(os.path.join(folder, _REPLAYING), "ab") as file:
                file.write(b"x")

    def end_replay(self, folder: str | None) -> None:
        if folder is not None:
            with suppress(OSError):
                os.unlink(os.path.join(folder, _REPLAYING))

    def _attempts(self, folder: str | None) -> int:
        """Return how many daemons died while they replayed this session."""
        if folder is None:
            return 0
        try:
            return os.stat(os.path.join(folder, _REPLAYING)).st_size
        except OSError:
            return 0

    def is_suspect(self, folder: str | None) -> bool:
        """Return whether the engine crashed in it, or too many daemons died during its replay."""
        return self._attempts(folder) >= (1 if self._host.keeping.crashed else _ATTEMPTS)

    def _try_to_put_aside(self, folder: str, ring: Ring | None) -> str:
        """Put a journal aside; a full or read-only disk does not stop the recovery."""
        try:
            return self._put_aside(folder, ring)
        except OSError as error:
            _log.warning(
                "a journal cannot be put aside", extra={"folder": folder, "error": str(error)}
            )
            return folder

    def _put_aside(self, folder: str, ring: Ring | None) -> str:
        """Move a journal away, with the bytes that are not in it yet. Return its new path."""
        aside = f"{folder}.quarantine"
        shutil.rmtree(aside, ignore_errors=True)
        about = os.path.join(folder, ABOUT)
        os.makedirs(aside, mode=0o700)
        for name in os.listdir(folder):
            if name == _REPLAYING:
                os.unlink(os.path.join(folder, name))
            if name.endswith((".log", ".screen")):
                os.replace(os.path.join(folder, name), os.path.join(aside, name))
        if os.path.exists(about):
            shutil.copy(about, aside)
        if ring is not None:
            with suppress(OSError), open(os.path.join(aside, _UNWRITTEN), "wb") as file:
                file.write(ring.since(0))
        return aside

    def _quarantine(self, folder: str, size: tuple[int, int], ring: Ring | None) -> Rebuilt:
        aside = self._try_to_put_aside(folder, ring)
        if ring is not None:
            ring.release(ring.end)
        _log.error(
            "a session's output crashes the engine; it is put aside", extra={"folder": aside}
        )
        terminal = self._host.engine.new_terminal(*size)
        lost = None if ring is None else Lost(0, ring.end)
        return Rebuilt(terminal, notice=_QUARANTINED.format(aside), lost=lost)
