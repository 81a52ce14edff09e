"""Wait for what a running daemon makes again: a socket or a token that was deleted under it.

Rule 1: nobody waits where no daemon runs; the wait ends with the daemon, or with the caller's
patience.
Rule 2: what changes in the folders is an event (inotify(7)), and so is the end of the daemon
(pidfd_open(2)). Where the system has no such events, we look now and then.
Rule 3: it runs in any thread.
"""

import os
import select
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TypeVar

from nacre.client.folder_events import FolderEvents, above, nearest
from nacre.client.lock import all_holders, holders_of_gone, is_free
from nacre.settings.paths import Paths

# A socket has its name before it listens, and of that there is no event.
_LOOK = 0.25  # seconds between two looks

T = TypeVar("T")


def runs_unseen(paths: Paths) -> bool:
    """Return whether a daemon runs in this home, though its socket or its folders are missing."""
    with suppress(OSError):  # what is wrong with the folder, a start says
        if not is_free(paths):
            return True
    return not os.path.exists(paths.state_file) and bool(holders_of_gone(paths))


def made_again(paths: Paths, look: Callable[[], T | None], patience: float) -> T | None:
    """Return what `look` finds as soon as the daemon has made it again; None if it does not.

    `look` returns None as long as it is missing.
    """
    until = time.monotonic() + patience
    while True:
        with closing(FolderEvents()) as events:
            _watch(events, paths)
            if (found := look()) is not None:
                return found
            left = until - time.monotonic()
            if left <= 0 or not runs_unseen(paths):
                # It may have made it, or a next one may have come, since we looked.
                return look()
            _await_event(events, all_holders(paths), min(left, _LOOK))


def _watch(events: FolderEvents, paths: Paths) -> None:
    folders = {nearest(paths.state), nearest(paths.runtime), nearest(paths.other_runtime)}
    events.folders(renamed=[*above(paths.state), *above(paths.runtime)])
    events.folders(any_change=folders)


def _await_event(events: FolderEvents, daemons: list[int], seconds: float) -> None:
    """Return when a folder changes, when one of the processes ends, or after so many seconds."""
    poll, ends = select.poll(), []
    try:
        if events.hears:
            poll.register(events.descriptor, select.POLLIN)
        for pid in daemons if hasattr(os, "pidfd_open") else ():
            with suppress(OSError):  # it has ended: the next look says so
                ends.append(os.pidfd_open(pid))
                poll.register(ends[-1], select.POLLIN)
        poll.poll(seconds * 1000)
    finally:
        for end in ends:
            os.close(end)
