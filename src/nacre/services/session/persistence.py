"""What a session stores for the next daemon: its record, in the ring and beside the journal, and
its screen for a checkpoint.

Rule 1: it is stored whenever it changes, before anyone learns of the change: a daemon may be killed
at any moment.
Rule 2: the ring has all of it, the disk only what may be written to disk. A session that is not
listed has nothing on disk, because nobody will restore it.
"""

import time
from collections.abc import Callable
from threading import Lock

import msgspec

from nacre.core.journal.records import Checkpoint
from nacre.services.session.output import OutputStream
from nacre.services.session.record import KeptDisplay, SessionRecord, pack, pack_for_disk
from nacre.services.session.recorder import Recorder
from nacre.services.session.screen import LiveScreen
from nacre.system.storage.ring import Ring


class Persistence:
    def __init__(
        self,
        record: SessionRecord,
        ring: Ring,
        recorder: Recorder,
        display: Callable[[], KeptDisplay],
    ) -> None:
        """`display` returns what people see beside the screen now."""
        self._record = record
        self._ring = ring
        self._recorder = recorder
        self._display = display

    def put_down(self, *, started: bool = True) -> None:
        """Store the record; `started` is False before the next child is started."""
        self.put_down_in_memory(started=started)
        if self._record.listed:
            self._recorder.write_about(pack_for_disk(self._record))
        else:
            self._recorder.remove_about()

    def put_down_in_memory(self, *, started: bool = True) -> None:
        """Store the record only in the ring, for changes that are not on disk."""
        record = self._record
        record.display = self._display()
        # If a child was started but not noted yet, the next daemon finds it by its terminal.
        self._ring.long = pack(record if started else msgspec.structs.replace(record, pid=None))


def take_checkpoint(
    screen: LiveScreen, stream: OutputStream, offset: int, *, at_once: bool
) -> tuple[Checkpoint, Callable[[], bytes]] | None:
    """Return the screen for a checkpoint, and what packs it, in any thread.

    That raises WithinSequence in the middle of a very long sequence. `at_once`: it is packed here,
    and that is None.
    """
    prompting, terminal = stream.prompting, screen.terminal
    checkpoint = Checkpoint(
        time=time.time(),
        generation=screen.generation,
        offset=offset,
        evicted=terminal.evicted,
        phase=prompting.phase,
        ended=prompting.ended,
        exit_code=prompting.exit_code,
        folder=stream.folder,
        prompt_end=stream.prompt_end,
    )
    if not at_once:
        return checkpoint, terminal.lend(Lock()).result
    from nacre.core.terminal.packed import WithinSequence

    try:
        packed = terminal.snapshot()
    except WithinSequence:
        return None
    return checkpoint, lambda: packed
