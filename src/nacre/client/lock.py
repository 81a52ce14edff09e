"""Take a file lock within a time, in a process without a loop.

The kernel wakes who waits for a lock, but does not bound the wait: an alarm does.
"""

import fcntl
import signal
from types import FrameType


def lock_within(descriptor: int, kind: int, patience: float) -> None:
    """Take the lock (LOCK_SH or LOCK_EX), at once or within so many seconds.

    Raises BlockingIOError when it is taken and there is no time, else TimeoutError at the end of
    it. Only the main thread can wait.
    """
    if not patience:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        fcntl.flock(descriptor, kind)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
