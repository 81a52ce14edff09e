"""The frames of a session's viewers.

Rule: the frames of all viewers end together, so that what several of them need is made once.
"""

import asyncio

# Sending to one viewer takes 0.2 ms. With many viewers, frames are longer, so that sending takes
# less than a sixth of the session's time. In seconds for each viewer.
_FRAME_SHARE = 0.0015


class FrameClock:
    def __init__(self, rate: float) -> None:
        self._waiting: set[asyncio.Event] = set()
        self._shortest = self._frame = 1 / rate  # seconds

    def slow_down(self, viewers: int) -> None:
        self._frame = max(self._shortest, viewers * _FRAME_SHARE)

    def next(self) -> float:
        return (asyncio.get_running_loop().time() // self._frame + 1) * self._frame

    def wake(self, viewer: asyncio.Event, after: float) -> None:
        """Set an event at the end of its frame, which may be now."""
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
