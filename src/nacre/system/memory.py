"""Give memory back to the system after large work, and look for garbage at a good moment.

The C library keeps what was freed for the next time. After a long export or the end of many
sessions that is a hundred megabytes that nobody else can use.

Rule 1: a thread does it (`malloc_trim`, glibc), because it takes some milliseconds; and only if the
process has grown since the last time. When it becomes quiet, it is done once all the same: what is
freed then does not show as growth.
Rule 2: a full collection of Python's garbage looks at every object and holds the loop meanwhile: 50
to 100 ms with all modules loaded, and more with many sessions. So modules are taken out of it once
they are loaded (frozen), and it is done in a turn of its own, not in the middle of a call.
Rule 3: it comes after a certain number of new objects. If it was long all the same, what it has
found alive is frozen, too, so that each one looks at new objects alone. What is frozen still goes
when nobody refers to it; cycles in it (a session is one) stay until nobody asks for anything
(`quiet`), or for an hour: then a collection looks at everything.
"""

import asyncio
import ctypes
import functools
import gc
import math
import os
import sys
import time
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
_FULL_BY_ITSELF = 1000  # only if nobody else begins it: a gigabyte of garbage at worst
_FULL_WORTH = 4
_LONG = 0.005  # seconds of processor time
_FROZEN_FOR = 3600.0  # seconds at most


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
        libc = _libc()
        libc.mallopt(_ARENA_MAX, _ARENAS)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)


def trim() -> None:
    """Return freed memory to the system, where the C library can do that."""
    with suppress(AttributeError, OSError):
        _libc().malloc_trim(0)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)  # each one is a cycle of objects


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
        self._rests = False  # it was done since it became quiet
        self._garbage = Garbage()

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look for garbage from now on, also when there is much of it before the next round."""
        self._garbage.begin(loop)

    def end(self) -> None:
        self._garbage.end()

    async def settle(self, *, quiet: bool = False) -> bool:
        """Give back what is free, if there may be much of it; return whether it was tried.

        `quiet`: nobody would notice a pause of a tenth of a second.
        """
        self._garbage.collect()
        if quiet or self._garbage.frozen_since < time.monotonic() - _FROZEN_FOR:
            self._garbage.collect_frozen()
        now = self._measure()
        rests, self._rests = self._rests, quiet
        if now - self._before < _WORTH and (rests or not quiet):
            self._before = min(self._before, now)
            return False
        await asyncio.get_running_loop().run_in_executor(None, self._give_back)
        self._before = self._measure()
        return True


class Garbage:
    """When Python looks for garbage, and among what."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._modules = 0
        self.frozen_since = math.inf  # that more than modules is
        self._loop: asyncio.AbstractEventLoop | None = None
        self._soon = False

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if _collects_rarely():
            self._loop = loop
            gc.callbacks.append(self._collected)

    def end(self) -> None:
        if self._loop is not None:
            gc.callbacks.remove(self._collected)
            self._loop = None

    def _collected(self, phase: str, _about: object) -> None:
        # In whatever thread, in the middle of whatever: the loop looks on in a turn of its own.
        if phase == "stop" and not self._soon and gc.get_count()[2] >= _FULL_WORTH:
            self._soon = True
            with suppress(RuntimeError):  # the loop is closed
                if self._loop is not None:
                    self._loop.call_soon_threadsafe(self.collect)

    def collect(self) -> None:
        self._soon = False
        if not _collects_rarely():
            return  # no daemon: what is loaded here is not ours
        if (loaded := len(sys.modules)) > self._modules:
            # What was loaded since stays. Of what else there is now, garbage would stay too: that
            # is little, and happens a few times in the life of a daemon.
            self._modules = loaded
            gc.collect(1)
            gc.freeze()
        elif gc.get_count()[2] >= _FULL_WORTH:
            began = self._clock()
            gc.collect()
            if self._clock() - began > _LONG:
                gc.freeze()
                self.frozen_since = min(self.frozen_since, time.monotonic())

    def collect_frozen(self) -> None:
        """Look at everything, if more than modules was frozen; those are looked at as well."""
        if self.frozen_since < math.inf and _collects_rarely():
            self.frozen_since = math.inf
            gc.unfreeze()
            gc.collect()
            gc.freeze()
