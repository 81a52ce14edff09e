"""Rebuild the screens of a former daemon's sessions from their journals.

Rule 1: a session in whose replay the engine crashed is not replayed again: it gets an empty screen
with a notice, and its journal is put aside. So does one whose journal cannot be read.
Rule 2: one after the other: the engine's memory makes two threads slower than one, and a crash then
points at the one session that was being replayed.
"""

import logging
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nacre.core.marks import Prompting
from nacre.services.host import Host
from nacre.services.recorder import ABOUT
from nacre.system.journal import cut_torn_end, ends_whole, read_end
from nacre.system.ring import Ring

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

_log = logging.getLogger("nacre.recovery")

_UNWRITTEN = "ring"  # in a journal that was put aside: the last bytes, which may not be in it
_REPLAYING = "replaying"  # a file that is there while a session is being replayed
_ATTEMPTS = 10  # replays that may be cut short by a kill before the session itself is suspected

_QUARANTINED = (
    "\x1b[7m nacre \x1b[0m The screen of this session could not be rebuilt: the terminal engine\r\n"
    "crashed in its output. The program goes on; what it printed is kept in\r\n{}\r\n"
)
_DAMAGED = (
    "\x1b[7m nacre \x1b[0m The journal of this session cannot be read: what stood here before\r\n"
    "is lost. The program goes on; the journal is kept in\r\n{}\r\n"
)
_GAP = (
    "\x1b[7m nacre \x1b[0m The daemon was restarted while the journal could not be written:\r\n"
    "what stood here before is lost. The program goes on.\r\n"
)


@dataclass(slots=True)
class Rebuilt:
    """A session's screen, as far as its journal tells."""

    terminal: "Terminal"
    prompting: Prompting = field(default_factory=Prompting)
    prompt_end: tuple[int, int] | None = None
    generation: int = 0
    offset: int | None = None
    notice: str | None = None
    gap: bool = False  # the journal ends before the ring begins


class Screens:
    def __init__(self, host: Host) -> None:
        self._host = host

    def rebuild(self, folder: str | None, size: tuple[int, int], ring: Ring | None) -> Rebuilt:
        """Return a session's screen; `folder` None: it has no journal."""
        if folder is not None and self._is_suspect(folder):
            return self._quarantine(folder, size, ring)
        self.begin_replay(folder)
        rebuilt = self._rebuild_or_begin_anew(folder, size, ring)
        self.end_replay(folder)
        return rebuilt

    def _rebuild_or_begin_anew(
        self, folder: str | None, size: tuple[int, int], ring: Ring | None
    ) -> Rebuilt:
        """Return an empty screen with a notice for a journal that cannot be read."""
        try:
            return self._rebuild(folder, size, ring)
        except (OSError, ValueError):
            assert folder is not None
            _log.exception("a session's journal cannot be read", extra={"folder": folder})
            aside = self._put_aside(folder, ring)
            return self._begun_anew(size, _DAMAGED.format(aside))

    def _begun_anew(self, size: tuple[int, int], notice: str) -> Rebuilt:
        terminal = self._host.engine.new_terminal(*size)
        return Rebuilt(terminal, offset=0, notice=notice, gap=True)

    def _rebuild(self, folder: str | None, size: tuple[int, int], ring: Ring | None) -> Rebuilt:
        from nacre.core.replay import Replay  # it loads the engine

        scrollback = self._host.settings.scrollback
        if folder is None:
            return self._begun_anew(size, _GAP)
        cut_torn_end(folder)
        if not ends_whole(folder):
            raise ValueError("a part of the journal is missing or damaged")
        past = read_end(folder)
        replay = Replay(past.checkpoint, past.engine, scrollback=scrollback)
        if past.checkpoint is None and not past.records:
            replay.terminal.resize(*size)
        replay.run(past.records)
        end = replay.prompt_end
        rebuilt = Rebuilt(
            replay.terminal,
            replay.prompting,
            (end.row, end.col) if end is not None else None,
            replay.generation,
            replay.offset if replay.offset is not None else 0,
        )
        if ring is not None and rebuilt.offset is not None and rebuilt.offset < ring.begin:
            rebuilt.terminal.close()
            gap = self._begun_anew(size, _GAP)
            gap.generation = replay.generation
            return gap
        return rebuilt

    def begin_replay(self, folder: str | None) -> None:
        """Leave a sign for the next daemon, should this one die over it."""
        if folder is not None and os.path.isdir(folder):
            with suppress(OSError), open(os.path.join(folder, _REPLAYING), "ab") as file:
                file.write(b"x")

    def end_replay(self, folder: str | None) -> None:
        if folder is not None:
            with suppress(OSError):
                os.unlink(os.path.join(folder, _REPLAYING))

    def _attempts(self, folder: str | None) -> int:
        """How many daemons died while they replayed this session."""
        if folder is None:
            return 0
        try:
            return os.stat(os.path.join(folder, _REPLAYING)).st_size
        except OSError:
            return 0

    def _is_suspect(self, folder: str | None) -> bool:
        """Whether the engine crashed in it, or too many daemons were killed over it."""
        return self._attempts(folder) >= (1 if self._host.keeping.crashed else _ATTEMPTS)

    def _put_aside(self, folder: str, ring: Ring | None) -> str:
        """Take a journal out of the way, and what is not in it yet; return where it lies then."""
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
        aside = self._put_aside(folder, ring)
        if ring is not None:
            ring.release(ring.end)
        _log.error(
            "a session's output crashes the engine; it is put aside", extra={"folder": aside}
        )
        terminal = self._host.engine.new_terminal(*size)
        return Rebuilt(terminal, notice=_QUARANTINED.format(aside))
