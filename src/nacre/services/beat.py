"""The frames of a session's viewers.

Rule: they end together, so that what several viewers need then is made once.
"""

import asyncio

# To tell one viewer something takes 0.2 ms. With many, frames are long enough that it takes less
# than a sixth of the time that the session has: seconds for each of them.
_FRAME_SHARE = 0.0015


class Beat:
    def __init__(self, rate: float) -> None:
        self._waiting: set[asyncio.Event] = set()
        self._shortest = self._frame = 1 / rate  # seconds

    def slow_down(self, viewers: int) -> None:
        self._frame = max(self._shortest, viewers * _FRAME_SHARE)

    def next(self) -> float:
        return (asyncio.get_running_loop().time() // self._frame + 1) * self._frame

    def wake(self, viewer: asyncio.Event, after: float) -> None:
        """Set an event, at once when its frame is over."""
        if not after or (loop := asyncio.get_running_loop()).time() >= after:
            viewer.set()
            return
        if not self._waiting:
            loop.call_at(after, self._strike)
        self._waiting.add(viewer)

    def _strike(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for viewer in waiting:
            viewer.set()
