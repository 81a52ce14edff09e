"""What a session leaves for the next daemon: what it is, in the ring and beside the journal, and
its screen for a checkpoint.

Rule 1: it is put down whenever it changes, before anybody is told of the change: a daemon may be
killed at any moment.
Rule 2: the ring has all of it, the disk only what may lie there (see kept.py); of a session that is
not listed the disk has nothing, for nobody will want it restored.
"""

import time
from typing import TYPE_CHECKING

from nacre.core.journal import Checkpoint
from nacre.services.kept import Long, about, pack
from nacre.system.ring import Ring

if TYPE_CHECKING:
    from nacre.services.session import Session


class Legacy:
    def __init__(self, session: "Session", ring: Ring) -> None:
        self._session = session
        self._ring = ring

    def put_down(self, *, started: bool) -> None:
        """Write down what the session is; before its child is there, not `started`."""
        session = self._session
        self.put_down_in_memory(started=started)
        if session.listed:
            told = about(
                session.identity, session.launch, session.created, self._ended(), session.ending
            )
            session.recorder.write_about(told)
        else:
            session.recorder.remove_about()

    def put_down_in_memory(self, *, started: bool) -> None:
        """Do so in the ring alone: for what no file has."""
        session, keys, ending = self._session, self._session.lives.keys, self._session.ending
        self._ring.long = pack(
            Long(
                identity=session.identity,
                launch=session.launch,
                created=session.created,
                cookie=keys.cookie,
                nonce=keys.nonce,
                secret=keys.file,
                pid=session.pid if started else None,
                listed=session.listed,
                ended=self._ended(),
                exit_code=ending.exit_code if ending else None,
                signal=ending.signal if ending else None,
                lost=ending is not None and ending.lost,
                stage=session.stage.keep(),
            )
        )

    def _ended(self) -> float | None:
        """When the child ended; of a lost one nobody knows."""
        ending = self._session.ending
        return self._session.ended if ending is not None and not ending.lost else None

    def look(self) -> tuple[Checkpoint, bytes] | None:
        """Return the screen for a checkpoint; None in the middle of a very long sequence."""
        from nacre.core.snapshot import WithinSequence

        session, stream = self._session, self._session.stream
        terminal, prompting = session.terminal, stream.prompting
        try:
            screen = terminal.snapshot()
        except WithinSequence:
            return None
        return (
            Checkpoint(
                time=time.time(),
                generation=session.generation,
                offset=session.recorder.offset,
                evicted=terminal.evicted,
                phase=prompting.phase,
                ended=prompting.ended,
                exit_code=prompting.exit_code,
                folder=stream.folder,
                prompt_end=stream.prompt_end,
            ),
            screen,
        )
