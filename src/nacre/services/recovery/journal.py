"""A session's terminal as its journal has it: what a daemon or a worker replays.

Rule: a worker imports this file, so it imports nothing of a daemon.
"""

from nacre.core.journal.replay import Replay
from nacre.system.storage.segments import cut_torn_end, ends_whole, read_end


def replay_journal(folder: str, size: tuple[int, int], scrollback: int) -> Replay:
    """Return the terminal after everything in the journal; `size` is for an empty journal.

    Raises OSError or ValueError for a journal that cannot be read.
    """
    cut_torn_end(folder)
    if not ends_whole(folder):
        raise ValueError("a part of the journal is missing or damaged")
    past = read_end(folder)
    replay = Replay(past.checkpoint, past.engine, scrollback=scrollback)
    if past.checkpoint is None and not past.records:
        replay.terminal.resize(*size)
    return replay.run(past.records)
