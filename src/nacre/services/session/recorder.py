"""Write a session's journal: move what is in the ring to disk, in groups and in bounded segments.

Rule 1: a full disk stops the journal, never the session. It is reported once, and the journal tries
again after a while. After a gap it begins with a checkpoint. So it is with a control sequence that
has no end: no checkpoint can be taken within it, and without one nothing old can be removed.
Rule 2: writing waits a little, so that a burst of output makes one write; until then it is in the
ring.
Rule 3: input is recorded only where the terminal or a shell's own line editor shows it.
"""

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress

from nacre.core.journal import records as journal
from nacre.core.journal.records import Checkpoint, pack_checkpoint
from nacre.core.shell.marks import Mark
from nacre.settings.table import Settings
from nacre.system.storage.ring import Ring
from nacre.system.storage.segments import JournalFile, drop_old, private_and_new

_log = logging.getLogger("nacre.journal")

_LARGE = 96 * 1024  # bytes; with more, the journal writes without waiting
_LEAST = 65536  # least bytes of a segment, however long a replay takes

ABOUT = "session.json"

# The current screen as a checkpoint and what packs the engine, in any thread; that raises
# WithinSequence. With True it is packed at once, and then this is None: ask again later.
Look = Callable[[bool], tuple[Checkpoint, Callable[[], bytes]] | None]


class Recorder:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: Settings,
        folder: str | None,
        ring: Ring,
        look: Look,
        warn: Callable[[str | None], None],
        offset: int | None = None,
    ) -> None:
        """`folder` None: nothing is recorded. `look` gives the screen for a checkpoint.

        `warn` gets the reason when the journal stops, and None when it continues. An existing
        journal has everything up to `offset`; None: everything in the ring.
        """
        self.folder = folder
        self.stopped: str | None = None  # why nothing is being written now
        self._loop = loop
        self._settings = settings
        self._ring = ring
        self._look = look
        self._warn = warn
        self._file: JournalFile | None = None
        self._group: list[tuple[int, float, int, bytes]] = []
        self._buffers: list[bytes] = []
        self._size = 0
        self._cost = 0.0
        # Up to here everything is in a buffer or on disk.
        self.offset = ring.end if offset is None else offset
        self._timer: asyncio.TimerHandle | None = None
        self._retry_at = 0.0
        self._about: bytes | None = None  # the record that could not be written yet
        self._packing: asyncio.Future[None] | None = None
        self._within_sequence = False  # one that is too long to be packed
        self._closed = False
        self.before_flush: Callable[[], None] = _nothing  # what must not be behind the journal
        # Called with True when a thread begins to pack the screen, and with False after that.
        self.hold_back: Callable[[bool], None] = _ignore

    # --- what happens ----------------------------------------------------------------------

    def output(self, data: bytes, generation: int, cost: float) -> None:
        """`cost` is the engine's time for it in seconds; a replay will take as long."""
        self._cost += cost
        self._group.append((journal.OUTPUT, time.time(), generation, data))

    def mark(self, mark: Mark, tag: str, generation: int) -> None:
        payload = journal.mark_payload(mark.kind, tag, mark.value)
        self._group.append((journal.MARK, time.time(), generation, payload))

    def commit(self, offset: int) -> None:
        """Note that everything up to this offset of the terminal's stream is recorded."""
        group = self._group
        if not group:
            return
        if self._silent:
            group.clear()
            self.offset = offset
            return
        for kind, moment, generation, payload in group[:-1]:
            self._put(kind, moment, generation, journal.NO_OFFSET, payload)
        kind, moment, generation, payload = group[-1]
        self.offset = offset
        self._put(kind, moment, generation, offset, payload)
        group.clear()
        if self._size >= _LARGE:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(self._settings.journal_pause, self.flush)

    def note(self, kind: int, payload: bytes, generation: int) -> None:
        """Record what is not output: input, a resize, a start, an exit."""
        within = bool(self._group)
        self._group.append((kind, time.time(), generation, payload))
        if not within:  # else the output around it is not complete yet
            self.commit(self.offset)

    def _put(self, kind: int, moment: float, generation: int, offset: int, payload: bytes) -> None:
        self._buffers.append(journal.head_of(kind, moment, generation, offset, payload))
        self._buffers.append(payload)
        self._size += len(payload) + 64

    @property
    def _silent(self) -> bool:
        """Whether nothing can be written now; a full disk is tried again after a while."""
        if self.folder is None or self._closed:
            return True
        return self.stopped is not None and self._loop.time() < self._retry_at

    # --- the disk --------------------------------------------------------------------------

    def flush(self) -> None:
        """Write what is waiting and make space in the ring."""
        self.before_flush()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._buffers:
            try:
                self._write()
            except OSError as error:
                self._stop(error)
            self._buffers.clear()
            self._size = 0
        if not self._closed:
            self._ring.release(self.offset)

    def _write(self) -> None:
        if self._file is None:
            self._file = self._open()
        if self.stopped is not None:
            self._go_on(self._file)
            return
        self._file.append(self._buffers)
        settings = self._settings
        long = self._file.size >= _LEAST and self._cost >= settings.journal_replay
        if long or self._file.size >= settings.journal_segment_bytes:
            self._begin_segment(self._file)

    def _go_on(self, file: JournalFile) -> None:
        """Bridge the gap with a checkpoint: its screen includes what is waiting.

        Not in a thread: without it, later output would be replayed on the wrong screen.
        """
        seen = self._look(True)
        if seen is None:
            return  # perhaps it works at the next output
        if self._about is not None:
            self._put_about(self._about)
        checkpoint, engine = seen
        file.begin_segment(pack_checkpoint(checkpoint, engine()))
        self.stopped = None
        self._warn(None)
        _log.info("the journal continues", extra={"folder": self.folder})

    def _open(self) -> JournalFile:
        """Continue the existing journal, or begin one."""
        assert self.folder is not None
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        file = JournalFile(self.folder)
        if file.number:
            file.resume()
        else:
            file.begin_segment()
        return file

    def _begin_segment(self, file: JournalFile) -> None:
        """Begin a segment with a checkpoint, unless that has to wait."""
        if self._packing is not None and not self._packing.done():
            return  # the disk is slower than the output: let the segment grow a little longer
        seen = self._look(self._within_sequence)
        if seen is None:
            if file.size >= self._settings.journal_bytes:
                self._pause("the output is within a control sequence that has no end")
            return
        checkpoint, packed = seen
        settings, number = self._settings, file.begin_segment()
        self._cost, self._within_sequence = 0.0, False

        def note_sequence() -> None:
            self._within_sequence = True
            self.hold_back(False)

        def write() -> None:
            from nacre.core.terminal.packed import WithinSequence  # it loads the engine

            try:
                engine = packed()
                with suppress(RuntimeError):  # the daemon has ended meanwhile
                    self._loop.call_soon_threadsafe(self.hold_back, False)
                file.write_checkpoint(number, pack_checkpoint(checkpoint, engine))
                drop_old(file.folder, settings.journal_bytes, settings.journal_age)
            except OSError as error:
                _log.warning("no checkpoint was written", extra={"error": str(error)})
            except WithinSequence:
                # A reader begins one segment earlier. Each further one would make that longer.
                self._loop.call_soon_threadsafe(note_sequence)

        self.hold_back(True)
        self._packing = self._loop.run_in_executor(None, write)

    def _stop(self, error: OSError) -> None:
        self._pause(error.strerror or str(error))

    def _pause(self, reason: str) -> None:
        self._retry_at = self._loop.time() + self._settings.journal_retry
        if self.stopped is None:
            _log.warning(
                "the journal has stopped; the session continues",
                extra={"folder": self.folder, "error": reason},
            )
            self.stopped = f"the journal has stopped: {reason}"
            self._warn(self.stopped)

    def write_about(self, about: bytes) -> None:
        """Store the session's record, for a daemon that finds only the disk."""
        if self.folder is None or self._closed:
            return
        self._about = about
        try:
            self._put_about(about)
        except OSError as error:
            self._stop(error)

    def _put_about(self, about: bytes) -> None:
        assert self.folder is not None
        path = os.path.join(self.folder, ABOUT)
        if _holds(path, about):
            # So it is after a recovery, of which replacing the file was half the time (ext4).
            self._about = None
            return
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            with open(f"{path}.new", "wb", opener=private_and_new) as file:
                file.write(about)
            os.replace(f"{path}.new", path)
        except OSError:
            # Half a record would be in the way of the next daemon.
            with suppress(OSError):
                os.unlink(f"{path}.new")
            with suppress(OSError):
                os.rmdir(self.folder)  # only if there is nothing else in it
            raise
        self._about = None

    def remove_about(self) -> None:
        self._about = None
        if self.folder is not None:
            with suppress(OSError):
                os.unlink(os.path.join(self.folder, ABOUT))

    async def settled(self) -> None:
        """Wait until everything so far is on disk."""
        self.flush()
        if self._packing is not None:
            await self._packing

    def close(self) -> None:
        """Write what is waiting, and record nothing more."""
        if not self._closed:
            self.flush()
            self._closed = True
            if self._file is not None:
                self._file.close()

    def remove_unless_closed(self) -> None:
        if not self._closed:
            self.remove()

    def remove(self) -> None:
        """Close the journal and delete it."""
        self.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def _nothing() -> None:
    return None


def _ignore(_held: bool) -> None:  # it stands for a callback
    return None
