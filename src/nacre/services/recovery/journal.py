"""A session's terminal as its journal has it: what a daemon or a worker replays.

Rule: a worker imports this file, so it imports nothing of a daemon.
"""

from collections.abc import Callable

from nacre.core.journal.replay import Replay
from nacre.system.storage.segments import Past, take_end


def replay_journal(
    folder: str,
    size: tuple[int, int],
    scrollback: int,
    read: Callable[[], Past] | None = None,
) -> Replay:
    """Return the terminal after everything in the journal; `size` is for an empty journal.

    `read` gives what a thread has read of it already, or raises what hindered that.

    Raises OSError or ValueError for a journal that cannot be read.
    """
    past = take_end(folder) if read is None else read()
    replay = Replay(past.checkpoint, past.engine, scrollback=scrollback)
    if past.checkpoint is None and not past.records:
        replay.terminal.resize(*size)
    return replay.run(past.records)
