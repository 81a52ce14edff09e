"""Give memory back to the system after large work, and look for garbage at a good moment.

The C library keeps what was freed for the next time. After a long export or the end of many
sessions that is a hundred megabytes that nobody else can use.

Rule 1: a thread does it (`malloc_trim`, glibc), because it takes some milliseconds; and only if the
process has grown since the last time.
Rule 2: a full collection of Python's garbage looks at every object and holds the loop meanwhile: 50
to 100 ms with all modules loaded. So modules are taken out of it once they are loaded, and it is
done between the rounds of the janitor, not in the middle of a call.
"""

import asyncio
import ctypes
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress

_WORTH = 16 << 20  # bytes; less is not worth the work
_RESIDENT = 1  # the field of statm (proc(5))
_ARENA_MAX = -8  # M_ARENA_MAX (mallopt(3))
_ARENAS = 2
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD
_LARGE = 512 * 1024  # bytes

# Python 3.11's own, on every version: else what is counted below would mean something else.
_YOUNG, _MIDDLE = 700, 10
# Collections of the middle generation, each after 7,000 more objects that were made than freed.
_FULL_BY_ITSELF = 1000  # only if the janitor does not come: a gigabyte of garbage at worst
_FULL_WORTH = 30


def resident() -> int:
    """Return the resident memory of this process in bytes; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[_RESIDENT]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def share_arenas() -> None:
    """Let all threads share few heaps; called before there are any.

    By default each thread has its own, and what one has freed no other can use: 25 MB more. And
    large blocks stay apart from the heap: by default the library takes them from there once one was
    freed, up to 32 MB, and between what lives longer they leave holes that are never given back.
    """
    with suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_ARENA_MAX, _ARENAS)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)


def trim() -> None:
    """Return freed memory to the system, where the C library can do that."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def collect_rarely() -> None:
    """Leave full collections to `Memory.settle`; called once the first modules are loaded.

    Until then there is no collection at all: it would look at what is being loaded again and again.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(_YOUNG, _MIDDLE, _FULL_BY_ITSELF)


def _collects_rarely() -> bool:
    # Not gc.get_freeze_count(), which counts by going through them all: 50 ms after long work.
    return gc.get_threshold()[2] == _FULL_BY_ITSELF


class Memory:
    def __init__(
        self, measure: Callable[[], int] = resident, give_back: Callable[[], None] = trim
    ) -> None:
        self._measure = measure
        self._give_back = give_back
        self._before = 0  # what was resident after the last time
        self._modules = 0

    async def settle(self) -> bool:
        """Give back what is free, if there may be much of it; return whether it was tried."""
        self._collect()
        now = self._measure()
        if now - self._before < _WORTH:
            self._before = min(self._before, now)
            return False
        await asyncio.get_running_loop().run_in_executor(None, self._give_back)
        self._before = self._measure()
        return True

    def _collect(self) -> None:
        if not _collects_rarely():
            return  # no daemon: what is loaded here is not ours
        if (loaded := len(sys.modules)) > self._modules:
            # What was loaded since stays. Of what else there is now, garbage would stay too: that
            # is little, and happens a few times in the life of a daemon.
            self._modules = loaded
            gc.collect(1)
            gc.freeze()
        elif gc.get_count()[2] >= _FULL_WORTH:
            gc.collect()
