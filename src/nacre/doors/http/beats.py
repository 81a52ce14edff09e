"""A heartbeat that a page can see: a script is not told of a WebSocket's own pings.

Rule 1: a client that hears nothing for `viewer_silence` seconds takes the connection for dead.
Rule 2: what a client sends says which beat it heard last, and so how old the screen is that its
person had seen. What was under way for too long is not to be typed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nacre.settings.table import Settings


class Beats:
    def __init__(self, settings: Settings) -> None:
        self._every = settings.viewer_beat
        self._silence = settings.viewer_silence
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._sent: dict[int, float] = {}  # those that are not too old

    @property
    def about(self) -> dict[str, float]:
        """What a client must know to notice a silence, in milliseconds."""
        return {"beat_ms": 1000 * self._every, "silence_ms": 1000 * self._silence}

    async def send_all(self, tell: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        while True:
            self._count += 1
            now = self._loop.time()
            self._sent[self._count] = now
            for number in [one for one, sent in self._sent.items() if self._is_old(sent, now)]:
                del self._sent[number]
            await tell({"event": "beat", "beat": self._count})
            await asyncio.sleep(self._every)

    def is_late(self, heard: int | None) -> bool:
        """Return whether who heard this beat last has seen only what is too old by now."""
        if heard is None:
            return False
        sent = self._sent.get(heard)
        return sent is None or self._is_old(sent, self._loop.time())

    def _is_old(self, sent: float, now: float) -> bool:
        return now - sent > self._every + self._silence
